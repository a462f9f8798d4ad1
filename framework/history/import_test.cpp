#include "history/import.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "report/report.hpp"
#include "report/run_folder_fixture.hpp"

namespace hone::history {
namespace {

namespace fs = std::filesystem;
using stats::Tally;
using storage::Json;
using testing::HasSubstr;

struct ImportTest : testing::Test {
  report::RunFolder folder;  // only for its temporary folder, and as a source of benchmark.json
  fs::path runs = folder.path() / "runs-of-upskill";

  void upskill(const std::string& batch, int number, const std::string& type, int passed, int total,
               const char* error = nullptr) {
    storage::write_json(runs / batch / fmt::format("run_{}", number) / "run_result.json",
                        {{"metadata",
                          {{"model", "kimi"},
                           {"task", "write a pull request"},
                           {"batch_id", batch},
                           {"run_number", number},
                           {"timestamp", "2026-01-22T13:10:45.370438"}}},
                         {"stats",
                          {{"input_tokens", error ? 0 : 300},
                           {"output_tokens", error ? 0 : 900},
                           {"total_tokens", 1200}}},
                         {"passed", passed == total},
                         {"assertions_passed", passed},
                         {"assertions_total", total},
                         {"error_message", error ? Json(error) : Json(nullptr)},
                         {"run_type", type},
                         {"skill_name", "write-good-pr"}});
  }
};

TEST_F(ImportTest, ReadsUpskillsRuns) {
  upskill("2026_01_22_13_10", 1, "baseline", 2, 5);
  upskill("2026_01_22_13_10", 2, "with_skill", 4, 5);
  upskill("2026_01_22_13_10", 10, "with_skill", 5, 5);
  upskill("2026_01_23_09_00", 1, "with_skill", 3, 5);
  upskill("2026_01_23_09_00", 2, "baseline", 0, 0, "rate limited");
  const auto imported = import(runs);
  ASSERT_EQ(imported.snapshots.size(), 2u);
  EXPECT_TRUE(imported.problems.empty());
  const auto& s = imported.snapshots[0];
  EXPECT_EQ(s.from.source, "upskill");
  EXPECT_EQ(s.from.skill, "write-good-pr");
  EXPECT_EQ(s.from.model, "kimi");
  EXPECT_EQ(s.from.time, "2026-01-22T13:10:45Z");
  EXPECT_EQ(s.total(stats::Arm::with_skill), (Tally{9, 10}));
  EXPECT_EQ(s.total(stats::Arm::without_skill), (Tally{2, 5}));
  EXPECT_EQ(s.tokens(stats::Arm::with_skill), 240);  // 1200 over five cases
  EXPECT_EQ(imported.snapshots[1].infrastructure_errors(), 1);
  EXPECT_EQ(imported.snapshots[1].tokens(stats::Arm::without_skill), std::nullopt);
  EXPECT_EQ(import(runs / "2026_01_22_13_10").snapshots.size(), 1u);
}

TEST_F(ImportTest, NamesWhatCannotBeRead) {
  upskill("b", 1, "with_skill", 4, 5);
  fs::create_directories(runs / "b/run_2");
  storage::write_atomically(runs / "b/run_3/run_result.json", "{ nonsense");
  upskill("b", 4, "with_skill", 7, 5);
  const auto imported = import(runs);
  EXPECT_EQ(imported.snapshots[0].total(stats::Arm::with_skill), (Tally{4, 5}));
  ASSERT_EQ(imported.problems.size(), 3u);
  EXPECT_THAT(imported.problems[0].str(), HasSubstr("run_2: warning: no run_result.json"));
  EXPECT_THAT(imported.problems[1].str(), HasSubstr("run_3/run_result.json:1:"));
  EXPECT_THAT(imported.problems[2].str(), HasSubstr("assertions_passed is 7 of 5"));
  EXPECT_THROW(import(folder.path() / "nothing"), Error);
  fs::create_directories(folder.path() / "empty");
  EXPECT_THROW(import(folder.path() / "empty"), Error);
}

TEST_F(ImportTest, ReadsSkillCreatorsBenchmarkBackAsItWasWritten) {
  const auto results = report::showcase(folder);
  const auto file = folder.path() / "benchmark.json";
  storage::write_atomically(file, report::write_skill_creator(results, results.evaluations[0], 0));
  const auto s = import(file).snapshots.at(0);
  const auto direct = snapshots_of(results).at(0);
  EXPECT_EQ(s.from.source, "skill-creator");
  EXPECT_EQ(s.from.model, "coder-0.5b.gguf");
  EXPECT_EQ(s.total(stats::Arm::with_skill), direct.total(stats::Arm::with_skill));
  EXPECT_EQ(s.total(stats::Arm::without_skill), direct.total(stats::Arm::without_skill));
  EXPECT_EQ(s.infrastructure_errors(), 1);
  EXPECT_EQ(s.tokens(stats::Arm::with_skill), direct.tokens(stats::Arm::with_skill));
  EXPECT_EQ(s.cases[0].name, "fact-a");
}

TEST_F(ImportTest, RefusesOtherJson) {
  const auto file = folder.path() / "benchmark.json";
  for (const char* text : {"[]", "{}", R"({"runs": [], "metadata": {}})",
                           R"({"runs": [1], "metadata": {}})", R"({"runs": [{"result": {}}]})"}) {
    storage::write_atomically(file, text);
    EXPECT_THROW(import(file), Error) << text;
  }
}

}  // namespace
}  // namespace hone::history
