#include "trial/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "storage/storage.hpp"

namespace hone::trial {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const std::vector<std::string>& globs,
                               std::vector<Diagnostic>& diagnostics) {
  std::vector<fs::path> files;
  for (const auto& pattern : globs) {
    const auto found = expand_glob(pattern);
    if (found.empty()) diagnostics.push_back({{pattern, 0, 0}, "no case file matches", ""});
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace

std::string_view name(Arm arm) { return arm == Arm::with_skill ? "with_skill" : "without_skill"; }

Arm arm_named(std::string_view text) {
  for (const Arm arm : kArms)
    if (name(arm) == text) return arm;
  throw Error(Exit::usage,
              fmt::format("unknown arm '{}'; known: with_skill, without_skill", text));
}

bool Plan::has_errors() const {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return !d.warning; });
}

const cases::Case& Plan::find_case(const std::string& id) const {
  std::string known;
  for (const auto& c : cases) {
    if (c.id == id) return c;
    known += (known.empty() ? "" : ", ") + c.id;
  }
  throw Error(Exit::usage, fmt::format("evaluation '{}' has no case '{}'; known: {}",
                                       evaluation.name, id, known));
}

fs::path Plan::trial_dir(const std::string& model, const std::string& case_id, Arm arm,
                         int run) const {
  return manifest->run_dir / evaluation.name / model / case_id / std::string(name(arm)) /
         std::to_string(run);
}

Plan make_plan(const Manifest& manifest, const std::string& evaluation) {
  Plan plan;
  plan.manifest = &manifest;
  plan.evaluation = manifest.evaluation(evaluation);
  plan.skill = skill::load_skill(manifest.skill(plan.evaluation.skill).dir, plan.diagnostics);
  for (const auto& model : plan.evaluation.models) manifest.model(model);

  const auto add = [&](const std::vector<std::string>& globs, const std::string& suite) {
    if (globs.empty()) return;
    const auto files = files_of(globs, plan.diagnostics);
    if (files.empty()) return;
    auto set = cases::load_cases(files, {suite});
    for (auto& c : set.cases) plan.cases.push_back(std::move(c));
    for (auto& d : set.diagnostics) plan.diagnostics.push_back(std::move(d));
  };
  add(plan.evaluation.cases, "");
  for (const auto& suite : plan.evaluation.suites) add(manifest.suite(suite).cases, suite);

  std::set<std::string> seen;
  std::vector<cases::Case> good;
  for (auto& c : plan.cases) {
    if (!seen.insert(c.id).second) {
      plan.diagnostics.push_back({c.where, "case id '" + c.id + "' is used twice", ""});
      continue;
    }
    const auto known = std::any_of(manifest.suites.begin(), manifest.suites.end(),
                                   [&](const SuiteEntry& s) { return s.name == c.suite; });
    if (c.expect.kernel && !known) {
      std::vector<std::string> names;
      for (const auto& s : manifest.suites) names.push_back(s.name);
      const auto near = nearest(c.suite, names);
      plan.diagnostics.push_back({c.where, "unknown suite '" + c.suite + "'",
                                  near.empty() ? "" : "did you mean '" + near + "'?"});
      continue;
    }
    good.push_back(std::move(c));
  }
  plan.cases = std::move(good);
  if (plan.cases.empty())
    plan.diagnostics.push_back(
        {{}, fmt::format("evaluation '{}' has no usable case", evaluation), ""});
  return plan;
}

std::string user_text(const Plan& plan, const cases::Case& c) {
  std::vector<cases::ContextFile> extra;
  if (c.expect.kernel) {
    const fs::path header = plan.manifest->suite(c.suite).header;
    extra.push_back({header.filename().string(), storage::read_file(header)});
  }
  return cases::prompt_text(c, extra);
}

std::vector<std::string> stages_of(const cases::Case& c) {
  std::vector<std::string> stages{"query"};
  if (c.expect.kernel) stages.push_back("build");
  stages.push_back("verify");
  if (c.turns > 1) stages.push_back("repair");
  if (c.expect.kernel) stages.push_back("bench");
  return stages;
}

}  // namespace hone::trial
