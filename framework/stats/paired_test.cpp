#include "stats/paired.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace hone::stats {
namespace {

constexpr double kDigits = 1e-10;
const std::vector<std::vector<double>> kWith = {
    {1, 1, 1, 0, 1}, {0, 0, 1, 0, 0}, {1, 1, 1, 1, 1}, {0, 1, 1, 0, 1}};
const std::vector<double> kFour = {.4, .2, 0, .2};
const std::vector<double> kEight = {.4, .2, 0, .6, .2, -.2, .8, .4};

TEST(PairedT, AgreesWithScipyOnFourCases) {
  const auto t = paired_t(kFour);
  ASSERT_TRUE(t);
  EXPECT_EQ(t->cases, 4);
  EXPECT_NEAR(t->mean, .2, kDigits);
  EXPECT_NEAR(t->se, .0816496581, kDigits);
  EXPECT_NEAR(t->interval.low, -.0598456527, kDigits);
  EXPECT_NEAR(t->interval.high, .4598456527, kDigits);
  EXPECT_NEAR(t->p, .0917211133, kDigits);
  EXPECT_NEAR(t->p_drop, 1 - .0917211133 / 2, kDigits);
}

TEST(PairedT, AgreesWithScipyOnEightCases) {
  const auto t = paired_t(kEight);
  ASSERT_TRUE(t);
  EXPECT_NEAR(t->mean, .3, kDigits);
  EXPECT_NEAR(t->se, .1133893419, kDigits);
  EXPECT_NEAR(t->p, .0331455003, kDigits);
}

TEST(PairedT, OneCaseSaysNothingAndEqualCasesAreExact) {
  EXPECT_FALSE(paired_t(std::vector<double>{.5}));
  const auto down = paired_t(std::vector<double>{-.1, -.1, -.1});
  EXPECT_EQ(down->p_drop, 0);
  EXPECT_EQ(down->interval.low, down->interval.high);
  EXPECT_EQ(paired_t(std::vector<double>{0, 0})->p, 1);
  EXPECT_EQ(paired_t(std::vector<double>{0, 0})->p_drop, 1);
}

TEST(SignFlip, IsExact) {
  EXPECT_NEAR(sign_flip(kFour).p, .25, kDigits);
  EXPECT_NEAR(sign_flip(kEight).p, .0625, kDigits);
  EXPECT_NEAR(sign_flip(std::vector<double>(6, -1.0)).p, 2 / 64.0, kDigits);
  EXPECT_NEAR(sign_flip(std::vector<double>(6, -1.0)).p_drop, 1 / 64.0, kDigits);
  EXPECT_EQ(sign_flip(std::vector<double>(6, 1.0)).p_drop, 1);
  EXPECT_EQ(sign_flip({}).p, 1);
}

TEST(SignFlip, SamplesWhenThereAreManyCases) {
  std::vector<double> mixed(40, .3);
  for (size_t i = 0; i < 20; ++i) mixed[i] = -.3;
  EXPECT_NEAR(sign_flip(mixed).p_drop, .5627, .01);  // P(Binomial(40, 1/2) <= 20)
  EXPECT_NEAR(sign_flip(std::vector<double>(40, -.3)).p_drop, 1e-5, 1e-6);
}

TEST(SignFlip, SmallestReachableP) {
  EXPECT_EQ(smallest_sign_flip_p(6), 2 / 64.0);
  EXPECT_EQ(smallest_sign_flip_p(1), 1);
  EXPECT_LE(smallest_sign_flip_p(kFewestCasesForAClaim), .05);
  EXPECT_GT(smallest_sign_flip_p(kFewestCasesForAClaim - 1), .05);
}

TEST(ClusteredSe, AgreesWithTheWorkedExample) {
  std::vector<double> all;
  for (const auto& c : kWith) all.insert(all.end(), c.begin(), c.end());
  EXPECT_NEAR(mean(all), .65, kDigits);
  EXPECT_NEAR(independent_se(all), .1066536450, kDigits);
  EXPECT_NEAR(clustered_se(kWith), .1479019946, kDigits);
}

TEST(ClusteredMean, CorrectsForFewClusters) {
  const auto with = clustered_mean(kWith);
  ASSERT_TRUE(with);
  EXPECT_NEAR(with->mean, .65, kDigits);
  EXPECT_NEAR(with->se, .1479019946 * std::sqrt(4 / 3.0), kDigits);
  // The differences of the worked example are one score a cluster: the paired t test.
  std::vector<std::vector<double>> differences;
  for (const double d : kFour) differences.push_back({d});
  const auto d = clustered_mean(differences);
  EXPECT_NEAR(d->se, .0816496581, kDigits);
  EXPECT_NEAR(d->interval.low, -.0598456527, kDigits);
  EXPECT_NEAR(d->interval.high, .4598456527, kDigits);
  std::vector<std::vector<double>> many(30, {0, 1});
  many[0] = {1, 1};
  const auto m = clustered_mean(many);
  EXPECT_NEAR(m->se, clustered_se(many), kDigits);
  EXPECT_NEAR(m->interval.high - m->mean, 1.959963984540054 * m->se, kDigits);
  EXPECT_FALSE(clustered_mean(std::vector<std::vector<double>>{{1, 0}, {}}));
}

TEST(SplitMix64, ReproducesItsReferenceStream) {
  SplitMix64 random(42);
  EXPECT_EQ(random.next(), 0xbdd732262feb6e95u);
  EXPECT_EQ(random.next(), 0x28efe333b266f103u);
  EXPECT_EQ(random.next(), 0x47526757130f9f52u);
}

TEST(Bootstrap, AgreesWithTheReference) {
  const Interval interval = bootstrap_mean(kEight);
  EXPECT_NEAR(interval.low, .1, kDigits);
  EXPECT_NEAR(interval.high, .5, kDigits);
  EXPECT_THROW(bootstrap_mean({}), std::invalid_argument);
  EXPECT_EQ(bootstrap_mean(std::vector<double>{.25}).low, .25);
}

}  // namespace
}  // namespace hone::stats
