#include "http/throttle.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "http/client.hpp"

namespace hone::http {
namespace {

using std::chrono::milliseconds;

Clock::TimePoint after(Clock::TimePoint from, double seconds) {
  return from + std::chrono::duration_cast<Clock::TimePoint::duration>(
                    std::chrono::duration<double>(seconds));
}

/// Seconds of "12ms", "1m30.5s", "6s"; of an RFC 3339 time from now on. Negative when unreadable.
double seconds_of_reset(const std::string& text) {
  if (text.size() >= 19 && text[4] == '-' && (text[10] == 'T' || text[10] == 't')) {
    std::tm utc{};
    if (::strptime(text.substr(0, 19).c_str(), "%Y-%m-%dT%H:%M:%S", &utc) == nullptr) return -1;
    return std::difftime(::timegm(&utc), std::time(nullptr));
  }
  double total = 0;
  const char* at = text.c_str();
  if (*at == '\0') return -1;
  while (*at != '\0') {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at) return -1;
    std::string unit;
    while (std::isalpha(static_cast<unsigned char>(*end)) != 0) unit += *end++;
    const double scale = unit == "ms"                  ? 1e-3
                         : unit == "s" || unit.empty() ? 1
                         : unit == "m"                 ? 60
                         : unit == "h"                 ? 3600
                                                       : -1;
    if (scale < 0) return -1;
    total += value * scale;
    at = end;
  }
  return total;
}

}  // namespace

milliseconds exhausted_for(const Response& response) {
  double wait = 0;
  for (const auto& [remaining, reset] :
       {std::pair{"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"},
        std::pair{"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"},
        std::pair{"anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"},
        std::pair{"anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"}})
    if (response.header(remaining) == "0")
      wait = std::max(wait, seconds_of_reset(std::string(response.header(reset))));
  return milliseconds(std::lround(1000 * std::min(wait, 60.0)));
}

Throttle::Throttle(Rates rates, size_t max_in_flight)
    : rates_(rates), max_(static_cast<double>(std::max<size_t>(max_in_flight, 1))), window_(max_) {}

bool Throttle::may_launch(Clock::TimePoint now, size_t in_flight) const {
  return static_cast<double>(in_flight) + 1 <= window_ && now >= opens_at();
}

Clock::TimePoint Throttle::opens_at() const {
  return std::max({paused_until_, next_request_, next_token_});
}

void Throttle::launched(Clock::TimePoint now, double tokens) {
  if (rates_.requests_per_minute > 0)
    next_request_ = after(std::max(next_request_, now), 60 / rates_.requests_per_minute);
  if (rates_.tokens_per_minute > 0)
    next_token_ = after(std::max(next_token_, now), 60 * tokens / rates_.tokens_per_minute);
}

void Throttle::landed(Clock::TimePoint now, Clock::TimePoint launched_at, const Response& response,
                      milliseconds wait) {
  if (response.error == ErrorKind::none && (response.status == 429 || response.status == 529)) {
    // Those that were under way at the last cut tell nothing new.
    if (launched_at >= last_cut_) {
      window_ = std::max(1.0, std::floor(window_ / 2));
      last_cut_ = now;
    }
    paused_until_ = std::max(paused_until_, now + wait);
  } else if (response.ok()) {
    window_ = std::min(max_, window_ + 1 / window_);
  }
  if (const auto empty = exhausted_for(response); empty.count() > 0)
    paused_until_ = std::max(paused_until_, now + empty);
}

}  // namespace hone::http
