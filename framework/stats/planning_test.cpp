#include "stats/planning.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace hone::stats {
namespace {

TEST(BinomialGate, AgreesWithTheReferences) {
  struct Row {
    double p0;
    int n, critical;
    double false_alarm;
  };
  for (const Row& r : {Row{.95, 50, 42, .00319}, Row{.9, 50, 39, .00935}, Row{.9, 10, 5, .00163},
                       Row{.8, 100, 69, .00606}}) {
    const BinomialGate gate = binomial_gate(r.n, r.p0, .01);
    EXPECT_EQ(gate.critical, r.critical) << r.p0 << " " << r.n;
    EXPECT_NEAR(gate.false_alarm, r.false_alarm, 5e-6);
  }
  EXPECT_EQ(binomial_gate(2, .5, .01).critical, -1);
}

TEST(BinomialGate, AllMustPassFlaps) {
  EXPECT_NEAR(1 - binomial_at_least(5, 5, .95), .226, 5e-4);
  EXPECT_NEAR(1 - binomial_at_least(20, 20, .95), .64, 5e-3);
  EXPECT_EQ(binomial_at_most(-1, 5, .5), 0);
  EXPECT_EQ(binomial_at_most(5, 5, 1), 1);
}

TEST(Planning, SmallestDetectableEffectsAgreeWithTheReferences) {
  // Rounded points of the reference table, hence the tolerance.
  const int runs[] = {1, 3, 5, 10, 20};
  const struct {
    int cases;
    double points[5];
  } rows[] = {{8, {59, 38, 32, 27, 23}}, {20, {38, 24, 20, 17, 15}}, {40, {27, 17, 14, 12, 11}}};
  for (const auto& row : rows)
    for (size_t i = 0; i < 5; ++i)
      EXPECT_NEAR(100 * smallest_detectable_effect(row.cases, runs[i]), row.points[i], .55)
          << row.cases << " cases, " << runs[i] << " runs";
}

TEST(Planning, CasesNeededInvertsTheDetectableEffect) {
  for (const int cases : {8, 20, 40})
    EXPECT_EQ(cases_needed(smallest_detectable_effect(cases, 3), 3), cases);
  EXPECT_GT(cases_needed(.1, 3), cases_needed(.1, 10));
}

TEST(Planning, OneCaseNeedsFourRunsASide) {
  EXPECT_EQ(runs_for_one_case(), 4);  // 2/C(8,4) = .0286, and 2/C(6,3) = .1
  EXPECT_EQ(runs_for_one_case(.01), 5);
  EXPECT_THROW(runs_for_one_case(0), std::invalid_argument);
}

}  // namespace
}  // namespace hone::stats
