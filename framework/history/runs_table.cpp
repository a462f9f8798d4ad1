#include "history/runs_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/clean_text.hpp"

namespace hone::history {
namespace {

using report::fit;
using storage::Json;

constexpr Metric kMetrics[] = {Metric::success, Metric::tokens, Metric::cost, Metric::lift};

Json or_null(const std::optional<double>& value) {
  return value ? Json(std::strtod(fmt::format("{:.9g}", *value).c_str(), nullptr)) : Json(nullptr);
}

/// One run as an ordered JSON object: what --json prints and the columns of --csv.
Json flat(const RunRow& r) {
  const auto& p = r.from;
  return {{"id", r.id},
          {"time", p.time},
          {"source", p.source},
          {"evaluation", p.evaluation},
          {"skill", p.skill},
          {"skill_digest", p.skill_digest},
          {"case_digest", r.case_digest},
          {"model", p.model},
          {"model_id", p.model_id},
          {"model_digest", p.model_digest},
          {"commit", p.commit},
          {"dirty", p.dirty ? Json(*p.dirty) : Json(nullptr)},
          {"device", p.device},
          {"sandbox", p.sandbox},
          {"toolkit", p.toolkit},
          {"host", p.host},
          {"verdict", p.verdict},
          {"cases", r.cases},
          {"runs", r.runs},
          {"infrastructure_errors", r.infrastructure_errors},
          {"with_skill_passes", r.with_skill.passes},
          {"with_skill_runs", r.with_skill.n},
          {"with_skill_rate", or_null(r.rate_with)},
          {"without_skill_passes", r.without_skill.passes},
          {"without_skill_runs", r.without_skill.n},
          {"without_skill_rate", or_null(r.rate_without)},
          {"lift", or_null(r.lift)},
          {"lift_low", or_null(r.lift_low)},
          {"lift_high", or_null(r.lift_high)},
          {"with_skill_tokens", or_null(r.tokens_with)},
          {"without_skill_tokens", or_null(r.tokens_without)},
          {"with_skill_cost", or_null(r.cost_with)},
          {"without_skill_cost", or_null(r.cost_without)}};
}

/// RFC 4180; a leading = + - @ would be a formula to a spreadsheet.
std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  std::string text = report::clean_line(value.get<std::string>(), 500);
  if (!text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos)
    text.insert(0, "'");
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string bar(double share, int columns) {
  const int full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * columns));
  std::string text;
  for (int i = 0; i < columns; ++i) text += i < full ? "█" : "░";
  return text;
}

double largest(const std::vector<RunRow>& rows, Metric metric) {
  if (metric == Metric::success) return 1;
  double most = 0;
  for (const auto& r : rows) {
    const auto v = value_of(metric, r);
    most = std::max({most, std::abs(v.with.value_or(0)), std::abs(v.without.value_or(0))});
  }
  return most > 0 ? most : 1;
}

}  // namespace

Metric metric_named(const std::string& name) {
  for (const Metric m : kMetrics)
    if (name == metric_name(m)) return m;
  throw Error(Exit::usage, "unknown metric '" + name + "'; known: success, tokens, cost, lift");
}

const char* metric_name(Metric metric) {
  switch (metric) {
    case Metric::success:
      return "success";
    case Metric::tokens:
      return "tokens";
    case Metric::cost:
      return "cost";
    case Metric::lift:
      return "lift";
  }
  return "";
}

MetricValue value_of(Metric metric, const RunRow& row) {
  switch (metric) {
    case Metric::success:
      return {row.rate_with, row.rate_without};
    case Metric::tokens:
      return {row.tokens_with, row.tokens_without};
    case Metric::cost:
      return {row.cost_with, row.cost_without};
    case Metric::lift:
      return {row.lift, std::nullopt};
  }
  return {};
}

std::string metric_text(Metric metric, const std::optional<double>& value) {
  if (!value) return "-";
  switch (metric) {
    case Metric::success:
      return fmt::format("{:.1f} %", 100 * *value);
    case Metric::tokens:
      return fmt::format("{:.0f}", *value);
    case Metric::cost:
      return fmt::format("{:.4g}", *value);
    case Metric::lift:
      return fmt::format("{:+.1f}", 100 * *value);
  }
  return "";
}

std::string runs_table(const std::vector<RunRow>& rows, Metric metric,
                       const report::TerminalStyle& style) {
  if (rows.empty()) return "No run fits.\n";
  const auto width = static_cast<size_t>(std::clamp(style.width, 64, 160));
  const bool lift = metric == Metric::lift;
  const double most = largest(rows, metric);
  const size_t name = std::clamp(width - 62, size_t{8}, size_t{36});
  const int bars = 8;
  const auto paint = [&](int colour, const std::string& text) {
    return style.colour ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : text;
  };
  std::string out =
      paint(2, fmt::format("{:>4}  {:<16}  {:<9}  {}  {}", "id", "time", "commit",
                           fit("evaluation/model", name),
                           lift ? "lift, points (95 %)"
                                : fmt::format("{:<8} {:>8}  {:>8}", metric_name(metric), "with",
                                              "without"))) +
      "\n";
  for (const auto& r : rows) {
    const auto v = value_of(metric, r);
    const std::string when = report::clean_line(r.from.time, 40);
    std::string commit = r.from.commit.substr(0, 8);
    if (r.from.dirty.value_or(false)) commit += "+";
    std::string line = fmt::format(
        "{:>4}  {}  {}  {}  {} {:>8}", r.id,
        fit(when.substr(0, 10) + (when.size() > 15 ? " " + when.substr(11, 5) : ""), 16),
        fit(report::clean_line(commit.empty() ? r.from.source : commit, 40), 9),
        fit(report::clean_line(r.from.evaluation + "/" + r.from.model, 200), name),
        paint(lift && r.lift.value_or(0) < 0 ? 31 : 32,
              bar(std::abs(v.with.value_or(0)) / most, bars)),
        metric_text(metric, v.with));
    if (!lift) line += fmt::format("  {:>8}", metric_text(metric, v.without));
    if (lift && r.lift_low)
      line += fmt::format("  [{:+.0f} to {:+.0f}]", 100 * *r.lift_low, 100 * *r.lift_high);
    if (r.from.verdict == "fail") line += " " + paint(31, "fail");
    out += line + "\n";
  }
  return out;
}

std::string runs_csv(const std::vector<RunRow>& rows) {
  std::string out;
  const Json header = flat(RunRow{});
  for (const auto& [key, value] : header.items()) out += (out.empty() ? "" : ",") + key;
  out += "\n";
  for (const auto& r : rows) {
    std::string line;
    bool first = true;
    const Json cells = flat(r);
    for (const auto& value : cells) {
      line += (first ? "" : ",") + csv_cell(value);
      first = false;
    }
    out += line + "\n";
  }
  return out;
}

std::string runs_json(const std::vector<RunRow>& rows) {
  Json all = Json::array();
  for (const auto& r : rows) all.push_back(flat(r));
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hone::history
