#include "http/clock.hpp"

#include <random>
#include <thread>

namespace hone::http {
namespace {

class RealClock : public Clock {
 public:
  TimePoint now() override { return std::chrono::steady_clock::now(); }
  void sleep_until(TimePoint when) override { std::this_thread::sleep_until(when); }
  double random() override {
    thread_local std::mt19937_64 engine{std::random_device{}()};
    return std::uniform_real_distribution<double>(0, 1)(engine);
  }
};

}  // namespace

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

}  // namespace hone::http
