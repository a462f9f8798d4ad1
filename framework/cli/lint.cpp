#include "author/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "cli/command.hpp"
#include "skill/sarif.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct LintArguments {
  std::vector<std::string> skills, cases;
  std::string sarif, toolkit, cache;
  bool strict = false, no_build = false;
};

std::string counted(size_t n, const std::string& what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

author::LintOptions options_of(Context& context, const LintArguments& arguments,
                               std::string& reason) {
  author::LintOptions options;
  options.cases = {arguments.cases.begin(), arguments.cases.end()};
  options.cache_dir = arguments.cache;
  fs::path toolkit = arguments.toolkit;
  try {
    if (toolkit.empty()) toolkit = context.manifest().toolkit_root;
    if (arguments.cache.empty()) options.cache_dir = context.manifest().cache_dir;
  } catch (const Error&) {
    // Outside of a build tree: what find_toolkit finds.
  }
  if (arguments.no_build)
    reason = "--no-build";
  else
    options.toolkit = kernel::find_toolkit(toolkit, &reason);
  return options;
}

Exit lint(Context& context, const LintArguments& arguments) {
  std::string reason;
  const auto options = options_of(context, arguments, reason);
  std::vector<skill::Finding> all;
  for (const auto& name : arguments.skills) {
    const auto report = author::lint(skill_folder(context, name), options);
    size_t errors = 0;
    for (const auto& finding : report.findings) {
      errors += finding.diagnostic.warning ? 0 : 1;
      std::cerr << finding.diagnostic.str() << " [" << finding.rule << "]\n";
    }
    const std::string built =
        report.not_built.empty()
            ? counted(report.blocks, "code block") + " built"
            : "no code built: " + (options.toolkit ? report.not_built : reason);
    std::cout << fmt::format("{}: {}, {}; {}, {} read\n", name, counted(errors, "error"),
                             counted(report.findings.size() - errors, "warning"), built,
                             counted(report.cases, "case"));
    all.insert(all.end(), report.findings.begin(), report.findings.end());
  }
  if (!arguments.sarif.empty())
    storage::write_json(arguments.sarif, skill::to_sarif(all, fs::current_path()));
  const bool bad = std::any_of(all.begin(), all.end(), [&](const auto& finding) {
    return arguments.strict || !finding.diagnostic.warning;
  });
  return bad ? Exit::bad_input : Exit::good;
}

}  // namespace

fs::path skill_folder(Context& context, const std::string& skill) {
  if (fs::is_directory(skill)) return skill;
  if (skill.find('/') != std::string::npos)
    throw Error(Exit::usage, "there is no folder '" + skill + "'");
  return context.manifest().skill(skill).dir;
}

void add_lint_command(CLI::App& app, Context& context, Action& action) {
  auto* command = app.add_subcommand("lint",
                                     "What is wrong in a skill: the specification's rules, links, "
                                     "code that does not compile, weak "
                                     "cases (exit 3 when there is an error)");
  auto a = std::make_shared<LintArguments>();
  command->add_option("skill", a->skills, "Folders with a SKILL.md, or declared skills")
      ->required();
  command->add_option("-t,--tests", a->cases, "Case files (default: those in the skill's folder)");
  command->add_option("--sarif", a->sarif, "Write the findings there as SARIF 2.1.0");
  command->add_option(
      "--toolkit", a->toolkit,
      "Root of the CUDA toolkit (default: the manifest's, else where nvcc is found)");
  command->add_option("--cache", a->cache, "Folder of finished builds");
  command->add_flag("--strict", a->strict, "Warnings count as errors");
  command->add_flag("--no-build", a->no_build, "Do not build code blocks");
  command->callback([&, a] { action = [&, a] { return lint(context, *a); }; });
}

}  // namespace hone::cli
