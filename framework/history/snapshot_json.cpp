#include <fmt/format.h>

#include "history/snapshot.hpp"

namespace hone::history {
namespace {

using storage::Json;

[[noreturn]] void fail(const std::string& file, const std::string& message,
                       const std::string& hint) {
  throw Error(Exit::bad_input, {Diagnostic{{file, 0, 0}, message, hint}});
}

std::string text(const Json& in, const char* key) {
  const auto found = in.find(key);
  return found != in.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> real(const Json& in, const char* key) {
  const auto found = in.find(key);
  return found != in.end() && found->is_number() ? std::optional(found->get<double>())
                                                 : std::nullopt;
}

ArmNumbers arm_numbers(const Json& arm) {
  ArmNumbers n;
  n.tally = {arm.at("passes").get<int>(), arm.at("runs").get<int>()};
  n.infrastructure_errors = arm.value("infrastructure_errors", 0);
  const double trials = n.tally.n;
  const auto each = [&](const char* key) -> std::optional<double> {
    const auto sum = real(arm, key);
    return sum && trials > 0 ? std::optional(*sum / trials) : std::nullopt;
  };
  n.input_tokens = each("input_tokens");
  n.output_tokens = each("output_tokens");
  return n;
}

Snapshot of_model(const Json& results, const Json& evaluation, const Json& model) {
  Snapshot s;
  const Json& e = results.at("environment");
  s.from.source = "hone";
  s.from.evaluation = text(evaluation, "name");
  s.from.skill = text(evaluation, "skill");
  s.from.skill_digest = text(evaluation, "skill_digest");
  s.from.model = text(model, "name");
  s.from.model_id = text(model, "id");
  s.from.model_digest = text(model, "digest");
  s.from.commit = text(e, "git_commit");
  if (e.contains("git_dirty") && e["git_dirty"].is_boolean())
    s.from.dirty = e["git_dirty"].get<bool>();
  s.from.device = text(e, "device");
  s.from.sandbox = text(e, "sandbox");
  s.from.toolkit = text(e, "toolkit");
  s.from.host = text(e, "host");
  s.runs = evaluation.at("runs").get<int>();
  std::string time_kind;
  for (const auto& t : evaluation.at("trials")) {
    if (text(t, "model") != s.from.model) continue;
    s.from.time = std::max(s.from.time, text(t, "asked"));
    if (!text(t, "time_kind").empty()) time_kind = text(t, "time_kind");
  }
  if (s.from.time.empty()) s.from.time = text(results, "generated");
  for (const auto& c : model.at("cases")) {
    CaseNumbers n;
    n.name = text(c, "id");
    n.suite = text(c, "suite");
    n.digest = text(c, "measured_digest").empty() ? text(c, "digest") : text(c, "measured_digest");
    n.with_skill = arm_numbers(c.at("with_skill"));
    n.without_skill = arm_numbers(c.at("without_skill"));
    if (c.at("with_skill").contains("times_ns"))
      n.times_ns = c.at("with_skill").at("times_ns").get<std::vector<double>>();
    if (!n.times_ns.empty()) n.time_kind = time_kind;
    if (n.with_skill.tally.n + n.without_skill.tally.n > 0) s.cases.push_back(std::move(n));
  }
  return s;
}

}  // namespace

std::vector<Snapshot> read_snapshots(const std::filesystem::path& file) {
  return snapshots_in(storage::read_json(file), file.string());
}

std::vector<Snapshot> snapshots_in(const Json& json, const std::string& name) {
  const std::string schema = json.is_object() ? text(json, "schema") : "";
  if (schema == "hone.baseline/1") return snapshots_of(report::baseline_in(json, name));
  if (schema != "hone.results/1")
    fail(name, fmt::format("schema is '{}'", schema),
         "results.json of hone report (hone.results/1) or a baseline (hone.baseline/1)");
  std::vector<Snapshot> all;
  try {
    for (const auto& evaluation : json.at("evaluations"))
      for (const auto& model : evaluation.at("models")) {
        auto s = of_model(json, evaluation, model);
        if (!s.cases.empty()) all.push_back(std::move(s));
      }
  } catch (const nlohmann::json::exception& e) {
    fail(name, std::string("not as results.schema.json says: ") + e.what(),
         "hone report writes this file");
  }
  return all;
}

}  // namespace hone::history
