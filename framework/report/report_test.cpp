#include "report/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/run_folder_fixture.hpp"

namespace hone::report {
namespace {

using stats::Arm;
using testing::HasSubstr;

struct ReportTest : testing::Test {
  RunFolder folder;
  std::ostringstream out;

  ReportTest() {
    folder.add_kernel_case("k", "gelu");
    for (int run = 0; run < 3; ++run) {
      folder.build("k", Arm::with_skill, run, "correct");
      folder.build("k", Arm::without_skill, run, "wrong", "y[0] is 0");
    }
  }
};

TEST_F(ReportTest, WritesItsFilesAndReturnsTheVerdict) {
  ReportOptions options;
  options.reports_dir = folder.path() / "reports";
  folder.input.gates = {"infrastructure_errors == 0"};
  EXPECT_EQ(report_evaluations({folder.input}, options, out), Exit::good);
  for (const auto& format : formats()) {
    if (format.file.empty()) continue;
    EXPECT_TRUE(std::filesystem::exists(options.reports_dir / format.file)) << format.file;
    EXPECT_THAT(out.str(), HasSubstr(format.file));
  }
  const auto json = storage::read_json(options.reports_dir / "results.json");
  EXPECT_EQ(json["environment"]["device"], "cudasim (model of H100 SXM5)");
  EXPECT_EQ(json["environment"]["sandbox"], "strong");
  EXPECT_EQ(json["exit_code"], 0);
  const auto bench = storage::read_json(options.reports_dir / "benchmarks.json");
  EXPECT_EQ(bench["benchmarks"][0]["name"], "demo/local/k/with_skill/0/gelu/n=1024/manual_time");

  folder.input.gates = {"flaky_cases(with_skill) >= 1"};
  EXPECT_EQ(report_evaluations({folder.input}, options, out), Exit::judged_bad);
}

TEST_F(ReportTest, AFolderThatCannotBeWrittenIsAnInfrastructureError) {
  ReportOptions options;
  options.reports_dir = "/dev/full/reports";
  try {
    report_evaluations({folder.input}, options, out);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::infrastructure);
  }
}

TEST_F(ReportTest, JudgesOneGate) {
  const auto judged = [&](const std::string& gate) {
    return judge_gate(folder.input, "local", gate, out);
  };
  EXPECT_EQ(judged("infrastructure_errors == 0"), Exit::good);
  EXPECT_EQ(judged("flaky_cases(with_skill) > 0"), Exit::judged_bad);
  EXPECT_EQ(judged("no-regression"), Exit::inconclusive);
  EXPECT_THAT(out.str(), HasSubstr("inconclusive: no-regression: no baseline at"));
  storage::write_atomically(folder.input.baseline, "{");
  EXPECT_EQ(judged("no-regression"), Exit::bad_input);
  EXPECT_THROW(judged("lift"), Error);
  EXPECT_THROW(judge_gate(folder.input, "unknown", "lift > 0", out), Error);
}

}  // namespace
}  // namespace hone::report
