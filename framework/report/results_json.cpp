#include <fmt/format.h>

#include <cstdlib>

#include "report/clean_text.hpp"
#include "report/writers.hpp"

namespace hone::report {
namespace {

using stats::Arm;
using storage::Json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json interval(const std::optional<stats::Interval>& i) {
  return i ? Json::array({i->low, i->high}) : Json(nullptr);
}

Json of_environment(const Environment& e) {
  return {{"hone_version", or_null(e.hone_version)},
          {"git_commit", or_null(e.git_commit)},
          {"git_dirty", or_null(e.git_dirty)},
          {"host", or_null(e.host)},
          {"device", or_null(e.device)},
          {"sandbox", or_null(e.sandbox)},
          {"toolkit", or_null(e.toolkit)}};
}

Json of_arm(const ArmResult& a) {
  return {
      {"pass_rate", or_null(a.pass_rate)},
      {"interval", interval(a.interval)},
      {"clustered_standard_error", or_null(a.clustered_se)},
      {"passes", a.total.passes},
      {"runs", a.total.n},
      {"cases", a.cases},
      {"flaky_cases", a.flaky_cases},
      {"pass_at_turn", a.pass_at_turn.empty() ? Json(nullptr) : Json(a.pass_at_turn)},
      {"infrastructure_errors", a.infrastructure_errors},
      {"not_run", a.not_run},
      {"outcomes", a.outcomes},
      {"tokens",
       {{"input", or_null(a.input_tokens)},
        {"output", or_null(a.output_tokens)},
        {"trials", a.trials_with_usage},
        {"per_trial", or_null(a.tokens_per_trial)},
        {"per_correct", or_null(a.tokens_per_correct)}}},
      {"cost",
       {{"per_trial", or_null(a.cost_per_trial)}, {"per_correct", or_null(a.cost_per_correct)}}}};
}

Json of_lift(const ModelResult& m) {
  if (!m.lift) return nullptr;
  Json lift = {{"points", *m.lift},
               {"cases", m.paired_cases},
               {"interval", nullptr},
               {"standard_error", nullptr},
               {"t_p", nullptr},
               {"t_p_holm", or_null(m.lift_p_holm)},
               {"sign_flip_p", nullptr},
               {"bootstrap_interval", interval(m.lift_bootstrap)},
               {"normalised_gain", or_null(m.normalised_gain)}};
  if (m.lift_t) {
    lift["interval"] = interval(m.lift_t->interval);
    lift["standard_error"] = m.lift_t->se;
    lift["t_p"] = m.lift_t->p;
  }
  if (m.lift_sign_flip) lift["sign_flip_p"] = m.lift_sign_flip->p;
  return lift;
}

Json of_gate(const GateResult& g) {
  Json moved = Json::array();
  for (const auto& c : g.verdict.moved)
    moved.push_back({{"case", c.name},
                     {"before", {c.before.passes, c.before.n}},
                     {"after", {c.after.passes, c.after.n}}});
  return {{"gate", g.text},
          {"outcome", stats::gate_outcome_name(g.verdict.outcome)},
          {"message", g.verdict.message},
          {"moved", std::move(moved)}};
}

Json of_arm_case(const ArmCase& a) {
  return {{"passes", a.tally.passes},
          {"runs", a.tally.n},
          {"flaky", a.tally.flaky()},
          {"infrastructure_errors", a.infrastructure_errors},
          {"not_run", a.not_run},
          {"outcomes", a.outcomes},
          {"evidence", or_null(a.evidence)},
          {"seconds", a.seconds},
          {"input_tokens", a.trials_with_usage > 0 ? Json(a.input_tokens) : Json(nullptr)},
          {"output_tokens", a.trials_with_usage > 0 ? Json(a.output_tokens) : Json(nullptr)},
          {"times_ns", a.times},
          {"best_time_ns", or_null(a.time_ns())}};
}

Json of_case(const CaseResult& c) {
  return {{"id", c.info.id},
          {"file", or_null(c.info.file)},
          {"line", c.info.line},
          {"suite", or_null(c.info.suite)},
          {"kind", c.info.kind},
          {"digest", or_null(c.info.digest)},
          {"measured_digest", or_null(c.measured_digest)},
          {"require", or_null(c.info.require)},
          {"requirement_missed", c.requirement_missed()},
          {"require_outcome",
           c.require ? Json(stats::gate_outcome_name(c.require->outcome)) : Json(nullptr)},
          {"reference_time_ns", or_null(c.reference_ns)},
          {"with_skill", of_arm_case(c.with_skill)},
          {"without_skill", of_arm_case(c.without_skill)}};
}

Json of_model(const ModelResult& m) {
  Json gates = Json::array(), cases = Json::array();
  for (const auto& g : m.gates) gates.push_back(of_gate(g));
  for (const auto& c : m.cases) cases.push_back(of_case(c));
  return {{"name", m.info.name},
          {"provider", or_null(m.info.provider)},
          {"id", or_null(m.info.id)},
          {"digest", or_null(m.info.digest)},
          {"sampling", m.info.sampling},
          {"with_skill", of_arm(m.with_skill)},
          {"without_skill", of_arm(m.without_skill)},
          {"lift", of_lift(m)},
          {"tokens_saved", or_null(m.tokens_saved)},
          {"fast_1", or_null(m.fast_1)},
          {"caveat", or_null(m.caveat)},
          {"gates", std::move(gates)},
          {"cases", std::move(cases)}};
}

Json of_trial(const Trial& t) {
  Json kernels = Json::array();
  for (const auto& k : t.kernels)
    kernels.push_back({{"name", k.name},
                       {"registers", k.registers},
                       {"spill_stores", k.spill_stores},
                       {"spill_loads", k.spill_loads},
                       {"shared_bytes", k.shared_bytes},
                       {"stack_bytes", k.stack_bytes}});
  return {{"model", t.model},
          {"case", t.case_id},
          {"arm", stats::arm_name(t.arm)},
          {"run", t.run},
          {"turns", t.turns},
          {"seed", or_null(t.seed)},
          {"outcome", t.outcome},
          {"evidence", or_null(t.evidence)},
          {"usage",
           {{"input", or_null(t.usage.input)},
            {"cached", or_null(t.usage.cached)},
            {"output", or_null(t.usage.output)},
            {"reasoning", or_null(t.usage.reasoning)}}},
          {"cost", or_null(t.cost)},
          {"seconds", t.seconds},
          {"asked", or_null(t.asked)},
          {"served_model", or_null(t.served_model)},
          {"skill_digest", or_null(t.skill_digest)},
          {"case_digest", or_null(t.case_digest)},
          {"device", or_null(t.device)},
          {"sandbox", or_null(t.sandbox)},
          {"kernels", std::move(kernels)},
          {"time_ns", or_null(t.time_ns)},
          {"time_kind", or_null(t.time_kind)},
          {"folder", t.folder}};
}

Json of_evaluation(const EvaluationResult& e) {
  Json models = Json::array(), problems = Json::array(), trials = Json::array();
  for (const auto& m : e.models) models.push_back(of_model(m));
  for (const auto& p : e.problems) problems.push_back(p.str());
  for (const auto& t : e.trials) trials.push_back(of_trial(t));
  return {{"name", e.input.evaluation},
          {"skill", e.input.skill},
          {"skill_digest", or_null(e.input.skill_digest)},
          {"runs", e.input.runs},
          {"run_dir", e.input.run_dir.string()},
          {"models", std::move(models)},
          {"problems", std::move(problems)},
          {"trials", std::move(trials)}};
}

/// To nine digits: enough, and the same text on every machine.
void round_reals(Json& value) {
  if (value.is_number_float()) {
    value = std::strtod(fmt::format("{:.9g}", value.get<double>()).c_str(), nullptr);
  } else if (value.is_structured()) {
    for (auto& item : value) round_reals(item);
  }
}

}  // namespace

std::string write_results_json(const Results& results) {
  Json evaluations = Json::array();
  for (const auto& e : results.evaluations) evaluations.push_back(of_evaluation(e));
  Json json = {{"schema", "hone.results/1"},
               {"generated", or_null(results.environment.generated)},
               {"exit_code", static_cast<int>(exit_code(results))},
               {"environment", of_environment(results.environment)},
               {"evaluations", std::move(evaluations)}};
  json = clean_json(json);
  round_reals(json);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hone::report
