#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.hpp"

namespace hone::skill {

/// A folder with a SKILL.md, as the agentskills specification has it.
struct Skill {
  std::string name;
  std::string description;
  std::string license;
  std::string compatibility;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> allowed_tools;
  std::string body;  ///< what follows the front matter, without the blank lines at both ends
  std::filesystem::path dir;
  std::vector<std::string> files;  ///< the other files, relative to dir, sorted
  std::string digest;              ///< "sha256:…" of SKILL.md and the other files, names included
  Location where;                  ///< SKILL.md
};

/// Reads a skill. Throws Error(bad_input) with all errors at once: no SKILL.md, no front matter,
/// unreadable YAML, empty description, wrong types. What the specification forbids but one can live
/// with (name not the folder's, unknown keys, an empty body …) is appended to `warnings`.
Skill load_skill(const std::filesystem::path& dir, std::vector<Diagnostic>& warnings);

/// True for what the specification takes as a name: 1 to 64 of a-z, 0-9 and single '-' between.
bool is_spec_name(const std::string& name);

/// The system text of both arms.
inline constexpr std::string_view kNeutralSystemText =
    "You are a careful CUDA C++ engineer. Answer the question.";

/// What a skill adds to the neutral text: "\n\n# Skill: <name>\n<description>\n\n<body>".
std::string skill_text(const Skill& skill);

/// The neutral text, with the skill's added unless null.
std::string system_text(const Skill* skill);

/// Digest of what the skill added to the system text; none without a skill.
std::optional<std::string> sent_digest(const Skill* skill);

}  // namespace hone::skill
