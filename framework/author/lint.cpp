#include "author/lint.hpp"

#include <algorithm>
#include <set>

#include "author/code_blocks.hpp"
#include "author/weakness.hpp"
#include "cases/case.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;

void lint_cases(const std::vector<fs::path>& files, LintReport& report) {
  if (files.empty()) return;
  const auto set = cases::load_cases(files);
  report.cases = set.cases.size();
  for (const auto& d : set.diagnostics) report.findings.push_back({"case", d});
  for (const auto& c : set.cases)
    for (const auto& weakness : weaknesses_of(c))
      report.findings.push_back(
          {weakness.rule, {c.where, "case '" + c.id + "': " + weakness.reason, "", true}});
  for (const auto& [index, of] : duplicates_in(set.cases))
    report.findings.push_back(
        {"duplicate-case",
         {set.cases[index].where,
          "case '" + set.cases[index].id + "' asks what '" + set.cases[of].id + "' asks", "",
          true}});
}

}  // namespace

std::vector<fs::path> case_files_of(const fs::path& dir) {
  std::vector<fs::path> files;
  std::error_code ec;
  for (const char* folder : {"cases", "evals", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(dir / folder, ec))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
  // Its test list may be empty, where the tests stand in cases/.
  if (files.empty() && fs::exists(dir / "skill_meta.json"))
    files.push_back(dir / "skill_meta.json");
  std::sort(files.begin(), files.end());
  return files;
}

LintReport lint(const fs::path& skill_dir, const LintOptions& options) {
  LintReport report;
  report.findings = skill::lint_text(skill_dir);
  check_code_blocks(skill_dir, options, report);
  lint_cases(options.cases.empty() ? case_files_of(skill_dir) : options.cases, report);
  return report;
}

}  // namespace hone::author
