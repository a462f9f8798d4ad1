#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/gate.hpp"
#include "stats/gate_evidence.hpp"
#include "stats/intervals.hpp"
#include "stats/paired.hpp"
#include "stats/planning.hpp"
#include "stats/repeats.hpp"

namespace hone::stats {
namespace {

using Unit = Quantity::Unit;

Arm arm_of(const Gate& gate) {
  return !gate.arguments.empty() && gate.arguments[0] == arm_name(Arm::without_skill)
             ? Arm::without_skill
             : Arm::with_skill;
}

Tally total(const GateFacts& facts, Arm arm) {
  Tally sum;
  for (const auto& c : facts.cases) sum += c.of(arm);
  return sum;
}

std::vector<double> rates(const GateFacts& facts, Arm arm) {
  std::vector<double> values;
  for (const auto& c : facts.cases)
    if (c.of(arm).n > 0) values.push_back(c.of(arm).rate());
  return values;
}

std::vector<double> differences(const GateFacts& facts) {
  std::vector<double> values;
  for (const auto& c : facts.cases)
    if (c.with_skill.n > 0 && c.without_skill.n > 0)
      values.push_back(c.with_skill.rate() - c.without_skill.rate());
  return values;
}

bool holds(double value, const std::string& op, double threshold) {
  // Rates are sums of fractions: a rounding error must not miss `>= 0.6` at exactly 60 %.
  constexpr double kRounding = 1e-9;
  if (op == ">=") return value >= threshold - kRounding;
  if (op == "<=") return value <= threshold + kRounding;
  if (op == ">") return value > threshold + kRounding;
  if (op == "<") return value < threshold - kRounding;
  return std::abs(value - threshold) <= kRounding;
}

bool wants_more(const Gate& gate) { return gate.op.starts_with('>'); }

std::string number(double value, Unit unit) {
  switch (unit) {
    case Unit::rate:
      return fmt::format("{:.1f} %", 100 * value);
    case Unit::points:
      return fmt::format("{:+.1f} points", 100 * value);
    case Unit::tokens:
      return fmt::format("{:.1f}", value);
    case Unit::count:
      return fmt::format("{:.0f}", value);
  }
  return "";
}

const Quantity& quantity_of(const Gate& gate) {
  const auto& all = gate_quantities();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Quantity& q) { return q.name() == gate.quantity; });
  if (found == all.end()) throw std::invalid_argument("gate was not parsed: " + gate.text);
  return *found;
}

