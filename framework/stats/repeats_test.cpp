#include "stats/repeats.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace hone::stats {
namespace {

TEST(PassAtK, AgreesWithTheReferences) {
  struct Row {
    int n, c, k;
    double at, hat;
  };
  for (const Row& r :
       {Row{10, 3, 5, .916666666667, 0}, Row{10, 8, 5, 1, .222222222222}, Row{5, 3, 2, .9, .3},
        Row{20, 10, 3, .894736842105, .105263157895}, Row{10, 9, 3, 1, .7}}) {
    EXPECT_NEAR(pass_at_k(r.n, r.c, r.k), r.at, 1e-12) << r.n << "," << r.c << "," << r.k;
    EXPECT_NEAR(pass_hat_k(r.n, r.c, r.k), r.hat, 1e-12);
  }
}

TEST(PassAtK, StaysExactForManyRuns) {
  EXPECT_NEAR(pass_at_k(100000, 1, 50000), .5, 1e-9);
  EXPECT_THROW(pass_at_k(3, 4, 1), std::invalid_argument);
  EXPECT_THROW(pass_hat_k(3, 1, 4), std::invalid_argument);
}

TEST(NormalisedGain, IsTheShareOfWhatWasLeft) {
  EXPECT_NEAR(normalised_gain(.4, .7), .5, 1e-12);
  EXPECT_NEAR(normalised_gain(.5, .25), -.5, 1e-12);
  EXPECT_EQ(normalised_gain(1, 1), 0);
}

TEST(PerCorrect, ChargesTheFailuresToTheSuccesses) {
  EXPECT_EQ(per_correct(14400, 13), 14400 / 13.0);
  EXPECT_EQ(per_correct(14400, 0), std::nullopt);
}

}  // namespace
}  // namespace hone::stats
