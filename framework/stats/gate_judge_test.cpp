#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/gate.hpp"

namespace hone::stats {
namespace {

using testing::HasSubstr;

GateFacts facts(const std::vector<std::pair<Tally, Tally>>& with_and_without) {
  GateFacts f;
  for (const auto& [with, without] : with_and_without)
    f.cases.push_back({"case" + std::to_string(f.cases.size()), with, without});
  return f;
}

GateVerdict judge(const char* gate, const GateFacts& f) { return judge(parse_gate(gate), f); }

const GateFacts kHelps = facts({{{3, 3}, {0, 3}},
                                {{3, 3}, {1, 3}},
                                {{2, 3}, {0, 3}},
                                {{3, 3}, {0, 3}},
                                {{2, 3}, {1, 3}},
                                {{0, 3}, {0, 3}}});

TEST(PassRateGate, HasThreeOutcomes) {
  // 13/18 = 72 %.
  EXPECT_EQ(judge("pass_rate(with_skill) >= 0.7", kHelps).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("pass_rate(with_skill) >= 0.75", kHelps).outcome, GateOutcome::inconclusive);
  const auto missed = judge("pass_rate(without_skill) >= 0.7", kHelps);
  EXPECT_EQ(missed.outcome, GateOutcome::fail);
  EXPECT_THAT(missed.message, HasSubstr("11.1 % (2/18 runs, 6 cases), asked for >= 70.0 %"));
  EXPECT_EQ(missed.moved.size(), 6u);
  EXPECT_EQ(judge("pass_rate(without_skill) <= 0.2", kHelps).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("pass_rate(with_skill) < 0.2", kHelps).outcome, GateOutcome::fail);
}

TEST(PassRateGate, ExactThresholdIsMet) {
  const auto f = facts({{{3, 5}, {}}, {{3, 5}, {}}, {{3, 5}, {}}});
  EXPECT_EQ(judge("pass_rate(with_skill) >= 0.6", f).outcome, GateOutcome::pass);
}

TEST(PassRateGate, TenRunsSettleOnlyWhatIsUnmistakable) {
  EXPECT_EQ(judge("pass_rate(with_skill) >= 0.6", facts({{{7, 10}, {}}})).outcome,
            GateOutcome::inconclusive);
  EXPECT_EQ(judge("pass_rate(with_skill) >= 0.6", facts({{{10, 10}, {}}})).outcome,
            GateOutcome::pass);
  EXPECT_EQ(judge("pass_rate(with_skill) >= 0.6", facts({{{0, 10}, {}}})).outcome,
            GateOutcome::fail);
  EXPECT_EQ(judge("pass_rate(with_skill) >= 0.6", facts({{{0, 0}, {}}})).outcome,
            GateOutcome::inconclusive);
}

TEST(LiftGate, FailsOnlyWhenTheDataRuleItOut) {
  EXPECT_EQ(judge("lift >= 0.1", kHelps).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("lift_low > 0", kHelps).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("lift >= 0.7", kHelps).outcome, GateOutcome::inconclusive);
  EXPECT_EQ(judge("lift >= 100%", kHelps).outcome, GateOutcome::fail);
  GateFacts harms = kHelps;
  for (auto& c : harms.cases) std::swap(c.with_skill, c.without_skill);
  const auto bad = judge("lift >= 0", harms);
  EXPECT_EQ(bad.outcome, GateOutcome::fail);
  EXPECT_THAT(bad.message, HasSubstr("lift -61.1 points"));
  EXPECT_THAT(bad.message, HasSubstr("worse: case0 3/3 -> 0/3"));
  EXPECT_EQ(bad.moved.size(), 5u);
  EXPECT_EQ(judge("lift >= 0", facts({{{1, 3}, {3, 3}}})).outcome, GateOutcome::inconclusive);
  EXPECT_EQ(judge("lift_low > 0", facts({{{3, 3}, {0, 3}}})).outcome, GateOutcome::inconclusive);
  EXPECT_EQ(judge("lift >= 0", facts({})).outcome, GateOutcome::inconclusive);
}

TEST(TokenGates, CompareWhatTheServerReported) {
  GateFacts f = kHelps;
  EXPECT_EQ(judge("tokens_saved >= 0", f).outcome, GateOutcome::inconclusive);
  EXPECT_THAT(judge("tokens_saved >= 0", f).message, HasSubstr("no token usage"));
  f.with_skill = {700, 120, 900};
  f.without_skill = {200, 150, std::nullopt};
  f.tokens_saved = -470;
  const auto paid = judge("tokens_saved >= 0", f);
  EXPECT_EQ(paid.outcome, GateOutcome::fail);
  EXPECT_THAT(paid.message, HasSubstr("-470"));
  EXPECT_EQ(judge("tokens_per_correct(with_skill) <= 1000", f).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("output_tokens(with_skill) < 100", f).outcome, GateOutcome::fail);
}

TEST(OtherGates, AreComparedAsTheyAre) {
  GateFacts f = kHelps;
  f.infrastructure_errors = 2;
  EXPECT_EQ(judge("infrastructure_errors == 0", f).outcome, GateOutcome::fail);
  EXPECT_EQ(judge("flaky_cases(with_skill) <= 2", f).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("pass_at_k(with_skill, 3) >= 0.8", f).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("pass_hat_k(with_skill, 3) >= 0.8", f).outcome, GateOutcome::fail);
  EXPECT_EQ(judge("pass_at_k(with_skill, 9) >= 0.8", f).outcome, GateOutcome::inconclusive);
  EXPECT_EQ(judge("normalised_gain > 0.5", f).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("pass_rate_low(with_skill) >= 0.7", f).outcome, GateOutcome::fail);
  EXPECT_THAT(judge("lift >= 0.7", f).message, HasSubstr("2 infrastructure errors not counted"));
}

/// Times of one case with the skill, now and in the baseline, by a model.
GateFacts timed(const std::vector<double>& before, const std::vector<double>& now) {
  GateFacts f = kHelps;
  f.bench = {{"layernorm", "norms", now, "model bound", "cudasim", 4000.0}};
  f.baseline.emplace();
  f.baseline->description = "2026-01-31";
  f.baseline->bench = {{"layernorm", "norms", before, "model bound", "cudasim", 4000.0}};
  return f;
}

TEST(BenchGate, ComparesWithTheBaseline) {
  constexpr const char* kGate = "bench(layernorm) <= 1.05 * baseline";
  const auto same = judge(kGate, timed({5000, 5100, 5200}, {5000, 5200, 5300}));
  EXPECT_EQ(same.outcome, GateOutcome::pass);
  EXPECT_THAT(same.message, HasSubstr("bench(layernorm) is 5.20 us, 5.10 us in the baseline "
                                      "(2026-01-31), asked for <= 5.36 us (model bound)"));
  const auto slower = judge(kGate, timed({5000, 5100, 5200}, {7000, 7100, 7200}));
  EXPECT_EQ(slower.outcome, GateOutcome::fail);
  EXPECT_THAT(slower.message, HasSubstr("not by chance (p = 0.05)"));
  const auto few = judge(kGate, timed({5000}, {7000}));
  EXPECT_EQ(few.outcome, GateOutcome::inconclusive);
  EXPECT_THAT(few.message, HasSubstr("more runs would tell"));
  EXPECT_EQ(judge("bench(norms) <= baseline", timed({5000}, {5000})).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("bench(norms) <= 4us", timed({}, {5000})).outcome, GateOutcome::fail);
}

TEST(BenchGate, IsInconclusiveWithoutComparableTimes) {
  GateFacts f = timed({5000}, {5000});
  f.bench[0].kind = "measured";
  EXPECT_THAT(judge("bench(norms) <= baseline", f).message,
              HasSubstr("the baseline's times are model bound on cudasim, these are measured"));
  EXPECT_THAT(judge("bench(norms) <= baseline", timed({}, {5000})).message,
              HasSubstr("in the baseline: no correct candidate"));
  EXPECT_EQ(judge("bench(nothing) <= 5us", timed({}, {5000})).outcome, GateOutcome::inconclusive);
  f.baseline.reset();
  f.no_baseline = "none: hone baseline demo";
  EXPECT_EQ(judge("bench(norms) <= baseline", f).message, "none: hone baseline demo");
}

TEST(FastPGate, CountsKernelCasesFasterThanTheReference) {
  GateFacts f = timed({}, {3000});
  f.bench.push_back({"gelu", "gelu", {}, "model bound", "cudasim", 4000.0});
  EXPECT_EQ(judge("fast_p(1) >= 0.5", f).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("fast_p(1.5) >= 0.5", f).outcome, GateOutcome::fail);
  EXPECT_EQ(judge("fast_p(1) >= 0.5", kHelps).outcome, GateOutcome::inconclusive);
}

TEST(BaselineGate, FailsOnlyBeyondChance) {
  GateFacts f = kHelps;
  f.baseline.emplace();
  f.baseline->cases = kHelps.cases;
  EXPECT_EQ(judge("lift >= baseline", f).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("pass_rate(with_skill) >= baseline - 5%", f).outcome, GateOutcome::pass);
  f.cases[0].with_skill.passes = 2;
  const auto little = judge("pass_rate(with_skill) >= baseline", f);
  EXPECT_EQ(little.outcome, GateOutcome::inconclusive);
  EXPECT_THAT(little.message, HasSubstr("worse: case0 3/3 -> 2/3"));
  for (auto& c : f.cases) c.with_skill.passes = 0;
  EXPECT_EQ(judge("lift >= baseline", f).outcome, GateOutcome::fail);
  EXPECT_EQ(judge("runs(with_skill) >= baseline", f).outcome, GateOutcome::pass);
}

TEST(CostGates, NeedPrices) {
  GateFacts f = kHelps;
  EXPECT_THAT(judge("cost(with_skill) <= 0.01", f).message, HasSubstr("no price is known"));
  f.cost_with = .004;
  EXPECT_EQ(judge("cost(with_skill) <= 0.01", f).outcome, GateOutcome::pass);
  EXPECT_THAT(judge("cost_per_correct(with_skill) <= 0.005", f).message,
              HasSubstr("is 0.00553846"));  // .004 * 18 / 13
}

TEST(CompoundGates, AreAsBadAsTheirWorstOrAsGoodAsTheirBest) {
  EXPECT_EQ(judge("lift >= 0.1 and lift_low > 0", kHelps).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("lift >= 0.1 and lift >= 0.7", kHelps).outcome, GateOutcome::inconclusive);
  const auto bad = judge("lift >= 0.7 and lift >= 100%", kHelps);
  EXPECT_EQ(bad.outcome, GateOutcome::fail);
  EXPECT_THAT(bad.message, HasSubstr("lift >= 0.7 (inconclusive): lift +61.1 points"));
  EXPECT_EQ(judge("lift >= 100% or lift >= 0.7", kHelps).outcome, GateOutcome::inconclusive);
  EXPECT_EQ(judge("lift >= 100% or lift > 0", kHelps).outcome, GateOutcome::pass);
  EXPECT_EQ(judge("no-regression and lift > 0", kHelps).outcome, GateOutcome::inconclusive);
}

TEST(Require, FailsOnlyWhatChanceDoesNotExplain) {
  const auto require = [](double least, Tally with) {
    return judge_require(least, {"gelu", with, {0, with.n}});
  };
  EXPECT_EQ(require(.9, {3, 3}).outcome, GateOutcome::pass);
  EXPECT_EQ(require(.9, {2, 3}).outcome, GateOutcome::inconclusive);
  const auto bad = require(.9, {0, 3});
  EXPECT_EQ(bad.outcome, GateOutcome::fail);
  EXPECT_THAT(bad.message, HasSubstr("gelu with the skill 0.0 % (0/3 runs), asked for >= 90.0 %"));
  EXPECT_EQ(bad.moved.size(), 1u);
  EXPECT_EQ(require(.9, {}).outcome, GateOutcome::inconclusive);
  EXPECT_EQ(judge("case_rate(case0) >= 0.9", kHelps).outcome, GateOutcome::inconclusive);
  EXPECT_EQ(judge("case_rate(case5) >= 0.9", kHelps).outcome, GateOutcome::fail);
  EXPECT_EQ(judge("case_rate(nobody) >= 0.9", kHelps).outcome, GateOutcome::inconclusive);
}

}  // namespace
}  // namespace hone::stats
