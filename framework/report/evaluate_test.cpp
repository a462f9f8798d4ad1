#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/baseline.hpp"
#include "report/run_folder_fixture.hpp"
#include "report/writers.hpp"

namespace hone::report {
namespace {

using stats::Arm;
using stats::GateOutcome;
using testing::HasSubstr;

struct EvaluateTest : testing::Test {
  RunFolder folder;
  EvaluationResult result;

  const ModelResult& model() {
    result = collect(folder.input);
    return result.models.at(0);
  }
  Exit code() { return exit_code({{}, {collect(folder.input)}}); }

  /// Text cases with these passes of three runs.
  void cases(const std::vector<int>& with, const std::vector<int>& without) {
    folder.input.cases.clear();
    for (size_t i = 0; i < with.size(); ++i) {
      const std::string id = "case" + std::to_string(i);
      folder.add_text_case(id);
      folder.judge_runs(id, Arm::with_skill, with[i]);
      folder.judge_runs(id, Arm::without_skill, without[i]);
    }
  }
};

TEST_F(EvaluateTest, SumsUpRatesLiftAndTokens) {
  cases({3, 3, 2, 3, 2, 0}, {0, 1, 0, 0, 1, 0});
  const auto& m = model();
  EXPECT_NEAR(m.with_skill.pass_rate.value(), 13 / 18.0, 1e-12);
  EXPECT_EQ(m.without_skill.total, (stats::Tally{2, 18}));
  EXPECT_NEAR(m.lift.value(), 11 / 18.0, 1e-12);
  EXPECT_GT(m.lift_t->interval.low, 0);
  EXPECT_NEAR(m.lift_sign_flip->p, 2 / 32.0, 1e-12);
  EXPECT_NEAR(m.normalised_gain.value(), 11 / 16.0, 1e-12);
  EXPECT_EQ(m.with_skill.input_tokens, 18 * 700);
  EXPECT_NEAR(m.with_skill.tokens_per_trial.value(), 800, 1e-9);
  EXPECT_NEAR(m.with_skill.tokens_per_correct.value(), 800 * 18 / 13.0, 1e-9);
  EXPECT_NEAR(m.tokens_saved.value(), -450, 1e-9);
  EXPECT_EQ(m.with_skill.flaky_cases, 2);
  EXPECT_THAT(m.caveat, HasSubstr("3 runs cannot show a change of one case, 4 can"));
  EXPECT_NEAR(m.with_skill.clustered_se.value(),
              stats::standard_deviation(std::vector{1., 1., 2 / 3., 1., 2 / 3., 0.}) / std::sqrt(6),
              1e-12);
  EXPECT_GT(m.lift_bootstrap->low, 0);
  EXPECT_EQ(code(), Exit::good);
}

TEST_F(EvaluateTest, TellsWhatIsCorrectByEachTurn) {
  cases({3, 2}, {1, 0});
  EXPECT_TRUE(model().with_skill.pass_at_turn.empty());
  folder.input.cases[0].turns = 3;
  folder.put_turn_before("case0", Arm::with_skill, 1);
  folder.put_turn_before("case0", Arm::with_skill, 2);
  folder.put_turn_before("case0", Arm::without_skill, 2);  // and still wrong
  const auto& m = model();
  EXPECT_THAT(m.with_skill.pass_at_turn,
              testing::ElementsAre(testing::DoubleEq((1 / 3. + 2 / 3.) / 2),
                                   testing::DoubleEq((1 + 2 / 3.) / 2),
                                   testing::DoubleEq((1 + 2 / 3.) / 2)));
  EXPECT_DOUBLE_EQ(m.with_skill.pass_at_turn.back(), m.with_skill.pass_rate.value());
  EXPECT_THAT(m.without_skill.pass_at_turn, testing::Each(testing::DoubleEq(1 / 6.)));
}

TEST_F(EvaluateTest, InfrastructureErrorsAreNotScored) {
  cases({3, 3}, {0, 0});
  folder.respond("case0", Arm::with_skill, 0, kInfrastructureError);
  const auto& m = model();
  EXPECT_EQ(m.with_skill.total, (stats::Tally{5, 5}));
  EXPECT_EQ(m.with_skill.infrastructure_errors, 1);
  EXPECT_EQ(m.with_skill.pass_rate, 1.0);
  EXPECT_EQ(m.with_skill.trials_with_usage, 5);
  EXPECT_EQ(code(), Exit::infrastructure);
}

TEST_F(EvaluateTest, AbsentUsageStaysAbsent) {
  folder.add_text_case("c");
  folder.judge("c", Arm::with_skill, 0, "correct");
  storage::write_json(folder.trial("c", Arm::with_skill, 0) / "response.json",
                      {{"schema", "hone.response/1"}, {"outcome", "answered"}, {"usage", nullptr}});
  const auto& m = model();
  EXPECT_EQ(m.with_skill.input_tokens, std::nullopt);
  EXPECT_EQ(m.with_skill.tokens_per_correct, std::nullopt);
  EXPECT_EQ(m.tokens_saved, std::nullopt);
}

TEST_F(EvaluateTest, SaysWhatCannotBeClaimed) {
  cases({3, 3, 3}, {0, 0, 0});
  EXPECT_THAT(model().caveat, HasSubstr("3 cases cannot support a claim"));
  cases({3, 3, 0, 1, 2, 2, 0, 1}, {2, 3, 1, 1, 1, 2, 0, 1});
  EXPECT_THAT(model().caveat, HasSubstr("cannot be told from zero; 8 cases with 3 runs show "
                                        "effects from about 38 points; about"));
  folder.input.cases.clear();
  EXPECT_THAT(model().caveat, HasSubstr("no case was scored"));
}

TEST_F(EvaluateTest, NothingRunIsInconclusive) {
  folder.add_text_case("c");
  EXPECT_EQ(code(), Exit::inconclusive);
  EXPECT_EQ(model().with_skill.not_run, 3);
}

TEST_F(EvaluateTest, AMissedRequireIsJudgedBad) {
  cases({1}, {3});
  folder.input.cases[0].require = 1.0 / 3;
  EXPECT_EQ(code(), Exit::good);
  folder.input.cases[0].require = 0.5;  // 1/3 is no proof of less than 50 %
  EXPECT_EQ(model().cases.at(0).require->outcome, GateOutcome::inconclusive);
  EXPECT_THAT(write_junit({{}, {result}}), HasSubstr("<skipped message=\"require is inconclusive"));
  EXPECT_EQ(code(), Exit::good);
  folder.input.cases[0].require = 0.9;
  EXPECT_EQ(code(), Exit::judged_bad);
  model();
  EXPECT_THAT(write_junit({{}, {result}}), HasSubstr("type=\"require\""));
}

TEST_F(EvaluateTest, AnEmptiedSkillIsARegressionAndARerunIsNot) {
  // A small real run: 14 cases of 3 runs, 28/42 with the skill before, 10/42 once it is emptied.
  const std::vector<int> healthy = {3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 0};
  const std::vector<int> rerun = {3, 3, 2, 3, 3, 3, 1, 2, 3, 1, 2, 0, 1, 0};
  const std::vector<int> emptied = {3, 2, 0, 0, 1, 0, 2, 0, 0, 1, 0, 1, 0, 0};
  const std::vector<int> without = {3, 1, 0, 0, 0, 0, 2, 0, 1, 1, 0, 0, 0, 0};
  folder.input.gates = {"no-regression"};
  cases(healthy, without);
  const auto& first = model().gates.at(0).verdict;
  EXPECT_EQ(first.outcome, GateOutcome::inconclusive);
  EXPECT_THAT(first.message, HasSubstr("hone baseline demo"));
  EXPECT_EQ(code(), Exit::inconclusive);
  EXPECT_THAT(update_baseline(result), HasSubstr("local 28/42 runs correct over 14 cases"));

  cases(rerun, without);
  EXPECT_EQ(model().gates.at(0).verdict.outcome, GateOutcome::pass);
  EXPECT_EQ(code(), Exit::good);

  cases(emptied, without);
  const auto& verdict = model().gates.at(0).verdict;
  EXPECT_EQ(verdict.outcome, GateOutcome::fail) << verdict.message;
  EXPECT_THAT(verdict.message, HasSubstr("23.8 % (10/42 runs) against 66.7 % (28/42)"));
  EXPECT_EQ(verdict.moved.at(0).name, "case2");
  EXPECT_EQ(code(), Exit::judged_bad);
}

TEST_F(EvaluateTest, FreshRunsConfirmAnAlarmOrDoNot) {
  folder.input.gates = {"pass_rate(with_skill) >= 0.9", "lift >= 0"};
  cases({0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(model().gates.at(0).verdict.outcome, GateOutcome::fail);
  EXPECT_FALSE(result.models.at(0).gates.at(0).fresh);
  const auto fresh = [&](const char* outcome) {
    for (const auto& c : folder.input.cases)
      for (int run = 3; run < 6; ++run) folder.judge(c.id, Arm::with_skill, run, outcome);
  };
  fresh("wrong");
  EXPECT_EQ(model().gates.at(0).verdict.outcome, GateOutcome::fail);
  EXPECT_THAT(result.models.at(0).gates.at(0).verdict.message,
              HasSubstr("; fresh runs confirm it (fail: pass rate with_skill 0.0 % (0/18 runs"));
  fresh("correct");
  EXPECT_EQ(model().gates.at(0).verdict.outcome, GateOutcome::inconclusive);
  EXPECT_EQ(result.models.at(0).gates.at(0).fresh->outcome, GateOutcome::pass);
  EXPECT_EQ(result.models.at(0).with_skill.total.n, 18);  // the report speaks of the first runs
  EXPECT_FALSE(result.models.at(0).gates.at(1).fresh);    // no alarm, nothing to confirm
}

TEST_F(EvaluateTest, ABrokenBaselineIsBadInputAndNothingElseIsLost) {
  cases({3, 3}, {0, 0});
  folder.input.gates = {"no-regression"};
  storage::write_atomically(folder.input.baseline, "{ nonsense");
  const auto& m = model();
  EXPECT_EQ(m.gates.at(0).verdict.outcome, GateOutcome::inconclusive);
  EXPECT_THAT(m.gates.at(0).verdict.message, HasSubstr("demo.json:1:4: error: not valid JSON"));
  EXPECT_EQ(m.with_skill.total.n, 6);
  EXPECT_THAT(write_junit({{}, {result}}),
              HasSubstr("<error message=\"inconclusive: the baseline"));
  EXPECT_EQ(code(), Exit::bad_input);
}

TEST_F(EvaluateTest, WarnsOfRecordsThatDontFitThePlan) {
  cases({3}, {0});
  folder.input.skill_digest = "sha256:edited";
  folder.input.cases[0].digest = "sha256:edited";
  model();
  ASSERT_EQ(result.problems.size(), 2u);
  EXPECT_THAT(result.problems[0].str(), HasSubstr("the skill was edited after"));
  EXPECT_THAT(result.problems[1].str(),
              HasSubstr("cases/facts.json:1: warning: case case0 was edited after"));
}

TEST_F(EvaluateTest, AGateThatDoesNotParseIsBadInput) {
  folder.input.gates = {"lift => 0"};
  EXPECT_THROW(collect(folder.input), Error);
}

}  // namespace
}  // namespace hone::report
