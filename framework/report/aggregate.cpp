#include "report/aggregate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/planning.hpp"
#include "stats/repeats.hpp"
#include "stats/timings.hpp"

namespace hone::report {
namespace {

using stats::Arm;

void add(ArmCase& arm, const Trial& trial) {
  ++arm.outcomes[trial.outcome];
  arm.seconds += trial.seconds;
  if (!trial.run_done()) {
    ++arm.not_run;
  } else if (!trial.scored()) {
    ++arm.infrastructure_errors;
  } else {
    ++arm.tally.n;
    arm.tally.passes += trial.passed();
  }
  if (!trial.passed() && arm.evidence.empty() && !trial.evidence.empty())
    arm.evidence = trial.outcome + ": " + trial.evidence;
  if (trial.scored() && trial.usage.input && trial.usage.output) {
    arm.input_tokens += *trial.usage.input;
    arm.output_tokens += *trial.usage.output;
    ++arm.trials_with_usage;
  }
  if (trial.passed() && trial.time_ns) {
    arm.times.insert(std::upper_bound(arm.times.begin(), arm.times.end(), *trial.time_ns),
                     *trial.time_ns);
    arm.time_kind = trial.time_kind;
    arm.device = trial.device;
  }
}

/// Geometric mean of the reference's rows, where it was timed on the device of the answers.
std::optional<double> reference_ns(const ReportInput& input, const CaseResult& c) {
  const auto found = input.references.find(c.info.suite);
  if (c.info.suite.empty() || found == input.references.end()) return std::nullopt;
  for (const auto* arm : {&c.with_skill, &c.without_skill})
    if (!arm->device.empty() &&
        (arm->device != found->second.device || arm->time_kind != found->second.time_kind))
      return std::nullopt;
  return time_of_rows(found->second.benchmarks);
}

/// Input and output tokens of one trial, when the server reported both.
std::optional<long> tokens(const Trial& trial) {
  if (!trial.usage.input || !trial.usage.output) return std::nullopt;
  return *trial.usage.input + *trial.usage.output;
}

/// See ArmResult::pass_at_turn.
std::vector<double> pass_at_turn(const std::vector<CaseResult>& cases,
                                 const std::vector<const Trial*>& trials, Arm arm) {
  size_t turns = 1;
  for (const auto& c : cases) turns = std::max(turns, static_cast<size_t>(c.info.turns));
  for (const auto* t : trials) turns = std::max(turns, static_cast<size_t>(t->turns));
  if (turns == 1) return {};
  std::vector<std::vector<int>> correct(cases.size(), std::vector<int>(turns));
  for (const auto* t : trials)
    if (t->arm == arm && t->passed())
      for (auto turn = static_cast<size_t>(t->turns); turn <= turns; ++turn)
        ++correct[t->case_index][turn - 1];
  std::vector<double> rates;
  for (size_t turn = 0; turn < turns; ++turn) {
    std::vector<double> of_cases;
    for (size_t c = 0; c < cases.size(); ++c)
      if (const int n = cases[c].of(arm).tally.n; n > 0)
        of_cases.push_back(static_cast<double>(correct[c][turn]) / n);
    if (of_cases.empty()) return {};
    rates.push_back(stats::mean(of_cases));
  }
  return rates;
}

ArmResult sum_up(const std::vector<CaseResult>& cases, const std::vector<const Trial*>& trials,
                 Arm arm) {
  ArmResult result;
  std::vector<double> rates;
  std::vector<std::vector<double>> clusters;
  for (const auto& c : cases) {
    const ArmCase& a = c.of(arm);
    result.total += a.tally;
    result.infrastructure_errors += a.infrastructure_errors;
    result.not_run += a.not_run;
    for (const auto& [outcome, count] : a.outcomes) result.outcomes[outcome] += count;
    result.flaky_cases += a.tally.flaky();
    if (a.tally.n > 0) rates.push_back(a.tally.rate());
    clusters.emplace_back(static_cast<size_t>(a.tally.n), 0.0);
    std::fill_n(clusters.back().begin(), a.tally.passes, 1.0);
  }
  if (const auto clustered = stats::clustered_mean(clusters)) result.clustered_se = clustered->se;
  result.cases = static_cast<int>(rates.size());
  if (!rates.empty()) {
    result.pass_rate = stats::mean(rates);
    const auto t = stats::paired_t(rates);
    result.interval = t && t->se > 0 ? stats::Interval{std::max(0.0, t->interval.low),
                                                       std::min(1.0, t->interval.high)}
                                     : stats::wilson(result.total);
  }
  result.pass_at_turn = pass_at_turn(cases, trials, arm);
  double cost = 0;
  int priced = 0;
  for (const Trial* trial : trials) {
    if (trial->arm != arm || !trial->scored()) continue;
    if (trial->cost) {
      cost += *trial->cost;
      ++priced;
    }
    if (!tokens(*trial)) continue;
    result.input_tokens = result.input_tokens.value_or(0) + *trial->usage.input;
    result.output_tokens = result.output_tokens.value_or(0) + *trial->usage.output;
    ++result.trials_with_usage;
  }
  if (result.trials_with_usage > 0) {
    result.tokens_per_trial = static_cast<double>(*result.input_tokens + *result.output_tokens) /
                              result.trials_with_usage;
    result.tokens_per_correct =
        stats::per_correct(*result.tokens_per_trial * result.total.n, result.total.passes);
  }
  if (priced > 0) {
    result.cost_per_trial = cost / priced;
    result.cost_per_correct =
        stats::per_correct(*result.cost_per_trial * result.total.n, result.total.passes);
  }
  return result;
}

/// Mean over the cases with usage in both arms of tokens a trial, without - with.
std::optional<double> tokens_saved(const std::vector<const Trial*>& trials, size_t cases) {
  struct Sum {
    double tokens[2] = {0, 0};
    int n[2] = {0, 0};
  };
  std::vector<Sum> sums(cases);
  for (const Trial* trial : trials) {
    const auto used = tokens(*trial);
    if (!trial->scored() || !used) continue;
    const size_t arm = trial->arm == Arm::with_skill ? 0 : 1;
    sums[trial->case_index].tokens[arm] += static_cast<double>(*used);
    ++sums[trial->case_index].n[arm];
  }
  std::vector<double> saved;
  for (const auto& s : sums)
    if (s.n[0] > 0 && s.n[1] > 0) saved.push_back(s.tokens[1] / s.n[1] - s.tokens[0] / s.n[0]);
  return saved.empty() ? std::nullopt : std::optional(stats::mean(saved));
}

std::string caveat(const ModelResult& m, const std::vector<double>& differences, int runs) {
  const int k = m.paired_cases;
  if (k == 0) return "no case was scored in both arms: nothing can be said about the skill";
  if (k < stats::kFewestCasesForAClaim)
    return fmt::format(
        "{} case{} cannot support a claim at the 5 % level, {} is the smallest "
        "sign-flip p they can reach; at least {} cases are needed",
        k, k == 1 ? "" : "s", stats::smallest_sign_flip_p(k), stats::kFewestCasesForAClaim);
  if (m.lift_t->interval.low > 0 || m.lift_t->interval.high < 0) {
    const int needed = stats::runs_for_one_case();
    if (runs >= needed) return "";
    return fmt::format(
        "the lift is a claim about the cases together: {} run{} cannot show a change of one case, "
        "{} can (5 % level)",
        runs, runs == 1 ? "" : "s", needed);
  }
  const double detectable = 100 * std::min(1.0, stats::smallest_detectable_effect(k, runs));
  std::string text = fmt::format(
      "the lift cannot be told from zero; {} cases with {} runs show "
      "effects from about {:.0f} points",
      k, runs, detectable);
  if (std::abs(*m.lift) >= .01) {
    stats::Spread spread;
    const double sd = stats::standard_deviation(differences);
    spread.between_cases = sd;  // measured, runs' noise included
    spread.with_variance = spread.without_variance = 0;
    text += fmt::format("; about {} cases would show one of {:.0f}",
                        stats::cases_needed(*m.lift, runs, spread), std::abs(100 * *m.lift));
  }
  return text;
}

}  // namespace

ModelResult aggregate(const ReportInput& input, const ModelInfo& model,
                      const std::vector<Trial>& trials) {
  ModelResult result;
  result.info = model;
  for (const auto& info : input.cases) {
    result.cases.emplace_back();
    result.cases.back().info = info;
  }
  std::vector<const Trial*> own;
  for (const auto& trial : trials) {
    if (trial.model != model.name) continue;
    own.push_back(&trial);
    auto& c = result.cases[trial.case_index];
    add(trial.arm == Arm::with_skill ? c.with_skill : c.without_skill, trial);
    if (trial.arm == Arm::with_skill && c.measured_digest.empty())
      c.measured_digest = trial.case_digest;
  }
  std::vector<std::optional<double>> speedups;
  for (auto& c : result.cases) {
    if (c.measured_digest.empty()) c.measured_digest = c.info.digest;
    c.reference_ns = reference_ns(input, c);
    if (c.info.require)
      c.require = stats::judge_require(*c.info.require,
                                       {c.info.id, c.with_skill.tally, c.without_skill.tally});
    if (c.info.kind != "kernel" || c.with_skill.tally.n == 0 || !c.reference_ns) continue;
    speedups.push_back(c.with_skill.times.empty()
                           ? std::nullopt
                           : std::optional(*c.reference_ns / stats::median(c.with_skill.times)));
  }
  if (!speedups.empty()) result.fast_1 = stats::fast_p(speedups, 1);
  result.with_skill = sum_up(result.cases, own, Arm::with_skill);
  result.without_skill = sum_up(result.cases, own, Arm::without_skill);
  std::vector<double> with, without, differences;
  for (const auto& c : result.cases) {
    if (c.with_skill.tally.n == 0 || c.without_skill.tally.n == 0) continue;
    with.push_back(c.with_skill.tally.rate());
    without.push_back(c.without_skill.tally.rate());
    differences.push_back(with.back() - without.back());
  }
  result.paired_cases = static_cast<int>(differences.size());
  if (!differences.empty()) {
    result.lift = stats::mean(differences);
    result.lift_t = stats::paired_t(differences);
    result.lift_sign_flip = stats::sign_flip(differences);
    if (differences.size() > 1) result.lift_bootstrap = stats::bootstrap_mean(differences);
    result.normalised_gain = stats::normalised_gain(stats::mean(without), stats::mean(with));
  }
  result.tokens_saved = tokens_saved(own, input.cases.size());
  result.caveat = caveat(result, differences, input.runs);
  return result;
}

std::string measured_skill_digest(const ReportInput& input, const std::string& model,
                                  const std::vector<Trial>& trials, bool* mixed) {
  std::string digest;
  for (const auto& trial : trials) {
    if (trial.model != model || trial.arm != Arm::with_skill || trial.skill_digest.empty())
      continue;
    if (digest.empty()) digest = trial.skill_digest;
    if (mixed != nullptr && digest != trial.skill_digest) *mixed = true;
  }
  return digest.empty() ? input.skill_digest : digest;
}

std::span<const Trial> EvaluationResult::runs_of(size_t model, size_t case_index, Arm arm) const {
  const auto runs = static_cast<size_t>(input.runs);
  const size_t first =
      ((model * input.cases.size() + case_index) * 2 + (arm == Arm::with_skill)) * runs;
  return std::span(trials).subspan(first, runs);
}

stats::GateFacts gate_facts(const ReportInput& input, const ModelResult& result,
                            const std::vector<Trial>& trials, const Baseline* baseline,
                            const std::string& no_baseline) {
  stats::GateFacts facts;
  for (const auto& c : result.cases) {
    facts.cases.push_back({c.info.id, c.with_skill.tally, c.without_skill.tally});
    facts.case_digests.push_back(c.measured_digest);
    if (c.info.kind == "kernel" && c.with_skill.tally.n > 0)
      facts.bench.push_back({c.info.id, c.info.suite, c.with_skill.times, c.with_skill.time_kind,
                             c.with_skill.device, c.reference_ns});
  }
  const auto arm_tokens = [](const ArmResult& arm) -> stats::ArmTokens {
    if (arm.trials_with_usage == 0) return {};
    const double n = arm.trials_with_usage;
    return {static_cast<double>(*arm.input_tokens) / n, static_cast<double>(*arm.output_tokens) / n,
            arm.tokens_per_correct};
  };
  facts.with_skill = arm_tokens(result.with_skill);
  facts.without_skill = arm_tokens(result.without_skill);
  facts.tokens_saved = result.tokens_saved;
  facts.cost_with = result.with_skill.cost_per_trial;
  facts.cost_without = result.without_skill.cost_per_trial;
  facts.infrastructure_errors =
      result.with_skill.infrastructure_errors + result.without_skill.infrastructure_errors;
  facts.not_run = result.with_skill.not_run + result.without_skill.not_run;
  facts.no_baseline = no_baseline;
  if (baseline == nullptr) return facts;
  const auto found = baseline->models.find(result.info.name);
  if (found == baseline->models.end()) return facts;
  facts.baseline = to_gate_baseline(found->second, result.info,
                                    measured_skill_digest(input, result.info.name, trials));
  return facts;
}

}  // namespace hone::report
