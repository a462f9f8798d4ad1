#include "stats/gate_quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "stats/intervals.hpp"
#include "stats/paired.hpp"
#include "stats/repeats.hpp"
#include "stats/timings.hpp"

namespace hone::stats {
namespace {

using Unit = Quantity::Unit;

/// Mean over cases of pass@k or pass^k; `absent` when a case has fewer runs than k.
double mean_draws(const Measured& measured, Arm arm, int k, double (*draw)(int, int, int),
                  std::string* absent) {
  std::vector<double> values;
  for (const auto& c : measured.cases) {
    const Tally& t = c.of(arm);
    if (t.n == 0) continue;
    if (t.n < k) {
      *absent = fmt::format("case {} has {} scored runs, fewer than k = {}", c.name, t.n, k);
      return 0;
    }
    values.push_back(draw(t.n, t.passes, k));
  }
  if (values.empty()) *absent = fmt::format("no scored run {}", arm_name(arm));
  return mean(values);
}

double tokens_value(const std::string& name, const ArmTokens& tokens, int passes,
                    std::string* absent) {
  const auto reported = [&](const std::optional<double>& v) {
    if (!v) *absent = "the server reported no token usage";
    return v.value_or(0);
  };
  if (name == "input_tokens") return reported(tokens.input);
  if (name == "output_tokens") return reported(tokens.output);
  if (name == "tokens") return reported(tokens.input) + reported(tokens.output);
  if (passes == 0) *absent = "no answer is correct";
  return passes == 0 ? 0 : reported(tokens.per_correct);
}

double cost_value(const std::string& name, const std::optional<double>& cost, Tally sum,
                  std::string* absent) {
  if (!cost) *absent = "no price is known for this model, or the server reported no token usage";
  if (!cost || name == "cost") return cost.value_or(0);
  const auto each = per_correct(*cost * sum.n, sum.passes);
  if (!each) *absent = "no answer is correct";
  return each.value_or(0);
}

double bench_value(const Measured& measured, const std::string& name, std::string* absent) {
  double logs = 0;
  const auto times = times_named(measured, name);
  for (const auto* t : times) logs += std::log(median(t->ns));
  if (times.empty()) *absent = "no correct candidate of '" + name + "' was timed";
  return times.empty() ? 0 : std::exp(logs / static_cast<double>(times.size()));
}

double fast_value(const Measured& measured, double p, std::string* absent) {
  std::vector<std::optional<double>> speedups;
  for (const auto& t : measured.bench) {
    if (t.ns.empty())
      speedups.push_back(std::nullopt);
    else if (t.reference_ns)
      speedups.push_back(*t.reference_ns / median(t.ns));
  }
  if (speedups.empty()) *absent = "no kernel case has a timed reference kernel";
  return fast_p(speedups, p);
}

}  // namespace

const std::vector<Quantity>& gate_quantities() {
  static const std::vector<Quantity> quantities = {
      {"pass_rate(arm)", "share of runs that are correct, mean over cases", Unit::rate},
      {"pass_rate_low(arm)", "its guaranteed lower bound (Clopper-Pearson 95 % of the totals)",
       Unit::rate},
      {"case_rate(case)", "share of one case's runs with the skill that are correct", Unit::rate},
      {"lift", "pass_rate(with_skill) - pass_rate(without_skill), mean over cases", Unit::points},
      {"lift_low", "lower end of the lift's 95 % t interval over cases", Unit::points},
      {"lift_high", "upper end of the lift's 95 % t interval over cases", Unit::points},
      {"normalised_gain", "lift as a share of what was left to gain", Unit::points},
      {"pass_at_k(arm, k)", "probability that one of k runs is correct, mean over cases",
       Unit::rate},
      {"pass_hat_k(arm, k)", "probability that all of k runs are correct, mean over cases",
       Unit::rate},
      {"tokens_saved", "tokens a trial, without the skill minus with it", Unit::tokens},
      {"tokens(arm)", "input and output tokens a trial", Unit::tokens},
      {"input_tokens(arm)", "input tokens a trial", Unit::tokens},
      {"output_tokens(arm)", "output tokens a trial", Unit::tokens},
      {"tokens_per_correct(arm)", "all tokens of the arm for each correct answer", Unit::tokens},
      {"cost(arm)", "money a trial, by the model's prices", Unit::money},
      {"cost_per_correct(arm)", "all money of the arm for each correct answer", Unit::money},
      {"bench(name)",
       "median time of the correct candidates of a case or suite with the skill (a bound of a "
       "model "
       "on cudasim)",
       Unit::time},
      {"fast_p(p)",
       "share of the kernel cases that are correct and more than p times as fast as the reference",
       Unit::rate},
      {"flaky_cases(arm)", "cases of which some runs are correct and some not", Unit::count},
      {"runs(arm)", "scored runs", Unit::count},
      {"not_run", "trials that are planned and have not run", Unit::count},
      {"infrastructure_errors", "trials that could not be measured", Unit::count},
  };
  return quantities;
}

const Quantity& quantity_of(const Gate& gate) {
  const auto& all = gate_quantities();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Quantity& q) { return q.name() == gate.quantity; });
  if (found == all.end()) throw std::invalid_argument("gate was not parsed: " + gate.text);
  return *found;
}

