#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "report/clean_text.hpp"
#include "report/page_assets.hpp"
#include "report/parallel.hpp"

namespace hone::report {
namespace {

using stats::Arm;
using storage::Json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// JSON for a script element: no "<" in it, so that it cannot end the element.
std::string for_script(const Json& json) {
  std::string safe;
  for (const char c : clean_json(json).dump(-1, ' ', false, Json::error_handler_t::replace))
    safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return safe;
}

/// "'sha256-…'" of an inline script or style, for the content security policy.
std::string digest_source(std::string_view text) {
  const std::string hex = storage::sha256(text).substr(7);
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + storage::base64(bytes) + "'";
}

Json of_arm(const ArmResult& a) {
  return {{"rate", or_null(a.pass_rate)},
          {"low", a.interval ? Json(a.interval->low) : Json(nullptr)},
          {"high", a.interval ? Json(a.interval->high) : Json(nullptr)},
          {"passes", a.total.passes},
          {"runs", a.total.n},
          {"errors", a.infrastructure_errors},
          {"not_run", a.not_run},
          {"tokens", or_null(a.tokens_per_trial)},
          {"per_correct", or_null(a.tokens_per_correct)},
          {"turns", a.pass_at_turn},
          {"cost", or_null(a.cost_per_trial)}};
}

Json of_lift(const ModelResult& m) {
  if (!m.lift) return nullptr;
  Json lift = {{"points", *m.lift}, {"cases", m.paired_cases}};
  if (m.lift_t) {
    lift["low"] = m.lift_t->interval.low;
    lift["high"] = m.lift_t->interval.high;
    lift["p"] = m.lift_t->p;
    lift["holm"] = or_null(m.lift_p_holm);
  }
  if (m.lift_sign_flip) lift["sign_flip"] = m.lift_sign_flip->p;
  return lift;
}

Json of_model(const ModelResult& m) {
  Json gates = Json::array();
  for (const auto& g : m.gates)
    gates.push_back({{"gate", g.text},
                     {"outcome", stats::gate_outcome_name(g.verdict.outcome)},
                     {"message", g.verdict.message}});
  for (const auto& c : m.cases)
    if (c.require && c.require->outcome != stats::GateOutcome::pass)
      gates.push_back({{"gate", "require of " + c.info.id},
                       {"outcome", stats::gate_outcome_name(c.require->outcome)},
                       {"message", c.require->message}});
  return {{"name", m.info.name},          {"id", m.info.id},
          {"with", of_arm(m.with_skill)}, {"without", of_arm(m.without_skill)},
          {"lift", of_lift(m)},           {"fast_1", or_null(m.fast_1)},
          {"caveat", m.caveat},           {"gates", std::move(gates)}};
}

/// One letter a trial: its place among the outcomes, behind them for one that was not run.
std::string codes(std::span<const Trial> trials) {
  std::string text;
  for (const auto& t : trials) {
    const auto found = std::find(kOutcomes.begin(), kOutcomes.end(), t.outcome);
    text += static_cast<char>('a' + (found - kOutcomes.begin()));
  }
  return text;
}

/// The largest share of the roofline among the rows.
std::optional<double> roofline(const Json& rows) {
  std::optional<double> best;
  for (const auto& row : rows)
    if (row.is_object() && row.contains("of_roofline") && row["of_roofline"].is_number())
      best = std::max(best.value_or(0), row["of_roofline"].get<double>());
  return best;
}

std::optional<double> roofline(std::span<const Trial> trials) {
  std::optional<double> best;
  for (const auto& t : trials)
    if (t.passed())
      if (const auto share = roofline(t.benchmarks)) best = std::max(best.value_or(0), *share);
  return best;
}

std::string chunk_id(size_t evaluation, size_t model, size_t case_index) {
  return fmt::format("d{}-{}-{}", evaluation, model, case_index);
}

Json of_cell(const EvaluationResult& e, size_t index, size_t model, size_t case_index) {
  const auto with = e.runs_of(model, case_index, Arm::with_skill);
  const auto without = e.runs_of(model, case_index, Arm::without_skill);
  Json cell = {{"with", codes(with)},
               {"without", codes(without)},
               {"chunk", chunk_id(index, model, case_index)}};
  const auto& info = e.input.cases[case_index];
  if (info.kind != "kernel") return cell;
  const auto reference = e.input.references.find(info.suite);
  cell["sol"] = {{"with", or_null(roofline(with))},
                 {"without", or_null(roofline(without))},
                 {"reference", reference == e.input.references.end()
                                   ? Json(nullptr)
                                   : or_null(roofline(reference->second.benchmarks))}};
  return cell;
}

Json of_evaluation(const EvaluationResult& e, size_t index) {
  Json models = Json::array(), cases = Json::array(), cells = Json::array(),
       problems = Json::array();
  for (size_t m = 0; m < e.models.size(); ++m) {
    models.push_back(of_model(e.models[m]));
    Json column = Json::array();
    for (size_t c = 0; c < e.input.cases.size(); ++c) column.push_back(of_cell(e, index, m, c));
    cells.push_back(std::move(column));
  }
  for (const auto& c : e.input.cases) cases.push_back({{"id", c.id}, {"suite", c.suite}});
  for (const auto& p : e.problems) problems.push_back(p.str());
  std::string time_kind;
  for (const auto& t : e.trials)
    if (time_kind.empty()) time_kind = t.time_kind;
  return {{"name", e.input.evaluation},  {"skill", e.input.skill},
          {"time_kind", time_kind},      {"problems", std::move(problems)},
          {"models", std::move(models)}, {"cases", std::move(cases)},
          {"cells", std::move(cells)}};
}

Json summary(const Results& results, const std::vector<HistoryPoint>& history) {
  const auto& e = results.environment;
  Json evaluations = Json::array(), points = Json::array(), outcomes = kOutcomes;
  outcomes.push_back(kNotRun);
  for (size_t i = 0; i < results.evaluations.size(); ++i)
    evaluations.push_back(of_evaluation(results.evaluations[i], i));
  for (const auto& h : history)
    points.push_back({{"evaluation", h.evaluation},
                      {"model", h.model},
                      {"time", h.time},
                      {"commit", h.commit},
                      {"lift", or_null(h.lift)},
                      {"low", or_null(h.low)},
                      {"high", or_null(h.high)}});
  return {{"environment",
           {{"version", e.hone_version},
            {"generated", e.generated},
            {"commit", e.git_commit},
            {"dirty", e.git_dirty.value_or(false)},
            {"host", e.host},
            {"device", e.device},
            {"sandbox", e.sandbox},
            {"toolkit", e.toolkit}}},
          {"outcomes", std::move(outcomes)},
          {"evaluations", std::move(evaluations)},
          {"history", std::move(points)}};
}

/// A batch at a time on all cores, so that little of it is in memory at once.
void write_chunks(const Results& results, std::ostream& out) {
  constexpr size_t kBatch = 256;
  for (size_t i = 0; i < results.evaluations.size(); ++i) {
    const auto& e = results.evaluations[i];
    const size_t cases = e.input.cases.size(), all = e.models.size() * cases;
    for (size_t start = 0; start < all; start += kBatch) {
      std::vector<std::string> chunks(std::min(kBatch, all - start));
      for_each_index(chunks.size(), [&](size_t k) {
        chunks[k] = page_details(e, (start + k) / cases, (start + k) % cases);
      });
      for (size_t k = 0; k < chunks.size(); ++k)
        out << "<script type=\"application/octet-stream\" id=\""
            << chunk_id(i, (start + k) / cases, (start + k) % cases) << "\">" << chunks[k]
            << "</script>\n";
    }
  }
}

}  // namespace

void write_page(const Results& results, const std::vector<HistoryPoint>& history,
                std::ostream& out) {
  const std::string policy = fmt::format(
      "default-src 'none'; script-src {} {}; style-src {}; img-src data:; base-uri 'none'; "
      "form-action 'none'",
      digest_source(chart_js()), digest_source(page_js()), digest_source(page_css()));
  std::string_view rest = page_html();
  for (size_t at; (at = rest.find('@')) != std::string_view::npos;) {
    const size_t end = rest.find('@', at + 1);
    const auto name = rest.substr(at + 1, end - at - 1);
    out << rest.substr(0, at);
    if (name == "CSP") out << policy;
    if (name == "STYLE") out << page_css();
    if (name == "SUMMARY") out << for_script(summary(results, history));
    if (name == "CHUNKS") write_chunks(results, out);
    if (name == "CHART") out << chart_js();
    if (name == "APP") out << page_js();
    rest.remove_prefix(end + 1);
  }
  out << rest;
}

}  // namespace hone::report
