#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "history/plot.hpp"
#include "report/clean_text.hpp"

namespace hone::history {
namespace {

using report::clean_line;
using report::fit;

constexpr int kRows = 10;
constexpr const char* kMarks[] = {"●", "○", "◆", "◇", "■", "□", "▲", "△"};
constexpr int kColours[] = {32, 33, 36, 35, 34, 31, 92, 93};

std::string scaled(Metric metric, double value) {
  switch (metric) {
    case Metric::success:
      return fmt::format("{:.0f} %", 100 * value);
    case Metric::lift:
      return fmt::format("{:+.0f}", 100 * value);
    case Metric::tokens:
      return fmt::format("{:.0f}", value);
    case Metric::cost:
      return fmt::format("{:.3g}", value);
  }
  return "";
}

struct Range {
  double low = 0, high = 1;
};

Range range_of(const Trend& trend) {
  if (trend.metric == Metric::success) return {0, 1};
  Range r{0, 0};
  for (const auto& s : trend.series)
    for (const auto& p : s.points) {
      r.low = std::min({r.low, p.value, p.low.value_or(p.value)});
      r.high = std::max({r.high, p.value, p.high.value_or(p.value)});
    }
  if (r.high <= r.low) r.high = r.low + 1;
  return r;
}

}  // namespace

Trend trend_of(const std::vector<RunRow>& rows, Metric metric) {
  Trend trend{metric, {}};
  std::map<std::string, size_t> known;
  const auto add = [&](const RunRow& r, const std::string& arm, const std::optional<double>& v) {
    if (!v) return;
    const std::string name = r.from.evaluation + "/" + r.from.model + arm;
    const auto [found, fresh] = known.emplace(name, trend.series.size());
    if (fresh) trend.series.push_back({name, {}});
    Trend::Point p{r.from.time, r.from.commit.substr(0, 8), *v, {}, {}, r.from.verdict == "fail"};
    if (metric == Metric::lift) {
      p.low = r.lift_low;
      p.high = r.lift_high;
    }
    trend.series[found->second].points.push_back(p);
  };
  for (auto r = rows.rbegin(); r != rows.rend(); ++r) {
    const auto v = value_of(metric, *r);
    add(*r, metric == Metric::lift ? "" : " with", v.with);
    if (metric != Metric::lift) add(*r, " without", v.without);
  }
  return trend;
}

Matrix matrix_of(const std::vector<Snapshot>& snapshots) {
  Matrix matrix;
  std::map<std::string, size_t> known;
  for (size_t column = 0; column < snapshots.size(); ++column) {
    const auto& s = snapshots[column];
    std::string title = s.from.time.substr(5, 5);
    if (!s.from.commit.empty()) title = s.from.commit.substr(0, 8);
    matrix.columns.push_back(s.from.model + " " + title);
    for (const auto& c : s.cases) {
      const auto [found, fresh] = known.emplace(c.name, matrix.cases.size());
      if (fresh) {
        matrix.cases.push_back(c.name);
        matrix.rates.emplace_back(snapshots.size());
      }
      if (c.with_skill.tally.n > 0) matrix.rates[found->second][column] = c.with_skill.tally.rate();
    }
  }
  for (const auto& s : snapshots)
    matrix.title = matrix.title.empty() || matrix.title == s.from.evaluation
                       ? s.from.evaluation
                       : "several evaluations";
  return matrix;
}

std::string terminal_trend(const Trend& trend, const report::TerminalStyle& style) {
  std::vector<std::string> times;  // a column each, in order
  for (const auto& s : trend.series)
    for (const auto& p : s.points) times.push_back(p.time);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  if (times.empty()) return fmt::format("No run has a {}.\n", metric_name(trend.metric));
  const size_t all = times.size();
  const int width = std::clamp(style.width, 64, 160);
  constexpr int kAxis = 9;
  const size_t shown = std::min(all, static_cast<size_t>((width - kAxis) / 3));
  times.erase(times.begin(), times.end() - static_cast<long>(shown));
  const Range range = range_of(trend);
  const auto row_of = [&](double value) {
    const double share = (value - range.low) / (range.high - range.low);
    return static_cast<size_t>(
        std::clamp<long>(std::lround((1 - share) * (kRows - 1)), 0, kRows - 1));
  };
  struct Cell {
    std::string mark = " ";
    int colour = 0;
  };
  std::vector<std::vector<Cell>> canvas(kRows, std::vector<Cell>(shown * 3));
  for (size_t s = 0; s < trend.series.size(); ++s) {
    const int colour = kColours[s % std::size(kColours)];
    for (const auto& p : trend.series[s].points) {
      const auto at = std::lower_bound(times.begin(), times.end(), p.time);
      if (at == times.end() || *at != p.time) continue;  // older than what is shown
      const auto column = static_cast<size_t>(at - times.begin()) * 3 + 1;
      if (p.low && p.high)
        for (size_t r = row_of(*p.high); r <= row_of(*p.low); ++r)
          if (canvas[r][column].mark == " ") canvas[r][column] = {"│", colour};
      canvas[row_of(p.value)][column] = {p.failed ? "✗" : kMarks[s % std::size(kMarks)],
                                         p.failed ? 31 : colour};
    }
  }
  const auto paint = [&](int colour, const std::string& text) {
    return style.colour && colour != 0 ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : text;
  };
  std::string out = fmt::format("{}{}\n", metric_name(trend.metric),
                                trend.metric == Metric::lift ? ", points, 95 % interval" : "");
  for (size_t r = 0; r < kRows; ++r) {
    const double value =
        range.high - (range.high - range.low) * static_cast<double>(r) / (kRows - 1);
    std::string line = r % 3 == 0 ? fmt::format("{:>7} ┤", scaled(trend.metric, value))
                                  : std::string(8, ' ') + "│";
    for (const auto& cell : canvas[r]) line += paint(cell.colour, cell.mark);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  out += std::string(8, ' ') + "└";
  for (size_t i = 0; i < shown * 3; ++i) out += "─";
  out += fmt::format("\n{}{} to {}{}\n", std::string(9, ' '),
                     clean_line(times.front().substr(0, 16), 20),
                     clean_line(times.back().substr(0, 16), 20),
                     all > shown ? fmt::format(", the last {} of {}", shown, all) : "");
  for (size_t s = 0; s < trend.series.size(); ++s) {
    const auto& points = trend.series[s].points;
    out += fmt::format("  {} {}  {} -> {}\n",
                       paint(kColours[s % std::size(kColours)], kMarks[s % std::size(kMarks)]),
                       fit(clean_line(trend.series[s].name),
                           std::min<size_t>(40, static_cast<size_t>(width) - 30)),
                       metric_text(trend.metric, points.front().value),
                       metric_text(trend.metric, points.back().value));
  }
  return out;
}

std::string terminal_matrix(const Matrix& matrix, const report::TerminalStyle& style) {
  if (matrix.cases.empty()) return "No run fits.\n";
  const auto width = static_cast<size_t>(std::clamp(style.width, 64, 160));
  size_t name = 4;
  for (const auto& c : matrix.cases) name = std::max(name, report::display_width(clean_line(c)));
  name = std::min(name, width / 3);
  const size_t fits = (width - name - 4) / 5;
  const size_t first = matrix.columns.size() > fits ? matrix.columns.size() - fits : 0;
  const auto paint = [&](double rate, const std::string& text) {
    return style.colour ? fmt::format("\x1b[{}m{}\x1b[0m",
                                      rate >= 1  ? 32
                                      : rate > 0 ? 33
                                                 : 31,
                                      text)
                        : text;
  };
  std::string out = fmt::format("{}: % correct with the skill\n", clean_line(matrix.title, 80));
  std::string head = "  " + fit("case", name);
  for (size_t c = first; c < matrix.columns.size(); ++c)
    head += fmt::format("{:>5}", fmt::format("{}", c - first + 1));
  out += head + "\n";
  for (size_t r = 0; r < matrix.cases.size(); ++r) {
    out += "  " + fit(clean_line(matrix.cases[r]), name);
    for (size_t c = first; c < matrix.columns.size(); ++c) {
      const auto& rate = matrix.rates[r][c];
      out += rate ? paint(*rate, fmt::format("{:>5.0f}", 100 * *rate)) : std::string("    -");
    }
    out += "\n";
  }
  for (size_t c = first; c < matrix.columns.size(); ++c)
    out += fmt::format("  {:>2}  {}\n", c - first + 1,
                       fit(clean_line(matrix.columns[c]), width - 6, false));
  return out;
}

}  // namespace hone::history
