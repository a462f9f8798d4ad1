#include "history/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "stats/multiple.hpp"
#include "stats/planning.hpp"
#include "stats/tables.hpp"
#include "stats/timings.hpp"

namespace hone::history {
namespace {

using stats::Tally;

constexpr double kAlpha = 0.05;

double fisher_p(Tally before, Tally after) {
  return std::min(
      1.0, 2 * std::min(stats::fisher_drop_p(before, after), stats::fisher_drop_p(after, before)));
}

CaseChange compare_case(const CaseNumbers& before, const CaseNumbers& after) {
  CaseChange c;
  c.name = after.name;
  c.before = before.with_skill.tally;
  c.after = after.with_skill.tally;
  c.edited = !before.digest.empty() && !after.digest.empty() && before.digest != after.digest;
  c.difference = stats::newcombe(c.after, c.before);
  c.tokens_before = before.with_skill.tokens();
  c.tokens_after = after.with_skill.tokens();
  if (!c.edited && before.time_kind == after.time_kind && !before.times_ns.empty() &&
      !after.times_ns.empty()) {
    c.time_before = stats::median(before.times_ns);
    c.time_after = stats::median(after.times_ns);
    c.p_slower = stats::mann_whitney(before.times_ns, after.times_ns).p_slower;
  }
  return c;
}

bool comparable(const CaseChange& c) { return !c.edited && c.before.n > 0 && c.after.n > 0; }

void judge_cases(ModelChange& m) {
  std::vector<CaseChange*> compared;
  std::vector<double> p;
  for (auto& c : m.cases) {
    if (c.change == Change::added || c.change == Change::gone || !comparable(c)) continue;
    c.p = fisher_p(c.before, c.after);
    compared.push_back(&c);
    p.push_back(c.p);
  }
  const auto adjusted = stats::benjamini_hochberg(p);
  for (size_t i = 0; i < compared.size(); ++i) {
    auto& c = *compared[i];
    c.p_adjusted = adjusted[i];
    const double rise = c.after.rate() - c.before.rate();
    c.change = rise == 0               ? Change::same
               : c.p_adjusted > kAlpha ? Change::unclear
               : rise > 0              ? Change::better
                                       : Change::worse;
  }
}

void judge_model(ModelChange& m) {
  std::vector<double> d;
  std::vector<std::pair<Tally, Tally>> forward, backward;
  int improved = 0, dropped = 0;
  bool single = true;
  for (const auto& c : m.cases) {
    if (c.change == Change::added || c.change == Change::gone || !comparable(c)) continue;
    d.push_back(c.after.rate() - c.before.rate());
    forward.emplace_back(c.before, c.after);
    backward.emplace_back(c.after, c.before);
    single = single && c.before.n == 1 && c.after.n == 1;
    improved += d.back() > 0;
    dropped += d.back() < 0;
  }
  m.compared = static_cast<int>(d.size());
  if (d.empty()) {
    m.why = "no case was scored in both";
    return;
  }
  m.mean = stats::paired_t(d);
  m.exact_drop = stats::stratified_drop_p(forward);
  m.exact_rise = stats::stratified_drop_p(backward);
  if (single) m.mcnemar_p = stats::mcnemar(dropped, improved).exact;
  const double mean = stats::mean(d);
  const double t_drop = m.mean ? m.mean->p_drop : m.exact_drop;
  const double t_rise =
      m.mean ? (m.mean->se == 0 ? (mean > 0 ? 0 : 1) : 1 - m.mean->p_drop) : m.exact_rise;
  const bool down = mean < 0;
  const double exact = down ? m.exact_drop : m.exact_rise, across = down ? t_drop : t_rise;
  if (mean == 0 && improved == 0) {
    m.change = Change::same;
  } else if (mean != 0 && exact <= kAlpha && across <= kAlpha) {
    m.change = down ? Change::worse : Change::better;
  }
  m.why = fmt::format(
      "{:+.1f} points over {} case{}; exact test by case p = {:.3g}, t over cases "
      "p = {:.3g} (one-sided)",
      100 * mean, m.compared, m.compared == 1 ? "" : "s", exact, across);
  if (m.mcnemar_p) m.why += fmt::format("; McNemar p = {:.3g}", *m.mcnemar_p);
  if (m.change == Change::unclear && m.compared > 1) {
    int runs = 0;
    for (const auto& pair : forward) runs += std::min(pair.first.n, pair.second.n);
    m.why += fmt::format("; a change under about {:.0f} points would not show",
                         100 * std::min(1.0, stats::smallest_detectable_effect(
                                                 m.compared, std::max(1, runs / m.compared), {})));
  }
}

void compare_times(ModelChange& m) {
  double logs = 0;
  int count = 0;
  for (const auto& c : m.cases) {
    if (!c.time_before || !c.time_after) continue;
    logs += std::log(*c.time_after / *c.time_before);
    ++count;
  }
  if (count == 0) return;
  m.time_ratio = std::exp(logs / count);
  for (const auto& c : m.after.cases)
    if (!c.time_kind.empty()) m.time_kind = c.time_kind;
}

ModelChange compare_model(const Snapshot& before, const Snapshot& after) {
  ModelChange m;
  m.before = before;
  m.after = after;
  std::map<std::string, const CaseNumbers*> earlier;
  for (const auto& c : before.cases) earlier[c.name] = &c;
  for (const auto& c : after.cases) {
    const auto found = earlier.find(c.name);
    if (found == earlier.end()) {
      m.cases.push_back(compare_case({}, c));
      m.cases.back().change = Change::added;
    } else {
      m.cases.push_back(compare_case(*found->second, c));
      earlier.erase(found);
    }
  }
  for (const auto& c : before.cases) {
    if (!earlier.contains(c.name)) continue;
    CaseChange gone = compare_case(c, {});
    gone.name = c.name;
    gone.change = Change::gone;
    m.cases.push_back(std::move(gone));
  }
  judge_cases(m);
  judge_model(m);
  compare_times(m);
  m.tokens_before = before.tokens(stats::Arm::with_skill);
  m.tokens_after = after.tokens(stats::Arm::with_skill);
  m.cost_before = before.cost(stats::Arm::with_skill);
  m.cost_after = after.cost(stats::Arm::with_skill);
  const auto differs = [&](const char* what, const std::string& x, const std::string& y) {
    if (!x.empty() && !y.empty() && x != y)
      m.differs.push_back(fmt::format("{}: {} -> {}", what, x, y));
  };
  differs("model", before.from.model_id, after.from.model_id);
  differs("model file", before.from.model_digest.substr(0, 19),
          after.from.model_digest.substr(0, 19));
  differs("device", before.from.device, after.from.device);
  differs("sandbox", before.from.sandbox, after.from.sandbox);
  return m;
}

std::string title(const Snapshot& s) { return s.from.evaluation + "/" + s.from.model; }

}  // namespace

const char* change_name(Change change) {
  switch (change) {
    case Change::better:
      return "better";
    case Change::worse:
      return "worse";
    case Change::unclear:
      return "unclear";
    case Change::same:
      return "same";
    case Change::added:
      return "new";
    case Change::gone:
      return "gone";
  }
  return "";
}

Comparison compare(const std::string& a, const std::vector<Snapshot>& before, const std::string& b,
                   const std::vector<Snapshot>& after) {
  Comparison result{a, b, {}, {}, {}};
  const bool by_evaluation = std::any_of(before.begin(), before.end(), [&](const Snapshot& x) {
    return std::any_of(after.begin(), after.end(),
                       [&](const Snapshot& y) { return x.from.evaluation == y.from.evaluation; });
  });
  std::vector<bool> used(before.size());
  for (const auto& y : after) {
    size_t i = 0;
    while (i < before.size() && (used[i] || before[i].from.model != y.from.model ||
                                 (by_evaluation && before[i].from.evaluation != y.from.evaluation)))
      ++i;
    if (i == before.size()) {
      result.only_in_b.push_back(title(y));
      continue;
    }
    used[i] = true;
    result.models.push_back(compare_model(before[i], y));
  }
  for (size_t i = 0; i < before.size(); ++i)
    if (!used[i]) result.only_in_a.push_back(title(before[i]));
  return result;
}

}  // namespace hone::history
