#include "author/student.hpp"

#include <algorithm>

#include "cases/case.hpp"
#include "process/terminal.hpp"
#include "storage/storage.hpp"
#include "trial/recorder.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using storage::Json;

constexpr size_t kAnswerBytes = 600;
constexpr size_t kDiagnosticsBytes = 500;

Json record_of(const fs::path& file) {
  return fs::exists(file) ? storage::read_json(file) : Json::object();
}

long tokens_of(const Json& response) {
  long tokens = 0;
  const auto usage = response.find("usage");
  if (usage == response.end() || !usage->is_object()) return 0;
  for (const char* key : {"input", "output"})
    if (const auto it = usage->find(key); it != usage->end() && it->is_number())
      tokens += it->get<long>();
  return tokens;
}

/// What a run came to, with what the compiler said where that ended it.
trial::Ending ending_of(const fs::path& dir) {
  trial::Ending ending = trial::ending_of(dir);
  if (ending.record.empty()) ending.outcome = "infrastructure-error";
  if (ending.record == "build.json") {
    const std::string said = record_of(dir / "build.json").value("diagnostics", "");
    if (!said.empty()) ending.evidence += "\n" + process::sanitise(said, kDiagnosticsBytes);
  }
  return ending;
}

}  // namespace

double Measurement::rate() const {
  if (scores.empty()) return 0;
  double sum = 0;
  for (const auto& score : scores) sum += score.rate();
  return sum / static_cast<double>(scores.size());
}

TrialStudent::TrialStudent(const trial::Manifest& manifest, TrialSettings settings)
    : manifest_(manifest), settings_(std::move(settings)) {
  manifest_.run_dir = fs::absolute(settings_.run_dir);
}

std::vector<std::string> TrialStudent::case_ids() {
  std::vector<std::string> ids;
  const auto add = [&](const std::vector<std::string>& globs, const std::string& suite) {
    std::vector<fs::path> files;
    for (const auto& glob : globs)
      for (auto& file : trial::expand_glob(glob)) files.push_back(std::move(file));
    if (files.empty()) return;
    const auto set = cases::load_cases(files, {suite});
    if (set.has_errors()) throw Error(Exit::bad_input, set.diagnostics);
    for (const auto& c : set.cases) ids.push_back(c.id);
  };
  add(settings_.cases, "");
  for (const auto& suite : settings_.suites) add(manifest_.suite(suite).cases, suite);
  return ids;
}

Measurement TrialStudent::with(const fs::path& skill_dir, const std::string& label) {
  return measure(skill_dir, label, trial::Arm::with_skill);
}

Measurement TrialStudent::without(const fs::path& skill_dir) {
  return measure(skill_dir, "baseline", trial::Arm::without_skill);
}

Measurement TrialStudent::measure(const fs::path& skill_dir, const std::string& label,
                                  trial::Arm arm) {
  auto manifest = manifest_;
  manifest.skills.push_back({label, fs::absolute(skill_dir).string()});
  trial::EvaluationEntry evaluation;
  evaluation.name = label;
  evaluation.skill = label;
  evaluation.suites = settings_.suites;
  evaluation.cases = settings_.cases;
  evaluation.models = settings_.models;
  evaluation.runs = settings_.runs;
  manifest.evaluations.push_back(evaluation);
  const auto plan = trial::make_plan(manifest, label);
  if (plan.has_errors()) throw Error(Exit::bad_input, plan.diagnostics);

  std::vector<trial::Selection> selections;
  for (const auto& c : plan.cases) selections.push_back({&c, arm});
  trial::StageOptions options;
  options.device = settings_.device;
  options.print = settings_.print;
  options.progress = settings_.progress;
  options.cancelled = settings_.cancelled;

  Measurement measurement;
  for (const auto& name : settings_.models) {
    const auto model = trial::with_endpoint(manifest, manifest.model(name));
    const auto must = [&](const trial::StageResult& result, const char* stage) {
      if (result.code == Exit::infrastructure)
        throw Error(Exit::infrastructure, name + ": " + stage + ": " + result.reason);
    };
    must(trial::query(plan, model, selections, options), "query");
    for (const auto& selection : selections) {
      if (selection.c->expect.kernel) must(trial::build(plan, model, selection, options), "build");
      must(trial::verify(plan, model, selection, options), "verify");
      if (selection.c->turns > 1) must(trial::repair(plan, model, selection, options), "repair");
      CaseScore score;
      score.model = name;
      score.id = selection.c->id;
      score.prompt = selection.c->prompt;
      for (int run = 0; run < settings_.runs; ++run) {
        const auto dir = plan.trial_dir(name, score.id, arm, run);
        const Json response = record_of(dir / "response.json");
        measurement.tokens += tokens_of(response);
        const trial::Ending ending = ending_of(dir);
        ++score.runs;
        if (ending.outcome == "correct") {
          ++score.correct;
        } else if (score.evidence.empty()) {
          score.evidence = ending.outcome + (ending.evidence.empty() ? "" : ": " + ending.evidence);
          score.answer = process::sanitise(response.value("text", ""), kAnswerBytes);
        }
      }
      measurement.scores.push_back(std::move(score));
    }
  }
  return measurement;
}

}  // namespace hone::author
