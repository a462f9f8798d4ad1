#include <fmt/format.h>

#include <algorithm>

#include "history/compare.hpp"
#include "report/clean_text.hpp"

namespace hone::history {
namespace {

using report::clean_line;
using report::fit;
using storage::Json;

std::string tally(const stats::Tally& t) {
  return t.n > 0 ? fmt::format("{}/{}", t.passes, t.n) : std::string("-");
}

std::string percent(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.1f} %", 100 * *rate) : std::string("-");
}

std::string count(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : std::string("-");
}

std::string time_text(double ns) {
  return ns < 1e3   ? fmt::format("{:.0f} ns", ns)
         : ns < 1e6 ? fmt::format("{:.2f} us", ns / 1e3)
                    : fmt::format("{:.2f} ms", ns / 1e6);
}

/// What there is to say of a case besides its tallies.
std::string remark(const CaseChange& c) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (c.edited) add("the case was edited: not compared");
  if (c.change == Change::better || c.change == Change::worse)
    add(fmt::format("p = {:.2g}", c.p_adjusted));
  if (c.tokens_before && c.tokens_after && c.change != Change::added && c.change != Change::gone)
    add(fmt::format("{:+.0f} tokens", *c.tokens_after - *c.tokens_before));
  if (c.time_before && c.time_after)
    add(fmt::format("{} -> {}", time_text(*c.time_before), time_text(*c.time_after)));
  return text;
}

std::string changes(const ModelChange& m) {
  std::string text;
  for (const Change kind : {Change::better, Change::worse, Change::unclear, Change::same,
                            Change::added, Change::gone}) {
    const auto n = std::count_if(m.cases.begin(), m.cases.end(),
                                 [&](const CaseChange& c) { return c.change == kind; });
    if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, change_name(kind));
  }
  return text;
}

std::string title(const ModelChange& m) {
  const auto& a = m.before.from;
  const auto& b = m.after.from;
  return clean_line(a.evaluation == b.evaluation
                        ? b.evaluation + "/" + b.model
                        : a.evaluation + " -> " + b.evaluation + ", " + b.model,
                    200);
}

