#include "author/package.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "skill/skill.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using storage::Json;

/// The tests that upskill can judge: texts that the answer must contain.
Json upskill_tests(const std::vector<ProposedCase>& proposals) {
  Json tests = Json::array();
  for (const auto& one : proposals)
    if (!one.c.expect.contains.empty())
      tests.push_back(
          {{"input", one.c.prompt}, {"expected", {{"contains", one.c.expect.contains}}}});
  return tests;
}

void write_meta(const GenerateSettings& settings, const std::vector<ProposedCase>& proposals,
                const Generated& result) {
  const Json rate = result.held_out ? Json(result.held_out->best) : Json();
  storage::write_json(settings.out / "skill_meta.json", {{"metadata",
                                                          {{"version", "1.0"},
                                                           {"generated_by", "hone"},
                                                           {"generated_at", storage::utc_now()},
                                                           {"source_task", settings.task},
                                                           {"test_pass_rate", rate},
                                                           {"license", Json()},
                                                           {"compatibility", Json()}}},
                                                         {"tests", upskill_tests(proposals)}});
}

void write_cmake(const GenerateSettings& settings, const std::string& name, bool has_cases) {
  std::string text = fmt::format("hone_add_skill({})\n", name);
  if (settings.evaluate && !settings.eval_models.empty()) {
    text += fmt::format("hone_add_evaluation({0} SKILL {0} MODELS {1} RUNS {2}\n", name,
                        fmt::join(settings.eval_models, " "), settings.runs);
    const std::string indent = "                    ";
    if (!settings.suites.empty())
      text += indent + fmt::format("SUITES {}\n", fmt::join(settings.suites, " "));
    if (has_cases) text += indent + "CASES cases/*.json\n";
    text += indent + "GATE \"lift >= 0\")\n";
  }
  storage::write_atomically(settings.out / "CMakeLists.txt", text);
}

}  // namespace

void write_package(const GenerateSettings& settings, const Version& version,
                   const std::vector<ProposedCase>& proposals, const Split& split,
                   const Generated& result) {
  const fs::path& out = settings.out;
  storage::write_atomically(out / "SKILL.md", storage::read_file(version.skill_dir / "SKILL.md"));
  copy_references(version.skill_dir, out);
  Json train = Json::array();
  Json held_out = Json::array();
  for (const auto& one : proposals)
    (split.held_out.count(one.c.id) > 0 ? held_out : train).push_back(one.json);
  const auto write = [&](const char* file, const Json& cases) {
    if (!cases.empty()) storage::write_json(out / "cases" / file, {{"cases", cases}});
  };
  write("train.json", train);
  write("held-out.json", held_out);
  for (const auto& file : settings.case_files)
    storage::write_atomically(out / "cases" / file.filename(), storage::read_file(file));
  write_meta(settings, proposals, result);
  write_cmake(settings, version.draft.name, !proposals.empty() || !settings.case_files.empty());
}

}  // namespace hone::author
