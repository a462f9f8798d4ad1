#include "trial/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <thread>

#include "trial/plan.hpp"

namespace hone::trial {
namespace {

/// CMake bracket argument: nothing in it is evaluated.
std::string quoted(const std::string& text) {
  std::string fence;
  while (text.find("]" + fence + "]") != std::string::npos) fence += '=';
  return "[" + fence + "[" + text + "]" + fence + "]";
}

struct Test {
  std::string name;
  std::vector<std::string> command;  ///< after the hone program
  std::vector<std::string> labels;
  std::vector<std::string> required;  ///< fixtures
  std::string setup, cleanup;         ///< fixtures
  std::vector<std::string> locks;
  int timeout = 600;
  int processors = 1;
  double cost = 0;  ///< a higher one starts earlier
};

class Script {
 public:
  explicit Script(const Manifest& manifest) : manifest_(manifest) {}

  void add(const Test& t) {
    text_ += "add_test(" + quoted(t.name) + " " + quoted(manifest_.hone.string());
    for (const auto& word : t.command) text_ += " " + quoted(word);
    text_ += " " + quoted("--manifest") + " " + quoted(manifest_.file.string()) + ")\n";
    text_ += "set_tests_properties(" + quoted(t.name) + " PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT " +
             std::to_string(t.timeout);
    property("LABELS", t.labels);
    property("FIXTURES_REQUIRED", t.required);
    property("FIXTURES_SETUP", t.setup.empty() ? Words{} : Words{t.setup});
    property("FIXTURES_CLEANUP", t.cleanup.empty() ? Words{} : Words{t.cleanup});
    property("RESOURCE_LOCK", t.locks);
    if (t.processors > 1) text_ += fmt::format(" PROCESSORS {}", t.processors);
    if (t.cost > 0) text_ += fmt::format(" COST {}", t.cost);
    text_ += ")\n";
  }

  std::string text() const { return text_; }

 private:
  using Words = std::vector<std::string>;
  void property(const char* key, const Words& values) {
    if (values.empty()) return;
    text_ += fmt::format(" {} {}", key, quoted(fmt::format("{}", fmt::join(values, ";"))));
  }

  const Manifest& manifest_;
  std::string text_ = "# Written by hone list --format ctest.\n";
};

int stage_timeout(const std::string& stage, int runs) {
  const int per_run = stage == "query" || stage == "repair" ? 300 : stage == "build" ? 90 : 180;
  return 60 + per_run * runs;
}

void add_case(Script& script, const Plan& plan, const model::ModelConfig& model,
              const cases::Case& c, Arm arm, std::vector<std::string>& last_fixtures) {
  const auto& evaluation = plan.evaluation;
  const std::string base = fmt::format("skills.{}.{}.{}.{}", evaluation.name, model.name, c.id,
                                       name(arm));
  std::string before;
  for (const auto& stage : stages_of(c)) {
    Test t;
    t.name = base + "." + stage;
    t.command = {"stage",  stage,  "--evaluation", evaluation.name,       "--model", model.name,
                 "--case", c.id,   "--arm",        std::string(name(arm))};
    t.labels = {"skills", "skill:" + evaluation.skill, "model:" + model.name, "stage:" + stage};
    if (!c.suite.empty()) t.labels.push_back("suite:" + c.suite);
    t.required = {"report"};
    if (!before.empty()) t.required.push_back(before);
    if (stage == "query" || stage == "repair") {
      if (!model.endpoint.empty()) {
        t.required.push_back("endpoint." + model.name);
        // A local server's threads wait for each other at every layer: beside a compiler on the
        // same cores it falls from tens of tokens a second to one.
        t.processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
      }
      t.locks = {"api." + model.name};
      t.cost = arm == Arm::with_skill ? 200 : 100;  // one arm after the other: one cached prefix
    }
    if (stage == "bench") t.locks = {"gpu"};
    before = t.name;
    t.setup = t.name;
    t.timeout = stage_timeout(stage, evaluation.runs);
    script.add(t);
  }
  last_fixtures.push_back(before);
}

void add_evaluation(Script& script, const Manifest& manifest, const std::string& evaluation_name) {
  const std::string prefix = "skills." + evaluation_name;
  const auto& evaluation = manifest.evaluation(evaluation_name);
  const std::vector<std::string> labels = {"skills", "skill:" + evaluation.skill};
  const auto failing = [&](const std::string& test_name) {
    Test t;
    t.name = test_name;
    t.command = {"check", "--evaluation", evaluation_name};
    t.labels = labels;
    t.required = {"report"};
    script.add(t);
  };

  Plan plan;
  try {
    plan = make_plan(manifest, evaluation_name);
  } catch (const Error&) {
    return failing(prefix + ".unreadable");
  }
  if (plan.has_errors()) failing(prefix + ".cases");

  for (const auto& model_name : evaluation.models) {
    const auto& model = manifest.model(model_name);
    std::vector<std::string> last_fixtures;
    for (const Arm arm : kArms)
      for (const auto& c : plan.cases) add_case(script, plan, model, c, arm, last_fixtures);
    for (const auto& gate : evaluation.gates) {
      Test t;
      t.name = fmt::format("{}.{}.gate.{}", prefix, model.name, gate_slug(gate));
      t.command = {"gate",   gate, "--evaluation", evaluation_name, "--model", model.name};
      t.labels = labels;
      t.labels.insert(t.labels.end(), {"model:" + model.name, "stage:gate"});
      t.required = last_fixtures;
      t.required.push_back("report");
      script.add(t);
    }
  }
}

}  // namespace

std::string gate_slug(const std::string& expression) {
  static const std::pair<const char*, const char*> kWords[] = {
      {">=", " ge "}, {"<=", " le "}, {"==", " eq "}, {">", " gt "}, {"<", " lt "}, {"*", " times "}};
  std::string text = expression;
  for (const auto& [symbol, word] : kWords)
    for (size_t at; (at = text.find(symbol)) != std::string::npos;)
      text.replace(at, std::string(symbol).size(), word);
  std::string slug;
  for (const unsigned char ch : text) {
    if (std::isalnum(ch) || ch == '.' || ch == '-')
      slug += static_cast<char>(ch);
    else if (!slug.empty() && slug.back() != '_')
      slug += '_';
  }
  while (!slug.empty() && slug.back() == '_') slug.pop_back();
  return slug;
}

std::string ctest_script(const Manifest& manifest) {
  Script script(manifest);
  std::set<std::string> endpoints;
  for (const auto& evaluation : manifest.evaluations) {
    add_evaluation(script, manifest, evaluation.name);
    for (const auto& model : evaluation.models)
      if (!manifest.model(model).endpoint.empty()) endpoints.insert(model);
  }
  for (const auto& model : endpoints) {
    for (const bool start : {true, false}) {
      Test t;
      t.name = fmt::format("skills.endpoint.{}.{}", model, start ? "start" : "stop");
      t.command = {"endpoint", start ? "start" : "stop", "--model", model};
      t.labels = {"skills", "model:" + model, "stage:endpoint"};
      (start ? t.setup : t.cleanup) = "endpoint." + model;
      if (start) t.cost = 1000;
      script.add(t);
    }
  }
  if (!manifest.evaluations.empty()) {
    Test t;
    t.name = "skills.report";
    t.command = {"report", "--no-judge"};
    t.labels = {"skills", "stage:report"};
    t.cleanup = "report";
    script.add(t);
  }
  return script.text();
}

}  // namespace hone::trial
