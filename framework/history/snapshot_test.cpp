#include "history/snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report.hpp"
#include "report/run_folder_fixture.hpp"

namespace hone::history {
namespace {

using stats::Arm;
using testing::HasSubstr;

struct SnapshotTest : testing::Test {
  report::RunFolder folder;
  report::Results results = report::showcase(folder);
};

TEST_F(SnapshotTest, SumsUpWhatTheReportSays) {
  const auto all = snapshots_of(results);
  ASSERT_EQ(all.size(), 1u);
  const auto& s = all[0];
  const auto& m = results.evaluations[0].models[0];
  EXPECT_EQ(s.from.evaluation, "demo");
  EXPECT_EQ(s.from.commit, results.environment.git_commit);
  EXPECT_EQ(s.from.dirty, true);
  EXPECT_EQ(s.from.time, "2026-01-31T12:00:00Z");
  EXPECT_EQ(s.from.skill_digest, "sha256:5c11");
  EXPECT_EQ(s.from.sandbox, results.environment.sandbox);
  EXPECT_EQ(s.from.verdict, "fail");
  EXPECT_EQ(s.total(Arm::with_skill), m.with_skill.total);
  EXPECT_EQ(s.rate(Arm::without_skill), m.without_skill.pass_rate);
  EXPECT_NEAR(stats::mean(s.differences()), *m.lift, 1e-12);
  EXPECT_NEAR(s.tokens(Arm::with_skill).value(), 800 + 800 / 3. / 9, 1e-9);  // one took two turns
  EXPECT_EQ(s.infrastructure_errors(), 1);
}

TEST_F(SnapshotTest, ReadsBackFromResultsJsonAndFromABaseline) {
  const auto file = folder.path() / "results.json";
  storage::write_atomically(file, report::write_results_json(results));
  const auto direct = snapshots_of(results).at(0);
  const auto read = read_snapshots(file).at(0);
  EXPECT_EQ(read.case_digest(), direct.case_digest());
  EXPECT_EQ(read.key(), direct.key());
  storage::write_atomically(file,
                            report::write_baseline(report::make_baseline(results.evaluations[0])));
  const auto baseline = read_snapshots(file).at(0);
  EXPECT_EQ(baseline.from.source, "baseline");
  EXPECT_EQ(baseline.total(Arm::with_skill), direct.total(Arm::with_skill));
  EXPECT_NEAR(baseline.tokens(Arm::with_skill).value(), direct.tokens(Arm::with_skill).value(),
              1e-3);
}

TEST_F(SnapshotTest, AnotherMeasurementHasAnotherKey) {
  const auto one = snapshots_of(results).at(0);
  auto other = one;
  other.from.commit = "fedcba";
  EXPECT_EQ(other.key(), one.key());  // the same measurement, reported at another commit
  other.cases[0].with_skill.tally.passes = 0;
  EXPECT_NE(other.key(), one.key());
}

TEST_F(SnapshotTest, OtherFilesAreRefused) {
  const auto file = folder.path() / "x.json";
  for (const char* text :
       {"[]", R"({"schema": "x"})", R"({"schema": "hone.results/1"})",
        R"({"schema": "hone.results/1", "environment": {}, "evaluations": [{}]})"}) {
    storage::write_atomically(file, text);
    try {
      read_snapshots(file);
      FAIL() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Exit::bad_input);
      EXPECT_THAT(e.what(), HasSubstr("x.json"));
    }
  }
}

}  // namespace
}  // namespace hone::history
