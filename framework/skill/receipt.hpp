#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hone::skill {

enum class InstallMode { copy, link };

/// What was written for one skill.
struct Installed {
  std::filesystem::path source;  ///< the skill's folder; relative: to the folder of skills
  InstallMode mode = InstallMode::copy;
  std::string digest;                        ///< of the skill as it was installed
  std::map<std::string, std::string> files;  ///< digest by name, SKILL.md included; none of a link
};

/// What Hone installed in a folder of skills, by name. Kept there as ".hone-skills.json", so that
/// nothing else is ever taken for Hone's.
using Receipt = std::map<std::string, Installed>;

/// Empty where there is no receipt. Throws Error(bad_input) for one that cannot be read.
Receipt read_receipt(const std::filesystem::path& folder);

/// Writes it atomically; an empty one is removed.
void write_receipt(const std::filesystem::path& folder, const Receipt& receipt);

/// The files of an installed copy that are not as they were written, sorted: "changed: x",
/// "missing: x", "added: x".
std::vector<std::string> differences(const std::filesystem::path& target,
                                     const Installed& installed);

}  // namespace hone::skill