/// The rule for pass_rate: see judge().
GateVerdict judge_pass_rate(const Gate& gate, const GateFacts& facts) {
  const Arm arm = arm_of(gate);
  const Tally sum = total(facts, arm);
  const auto values = rates(facts, arm);
  if (sum.n == 0)
    return verdict(GateOutcome::inconclusive,
                   fmt::format("no scored run {}{}", arm_name(arm), not_counted(facts)));
  const double value = mean(values);
  const bool more = wants_more(gate);
  const double against = more ? binomial_at_most(sum.passes, sum.n, gate.threshold)
                              : binomial_at_least(sum.passes, sum.n, gate.threshold);
  const double in_favour = more ? binomial_at_least(sum.passes, sum.n, gate.threshold)
                                : binomial_at_most(sum.passes, sum.n, gate.threshold);
  const std::string numbers = fmt::format(
      "pass rate {} {:.1f} % ({}/{} runs, {} cases), asked for {} {:.1f} %", arm_name(arm),
      100 * value, sum.passes, sum.n, values.size(), gate.op, 100 * gate.threshold);
  const bool met = holds(value, gate.op, gate.threshold);
  const bool few = sum.n <= kRunsWithoutGatingPower;
  GateVerdict result;
  if (met && (!few || in_favour <= gate.alpha)) {
    result = verdict(GateOutcome::pass, numbers);
  } else if (!met && against <= gate.alpha) {
    result = verdict(GateOutcome::fail,
                     fmt::format("{}: missed, and not by chance (p = {:.3g})", numbers, against));
  } else if (few) {
    result = verdict(GateOutcome::inconclusive,
                     fmt::format("{}: {} runs are too few to gate on, more than {} are needed",
                                 numbers, sum.n, kRunsWithoutGatingPower));
  } else {
    result = verdict(
        GateOutcome::inconclusive,
        fmt::format("{}: missed, but chance alone does this (p = {:.2f}); more runs or cases "
                    "would tell",
                    numbers, against));
  }
  if (result.outcome != GateOutcome::pass) result.message += not_counted(facts);
  for (const auto& c : facts.cases) {
    const Tally& now = c.of(arm);
    if (now.n > 0 && (more ? now.rate() < gate.threshold : now.rate() > gate.threshold))
      result.moved.push_back(
          {c.name, c.of(arm == Arm::with_skill ? Arm::without_skill : Arm::with_skill), now});
  }
  sort_moves(result.moved);
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

double mean_draws(const GateFacts& facts, Arm arm, int k, double (*f)(int, int, int),
                  std::string* absent) {
  std::vector<double> values;
  for (const auto& c : facts.cases) {
    const Tally& t = c.of(arm);
    if (t.n >= k) values.push_back(f(t.n, t.passes, k));
  }
  if (values.empty()) *absent = fmt::format("no case has {} scored runs", k);
  return mean(values);
}

/// The value of a quantity that is compared as it is; says in `absent` why there is none.
double value_of(const Gate& gate, const GateFacts& facts, std::string* absent) {
  const Arm arm = arm_of(gate);
  const std::string& name = gate.quantity;
  const ArmTokens& tokens = arm == Arm::with_skill ? facts.with_skill : facts.without_skill;
  const auto reported = [&](const std::optional<double>& v) {
    if (!v) *absent = "the server reported no token usage";
    return v.value_or(0);
  };
  const auto sum_of = [](const ArmTokens& t) -> std::optional<double> {
    if (!t.input || !t.output) return std::nullopt;
    return *t.input + *t.output;
  };
  if (name == "infrastructure_errors") return facts.infrastructure_errors;
  if (name == "flaky_cases")
    return static_cast<double>(std::count_if(facts.cases.begin(), facts.cases.end(),
                                             [&](const auto& c) { return c.of(arm).flaky(); }));
  if (name == "tokens") return reported(sum_of(tokens));
  if (name == "input_tokens") return reported(tokens.input);
  if (name == "output_tokens") return reported(tokens.output);
  if (name == "tokens_per_correct") {
    if (total(facts, arm).passes == 0) *absent = "no answer is correct";
    return tokens.per_correct ? *tokens.per_correct : reported(tokens.per_correct);
  }
  if (name == "tokens_saved") return reported(facts.tokens_saved);
  if (name == "pass_rate_low") {
    if (total(facts, arm).n == 0) *absent = "no scored run";
    return clopper_pearson(total(facts, arm)).low;
  }
  if (name == "pass_at_k" || name == "pass_hat_k")
    return mean_draws(facts, arm, std::stoi(gate.arguments[1]),
                      name == "pass_at_k" ? pass_at_k : pass_hat_k, absent);
  const auto d = differences(facts);
  if (name == "normalised_gain") {
    if (d.empty()) *absent = "no case was scored in both arms";
    std::vector<double> with, without;
    for (const auto& c : facts.cases) {
      if (c.with_skill.n == 0 || c.without_skill.n == 0) continue;
      with.push_back(c.with_skill.rate());
      without.push_back(c.without_skill.rate());
    }
    return normalised_gain(mean(without), mean(with));
  }
  const auto t = paired_t(d);  // lift_low, lift_high
  if (!t) *absent = "an interval needs at least two cases scored in both arms";
  return !t ? 0 : name == "lift_low" ? t->interval.low : t->interval.high;
}

GateVerdict judge_value(const Gate& gate, const GateFacts& facts) {
  const Quantity& quantity = quantity_of(gate);
  std::string absent;
  const double value = value_of(gate, facts, &absent);
  const std::string name = gate.arguments.empty() ? gate.quantity
                                                  : fmt::format("{}({})", gate.quantity,
                                                                fmt::join(gate.arguments, ", "));
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

}  // namespace

GateVerdict judge(const Gate& gate, const GateFacts& facts) {
  if (gate.kind == Gate::Kind::no_regression) return judge_regression(gate, facts);
  if (gate.quantity == "pass_rate") return judge_pass_rate(gate, facts);
  if (gate.quantity == "lift") return judge_lift(gate, facts);
  return judge_value(gate, facts);
}

}  // namespace hone::stats
