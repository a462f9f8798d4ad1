#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/gate.hpp"
#include "stats/paired.hpp"

namespace hone::stats {
namespace {

using testing::HasSubstr;

/// Facts of a with-skill arm measured before (the baseline) and now.
GateFacts measured(const std::vector<std::pair<Tally, Tally>>& before_and_now) {
  GateFacts f;
  f.baseline.emplace();
  f.baseline->description = "2026-01-31";
  for (const auto& [before, now] : before_and_now) {
    const std::string name = "case" + std::to_string(f.cases.size());
    f.cases.push_back({name, now, {}});
    f.case_digests.push_back("sha256:1");
    f.baseline->cases.push_back({name, before, {}});
    f.baseline->case_digests.push_back("sha256:1");
  }
  return f;
}

GateVerdict no_regression(const GateFacts& f) { return judge(parse_gate("no-regression"), f); }

/// Draws passes of `runs` runs for each rate.
std::vector<Tally> draw(const std::vector<double>& rates, int runs, SplitMix64& random) {
  std::vector<Tally> tallies;
  for (const double rate : rates) {
    Tally t{0, runs};
    for (int r = 0; r < runs; ++r)
      t.passes += static_cast<double>(random.next() >> 11) * 0x1p-53 < rate;
    tallies.push_back(t);
  }
  return tallies;
}

struct Shares {
  double fail = 0, inconclusive = 0;
};

Shares simulate(const std::vector<double>& before, const std::vector<double>& now, int runs,
                int repeats = 2000) {
  SplitMix64 random(7);
  Shares shares;
  for (int i = 0; i < repeats; ++i) {
    const auto a = draw(before, runs, random), b = draw(now, runs, random);
    std::vector<std::pair<Tally, Tally>> pairs;
    for (size_t c = 0; c < a.size(); ++c) pairs.emplace_back(a[c], b[c]);
    const auto outcome = no_regression(measured(pairs)).outcome;
    shares.fail += outcome == GateOutcome::fail;
    shares.inconclusive += outcome == GateOutcome::inconclusive;
  }
  shares.fail /= repeats;
  shares.inconclusive /= repeats;
  return shares;
}

/// 14 cases around 65 % and what an emptied skill leaves of them, around 25 %: facts that only
/// the skill tells fall to nothing, what the model knew anyway stays.
const std::vector<double> kHealthy = {1, .95, .9, .9, .9, .8, .8, .7, .6, .5, .4, .3, .2, .1};
const std::vector<double> kEmptied = {.9, .8, .1, 0, .1, 0, .7, .1, .1, .3, .1, .2, .1, 0};

TEST(NoRegression, AnEmptiedSkillTurnsItRed) {
  EXPECT_GT(simulate(kHealthy, kEmptied, 3).fail, .9);
  EXPECT_GT(simulate(kHealthy, kEmptied, 5).fail, .95);
}

TEST(NoRegression, ResamplingNoiseDoesNot) {
  for (const int runs : {1, 3, 10}) {
    const Shares noise = simulate(kHealthy, kHealthy, runs);
    EXPECT_LT(noise.fail, .05) << runs << " runs";
    EXPECT_LT(noise.inconclusive, .06) << runs << " runs";
  }
  EXPECT_LT(simulate(std::vector<double>(8, .5), std::vector<double>(8, .5), 3).fail, .05);
}

TEST(NoRegression, ReshuffledCasesAreNoRegression) {
  // Each case may change, in either direction alike: pooling runs alarms on 42 % of these.
  SplitMix64 random(11);
  int alarms = 0;
  constexpr int kRepeats = 1000;
  for (int i = 0; i < kRepeats; ++i) {
    std::vector<double> before(8), now(8);
    for (auto* rates : {&before, &now})
      for (double& r : *rates) r = .1 + .8 * static_cast<double>(random.next() >> 11) * 0x1p-53;
    const auto a = draw(before, 10, random), b = draw(now, 10, random);
    std::vector<std::pair<Tally, Tally>> pairs;
    for (size_t c = 0; c < a.size(); ++c) pairs.emplace_back(a[c], b[c]);
    alarms += no_regression(measured(pairs)).outcome == GateOutcome::fail;
  }
  EXPECT_LT(alarms, kRepeats * 65 / 1000);
}

TEST(NoRegression, SaysTheNumbersAndTheCases) {
  std::vector<std::pair<Tally, Tally>> pairs(8, {{3, 3}, {3, 3}});
  for (size_t i = 0; i < 5; ++i) pairs[i].second.passes = 0;
  pairs[7] = {{1, 3}, {2, 3}};
  const auto bad = no_regression(measured(pairs));
  EXPECT_EQ(bad.outcome, GateOutcome::fail);
  EXPECT_THAT(bad.message, HasSubstr("33.3 % (8/24 runs) against 91.7 % (22/24) in the baseline "
                                     "(2026-01-31), 8 cases: -58.3 points"));
  EXPECT_THAT(bad.message, HasSubstr("a regression; worse: case0 3/3 -> 0/3"));
  EXPECT_THAT(bad.message, HasSubstr("better: case7 1/3 -> 2/3"));
  ASSERT_EQ(bad.moved.size(), 6u);
  EXPECT_EQ(bad.moved[5].name, "case7");
}

TEST(NoRegression, OneBrokenCaseOfManyIsInconclusiveAndNamed) {
  std::vector<std::pair<Tally, Tally>> pairs(14, {{10, 10}, {10, 10}});
  pairs[3].second.passes = 0;
  const auto v = no_regression(measured(pairs));
  EXPECT_EQ(v.outcome, GateOutcome::inconclusive);
  EXPECT_THAT(v.message, HasSubstr("worse: case3 10/10 -> 0/10"));
}

TEST(NoRegression, ImprovementPasses) {
  const auto v = no_regression(measured(std::vector<std::pair<Tally, Tally>>(8, {{1, 3}, {3, 3}})));
  EXPECT_EQ(v.outcome, GateOutcome::pass);
  EXPECT_THAT(v.message, HasSubstr("no significant drop"));
}

TEST(NoRegression, TenRunsGateOnlyOnATotalDrop) {
  EXPECT_EQ(no_regression(measured({{{3, 3}, {1, 3}}, {{3, 3}, {1, 3}}})).outcome,
            GateOutcome::inconclusive);
  EXPECT_EQ(no_regression(measured({{{3, 3}, {0, 3}}, {{3, 3}, {0, 3}}})).outcome,
            GateOutcome::fail);
  EXPECT_EQ(no_regression(measured({{{1, 3}, {0, 3}}, {{0, 3}, {0, 3}}})).outcome,
            GateOutcome::inconclusive);
  EXPECT_EQ(no_regression(measured({{{3, 3}, {3, 3}}})).outcome, GateOutcome::inconclusive);
  EXPECT_EQ(no_regression(measured({{{20, 20}, {0, 20}}})).outcome, GateOutcome::fail);
}

TEST(NoRegression, WithoutABaselineSaysWhatWritesOne) {
  GateFacts f = measured({{{3, 3}, {3, 3}}});
  f.baseline.reset();
  f.no_baseline = "no baseline yet: hone baseline demo";
  EXPECT_EQ(no_regression(f).outcome, GateOutcome::inconclusive);
  EXPECT_EQ(no_regression(f).message, "no baseline yet: hone baseline demo");
}

TEST(NoRegression, ComparesOnlySharedUneditedCases) {
  GateFacts f = measured(std::vector<std::pair<Tally, Tally>>(8, {{3, 3}, {3, 3}}));
  f.case_digests[0] = "sha256:2";
  f.cases[0].with_skill.passes = 0;
  f.cases[1].name = "renamed";
  f.cases[2].with_skill = {};
  f.baseline->differs = {"model file changed"};
  const auto v = no_regression(f);
  EXPECT_EQ(v.outcome, GateOutcome::pass);
  EXPECT_THAT(v.message, HasSubstr("5 cases"));
  EXPECT_THAT(v.message, HasSubstr("1 case new; 1 case gone; 1 case edited since, not compared; "
                                   "1 case without scored runs; note: model file changed"));
  f.baseline->cases.clear();
  EXPECT_THAT(no_regression(f).message, HasSubstr("shares no measured case"));
}

}  // namespace
}  // namespace hone::stats
