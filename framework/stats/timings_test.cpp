#include "stats/timings.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace hone::stats {
namespace {

// References: scipy 1.10.1, mannwhitneyu and, with ties, permutation_test.

TEST(MannWhitney, IsExactForSmallSamples) {
  const auto m =
      mann_whitney(std::vector{1.1, 2.3, 3.7, 4.2, 5.9}, std::vector{2.2, 4.8, 6.1, 7.3, 8.8, 9.4});
  EXPECT_EQ(m.u, 5);
  EXPECT_NEAR(m.p, .08225108225108226, 1e-12);
  EXPECT_NEAR(m.p_slower, .04112554112554113, 1e-12);
  std::vector<double> fast, slow;
  for (int i = 0; i < 9; ++i) {
    fast.push_back(10 + i);
    slow.push_back(20 + i);
  }
  EXPECT_NEAR(mann_whitney(fast, slow).p, 4.113533525298231e-05, 1e-16);
  EXPECT_NEAR(mann_whitney(slow, fast).p_slower, 1, 1e-12);
}

TEST(MannWhitney, IsExactWithTies) {
  const auto m =
      mann_whitney(std::vector<double>{1, 2, 2, 3, 3, 3}, std::vector<double>{2, 3, 3, 4, 4, 5});
  EXPECT_EQ(m.u, 7);
  EXPECT_NEAR(m.p, .10822510822510822, 1e-12);
  EXPECT_NEAR(m.p_slower, .05411255411255411, 1e-12);
  const std::vector<double> same(5, 2.0);
  EXPECT_EQ(mann_whitney(same, same).p, 1);
}

TEST(MannWhitney, ApproximatesLargeSamples) {
  std::vector<double> a, b;
  for (int i = 0; i < 60; ++i) a.push_back((i * 37 % 101) / 10.0);
  for (int i = 0; i < 50; ++i) b.push_back((i * 53 % 103) / 10.0 + 1.5);
  const auto m = mann_whitney(a, b);
  EXPECT_EQ(m.u, 1188);
  EXPECT_NEAR(m.p, .06147876723643886, 1e-10);
  EXPECT_NEAR(m.p_slower, .03073938361821943, 1e-10);
  EXPECT_EQ(mann_whitney(std::vector<double>(50, 1), std::vector<double>(50, 1)).p, 1);
}

TEST(MannWhitney, ThreeAgainstThreeReachFivePercentOneSided) {
  const std::vector<double> a{1, 2, 3}, b{4, 5, 6};
  EXPECT_NEAR(mann_whitney(a, b).p_slower, .05, 1e-12);
  EXPECT_EQ(mann_whitney(a, {}).p, 1);
}

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_THROW(median({}), std::invalid_argument);
}

TEST(FastP, CountsOnlyCorrectAndFaster) {
  const std::vector<std::optional<double>> speedups{2.0, 1.0, .5, std::nullopt};
  EXPECT_EQ(fast_p(speedups, 0), .75);
  EXPECT_EQ(fast_p(speedups, 1), .25);
  EXPECT_EQ(fast_p({}, 1), 0);
}

}  // namespace
}  // namespace hone::stats
