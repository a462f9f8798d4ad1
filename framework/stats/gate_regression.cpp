#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "stats/gate_evidence.hpp"
#include "stats/paired.hpp"
#include "stats/planning.hpp"
#include "stats/tables.hpp"

namespace hone::stats {
namespace {

/// The cases that both measurements share, as (before, after), and a note on the others.
struct Shared {
  std::vector<CaseMove> cases;
  std::string note;
};

Shared share(const GateFacts& facts) {
  const auto digest_of = [](const Measured& m, size_t i) {
    return i < m.case_digests.size() ? m.case_digests[i] : std::string();
  };
  std::map<std::string, size_t> earlier;
  for (size_t i = 0; i < facts.baseline->cases.size(); ++i)
    earlier[facts.baseline->cases[i].name] = i;
  Shared shared;
  int added = 0, changed = 0, unscored = 0;
  for (size_t i = 0; i < facts.cases.size(); ++i) {
    const auto& now = facts.cases[i];
    const auto found = earlier.find(now.name);
    if (found == earlier.end()) {
      ++added;
      continue;
    }
    const auto& before = facts.baseline->cases[found->second];
    const std::string digest = digest_of(facts, i);
    const std::string digest_before = digest_of(*facts.baseline, found->second);
    earlier.erase(found);
    if (!digest.empty() && !digest_before.empty() && digest != digest_before) {
      ++changed;
    } else if (now.with_skill.n == 0 || before.with_skill.n == 0) {
      ++unscored;
    } else {
      shared.cases.push_back({now.name, before.with_skill, now.with_skill});
    }
  }
  const auto say = [&](size_t count, const char* what) {
    if (count > 0) shared.note += fmt::format("; {} case{} {}", count, count == 1 ? "" : "s", what);
  };
  say(static_cast<size_t>(added), "new");
  say(earlier.size(), "gone");
  say(static_cast<size_t>(changed), "edited since, not compared");
  say(static_cast<size_t>(unscored), "without scored runs");
  for (const auto& d : facts.baseline->differs) shared.note += "; note: " + d;
  return shared;
}

}  // namespace

// Measured by simulation on 14 cases (see gate_regression_test.cpp), 3 runs each: an emptied skill
// (65 % to 25 %) is caught in 98.6 % of measurements, a drop of half that size in 46 % (87 % with
// 10 runs); resampling noise alone raises 2.2 % false alarms and is inconclusive in 3.8 %.
GateVerdict judge_regression(const Gate& gate, const GateFacts& facts) {
  if (!facts.baseline)
    return verdict(GateOutcome::inconclusive,
                   facts.no_baseline.empty() ? "no baseline to compare with" : facts.no_baseline);
  Shared shared = share(facts);
  const std::string notes = shared.note + not_counted(facts);
  if (shared.cases.empty())
    return verdict(GateOutcome::inconclusive,
                   "the baseline shares no measured case with this run" + notes);
  Tally before, after;
  std::vector<double> change, rate_before, rate_after;
  std::vector<std::pair<Tally, Tally>> strata;
  for (const auto& c : shared.cases) {
    before += c.before;
    after += c.after;
    rate_before.push_back(c.before.rate());
    rate_after.push_back(c.after.rate());
    change.push_back(c.after.rate() - c.before.rate());
    strata.emplace_back(c.before, c.after);
  }
  const double exact = stratified_drop_p(strata);
  const auto t = paired_t(change);
  const double across = t ? t->p_drop : exact;
  const bool on_cases = exact <= gate.alpha && mean(change) < 0;
  const bool across_cases = across <= gate.alpha && mean(change) < 0;
  const std::string numbers = fmt::format(
      "with the skill {:.1f} % ({}/{} runs) against {:.1f} % ({}/{}) in the baseline ({}), {} "
      "cases: {:+.1f} points; exact test by case p = {:.3g}, t over cases p = {:.3g}, sign-flip "
      "p = {:.3g}",
      100 * mean(rate_after), after.passes, after.n, 100 * mean(rate_before), before.passes,
      before.n, facts.baseline->description, change.size(), 100 * mean(change), exact, across,
      sign_flip(change).p_drop);
  GateVerdict result;
  const int fewest = std::min(before.n, after.n);
  if (fewest <= kRunsWithoutGatingPower) {
    const bool total_drop = after.passes == 0 && on_cases;
    result =
        total_drop
            ? verdict(GateOutcome::fail, numbers + ": nothing passes any more")
            : verdict(GateOutcome::inconclusive,
                      fmt::format("{}: {} runs are too few to gate on, more than {} are needed",
                                  numbers, fewest, kRunsWithoutGatingPower));
  } else if (on_cases && across_cases) {
    result = verdict(GateOutcome::fail, numbers + ": a regression");
  } else if (on_cases || across_cases) {
    result = verdict(GateOutcome::inconclusive,
                     numbers + (on_cases ? ": these cases dropped beyond chance, but too few of "
                                           "them to speak for the skill; confirm with fresh runs"
                                         : ": a drop across cases that chance within cases can "
                                           "explain; confirm with fresh runs"));
  } else {
    const int runs = std::max(1, fewest / static_cast<int>(change.size()));
    Spread spread;
    spread.alpha = 2 * gate.alpha;
    result = verdict(
        GateOutcome::pass,
        fmt::format("{}: no significant drop (one under about {:.0f} points would "
                    "not show)",
                    numbers,
                    100 * std::min(1.0, smallest_detectable_effect(static_cast<int>(change.size()),
                                                                   runs, spread))));
  }
  for (auto& c : shared.cases)
    if (c.before.rate() != c.after.rate()) result.moved.push_back(std::move(c));
  sort_moves(result.moved);
  result.message += list_moves(result.moved, true) + list_moves(result.moved, false) + notes;
  return result;
}

}  // namespace hone::stats
