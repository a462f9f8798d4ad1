#pragma once
#include <chrono>
#include <cstddef>

#include "http/clock.hpp"

namespace hone::http {

struct Response;

/// Limits that the caller knows of; 0: none.
struct Rates {
  double requests_per_minute = 0;
  double tokens_per_minute = 0;
};

/// Decides when a service may be asked next. Starts at the allowed number in flight, halves it at
/// each 429 or 529 and waits as that answer asks, grows again by one for each full round of good
/// answers, and waits where a rate-limit header says that nothing is left.
class Throttle {
 public:
  Throttle(Rates rates, size_t max_in_flight);

  bool may_launch(Clock::TimePoint now, size_t in_flight) const;
  /// The earliest time at which may_launch could turn true by itself.
  Clock::TimePoint opens_at() const;
  void launched(Clock::TimePoint now, double tokens);
  /// `wait`: what a 429 asks for, or the retry delay.
  void landed(Clock::TimePoint now, Clock::TimePoint launched_at, const Response& response,
              std::chrono::milliseconds wait);
  double window() const { return window_; }

 private:
  Rates rates_;
  double max_, window_;
  Clock::TimePoint paused_until_{}, next_request_{}, next_token_{}, last_cut_{};
};

/// How long the rate-limit headers of OpenAI (x-ratelimit-*) and Anthropic
/// (anthropic-ratelimit-*) say to wait: zero where something is left, at most a minute.
std::chrono::milliseconds exhausted_for(const Response& response);

}  // namespace hone::http
