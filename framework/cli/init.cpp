#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "cli/command.hpp"
#include "cli/template.hpp"
#include "storage/storage.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSkill = "clamped-add", kOperation = "clamped_add";  ///< the template's

struct InitOptions {
  std::string dir = ".", skill{kSkill}, operation{kOperation}, ci = "none";
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

void require_name(const std::string& name, const char* what, const char* letters) {
  const bool good = !name.empty() && std::islower(static_cast<unsigned char>(name[0])) &&
                    name.find_first_not_of(letters) == std::string::npos;
  if (!good)
    throw Error(Exit::usage, fmt::format("{} '{}': a letter, then any of {}", what, name, letters));
}

/// The template's files that were asked for, named and filled in.
std::map<fs::path, std::string> files_of(const InitOptions& o) {
  std::map<fs::path, std::string> files;
  for (const TemplateFile& file : template_files()) {
    if (file.path.starts_with(".github/") && o.ci != "github") continue;
    if (file.path == ".gitlab-ci.yml" && o.ci != "gitlab") continue;
    std::string path(file.path), text(file.text);
    for (std::string* in : {&path, &text}) {
      replace_all(*in, kOperation, o.operation);
      replace_all(*in, kSkill, o.skill);
    }
    files[fs::path(o.dir) / path] = std::move(text);
  }
  return files;
}

Exit init(const InitOptions& o) {
  require_name(o.skill, "--skill", "abcdefghijklmnopqrstuvwxyz0123456789-");
  require_name(o.operation, "--operation", "abcdefghijklmnopqrstuvwxyz0123456789_");
  const auto files = files_of(o);
  std::string there;
  for (const auto& [path, text] : files)
    if (fs::exists(path)) there += (there.empty() ? "" : ", ") + path.lexically_normal().string();
  if (!there.empty())
    throw Error(Exit::bad_input, "already there, and nothing was written: " + there);
  for (const auto& [path, text] : files) {
    storage::write_atomically(path, text);
    std::cout << "wrote " << path.lexically_normal().string() << '\n';
  }
  std::cout
      << "Next: cmake -S " << o.dir << " -B "
      << (fs::path(o.dir) / "build").lexically_normal().string()
      << " -G Ninja, cmake --build it, ctest in it; then edit the skill, its cases and the suite\n";
  return Exit::good;
}

}  // namespace

void add_init_command(CLI::App& app, Action& action) {
  auto* init_command = app.add_subcommand(
      "init",
      "Write a repository that evaluates a skill: CMakeLists.txt, a skill with cases, a suite (an "
      "operation with its oracle) and scripted answers, all of which run at once. Nothing that is "
      "there is overwritten");
  auto o = std::make_shared<InitOptions>();
  init_command->add_option("dir", o->dir, "Folder (default: here)");
  init_command->add_option("--skill", o->skill, "Name of the skill, e.g. fast-scans");
  init_command->add_option("--operation", o->operation, "Name of the operation, e.g. scan_rows");
  init_command->add_option("--ci", o->ci, "Also a pipeline: github or gitlab (default: none)")
      ->check(CLI::IsMember({"github", "gitlab", "none"}));
  init_command->callback([&action, o] { action = [o] { return init(*o); }; });
}

}  // namespace hone::cli
