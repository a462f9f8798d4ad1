#include "report/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/aggregate.hpp"
#include "report/clean_text.hpp"
#include "stats/repeats.hpp"

namespace hone::report {
namespace {

using storage::Json;

constexpr const char* kSchema = "hone.baseline/1";

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Reads one file; `at` says where in it a complaint belongs.
class Reader {
 public:
  explicit Reader(std::string name) : path_(std::move(name)) {}

  Baseline read(const Json& json) const {
    if (!json.is_object()) fail("the file", "an object");
    if (const auto schema = text(json, "the file", "schema"); schema != kSchema)
      fail("schema", fmt::format("\"{}\", not \"{}\"", kSchema, clean_line(schema)));
    Baseline baseline;
    baseline.evaluation = text(json, "the file", "evaluation");
    baseline.skill = text(json, "the file", "skill");
    for (const auto& [name, model] : object(json, "the file", "models").items())
      baseline.models[name] = read_model(model, "models." + name);
    return baseline;
  }

 private:
  [[noreturn]] void fail(const std::string& at, const std::string& expected) const {
    throw Error(Exit::bad_input,
                {Diagnostic{{path_, 0, 0},
                            fmt::format("{}: expected {}", clean_line(at), expected),
                            "hone baseline writes this file anew"}});
  }

  const Json& object(const Json& in, const std::string& at, const char* key) const {
    const auto found = in.find(key);
    if (found == in.end() || !found->is_object()) fail(at + ": " + key, "an object");
    return *found;
  }

  std::string text(const Json& in, const std::string& at, const char* key) const {
    if (!in.contains(key)) return "";
    if (!in[key].is_string()) fail(at + ": " + key, "a text");
    return in[key].get<std::string>();
  }

  BaselineModel read_model(const Json& json, const std::string& at) const {
    if (!json.is_object()) fail(at, "an object");
    BaselineModel model;
    model.skill_digest = text(json, at, "skill_digest");
    model.date = text(json, at, "date");
    model.model_id = text(json, at, "model_id");
    model.model_digest = text(json, at, "model_digest");
    model.device = text(json, at, "device");
    model.time_kind = text(json, at, "time_kind");
    if (json.contains("sampling")) model.sampling = json["sampling"];
    if (!json.contains("runs") || !json["runs"].is_number_integer())
      fail(at + ": runs", "a whole number");
    model.runs = json["runs"].get<int>();
    for (const auto& [name, c] : object(json, at, "cases").items()) {
      const std::string where = at + ".cases." + name;
      if (!c.is_object()) fail(where, "an object");
      model.cases[name] = {tally(c, where, "with_skill"),   tally(c, where, "without_skill"),
                           text(c, where, "digest"),        text(c, where, "suite"),
                           tokens(c, where, "with_tokens"), tokens(c, where, "without_tokens"),
                           reals(c, where, "time_ns")};
    }
    return model;
  }

  /// A list of positive numbers; absent is empty.
  std::vector<double> reals(const Json& in, const std::string& at, const char* key) const {
    std::vector<double> values;
    const auto found = in.find(key);
    if (found == in.end()) return values;
    for (const auto& value : *found) {
      if (!found->is_array() || !value.is_number() || !(value.get<double>() > 0))
        fail(at + ": " + key, "a list of numbers above 0");
      values.push_back(value.get<double>());
    }
    return values;
  }

  std::optional<BaselineModel::Case::Tokens> tokens(const Json& in, const std::string& at,
                                                    const char* key) const {
    const auto values = reals(in, at, key);
    if (values.empty()) return std::nullopt;
    if (values.size() != 2) fail(at + ": " + key, "[input, output] tokens a trial");
    return BaselineModel::Case::Tokens{values[0], values[1]};
  }

  stats::Tally tally(const Json& in, const std::string& at, const char* key) const {
    const auto found = in.find(key);
    if (found != in.end() && found->is_array() && found->size() == 2 &&
        (*found)[0].is_number_integer() && (*found)[1].is_number_integer()) {
      const stats::Tally t{(*found)[0].get<int>(), (*found)[1].get<int>()};
      if (t.passes >= 0 && t.passes <= t.n) return t;
    }
    fail(at + ": " + key, "[passes, runs] with 0 <= passes <= runs");
  }