std::string moment(const Provenance& p) {
  std::string text = p.time.substr(0, 16);
  std::replace(text.begin(), text.end(), 'T', ' ');
  if (!p.commit.empty())
    text += ", commit " + p.commit.substr(0, 10) + (p.dirty.value_or(false) ? " (dirty)" : "");
  if (!p.skill_digest.empty()) text += ", skill " + p.skill_digest.substr(0, 15);
  return clean_line(text, 200);
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

std::string comparison_text(const Comparison& comparison, const report::TerminalStyle& style) {
  const auto width = static_cast<size_t>(std::clamp(style.width, 64, 160));
  const auto paint = [&](Change change, const std::string& text) {
    if (!style.colour) return text;
    const int colour = change == Change::better  ? 32
                       : change == Change::worse ? 31
                       : change == Change::same  ? 2
                                                 : 33;
    return fmt::format("\x1b[{}m{}\x1b[0m", colour, text);
  };
  std::string out = fmt::format("A: {}\nB: {}\n", clean_line(comparison.a, width),
                                clean_line(comparison.b, width));
  for (const auto& m : comparison.models) {
    out += fmt::format("\n{}  {}\n", title(m), paint(m.change, change_name(m.change)));
    out += fmt::format("  A  {}\n  B  {}\n", moment(m.before.from), moment(m.after.from));
    size_t name = 4;
    for (const auto& c : m.cases) name = std::max(name, report::display_width(clean_line(c.name)));
    name = std::min(name, width / 3);
    out += fmt::format("  {}  {:>6}  {:>6}\n", fit("case", name), "A", "B");
    for (const auto& c : m.cases) {
      if (style.only_failures && c.change == Change::same) continue;
      const size_t used = 2 + name + 2 + 6 + 2 + 6 + 2 + 7 + 2;
      out += fmt::format("  {}  {:>6}  {:>6}  {}", fit(clean_line(c.name), name), tally(c.before),
                         tally(c.after), paint(c.change, fit(change_name(c.change), 7)));
      const std::string more = remark(c);
      if (!more.empty()) out += "  " + fit(more, width - std::min(width - 1, used), false);
      out.erase(out.find_last_not_of(' ') + 1);
      out += '\n';
    }
    out += fmt::format("  cases         {}\n", changes(m));
    out += fmt::format("  with skill    {} -> {}\n", percent(m.before.rate(stats::Arm::with_skill)),
                       percent(m.after.rate(stats::Arm::with_skill)));
    out += "  quality       " + m.why + "\n";
    if (m.tokens_before && m.tokens_after)
      out += fmt::format("  tokens        {} -> {} a trial, {:+.0f}\n", count(m.tokens_before),
                         count(m.tokens_after), *m.tokens_after - *m.tokens_before);
    if (m.cost_before && m.cost_after)
      out +=
          fmt::format("  cost          {:.4g} -> {:.4g} a trial\n", *m.cost_before, *m.cost_after);
    if (m.time_ratio)
      out += fmt::format("  kernel time   x {:.3f} ({})\n", *m.time_ratio, m.time_kind);
    for (const auto& d : m.differs) out += "  differs       " + clean_line(d, 200) + "\n";
  }
  for (const auto& name : comparison.only_in_a) out += "\nonly in A: " + clean_line(name) + "\n";
  for (const auto& name : comparison.only_in_b) out += "\nonly in B: " + clean_line(name) + "\n";
  if (comparison.models.empty()) out += "\nNothing in common to compare.\n";
  return out;
}

std::string comparison_markdown(const Comparison& comparison) {
  const auto cell = [](const std::string& text) { return report::markdown_text(text); };
  std::string out = fmt::format("## {} → {}\n", cell(comparison.a), cell(comparison.b));
  for (const auto& m : comparison.models) {
    out +=
        fmt::format("\n### {}: {}\n\n{}\n\n", cell(title(m)), change_name(m.change), cell(m.why));
    out += "| case | A | B | | |\n| --- | ---: | ---: | --- | --- |\n";
    for (const auto& c : m.cases)
      if (c.change != Change::same)
        out += fmt::format("| {} | {} | {} | {} | {} |\n", cell(c.name), tally(c.before),
                           tally(c.after), change_name(c.change), cell(remark(c)));
    out += "\n" + changes(m) + "\n";
  }
  return out;
}

std::string comparison_json(const Comparison& comparison) {
  Json models = Json::array();
  for (const auto& m : comparison.models) {
    Json cases = Json::array();
    for (const auto& c : m.cases)
      cases.push_back({{"case", c.name},
                       {"change", change_name(c.change)},
                       {"before", {c.before.passes, c.before.n}},
                       {"after", {c.after.passes, c.after.n}},
                       {"interval", {c.difference.low, c.difference.high}},
                       {"p", c.p},
                       {"p_adjusted", c.p_adjusted},
                       {"edited", c.edited},
                       {"tokens_before", or_null(c.tokens_before)},
                       {"tokens_after", or_null(c.tokens_after)},
                       {"time_ns_before", or_null(c.time_before)},
                       {"time_ns_after", or_null(c.time_after)},
                       {"p_slower", c.p_slower}});
    models.push_back(
        {{"evaluation_before", m.before.from.evaluation},
         {"evaluation_after", m.after.from.evaluation},
         {"model", m.after.from.model},
         {"change", change_name(m.change)},
         {"why", m.why},
         {"compared_cases", m.compared},
         {"points", m.mean ? Json(m.mean->mean) : Json(nullptr)},
         {"interval", m.mean ? Json{m.mean->interval.low, m.mean->interval.high} : Json(nullptr)},
         {"p_drop", m.exact_drop},
         {"p_rise", m.exact_rise},
         {"tokens_before", or_null(m.tokens_before)},
         {"tokens_after", or_null(m.tokens_after)},
         {"cost_before", or_null(m.cost_before)},
         {"cost_after", or_null(m.cost_after)},
         {"time_ratio", or_null(m.time_ratio)},
         {"time_kind", m.time_kind},
         {"differs", m.differs},
         {"cases", std::move(cases)}});
  }
  const Json json = {{"schema", "hone.comparison/1"},
                     {"a", comparison.a},
                     {"b", comparison.b},
                     {"models", std::move(models)},
                     {"only_in_a", comparison.only_in_a},
                     {"only_in_b", comparison.only_in_b}};
  return report::clean_json(json).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hone::history
