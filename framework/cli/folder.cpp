#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "author/lint.hpp"
#include "cli/command.hpp"
#include "process/terminal.hpp"
#include "trial/recorder.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownAnswer = 4000;
constexpr size_t kShownBody = 400;

/// The project's evaluation of this folder, where it has one.
std::string declared_evaluation(const trial::Manifest& manifest, const fs::path& dir) {
  std::string name;
  for (const auto& e : manifest.evaluations) {
    if (fs::weakly_canonical(manifest.skill(e.skill).dir) != dir) continue;
    if (!name.empty())
      throw Error(Exit::usage, dir.string() + " has several evaluations, " + name + " and " +
                                   e.name + " among them: name one");
    name = e.name;
  }
  return name;
}

bool is_declared(const trial::Manifest& manifest, const std::string& name) {
  return std::any_of(manifest.evaluations.begin(), manifest.evaluations.end(),
                     [&](const auto& e) { return e.name == name; });
}

std::string first_words(const std::string& text, size_t bytes) {
  const std::string line = process::sanitise(text, bytes);
  return line.substr(0, line.find('\n'));
}

}  // namespace

std::string declare_evaluation(Context& context, FolderEvaluation wanted) {
  const auto& manifest = context.manifest(true);
  const fs::path dir = fs::weakly_canonical(wanted.skill);
  if (wanted.tests.empty())
    if (auto name = declared_evaluation(manifest, dir); !name.empty()) return name;
  std::vector<Diagnostic> warnings;
  const auto skill = skill::load_skill(dir, warnings);
  trial::EvaluationEntry evaluation;
  for (const auto& file : wanted.tests) evaluation.cases.push_back(fs::absolute(file).string());
  if (wanted.tests.empty())
    for (const auto& file : author::case_files_of(dir)) evaluation.cases.push_back(file.string());
  if (evaluation.cases.empty())
    throw Error(Exit::usage,
                {Diagnostic{{(dir / "SKILL.md").string(), 0, 0},
                            "this skill has no cases (cases/, evals/, skill_meta.json)",
                            "name a file with -t, or have some written: hone generate "
                            "\"<task>\" --from " +
                                wanted.skill.string()}});
  evaluation.models = wanted.models;
  evaluation.gates = wanted.gates;
  evaluation.runs = wanted.runs;
  evaluation.delivery = wanted.delivery;
  evaluation.name = skill.name;
  while (is_declared(manifest, evaluation.name)) evaluation.name += ".folder";
  evaluation.skill = evaluation.name;
  context.declare({evaluation.name, dir.string()}, evaluation);
  return evaluation.name;
}

void print_failures(const trial::Plan& plan, const std::vector<std::string>& models) {
  for (const auto& model : models)
    for (const auto& c : plan.cases)
      for (const auto arm : trial::kArms)
        for (int run = 0; run < plan.evaluation.runs; ++run) {
          const auto dir = plan.trial_dir(model, c.id, arm, run);
          const auto [record, outcome, evidence] = trial::ending_of(dir);
          if (outcome.empty() || outcome == "correct") continue;
          std::string text;
          if (fs::exists(dir / "response.json"))
            text = storage::read_json(dir / "response.json").value("text", text);
          std::cout << fmt::format("{} {} {} run {}: {}{}\n", model, c.id, trial::name(arm), run,
                                   outcome, evidence.empty() ? "" : ": " + evidence);
          const std::string shown = process::sanitise(text, kShownAnswer);
          for (size_t at = 0; at < shown.size();) {
            const size_t end = std::min(shown.find('\n', at), shown.size());
            std::cout << "  | " << shown.substr(at, end - at) << '\n';
            at = end + 1;
          }
        }
}

Exit list_skills(const fs::path& dir, bool verbose) {
  if (!fs::is_directory(dir))
    throw Error(Exit::usage, "there is no folder '" + dir.string() + "'; name one with -d");
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(dir))
    if (fs::exists(entry.path() / "SKILL.md")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  bool broken = false;
  for (const auto& folder : folders) {
    std::vector<Diagnostic> warnings;
    try {
      const auto skill = skill::load_skill(folder, warnings);
      std::cout << fmt::format("{}: {}\n", skill.name, first_words(skill.description, 160));
      std::cout << "  SKILL.md\n";
      for (const auto& file : skill.files) std::cout << "  " << file << '\n';
      if (verbose) std::cout << process::sanitise(skill.body, kShownBody) << "\n\n";
    } catch (const Error& e) {
      broken = true;
      print_diagnostics(e.diagnostics());
    }
  }
  if (folders.empty()) std::cout << "no skill in " << dir.string() << '\n';
  return broken ? Exit::bad_input : Exit::good;
}

}  // namespace hone::cli
