#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "skill/agents.hpp"
#include "skill/receipt.hpp"
#include "skill/skill.hpp"

namespace hone::skill {

/// What is to happen in one folder of skills. Making one writes nothing.
struct Change {
  enum class Kind { none, add, replace, remove };
  Kind kind = Kind::none;
  std::string name;  ///< of the skill
  SkillsFolder folder;
  std::filesystem::path target;  ///< <folder>/<name>
  std::string what;              ///< "install", "update", "already up to date" …
  std::string refusal;           ///< why it may not be done without force; "" when it may

  bool refused() const { return !refusal.empty(); }
};

/// How a skill gets into a folder. Refused, unless `force`: a target that Hone did not write, or
/// that was edited since. Throws Error(bad_input) for a name that is not the specification's.
Change plan_install(const Skill& skill, const SkillsFolder& folder, InstallMode mode, bool force);

/// Carries it out: a copy is made beside the target and renamed over it, then the receipt is
/// written. A skill in a project is recorded (and linked) by a relative path. Throws
/// Error(infrastructure) with the system's reason.
void install(const Skill& skill, const Change& change, InstallMode mode);

/// How a skill is taken out of a folder. Refused for a copy that was edited, unless `force`; always
/// for what Hone did not install.
Change plan_uninstall(const std::string& name, const SkillsFolder& folder, bool force);
void uninstall(const Change& change);

/// An installed skill against its record and its source.
struct Status {
  std::string name;
  std::filesystem::path target, source;
  InstallMode mode = InstallMode::copy;
  std::vector<std::string> edits;  ///< of the installed copy since; see differences()
  enum class Source { same, changed, gone } source_state = Source::same;
  bool missing = false;  ///< nothing is there any more

  bool drifted() const { return missing || !edits.empty() || source_state != Source::same; }
  /// "up to date", "source changed", "edited (changed: SKILL.md)" …
  std::string str() const;
};

std::vector<Status> status_of(const SkillsFolder& folder);

}  // namespace hone::skill
