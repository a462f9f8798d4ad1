#include "skill/install.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "cli/command.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct InstallArguments {
  std::string skill;
  std::vector<std::string> agents{"all"};
  bool user = false, project = false, link = false, force = false, dry_run = false;
};

skill::Places places() {
  const char* home = std::getenv("HOME");
  return {fs::current_path(), home == nullptr ? "" : home};
}

/// The folders of these agents in the chosen scopes, each once.
std::vector<skill::SkillsFolder> folders(const InstallArguments& arguments, bool both) {
  const auto where = places();
  std::vector<skill::Scope> scopes;
  if (arguments.project || (!arguments.user || both)) scopes.push_back(skill::Scope::project);
  if (arguments.user || (both && !arguments.project)) scopes.push_back(skill::Scope::user);
  std::vector<skill::SkillsFolder> found;
  std::set<fs::path> seen;
  for (const auto scope : scopes) {
    if (scope == skill::Scope::user && where.home.empty())
      throw Error(Exit::usage, "HOME is not set: there is no user's folder");
    for (const auto& agent : skill::agents_named(arguments.agents)) {
      auto folder = skill::folder_of(agent, scope, where);
      if (seen.insert(folder.path).second) found.push_back(std::move(folder));
    }
  }
  return found;
}

/// Says what is refused; then nothing at all is done.
bool any_refused(const std::vector<skill::Change>& changes, bool can_force) {
  bool refused = false;
  for (const auto& change : changes) {
    if (!change.refused()) continue;
    std::cerr << "hone: " << change.refusal << (can_force ? "; --force overwrites it" : "") << '\n';
    refused = true;
  }
  return refused;
}

void say(const skill::Change& change, bool dry_run) {
  std::cout << fmt::format("{}{}: {}\n",
                           dry_run && change.kind != skill::Change::Kind::none ? "would " : "",
                           change.what, change.target.string());
}

Exit install(Context& context, const InstallArguments& arguments) {
  std::vector<Diagnostic> warnings;
  const auto loaded = skill::load_skill(skill_folder(context, arguments.skill), warnings);
  print_diagnostics(warnings);
  const auto mode = arguments.link ? skill::InstallMode::link : skill::InstallMode::copy;
  std::vector<skill::Change> changes;
  for (const auto& folder : folders(arguments, false))
    changes.push_back(skill::plan_install(loaded, folder, mode, arguments.force));
  if (any_refused(changes, true)) return Exit::bad_input;
  for (const auto& change : changes) {
    if (!arguments.dry_run) skill::install(loaded, change, mode);
    say(change, arguments.dry_run);
  }
  return Exit::good;
}

Exit uninstall(const InstallArguments& arguments) {
  std::vector<skill::Change> changes;
  for (const auto& folder : folders(arguments, false))
    changes.push_back(skill::plan_uninstall(arguments.skill, folder, arguments.force));
  if (any_refused(changes, false)) return Exit::bad_input;
  for (const auto& change : changes) {
    if (!arguments.dry_run) skill::uninstall(change);
    say(change, arguments.dry_run);
  }
  return Exit::good;
}

Exit status(const InstallArguments& arguments) {
  bool drift = false;
  size_t installed = 0;
  for (const auto& folder : folders(arguments, true))
    for (const auto& status : skill::status_of(folder)) {
      ++installed;
      drift = drift || status.drifted();
      std::cout << fmt::format("{}: {} ({} {})\n", status.target.string(), status.str(),
                               status.mode == skill::InstallMode::link ? "link to" : "copy of",
                               status.source.string());
    }
  if (installed == 0) std::cout << "nothing is installed here\n";
  return drift ? Exit::judged_bad : Exit::good;
}

void add_where(CLI::App* command, const std::shared_ptr<InstallArguments>& a) {
  command->add_option("-a,--agent", a->agents,
                      "claude, codex, cursor, opencode or all (default: all)");
  auto* user = command->add_flag("--user", a->user, "In the home folder");
  command->add_flag("--project", a->project, "In this folder's project")->excludes(user);
}

}  // namespace

void add_install_commands(CLI::App& app, Context& context, Action& action) {
  auto a = std::make_shared<InstallArguments>();
  auto* installer = app.add_subcommand(
      "install", "Put a skill where agents look for it; never overwrites what Hone did not write");
  installer->add_option("skill", a->skill, "A folder with a SKILL.md, or a declared skill")
      ->required();
  add_where(installer, a);
  installer->add_flag("--link", a->link, "A symbolic link instead of a copy");
  installer->add_flag("--force", a->force, "Overwrite what is there");
  installer->add_flag("--dry-run", a->dry_run, "Only say what would be done");
  installer->callback([&, a] { action = [&, a] { return install(context, *a); }; });

  auto* remover = app.add_subcommand("uninstall", "Take out a skill that `hone install` put there");
  remover->add_option("skill", a->skill, "The skill's name")->required();
  add_where(remover, a);
  remover->add_flag("--force", a->force, "Even when it was edited since");
  remover->add_flag("--dry-run", a->dry_run, "Only say what would be done");
  remover->callback([&, a] { action = [a] { return uninstall(*a); }; });

  auto* teller = app.add_subcommand(
      "status",
      "Installed skills, and whether they or their sources changed since (exit 1 when one did)");
  add_where(teller, a);
  teller->callback([&, a] { action = [a] { return status(*a); }; });
}

}  // namespace hone::cli
