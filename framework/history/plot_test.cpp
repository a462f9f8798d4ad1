#include "history/plot.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "report/clean_text.hpp"

namespace hone::history {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::vector<RunRow> rows(int n) {
  std::vector<RunRow> all;
  for (int i = n; i > 0; --i) {  // newest first
    RunRow r;
    r.from.time = fmt::format("2026-01-{:02}T12:00:00Z", i);
    r.from.evaluation = "demo";
    r.from.model = i % 2 ? "small" : "it's large";
    r.from.verdict = i == 3 ? "fail" : "pass";
    r.lift = .1 * (i % 5);
    r.lift_low = *r.lift - .1;
    r.lift_high = *r.lift + .1;
    r.rate_with = .5;
    r.rate_without = .25;
    all.push_back(r);
  }
  return all;
}

TEST(Plot, TrendRunsFromOldToNewOneSeriesAModel) {
  const Trend trend = trend_of(rows(6), Metric::lift);
  ASSERT_EQ(trend.series.size(), 2u);
  EXPECT_EQ(trend.series[0].name, "demo/small");
  EXPECT_EQ(trend.series[0].points.front().time, "2026-01-01T12:00:00Z");
  EXPECT_TRUE(trend.series[0].points[1].failed);
  EXPECT_EQ(trend_of(rows(6), Metric::success).series.size(), 4u);
  EXPECT_TRUE(trend_of(rows(6), Metric::cost).series.empty());
}

TEST(Plot, TerminalTrendKeepsToItsWidthAndIsPlain) {
  for (const int width : {64, 80, 120}) {
    std::istringstream lines(
        terminal_trend(trend_of(rows(28), Metric::lift), {width, false, false}));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(report::display_width(line), static_cast<size_t>(width)) << line;
  }
  const std::string text = terminal_trend(trend_of(rows(6), Metric::lift));
  EXPECT_THAT(text, HasSubstr("● demo/small"));
  EXPECT_THAT(text, HasSubstr("+10.0 -> +0.0"));
  EXPECT_THAT(text, HasSubstr("✗"));
  EXPECT_THAT(text, HasSubstr("2026-01-01T12:00 to 2026-01-06T12:00"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(terminal_trend({}), HasSubstr("No run has a lift"));
}

std::vector<Snapshot> columns() {
  std::vector<Snapshot> all(2);
  for (auto& s : all) {
    s.from.time = "2026-01-31T12:00:00Z";
    s.from.model = "local";
    s.from.evaluation = "demo";
  }
  all[0].cases.push_back({"a", "", "", {{1, 3}, 0, {}, {}, {}}, {}, {}, ""});
  all[1].cases.push_back({"a", "", "", {{3, 3}, 0, {}, {}, {}}, {}, {}, ""});
  all[1].cases.push_back({"b'\n\x1b[31m", "", "", {{0, 3}, 0, {}, {}, {}}, {}, {}, ""});
  return all;
}

TEST(Plot, MatrixShowsRatesOfCasesByRuns) {
  const Matrix matrix = matrix_of(columns());
  EXPECT_EQ(matrix.cases.size(), 2u);
  EXPECT_EQ(matrix.rates[1][0], std::nullopt);
  const std::string text = terminal_matrix(matrix);
  EXPECT_THAT(text, HasSubstr("  a      33  100\n"));
  EXPECT_THAT(text, HasSubstr("    -    0\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Plot, GnuplotDrawsWhateverTheNamesHold) {
  const auto dir = fs::path(testing::TempDir());
  EXPECT_THAT(gnuplot_script(trend_of(rows(4), Metric::lift), "x.svg"),
              HasSubstr("format x '%m-%d %H:%M'\nset xtics rotate"));  // no two on one place
  EXPECT_THAT(gnuplot_script(trend_of(rows(4), Metric::lift), "x.svg"),
              HasSubstr("'demo/it''s large'"));
  EXPECT_THROW(draw(matrix_of(columns()), dir / "x.pdf"), Error);
  EXPECT_THROW(draw(Trend{}, dir / "x.svg"), Error);
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "apt-get install gnuplot-nox";
  for (const char* ending : {"svg", "png"}) {
    const auto file = dir / fmt::format("plot.{}.{}", ::getpid(), ending);
    draw(trend_of(rows(9), Metric::lift), file);
    EXPECT_GT(fs::file_size(file), 2000u) << ending;
    draw(trend_of(rows(9), Metric::success), file);
    draw(matrix_of(columns()), file);
    EXPECT_GT(fs::file_size(file), 2000u) << ending;
    fs::remove(file);
  }
}

}  // namespace
}  // namespace hone::history
