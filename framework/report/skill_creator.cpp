#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/clean_text.hpp"
#include "report/writers.hpp"
#include "stats/paired.hpp"

namespace hone::report {
namespace {

using stats::Arm;
using storage::Json;

struct Columns {
  std::vector<double> pass_rate, seconds, tokens;
};

double tokens_of(const Trial& t) {
  return static_cast<double>(t.usage.input.value_or(0) + t.usage.output.value_or(0));
}

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

Json summary(const std::vector<double>& values) {
  if (values.empty()) return {{"mean", 0.0}, {"stddev", 0.0}, {"min", 0.0}, {"max", 0.0}};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {{"mean", rounded(stats::mean(values))},
          {"stddev", rounded(stats::standard_deviation(values))},
          {"min", rounded(*low)},
          {"max", rounded(*high)}};
}

Json entry(const Trial& t, size_t case_index) {
  const bool graded = t.scored();
  const int passed = t.passed() ? 1 : 0;
  return {
      {"eval_id", case_index + 1},
      {"eval_name", t.case_id},
      {"configuration", stats::arm_name(t.arm)},
      {"run_number", t.run + 1},
      {"result",
       {{"pass_rate", static_cast<double>(passed)},
        {"passed", passed},
        {"failed", graded ? 1 - passed : 0},
        {"total", graded ? 1 : 0},
        {"time_seconds", rounded(t.seconds)},
        {"tokens", tokens_of(t)},
        {"tool_calls", 0},
        {"errors", graded ? 0 : 1}}},
      {"expectations",
       graded ? Json::array({{{"text", "The answer is judged correct"},
                              {"passed", t.passed()},
                              {"evidence",
                               t.evidence.empty() ? t.outcome : t.outcome + ": " + t.evidence}}})
              : Json::array()},
      {"notes", graded ? Json::array() : Json::array({"could not be measured: " + t.evidence})}};
}

}  // namespace

std::string write_skill_creator(const Results& results, const EvaluationResult& evaluation,
                                size_t model) {
  const auto& m = evaluation.models.at(model);
  Json runs = Json::array(), ids = Json::array();
  Columns columns[2];
  for (size_t c = 0; c < m.cases.size(); ++c) {
    bool ran = false;
    for (const Arm arm : {Arm::with_skill, Arm::without_skill}) {
      for (const auto& t : evaluation.runs_of(model, c, arm)) {
        if (!t.run_done()) continue;
        ran = true;
        runs.push_back(entry(t, c));
        if (!t.scored()) continue;
        auto& column = columns[arm == Arm::with_skill ? 0 : 1];
        column.pass_rate.push_back(t.passed() ? 1 : 0);
        column.seconds.push_back(t.seconds);
        column.tokens.push_back(tokens_of(t));
      }
    }
    if (ran) ids.push_back(c + 1);
  }
  const auto arm = [](const Columns& c) -> Json {
    return {{"pass_rate", summary(c.pass_rate)},
            {"time_seconds", summary(c.seconds)},
            {"tokens", summary(c.tokens)}};
  };
  const auto difference = [&](std::vector<double> Columns::*column) {
    return stats::mean(columns[0].*column) - stats::mean(columns[1].*column);
  };
  Json notes = Json::array();
  if (!m.caveat.empty()) notes.push_back(m.caveat);
  for (const auto& g : m.gates)
    notes.push_back(fmt::format("gate {}: {}: {}", stats::gate_outcome_name(g.verdict.outcome),
                                g.text, g.verdict.message));
  const Json json = {{"metadata",
                      {{"skill_name", evaluation.input.skill},
                       {"skill_path", ""},
                       {"executor_model", m.info.id.empty() ? m.info.name : m.info.id},
                       {"analyzer_model", "hone " + results.environment.hone_version},
                       {"timestamp", results.environment.generated},
                       {"evals_run", std::move(ids)},
                       {"runs_per_configuration", evaluation.input.runs}}},
                     {"runs", std::move(runs)},
                     {"run_summary",
                      {{"with_skill", arm(columns[0])},
                       {"without_skill", arm(columns[1])},
                       {"delta",
                        {{"pass_rate", fmt::format("{:+.2f}", difference(&Columns::pass_rate))},
                         {"time_seconds", fmt::format("{:+.1f}", difference(&Columns::seconds))},
                         {"tokens", fmt::format("{:+.0f}", difference(&Columns::tokens))}}}}},
                     {"notes", std::move(notes)}};
  return clean_json(json).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hone::report