Arm arm_of(const Gate& gate) {
  return !gate.arguments.empty() && gate.arguments[0] == arm_name(Arm::without_skill)
             ? Arm::without_skill
             : Arm::with_skill;
}

std::string call_of(const Gate& gate) {
  return gate.arguments.empty()
             ? gate.quantity
             : fmt::format("{}({})", gate.quantity, fmt::join(gate.arguments, ", "));
}

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
    case Unit::time:
      return value < 1e3   ? fmt::format("{:.0f} ns", value)
             : value < 1e6 ? fmt::format("{:.2f} us", value / 1e3)
             : value < 1e9 ? fmt::format("{:.2f} ms", value / 1e6)
                           : fmt::format("{:.2f} s", value / 1e9);
    case Unit::money:
      return fmt::format("{:.6g}", value);
  }
  return "";
}

Tally total(const Measured& measured, Arm arm) {
  Tally sum;
  for (const auto& c : measured.cases) sum += c.of(arm);
  return sum;
}

std::vector<double> differences(const Measured& measured) {
  std::vector<double> values;
  for (const auto& c : measured.cases)
    if (c.with_skill.n > 0 && c.without_skill.n > 0)
      values.push_back(c.with_skill.rate() - c.without_skill.rate());
  return values;
}

std::vector<const BenchTimes*> times_named(const Measured& measured, const std::string& name) {
  std::vector<const BenchTimes*> times;
  for (const auto& t : measured.bench)
    if ((t.case_name == name || t.suite == name) && !t.ns.empty()) times.push_back(&t);
  return times;
}

double value_of(const Gate& gate, const Measured& measured, std::string* absent) {
  const Arm arm = arm_of(gate);
  const bool with = arm == Arm::with_skill;
  const std::string& name = gate.quantity;
  const Tally sum = total(measured, arm);
  if (name == "infrastructure_errors") return measured.infrastructure_errors;
  if (name == "not_run") return measured.not_run;
  if (name == "runs") return sum.n;
  if (name == "flaky_cases")
    return static_cast<double>(std::count_if(measured.cases.begin(), measured.cases.end(),
                                             [&](const auto& c) { return c.of(arm).flaky(); }));
  if (name == "tokens_saved") {
    if (!measured.tokens_saved) *absent = "the server reported no token usage";
    return measured.tokens_saved.value_or(0);
  }
  if (name == "tokens" || name == "input_tokens" || name == "output_tokens" ||
      name == "tokens_per_correct")
    return tokens_value(name, with ? measured.with_skill : measured.without_skill, sum.passes,
                        absent);
  if (name == "cost" || name == "cost_per_correct")
    return cost_value(name, with ? measured.cost_with : measured.cost_without, sum, absent);
  if (name == "bench") return bench_value(measured, gate.arguments[0], absent);
  if (name == "fast_p") return fast_value(measured, std::stod(gate.arguments[0]), absent);
  if (name == "pass_rate") {
    std::vector<double> rates;
    for (const auto& c : measured.cases)
      if (c.of(arm).n > 0) rates.push_back(c.of(arm).rate());
    if (rates.empty()) *absent = fmt::format("no scored run {}", arm_name(arm));
    return mean(rates);
  }
  if (name == "case_rate") {
    for (const auto& c : measured.cases)
      if (c.name == gate.arguments[0] && c.with_skill.n > 0) return c.with_skill.rate();
    *absent = "no scored run of this case";
    return 0;
  }
  if (name == "pass_rate_low") {
    if (sum.n == 0) *absent = fmt::format("no scored run {}", arm_name(arm));
    return clopper_pearson(sum).low;
  }
  if (name == "pass_at_k" || name == "pass_hat_k")
    return mean_draws(measured, arm, std::stoi(gate.arguments[1]),
                      name == "pass_at_k" ? pass_at_k : pass_hat_k, absent);
  const auto d = differences(measured);
  if (d.empty()) *absent = "no case was scored in both arms";
  if (name == "lift") return mean(d);
  if (name == "normalised_gain") {
    std::vector<double> with_rates, without_rates;
    for (const auto& c : measured.cases) {
      if (c.with_skill.n == 0 || c.without_skill.n == 0) continue;
      with_rates.push_back(c.with_skill.rate());
      without_rates.push_back(c.without_skill.rate());
    }
    return normalised_gain(mean(without_rates), mean(with_rates));
  }
  const auto t = paired_t(d);  // lift_low, lift_high
  if (!t) *absent = "an interval needs at least two cases scored in both arms";
  return !t ? 0 : name == "lift_low" ? t->interval.low : t->interval.high;
}

}  // namespace hone::stats