  std::string path_;
};

}  // namespace

stats::Tally BaselineModel::total() const {
  stats::Tally sum;
  for (const auto& [name, c] : cases) sum += c.with_skill;
  return sum;
}

Baseline read_baseline(const std::filesystem::path& path) {
  return baseline_in(storage::read_json(path), path.string());
}

Baseline baseline_in(const Json& json, const std::string& name) { return Reader(name).read(json); }

namespace {

std::optional<BaselineModel::Case::Tokens> tokens_of(const ArmCase& arm) {
  if (arm.trials_with_usage == 0) return std::nullopt;
  return BaselineModel::Case::Tokens{
      static_cast<double>(arm.input_tokens) / arm.trials_with_usage,
      static_cast<double>(arm.output_tokens) / arm.trials_with_usage};
}

/// What a case has besides its tallies and digest, each part with its comma.
std::string extras(const BaselineModel::Case& c) {
  std::string text;
  const auto add_tokens = [&](const char* key, const auto& tokens) {
    if (tokens)
      text += fmt::format(", \"{}\": [{:.6g}, {:.6g}]", key, tokens->input, tokens->output);
  };
  add_tokens("with_tokens", c.with_tokens);
  add_tokens("without_tokens", c.without_tokens);
  if (!c.suite.empty()) text += fmt::format(", \"suite\": {}", quoted(c.suite));
  std::string times;
  for (const double ns : c.time_ns) times += fmt::format("{}{:.9g}", times.empty() ? "" : ", ", ns);
  if (!times.empty()) text += fmt::format(", \"time_ns\": [{}]", times);
  return text;
}

}  // namespace

Baseline make_baseline(const EvaluationResult& result) {
  Baseline baseline{result.input.evaluation, result.input.skill, {}};
  for (const auto& m : result.models) {
    BaselineModel model;
    model.skill_digest = measured_skill_digest(result.input, m.info.name, result.trials);
    model.model_id = m.info.id;
    model.model_digest = m.info.digest;
    model.sampling = m.info.sampling;
    model.runs = result.input.runs;
    for (const auto& trial : result.trials)
      if (trial.model == m.info.name) model.date = std::max(model.date, trial.asked);
    if (model.date.empty()) model.date = storage::utc_now();
    for (const auto& c : m.cases) {
      if (c.with_skill.tally.n == 0) continue;
      model.cases[c.info.id] = {
          c.with_skill.tally,      c.without_skill.tally,
          c.measured_digest,       c.with_skill.times.empty() ? "" : c.info.suite,
          tokens_of(c.with_skill), tokens_of(c.without_skill),
          c.with_skill.times};
      if (c.with_skill.times.empty()) continue;
      model.device = c.with_skill.device;
      model.time_kind = c.with_skill.time_kind;
    }
    if (!model.cases.empty()) baseline.models[m.info.name] = std::move(model);
  }
  if (baseline.models.empty())
    throw Error(Exit::inconclusive, "evaluation " + result.input.evaluation +
                                        " has no scored run with the skill: no baseline written");
  return baseline;
}

Baseline merge(Baseline base, const Baseline& update) {
  base.evaluation = update.evaluation;
  base.skill = update.skill;
  for (const auto& [name, model] : update.models) base.models[name] = model;
  return base;
}

std::string write_baseline(const Baseline& baseline) {
  std::string text =
      fmt::format("{{\n\"schema\": \"{}\",\n\"evaluation\": {},\n\"skill\": {},\n\"models\": {{\n",
                  kSchema, quoted(baseline.evaluation), quoted(baseline.skill));
  const char* model_comma = "";
  for (const auto& [name, m] : baseline.models) {
    text += fmt::format(
        "{}{}: {{\n  \"skill_digest\": {},\n  \"date\": {},\n  \"model_id\": {},\n"
        "  \"model_digest\": {},\n  \"sampling\": {},\n{}  \"runs\": {},\n  \"cases\": {{\n",
        model_comma, quoted(name), quoted(m.skill_digest), quoted(m.date), quoted(m.model_id),
        quoted(m.model_digest), m.sampling.dump(-1, ' ', false, Json::error_handler_t::replace),
        m.time_kind.empty() ? ""
                            : fmt::format("  \"device\": {},\n  \"time_kind\": {},\n",
                                          quoted(m.device), quoted(m.time_kind)),
        m.runs);
    const char* case_comma = "";
    for (const auto& [id, c] : m.cases) {
      text += fmt::format(
          "{}    {}: {{\"with_skill\": [{}, {}], \"without_skill\": [{}, {}], \"digest\": {}{}}}",
          case_comma, quoted(id), c.with_skill.passes, c.with_skill.n, c.without_skill.passes,
          c.without_skill.n, quoted(c.digest), extras(c));
      case_comma = ",\n";
    }
    text += "\n  }\n}";
    model_comma = ",\n";
  }
  return text + "\n}\n}\n";
}

std::string update_baseline(const EvaluationResult& result) {
  const auto& path = result.input.baseline;
  const Baseline update = make_baseline(result);
  const bool exists = std::filesystem::exists(path);
  storage::write_atomically(path,
                            write_baseline(exists ? merge(read_baseline(path), update) : update));
  std::string what;
  for (const auto& [name, m] : update.models)
    what += fmt::format("{}{} {}/{} runs correct over {} cases", what.empty() ? "" : "; ", name,
                        m.total().passes, m.total().n, m.cases.size());
  return fmt::format("{} {}: {}", exists ? "updated" : "wrote", path.string(), what);
}

stats::GateBaseline to_gate_baseline(const BaselineModel& baseline, const ModelInfo& now,
                                     const std::string& skill_digest_now) {
  stats::GateBaseline gate;
  std::vector<double> input[2], output[2], saved;
  for (const auto& [name, c] : baseline.cases) {
    gate.cases.push_back({name, c.with_skill, c.without_skill});
    gate.case_digests.push_back(c.digest);
    if (!c.time_ns.empty())
      gate.bench.push_back({name, c.suite, c.time_ns, baseline.time_kind, baseline.device, {}});
    size_t arm = 0;
    for (const auto* tokens : {&c.with_tokens, &c.without_tokens}) {
      if (*tokens) {
        input[arm].push_back((*tokens)->input);
        output[arm].push_back((*tokens)->output);
      }
      ++arm;
    }
    if (c.with_tokens && c.without_tokens)
      saved.push_back(c.without_tokens->input + c.without_tokens->output - c.with_tokens->input -
                      c.with_tokens->output);
  }
  const auto tokens_of_arm = [&](size_t arm, stats::Arm side) -> stats::ArmTokens {
    if (input[arm].empty()) return {};
    const double in = stats::mean(input[arm]), out = stats::mean(output[arm]);
    stats::Tally sum;
    for (const auto& c : gate.cases) sum += c.of(side);
    return {in, out, stats::per_correct((in + out) * sum.n, sum.passes)};
  };
  gate.with_skill = tokens_of_arm(0, stats::Arm::with_skill);
  gate.without_skill = tokens_of_arm(1, stats::Arm::without_skill);
  if (!saved.empty()) gate.tokens_saved = stats::mean(saved);
  gate.description = clean_line(baseline.date.substr(0, 10), 40);
  if (!baseline.skill_digest.empty())
    gate.description += baseline.skill_digest == skill_digest_now
                            ? ", same skill"
                            : ", skill " + clean_line(baseline.skill_digest.substr(0, 15), 40);
  const auto changed = [&](const std::string& what, const std::string& before,
                           const std::string& after) {
    if (!before.empty() && !after.empty() && before != after)
      gate.differs.push_back(
          clean_line(fmt::format("{} was {} in the baseline, is {}", what, before, after)));
  };
  changed("model", baseline.model_id, now.id);
  changed("model file", baseline.model_digest, now.digest);
  const auto dumped = [](const Json& sampling) {
    return sampling.is_null() ? "" : sampling.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  changed("sampling", dumped(baseline.sampling), dumped(now.sampling));
  return gate;
}

}  // namespace hone::report
