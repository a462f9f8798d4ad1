#include "report/baseline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/run_folder_fixture.hpp"

namespace hone::report {
namespace {

using stats::Arm;
using testing::HasSubstr;

TEST(BaselineFile, HasOneLineACaseAndReadsBack) {
  RunFolder folder;
  for (const char* id : {"b", "a"}) {
    folder.add_text_case(id);
    folder.judge_runs(id, Arm::with_skill, 2);
    folder.judge_runs(id, Arm::without_skill, 0);
  }
  folder.add_text_case("not-run");
  const Baseline baseline = make_baseline(collect(folder.input));
  EXPECT_EQ(write_baseline(baseline), R"({
"schema": "hone.baseline/1",
"evaluation": "demo",
"skill": "cuda-kernels",
"models": {
"local": {
  "skill_digest": "sha256:5c11",
  "date": "2026-01-31T12:00:00Z",
  "model_id": "coder-0.5b.gguf",
  "model_digest": "sha256:90de1",
  "sampling": {"temperature":0.7},
  "runs": 3,
  "cases": {
    "a": {"with_skill": [2, 3], "without_skill": [0, 3], "digest": "sha256:ca5e", "with_tokens": [700, 100], "without_tokens": [200, 150]},
    "b": {"with_skill": [2, 3], "without_skill": [0, 3], "digest": "sha256:ca5e", "with_tokens": [700, 100], "without_tokens": [200, 150]}
  }
}
}
}
)");
  storage::write_atomically(folder.input.baseline, write_baseline(baseline));
  const Baseline read = read_baseline(folder.input.baseline);
  EXPECT_EQ(write_baseline(read), write_baseline(baseline));
  EXPECT_EQ(read.models.at("local").total(), (stats::Tally{4, 6}));
}

TEST(BaselineFile, UpdatingOneModelKeepsTheOthers) {
  RunFolder folder;
  folder.add_text_case("a");
  folder.judge_runs("a", Arm::with_skill, 2);
  Baseline earlier;
  earlier.models["other"].runs = 5;
  earlier.models["other"].cases["a"].with_skill = {5, 5};
  storage::write_atomically(folder.input.baseline, write_baseline(earlier));
  EXPECT_THAT(update_baseline(collect(folder.input)), HasSubstr("updated"));
  const Baseline both = read_baseline(folder.input.baseline);
  EXPECT_EQ(both.models.at("other").total(), (stats::Tally{5, 5}));
  EXPECT_EQ(both.models.at("local").total(), (stats::Tally{2, 3}));
}

TEST(BaselineFile, AnEmptyRunReplacesNothing) {
  RunFolder folder;
  folder.add_text_case("a");
  try {
    update_baseline(collect(folder.input));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::inconclusive);
    EXPECT_FALSE(std::filesystem::exists(folder.input.baseline));
  }
}

TEST(BaselineFile, SaysWhatIsExpectedOfABrokenOne) {
  RunFolder folder;
  const struct {
    const char* text;
    const char* complaint;
  } bad[] = {
      {"[]", "expected an object"},
      {R"({"schema": "x"})", "schema: expected \"hone.baseline/1\", not \"x\""},
      {R"({"schema": "hone.baseline/1"})", "models: expected an object"},
      {R"({"schema": "hone.baseline/1", "models": {"m": {}}})", "models.m: runs: expected a whole"},
      {R"({"schema": "hone.baseline/1", "models": {"m": {"runs": 3, "cases":
          {"a": {"with_skill": [4, 3], "without_skill": [0, 0]}}}}})",
       "models.m.cases.a: with_skill: expected [passes, runs]"},
      {R"({"schema": "hone.baseline/1", "models": {"m": {"runs": 3, "cases":
          {"a": {"with_skill": [3, 3], "without_skill": [0, 0], "time_ns": [0]}}}}})",
       "models.m.cases.a: time_ns: expected a list of numbers above 0"},
  };
  for (const auto& b : bad) {
    storage::write_atomically(folder.input.baseline, b.text);
    try {
      read_baseline(folder.input.baseline);
      FAIL() << b.text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Exit::bad_input);
      EXPECT_THAT(e.what(), HasSubstr(b.complaint));
      EXPECT_THAT(e.what(), HasSubstr("demo.json"));
    }
  }
}

TEST(BaselineFile, KeepsTheTimesThatABenchGateComparesWith) {
  RunFolder folder;
  folder.add_kernel_case("k", "gelu");
  for (int run = 0; run < 3; ++run) folder.build("k", Arm::with_skill, run, "correct");
  folder.input.gates = {"bench(gelu) <= 1.05 * baseline", "tokens(with_skill) <= baseline"};
  const auto first = collect(folder.input);
  for (const auto& gate : first.models.at(0).gates)
    EXPECT_THAT(gate.verdict.message, HasSubstr("hone baseline demo"));
  update_baseline(first);
  EXPECT_THAT(storage::read_file(folder.input.baseline),
              HasSubstr("\"suite\": \"gelu\", \"time_ns\": [2500, 2500, 2500]"));
  const auto again = collect(folder.input);
  for (const auto& gate : again.models.at(0).gates)
    EXPECT_EQ(gate.verdict.outcome, stats::GateOutcome::pass) << gate.verdict.message;
  auto text = storage::read_file(folder.input.baseline);
  for (size_t at; (at = text.find("2500")) != std::string::npos;) text.replace(at, 4, "1000");
  storage::write_atomically(folder.input.baseline, text);
  const auto slower = collect(folder.input).models.at(0).gates.at(0).verdict;
  EXPECT_EQ(slower.outcome, stats::GateOutcome::fail);
  EXPECT_THAT(slower.message, HasSubstr("bench(gelu) is 2.50 us, 1000 ns in the baseline"));
}

TEST(BaselineFile, TellsTheGateWhatChangedBesidesTheSkill) {
  BaselineModel before;
  before.date = "2026-01-31T12:00:00Z";
  before.skill_digest = "sha256:1";
  before.model_id = "a.gguf";
  before.sampling = {{"temperature", 0}};
  const ModelInfo now{"local", "openai", "b.gguf", "", {{"temperature", 1}}};
  const auto gate = to_gate_baseline(before, now, "sha256:2");
  EXPECT_EQ(gate.description, "2026-01-31, skill sha256:1");
  ASSERT_EQ(gate.differs.size(), 2u);
  EXPECT_EQ(gate.differs[0], "model was a.gguf in the baseline, is b.gguf");
}

}  // namespace
}  // namespace hone::report
