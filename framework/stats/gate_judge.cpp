#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "stats/gate.hpp"
#include "stats/gate_evidence.hpp"
#include "stats/gate_quantity.hpp"
#include "stats/intervals.hpp"
#include "stats/paired.hpp"
#include "stats/planning.hpp"
#include "stats/timings.hpp"

namespace hone::stats {
namespace {

using Unit = Quantity::Unit;

bool holds(double value, const std::string& op, double threshold) {
  // Rates are sums of fractions: a rounding error must not miss `>= 0.6` at exactly 60 %.
  const double rounding = 1e-9 * std::max(1.0, std::abs(threshold));
  if (op == ">=") return value >= threshold - rounding;
  if (op == "<=") return value <= threshold + rounding;
  if (op == ">") return value > threshold + rounding;
  if (op == "<") return value < threshold - rounding;
  return std::abs(value - threshold) <= rounding;
}

bool wants_more(const Gate& gate) { return gate.op.starts_with('>'); }

/// The rule for rates: see judge(). `what` describes the numbers; `value` is the estimate, `sum`
/// the runs behind it.
GateVerdict judge_rate(const Gate& gate, const std::string& what, double value, Tally sum,
                       bool few_may_pass = false) {
  const bool more = wants_more(gate);
  const double against = more ? binomial_at_most(sum.passes, sum.n, gate.threshold)
                              : binomial_at_least(sum.passes, sum.n, gate.threshold);
  const double in_favour = more ? binomial_at_least(sum.passes, sum.n, gate.threshold)
                                : binomial_at_most(sum.passes, sum.n, gate.threshold);
  const std::string numbers =
      fmt::format("{}, asked for {} {:.1f} %", what, gate.op, 100 * gate.threshold);
  const bool met = holds(value, gate.op, gate.threshold);
  const bool few = sum.n <= kRunsWithoutGatingPower;
  if (met && (!few || few_may_pass || in_favour <= gate.alpha))
    return verdict(GateOutcome::pass, numbers);
  if (!met && against <= gate.alpha)
    return verdict(GateOutcome::fail,
                   fmt::format("{}: missed, and not by chance (p = {:.3g})", numbers, against));
  if (few)
    return verdict(GateOutcome::inconclusive,
                   fmt::format("{}: {} run{} are too few to gate on, more than {} are needed",
                               numbers, sum.n, sum.n == 1 ? "" : "s", kRunsWithoutGatingPower));
  return verdict(
      GateOutcome::inconclusive,
      fmt::format("{}: missed, but chance alone does this (p = {:.2f}); more runs or cases "
                  "would tell",
                  numbers, against));
}

GateVerdict judge_pass_rate(const Gate& gate, const GateFacts& facts) {
  const Arm arm = arm_of(gate);
  std::string absent;
  const double value = value_of(gate, facts, &absent);
  if (!absent.empty()) return verdict(GateOutcome::inconclusive, absent + not_counted(facts));
  const Tally sum = total(facts, arm);
  const auto scored = std::count_if(facts.cases.begin(), facts.cases.end(),
                                    [&](const auto& c) { return c.of(arm).n > 0; });
  auto result = judge_rate(gate,
                           fmt::format("pass rate {} {:.1f} % ({}/{} runs, {} cases)",
                                       arm_name(arm), 100 * value, sum.passes, sum.n, scored),
                           value, sum);
  if (result.outcome != GateOutcome::pass) result.message += not_counted(facts);
  for (const auto& c : facts.cases) {
    const Tally& now = c.of(arm);
    if (now.n > 0 && (wants_more(gate) ? now.rate() < gate.threshold : now.rate() > gate.threshold))
      result.moved.push_back(
          {c.name, c.of(arm == Arm::with_skill ? Arm::without_skill : Arm::with_skill), now});
  }
  sort_moves(result.moved);
  return result;
}

GateVerdict judge_case_rate(const Gate& gate, const Measured& facts, bool few_may_pass = false) {
  const auto found = std::find_if(facts.cases.begin(), facts.cases.end(),
                                  [&](const auto& c) { return c.name == gate.arguments[0]; });
  if (found == facts.cases.end())
    return verdict(GateOutcome::inconclusive, "no case '" + gate.arguments[0] + "' was measured");
  const Tally& now = found->with_skill;
  if (now.n == 0)
    return verdict(GateOutcome::inconclusive, found->name + ": no scored run with the skill");
  auto result = judge_rate(gate,
                           fmt::format("{} with the skill {:.1f} % ({}/{} runs)", found->name,
                                       100 * now.rate(), now.passes, now.n),
                           now.rate(), now, few_may_pass);
  if (result.outcome != GateOutcome::pass)
    result.moved.push_back({found->name, found->without_skill, now});
  return result;
}

void add_lift_moves(const GateFacts& facts, GateVerdict& result) {
  for (const auto& c : facts.cases)
    if (c.with_skill.n > 0 && c.without_skill.n > 0 &&
        c.with_skill.rate() != c.without_skill.rate())
      result.moved.push_back({c.name, c.without_skill, c.with_skill});
  sort_moves(result.moved);
  if (result.outcome != GateOutcome::pass) result.message += list_moves(result.moved, true);
}

std::string lift_numbers(const std::vector<double>& d, const std::optional<PairedT>& t) {
  return t ? fmt::format("lift {:+.1f} points, 95 % interval {:+.1f} to {:+.1f} over {} cases",
                         100 * t->mean, 100 * t->interval.low, 100 * t->interval.high, t->cases)
           : fmt::format("lift {:+.1f} points on one case", 100 * mean(d));
}

/// The rule for lift: see judge().
GateVerdict judge_lift(const Gate& gate, const GateFacts& facts) {
  const auto d = differences(facts);
  if (d.empty())
    return verdict(GateOutcome::inconclusive,
                   "no case was scored in both arms" + not_counted(facts));
  const int fewest = std::min(total(facts, Arm::with_skill).n, total(facts, Arm::without_skill).n);
  const auto t = paired_t(d, 1 - 2 * gate.alpha);
  const std::string numbers = fmt::format("{}, asked for {} {:+.1f}", lift_numbers(d, paired_t(d)),
                                          gate.op, 100 * gate.threshold);
  const bool met = holds(mean(d), gate.op, gate.threshold);
  const bool ruled_out = t && (wants_more(gate) ? t->interval.high < gate.threshold
                                                : t->interval.low > gate.threshold);
  GateVerdict result;
  if (fewest <= kRunsWithoutGatingPower) {
    result =
        verdict(GateOutcome::inconclusive,
                fmt::format("{}: {} runs an arm are too few to gate on, more than {} are needed",
                            numbers, fewest, kRunsWithoutGatingPower));
  } else if (met) {
    result = verdict(GateOutcome::pass, numbers);
  } else if (ruled_out) {
    result = verdict(GateOutcome::fail, numbers + ": missed, and not by chance");
  } else {
    result = verdict(GateOutcome::inconclusive,
                     numbers + ": missed, but within chance; more cases would tell");
  }
  if (result.outcome != GateOutcome::pass) result.message += not_counted(facts);
  add_lift_moves(facts, result);
  return result;
}

GateVerdict judge_value(const Gate& gate, const GateFacts& facts) {
  const Quantity& quantity = quantity_of(gate);
  std::string absent;
  const double value = value_of(gate, facts, &absent);
  const std::string name = call_of(gate);
  if (!absent.empty())
    return verdict(GateOutcome::inconclusive, name + ": " + absent + not_counted(facts));
  const bool met = holds(value, gate.op, gate.threshold);
  auto result = verdict(met ? GateOutcome::pass : GateOutcome::fail,
                        fmt::format("{} is {}, asked for {} {}", name, number(value, quantity.unit),
                                    gate.op, number(gate.threshold, quantity.unit)));
  if (gate.quantity == "lift_low" || gate.quantity == "lift_high") {
    result.message += "; " + lift_numbers(differences(facts), paired_t(differences(facts)));
    add_lift_moves(facts, result);
  }
  if (result.outcome != GateOutcome::pass) result.message += not_counted(facts);
  return result;
}

/// The value of one case where the quantity is a mean over cases.
std::optional<double> of_case(const Gate& gate, const CaseTally& c) {
  if (gate.quantity == "case_rate" && c.name != gate.arguments[0]) return std::nullopt;
  if (gate.quantity == "lift") {
    if (c.with_skill.n == 0 || c.without_skill.n == 0) return std::nullopt;
    return c.with_skill.rate() - c.without_skill.rate();
  }
  const Tally& t = gate.quantity == "case_rate" ? c.with_skill : c.of(arm_of(gate));
  return t.n > 0 ? std::optional(t.rate()) : std::nullopt;
}

/// How sure a miss against the baseline is: p of the paired t test over cases, or of Mann-Whitney
/// for times; nothing where the numbers are no estimates.
std::optional<double> miss_p(const Gate& gate, const GateFacts& facts) {
  const auto& baseline = *facts.baseline;
  const double sign = wants_more(gate) ? 1 : -1;
  if (gate.quantity == "bench") {
    std::vector<double> before, after;
    for (const auto* t : times_named(baseline, gate.arguments[0]))
      for (const double ns : t->ns) before.push_back(*gate.factor * ns + gate.threshold);
    for (const auto* t : times_named(facts, gate.arguments[0]))
      after.insert(after.end(), t->ns.begin(), t->ns.end());
    return sign > 0 ? mann_whitney(after, before).p_slower : mann_whitney(before, after).p_slower;
  }
  if (gate.quantity != "pass_rate" && gate.quantity != "lift" && gate.quantity != "case_rate")
    return std::nullopt;
  std::map<std::string, const CaseTally*> earlier;
  for (const auto& c : baseline.cases) earlier[c.name] = &c;
  std::vector<double> d;
  for (const auto& c : facts.cases) {
    const auto found = earlier.find(c.name);
    if (found == earlier.end()) continue;
    const auto now = of_case(gate, c), before = of_case(gate, *found->second);
    if (now && before) d.push_back(sign * (*now - *gate.factor * *before - gate.threshold));
  }
  const auto t = paired_t(d);
  return t ? t->p_drop : 1;
}

/// Times of two kinds or devices say nothing about each other.
std::string incomparable(const Gate& gate, const GateFacts& facts) {
  if (gate.quantity != "bench") return "";
  for (const auto* now : times_named(facts, gate.arguments[0]))
    for (const auto* before : times_named(*facts.baseline, gate.arguments[0]))
      if (now->kind != before->kind || now->device != before->device)
        return fmt::format("the baseline's times are {} on {}, these are {} on {}", before->kind,
                           before->device, now->kind, now->device);
  return "";
}

GateVerdict judge_against_baseline(const Gate& gate, const GateFacts& facts) {
  if (!facts.baseline)
    return verdict(GateOutcome::inconclusive,
                   facts.no_baseline.empty() ? "no baseline to compare with" : facts.no_baseline);
  const Unit unit = quantity_of(gate).unit;
  const std::string name = call_of(gate);
  std::string absent;
  const double now = value_of(gate, facts, &absent);
  if (absent.empty()) {
    value_of(gate, *facts.baseline, &absent);
    if (!absent.empty()) absent = "in the baseline: " + absent;
  }
  if (absent.empty()) absent = incomparable(gate, facts);
  if (!absent.empty())
    return verdict(GateOutcome::inconclusive, name + ": " + absent + not_counted(facts));
  const double before = value_of(gate, *facts.baseline, &absent);
  const double bound = *gate.factor * before + gate.threshold;
  std::string numbers =
      fmt::format("{} is {}, {} in the baseline ({}), asked for {} {}", name, number(now, unit),
                  number(before, unit), facts.baseline->description, gate.op, number(bound, unit));
  if (gate.quantity == "bench")
    numbers += fmt::format(" ({})", times_named(facts, gate.arguments[0]).front()->kind);
  for (const auto& d : facts.baseline->differs) numbers += "; note: " + d;
  GateVerdict result;
  if (holds(now, gate.op, bound)) {
    result = verdict(GateOutcome::pass, numbers);
  } else if (const auto p = miss_p(gate, facts); !p) {
    result = verdict(GateOutcome::fail, numbers + ": missed");
  } else if (*p <= gate.alpha + 1e-12) {
    result = verdict(GateOutcome::fail,
                     fmt::format("{}: missed, and not by chance (p = {:.3g})", numbers, *p));
  } else {
    result = verdict(GateOutcome::inconclusive,
                     fmt::format("{}: missed, but within chance (p = {:.2f}); more {} would tell",
                                 numbers, *p, gate.quantity == "bench" ? "runs" : "cases"));
  }
  const Arm arm = arm_of(gate);
  for (const auto& c : facts.cases)
    for (const auto& b : facts.baseline->cases)
      if (b.name == c.name && of_case(gate, c) && of_case(gate, b) && unit != Unit::time &&
          b.of(arm).rate() != c.of(arm).rate())
        result.moved.push_back({c.name, b.of(arm), c.of(arm)});
  sort_moves(result.moved);
  if (result.outcome != GateOutcome::pass)
    result.message += list_moves(result.moved, wants_more(gate)) + not_counted(facts);
  return result;
}

GateVerdict judge_parts(const Gate& gate, const GateFacts& facts) {
  const auto rank = [](GateOutcome o) {
    return o == GateOutcome::fail ? 0 : o == GateOutcome::inconclusive ? 1 : 2;
  };
  const bool all = gate.kind == Gate::Kind::all;
  GateVerdict result;
  result.outcome = all ? GateOutcome::pass : GateOutcome::fail;
  for (const auto& part : gate.parts) {
    GateVerdict v = judge(part, facts);
    if (all ? rank(v.outcome) < rank(result.outcome) : rank(v.outcome) > rank(result.outcome))
      result.outcome = v.outcome;
    result.message += fmt::format("{}{} ({}): {}", result.message.empty() ? "" : "; ", part.text,
                                  gate_outcome_name(v.outcome), v.message);
    for (auto& move : v.moved)
      if (std::none_of(result.moved.begin(), result.moved.end(),
                       [&](const CaseMove& m) { return m.name == move.name; }))
        result.moved.push_back(std::move(move));
  }
  sort_moves(result.moved);
  return result;
}

}  // namespace

GateVerdict judge(const Gate& gate, const GateFacts& facts) {
  if (!gate.parts.empty()) return judge_parts(gate, facts);
  if (gate.kind == Gate::Kind::no_regression) return judge_regression(gate, facts);
  if (gate.factor) return judge_against_baseline(gate, facts);
  if (gate.quantity == "pass_rate") return judge_pass_rate(gate, facts);
  if (gate.quantity == "case_rate") return judge_case_rate(gate, facts);
  if (gate.quantity == "lift") return judge_lift(gate, facts);
  return judge_value(gate, facts);
}

GateVerdict judge_require(double least, const CaseTally& c) {
  Gate gate;
  gate.quantity = "case_rate";
  gate.arguments = {c.name};
  gate.op = ">=";
  gate.threshold = least;
  Measured measured;
  measured.cases = {c};
  return judge_case_rate(gate, measured, true);
}

}  // namespace hone::stats
