#include "http/throttle.hpp"

#include <gtest/gtest.h>

#include "http/client.hpp"

namespace hone::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Response with_status(int status, Headers headers = {}) {
  Response r;
  r.status = status;
  r.headers = std::move(headers);
  return r;
}

struct ThrottleTest : testing::Test {
  Clock::TimePoint now{seconds(1000)};
};

TEST_F(ThrottleTest, A429HalvesWhatIsInFlightAndHoldsEverythingBack) {
  Throttle t({}, 16);
  EXPECT_TRUE(t.may_launch(now, 15));
  EXPECT_FALSE(t.may_launch(now, 16));
  const auto launched = now;
  now += seconds(1);
  t.landed(now, launched, with_status(429), seconds(3));
  EXPECT_EQ(t.window(), 8);
  EXPECT_FALSE(t.may_launch(now + seconds(2), 0));
  EXPECT_TRUE(t.may_launch(now + seconds(3), 7));
  EXPECT_FALSE(t.may_launch(now + seconds(3), 8));
  // Those that were under way when it was cut cut it no further.
  for (int i = 0; i < 7; ++i) t.landed(now, launched, with_status(429), seconds(3));
  EXPECT_EQ(t.window(), 8);
  for (int i = 0; i < 9; ++i)
    t.landed(now + seconds(9), now + seconds(8), with_status(529), seconds(0)), now += seconds(9);
  EXPECT_EQ(t.window(), 1);
}

TEST_F(ThrottleTest, GoodAnswersOpenItAgainOneARound) {
  Throttle t({}, 4);
  t.landed(now, now, with_status(429), seconds(0));
  EXPECT_EQ(t.window(), 2);
  for (int i = 0; i < 2; ++i) t.landed(now, now, with_status(200), seconds(0));
  EXPECT_NEAR(t.window(), 2.9, 0.11);
  for (int i = 0; i < 50; ++i) t.landed(now, now, with_status(200), seconds(0));
  EXPECT_EQ(t.window(), 4);
  t.landed(now, now, with_status(500), seconds(5));  // not a matter of how many
  EXPECT_TRUE(t.may_launch(now, 3));
}

TEST_F(ThrottleTest, RequestsAndTokensAMinuteArePaced) {
  Throttle t({.requests_per_minute = 120, .tokens_per_minute = 6000}, 16);
  t.launched(now, 10);
  EXPECT_EQ(t.opens_at(), now + milliseconds(500));
  now += milliseconds(500);
  t.launched(now, 300);
  EXPECT_EQ(t.opens_at(), now + seconds(3));
}

TEST(RateLimitHeaders, SayHowLongNothingIsLeft) {
  const auto wait = [](Headers headers) {
    return exhausted_for(with_status(200, std::move(headers)));
  };
  EXPECT_EQ(wait({{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "12ms"}}),
            milliseconds(12));
  EXPECT_EQ(wait({{"x-ratelimit-remaining-tokens", "0"}, {"x-ratelimit-reset-tokens", "0m6.5s"}}),
            milliseconds(6500));
  EXPECT_EQ(wait({{"x-ratelimit-remaining-tokens", "0"}, {"x-ratelimit-reset-tokens", "1h"}}),
            seconds(60));
  EXPECT_EQ(wait({{"x-ratelimit-remaining-tokens", "7"}, {"x-ratelimit-reset-tokens", "6s"}}),
            seconds(0));
  EXPECT_EQ(wait({{"x-ratelimit-remaining-tokens", "0"}, {"x-ratelimit-reset-tokens", "soon"}}),
            seconds(0));
  EXPECT_EQ(wait({{"anthropic-ratelimit-requests-remaining", "0"},
                  {"anthropic-ratelimit-requests-reset", "1970-01-01T00:00:00Z"}}),
            seconds(0));
  EXPECT_EQ(wait({{"anthropic-ratelimit-tokens-remaining", "0"},
                  {"anthropic-ratelimit-tokens-reset", "2999-01-01T00:00:00Z"}}),
            seconds(60));
}

}  // namespace
}  // namespace hone::http
