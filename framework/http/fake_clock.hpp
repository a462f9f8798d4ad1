#pragma once
#include <functional>
#include <vector>

#include "http/clock.hpp"

namespace hone::http {

/// For tests: sleeping takes no time and is written down.
struct FakeClock : Clock {
  TimePoint time{};
  std::vector<long> slept_ms;
  double chance = 0;
  std::function<void()> on_sleep;
  TimePoint now() override { return time; }
  void sleep_until(TimePoint when) override {
    slept_ms.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(when - time).count());
    time = when;
    if (on_sleep) on_sleep();
  }
  double random() override { return chance; }
};

}  // namespace hone::http
