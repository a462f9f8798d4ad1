#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/aggregate.hpp"
#include "stats/multiple.hpp"

namespace hone::report {
namespace {

/// Warnings about records that don't fit the plan, and about timings that are missing.
void check_records(EvaluationResult& result) {
  const auto warn = [&](const std::string& file, int line, const std::string& message,
                        const std::string& hint) {
    result.problems.push_back({{file, line, 0}, message, hint, true});
  };
  const auto& input = result.input;
  for (const auto& model : input.models) {
    bool mixed = false;
    const auto digest = measured_skill_digest(input, model.name, result.trials, &mixed);
    if (mixed)
      warn("", 0,
           fmt::format("{} {}: the trials were asked with different versions of the skill",
                       input.evaluation, model.name),
           "ask again, so that all have one");
    else if (!input.skill_digest.empty() && digest != input.skill_digest)
      warn("", 0,
           fmt::format("{} {}: the skill was edited after these trials were asked",
                       input.evaluation, model.name),
           "ask again to measure the edit");
  }
  std::set<std::string> edited;
  for (const auto& trial : result.trials) {
    const auto& info = input.cases[trial.case_index];
    if (!info.digest.empty() && !trial.case_digest.empty() && trial.case_digest != info.digest &&
        edited.insert(info.id).second)
      warn(info.file, info.line, "case " + info.id + " was edited after its trials were asked",
           "ask again to measure the edit");
    if (!trial.bench_problem.empty())
      warn("", 0, trial.folder + ": no timings: " + trial.bench_problem, "");
  }
}

/// Loads the baseline when a gate wants it; `why` says why there is none.
std::optional<Baseline> load_baseline(EvaluationResult& result, std::string& why) {
  const auto& input = result.input;
  const std::string command =
      input.baseline_command.empty() ? "hone baseline " + input.evaluation : input.baseline_command;
  const auto& path = input.baseline;
  std::error_code ec;
  if (path.empty() || !std::filesystem::exists(path, ec)) {
    why = fmt::format("no baseline at {}; this writes one from the present results: {}",
                      path.empty() ? "(no path)" : path.string(), command);
    return std::nullopt;
  }
  why = fmt::format("{} has no entry for this model; this adds it: {}", path.string(), command);
  try {
    return read_baseline(path);
  } catch (const Error& e) {
    why = "the baseline cannot be used: " + std::string(e.what());
    result.bad_input = true;
    if (e.diagnostics().empty())
      result.problems.push_back({{path.string(), 0, 0}, e.what(), ""});
    else
      result.problems.insert(result.problems.end(), e.diagnostics().begin(), e.diagnostics().end());
    return std::nullopt;
  }
}

/// A lift is claimed for each model: Holm's correction over them.
void adjust_for_several_models(std::vector<ModelResult>& models) {
  std::vector<ModelResult*> claims;
  std::vector<double> p;
  for (auto& m : models) {
    if (!m.lift_t) continue;
    claims.push_back(&m);
    p.push_back(m.lift_t->p);
  }
  if (claims.size() < 2) return;
  const auto adjusted = stats::holm(p);
  for (size_t i = 0; i < claims.size(); ++i) claims[i]->lift_p_holm = adjusted[i];
}

/// An alarm is confirmed once, by the runs that follow the declared ones, when they are there and
/// were asked with the same skill: it stays a failure where they fail too, and is inconclusive
/// where they don't.
void confirm_alarms(const ReportInput& input, const std::vector<Trial>& trials,
                    const std::vector<stats::Gate>& gates, const Baseline* baseline,
                    const std::string& no_baseline, ModelResult& m) {
  if (std::none_of(m.gates.begin(), m.gates.end(), [](const GateResult& g) {
        return g.verdict.outcome == stats::GateOutcome::fail;
      }))
    return;
  ReportInput next = input;
  next.first_run += input.runs;
  next.models = {m.info};
  const auto fresh_trials = read_trials(next);
  const ModelResult fresh = aggregate(next, m.info, fresh_trials);
  if (fresh.with_skill.total.n == 0 || measured_skill_digest(next, m.info.name, fresh_trials) !=
                                           measured_skill_digest(input, m.info.name, trials))
    return;
  const auto facts = gate_facts(next, fresh, fresh_trials, baseline, no_baseline);
  for (size_t i = 0; i < gates.size(); ++i) {
    auto& g = m.gates[i];
    if (g.verdict.outcome != stats::GateOutcome::fail) continue;
    g.fresh = stats::judge(gates[i], facts);
    const bool confirmed = g.fresh->outcome == stats::GateOutcome::fail;
    if (!confirmed) g.verdict.outcome = stats::GateOutcome::inconclusive;
    g.verdict.message +=
        fmt::format("; fresh runs {} it ({}: {})", confirmed ? "confirm" : "do not confirm",
                    stats::gate_outcome_name(g.fresh->outcome), g.fresh->message);
  }
}

}  // namespace

EvaluationResult collect(const ReportInput& input) {
  std::vector<stats::Gate> gates;
  for (const auto& text : input.gates) gates.push_back(stats::parse_gate(text));
  EvaluationResult result;
  result.input = input;
  result.trials = read_trials(input);
  check_records(result);
  std::optional<Baseline> baseline;
  std::string no_baseline;
  if (std::any_of(gates.begin(), gates.end(),
                  [](const stats::Gate& g) { return g.needs_baseline(); }))
    baseline = load_baseline(result, no_baseline);
  for (const auto& model : input.models) {
    ModelResult m = aggregate(input, model, result.trials);
    const auto facts =
        gate_facts(input, m, result.trials, baseline ? &*baseline : nullptr, no_baseline);
    for (const auto& gate : gates)
      m.gates.push_back({gate.text, stats::judge(gate, facts), std::nullopt,
                         result.bad_input && gate.needs_baseline()});
    confirm_alarms(input, result.trials, gates, baseline ? &*baseline : nullptr, no_baseline, m);
    result.models.push_back(std::move(m));
  }
  adjust_for_several_models(result.models);
  return result;
}

Exit exit_code(const Results& results) {
  bool failed = false, bad_input = false, infrastructure = false, ran = false;
  size_t gates = 0, inconclusive = 0;
  for (const auto& evaluation : results.evaluations) {
    bad_input = bad_input || evaluation.bad_input;
    for (const auto& m : evaluation.models) {
      for (const auto& c : m.cases) failed = failed || c.requirement_missed();
      for (const auto& g : m.gates) {
        ++gates;
        failed = failed || g.verdict.outcome == stats::GateOutcome::fail;
        inconclusive += g.verdict.outcome == stats::GateOutcome::inconclusive;
      }
      for (const auto* arm : {&m.with_skill, &m.without_skill}) {
        infrastructure = infrastructure || arm->infrastructure_errors > 0;
        ran = ran || arm->total.n > 0;
      }
    }
  }
  if (failed) return Exit::judged_bad;
  if (bad_input) return Exit::bad_input;
  if (infrastructure) return Exit::infrastructure;
  if (!ran || (gates > 0 && gates == inconclusive)) return Exit::inconclusive;
  return Exit::good;
}

}  // namespace hone::report
