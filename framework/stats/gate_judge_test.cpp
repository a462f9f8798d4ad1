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

}  // namespace
}  // namespace hone::stats
