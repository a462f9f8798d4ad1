#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "report/clean_text.hpp"
#include "report/report.hpp"
#include "report/run_folder_fixture.hpp"

namespace hone::report {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

struct FormatsTest : testing::Test {
  RunFolder folder;
  Results results = showcase(folder);
};

TEST_F(FormatsTest, MatchTheirBaselines) {
  expect_baseline("summary.md", write_markdown(results));
  expect_baseline("benchmarks.dashboard.json", write_dashboard_json(results));
  expect_baseline("bmf.json", write_bmf_json(results));
  expect_baseline("pass_rate.json", write_pass_rate_json(results));
  expect_baseline("findings.sarif", write_sarif(results));
  expect_baseline("skill-creator.json", write_skill_creator(results, results.evaluations[0], 0));
  expect_baseline("junit-strict.xml", write_junit(results, true));
}

TEST_F(FormatsTest, StrictJunitLeavesOutFilesAndLines) {
  const std::string strict = write_junit(results, true);
  EXPECT_THAT(strict, Not(HasSubstr(" file=")));
  EXPECT_THAT(strict, Not(HasSubstr(" line=")));
  EXPECT_THAT(write_junit(results), HasSubstr(" line="));
}

TEST_F(FormatsTest, MarkdownFitsACommentAndMentionsNobody) {
  for (auto& m : results.evaluations[0].models)
    for (auto& c : m.cases) c.with_skill.evidence = "@octocat |<img src=x onerror=alert(1)>`";
  const std::string text = write_markdown(results);
  EXPECT_THAT(text, Not(HasSubstr("@octocat")));
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, HasSubstr("\\|&lt;img"));
  auto& model = results.evaluations[0].models[0];
  const CaseResult one = model.cases[0];
  for (int i = 0; i < 5000; ++i) model.cases.push_back(one);
  const std::string cut = write_markdown(results);
  EXPECT_LT(cut.size(), 60001u);
  EXPECT_THAT(cut, HasSubstr("more cases are in the report page"));
  for (int i = 0; i < 5000; ++i) model.gates.push_back(model.gates[0]);
  EXPECT_LT(write_markdown(results).size(), 60001u);
}

TEST_F(FormatsTest, DashboardRowsAreTheMediansOfRuns) {
  auto& trials = results.evaluations[0].trials;
  const auto timed = std::find_if(trials.begin(), trials.end(),
                                  [](const Trial& t) { return !t.benchmarks.empty(); });
  ASSERT_NE(timed, trials.end());
  Trial slow = *timed, error = *timed;
  slow.benchmarks[0]["real_time"] = 0.0045;
  slow.benchmarks[0]["time_unit"] = "ms";
  error.benchmarks[0]["error_message"] = "out of memory";
  error.benchmarks[0]["real_time"] = 0;
  trials.push_back(slow);
  trials.push_back(error);
  const auto rows = storage::Json::parse(write_dashboard_json(results))["benchmarks"];
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["real_time"], 3.5);  // of 2.5 us and 4.5 us
  EXPECT_EQ(rows[0]["name"], "demo/local/gelu-basic/with_skill/gelu/n=1024/manual_time");
  const auto bmf = storage::Json::parse(write_bmf_json(results));
  const auto& latency = bmf["demo/local/gelu-basic/with_skill/gelu/n=1024/manual_time"]["latency"];
  EXPECT_EQ(latency["value"], 3500);
  EXPECT_EQ(latency["upper_value"], 4500);
}

TEST_F(FormatsTest, SarifNamesFileAndLineOfAFinding) {
  const auto sarif = storage::Json::parse(write_sarif(results));
  const auto& found = sarif["runs"][0]["results"];
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["ruleId"], "memory-fault");
  EXPECT_EQ(found[1]["ruleId"], "compile-error");
  EXPECT_EQ(found[1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "demo/local/gelu-basic/with_skill/2/answer/gelu.cu");
  EXPECT_EQ(found[1]["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
}

TEST_F(FormatsTest, CompareReadsTheBenchmarks) {
  const fs::path compare = "/usr/share/benchmark/compare.py";
  const std::string python = python_with("scipy");
  if (!fs::exists(compare) || python.empty())
    GTEST_SKIP() << "apt-get install libbenchmark-tools python3-scipy";
  const auto file = folder.path() / "benchmarks.json";
  storage::write_atomically(file, write_benchmarks_json(results));
  const auto out = folder.path() / "compare.txt";
  const std::string command = python + " " + compare.string() + " benchmarks " + file.string() +
                              " " + file.string() + " > " + out.string() + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << storage::read_file(out);
  EXPECT_THAT(storage::read_file(out), HasSubstr("gelu/n=1024/manual_time"));
  storage::write_atomically(file, write_dashboard_json(results));
  EXPECT_EQ(std::system(command.c_str()), 0) << storage::read_file(out);
}

TEST_F(FormatsTest, UnknownFormatsAreRefused) {
  try {
    write_format("yaml", results, {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::usage);
    EXPECT_THAT(e.what(), HasSubstr("known: html, markdown"));
  }
  results.evaluations[0].models.push_back(results.evaluations[0].models[0]);
  EXPECT_THROW(write_format("skill-creator", results, {}), Error);
}

}  // namespace
}  // namespace hone::report
