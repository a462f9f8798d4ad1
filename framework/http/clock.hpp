#pragma once
#include <chrono>

namespace hone::http {

/// Time and chance as the client sees them; tests put their own in its place.
struct Clock {
  using TimePoint = std::chrono::steady_clock::time_point;
  virtual ~Clock() = default;
  virtual TimePoint now() = 0;
  virtual void sleep_until(TimePoint when) = 0;
  virtual double random() = 0;  ///< in [0, 1)
};

/// The machine's clock.
Clock& real_clock();

}  // namespace hone::http
