#include "stats/intervals.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace hone::stats {
namespace {

constexpr double kDigits = 1e-10;

struct Reference {
  Tally tally;
  Interval wilson, clopper_pearson;
};

class ReferenceIntervals : public testing::TestWithParam<Reference> {};

// Computed with scipy 1.17.1 and statsmodels 0.15.0.
INSTANTIATE_TEST_SUITE_P(
    Scipy, ReferenceIntervals,
    testing::Values(Reference{{0, 1}, {0, .7934506856}, {0, .9750000000}},
                    Reference{{0, 5}, {0, .4344824648}, {0, .5218237501}},
                    Reference{{3, 5}, {.2307242813, .8823792258}, {.1466327996, .9472550495}},
                    Reference{{5, 5}, {.5655175352, 1}, {.4781762499, 1}},
                    Reference{{7, 10}, {.3967781475, .8922087326}, {.3475471499, .9332604888}},
                    Reference{{18, 20}, {.6989663548, .9721335188}, {.6830172860, .9876514728}},
                    Reference{{45, 50}, {.7863976856, .9565242351}, {.7818646336, .9667249064}},
                    Reference{{81, 100}, {.7222115462, .8748524849}, {.7193020420, .8815568039}}));

TEST_P(ReferenceIntervals, Wilson) {
  const Interval interval = wilson(GetParam().tally);
  EXPECT_NEAR(interval.low, GetParam().wilson.low, kDigits);
  EXPECT_NEAR(interval.high, GetParam().wilson.high, kDigits);
}

TEST_P(ReferenceIntervals, ClopperPearson) {
  const Interval interval = clopper_pearson(GetParam().tally);
  EXPECT_NEAR(interval.low, GetParam().clopper_pearson.low, kDigits);
  EXPECT_NEAR(interval.high, GetParam().clopper_pearson.high, kDigits);
}

TEST(Newcombe, AgreesWithTheReferences) {
  const auto expect = [](Tally a, Tally b, double low, double high) {
    const Interval interval = newcombe(a, b);
    EXPECT_NEAR(interval.low, low, kDigits);
    EXPECT_NEAR(interval.high, high, kDigits);
  };
  expect({56, 70}, {48, 80}, .0524314724, .3338726540);
  expect({10, 10}, {0, 10}, .6075093504, 1);
  expect({9, 10}, {5, 10}, -.0023561094, .6759121533);
}

TEST(Intervals, OfNothingSayNothing) {
  EXPECT_EQ(wilson({}).low, 0);
  EXPECT_EQ(wilson({}).high, 1);
  EXPECT_EQ(clopper_pearson({}).high, 1);
  EXPECT_EQ(newcombe({}, {1, 1}).low, -1);
}

TEST(Intervals, RefuseImpossibleTallies) {
  EXPECT_THROW(wilson({2, 1}), std::invalid_argument);
  EXPECT_THROW(clopper_pearson({-1, 1}), std::invalid_argument);
  EXPECT_THROW(wilson({1, 1}, 1.5), std::invalid_argument);
}

}  // namespace
}  // namespace hone::stats
