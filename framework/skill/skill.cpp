#include "skill/skill.hpp"

#include <algorithm>

#include "skill/front_matter.hpp"
#include "storage/storage.hpp"

namespace hone::skill {
namespace {

namespace fs = std::filesystem;

/// Folders and files beside SKILL.md that measure or build the skill and are not part of it.
bool is_part_of_skill(const std::string& name) {
  static constexpr std::string_view kOthers[] = {
      "CMakeLists.txt", "skill_meta.json", "cases", "evals", "tests", "__pycache__"};
  return !name.starts_with('.') &&
         std::find(std::begin(kOthers), std::end(kOthers), name) == std::end(kOthers);
}

void list_files(const fs::path& root, const fs::path& folder, std::vector<std::string>& files) {
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    const std::string name = entry.path().filename().string();
    const bool top = folder == root;
    if (name.starts_with('.') || (top && !is_part_of_skill(name))) continue;
    if (entry.is_symlink(ec)) continue;
    if (entry.is_directory(ec))
      list_files(root, entry.path(), files);
    else if (entry.is_regular_file(ec) && !(top && name == "SKILL.md"))
      files.push_back(entry.path().lexically_relative(root).generic_string());
  }
}

std::string digest_of(const std::string& skill_md, const Skill& skill) {
  std::string all = "SKILL.md\n" + storage::sha256(skill_md) + "\n";
  for (const auto& file : skill.files)
    all += file + "\n" + storage::sha256_of_file(skill.dir / file) + "\n";
  return storage::sha256(all);
}

}  // namespace

Skill load_skill(const fs::path& dir, std::vector<Diagnostic>& warnings) {
  Skill skill;
  skill.dir = dir;
  fs::path folder = fs::absolute(dir).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  skill.name = folder.filename().string();
  const fs::path file = dir / "SKILL.md";
  skill.where = {file.string(), 1, 0};
  if (!fs::is_regular_file(file)) {
    const std::string what = fs::is_directory(dir) ? "the skill folder has no SKILL.md"
                                                   : "there is no such skill folder";
    throw Error(Exit::bad_input, {Diagnostic{{file.string(), 0, 0}, what, "", false}});
  }
  const std::string text = storage::read_file(file);
  std::vector<Diagnostic> found;
  read_skill_text(file.string(), text, skill, found);
  if (std::any_of(found.begin(), found.end(), [](const auto& d) { return !d.warning; }))
    throw Error(Exit::bad_input, std::move(found));
  warnings.insert(warnings.end(), found.begin(), found.end());
  list_files(dir, dir, skill.files);
  std::sort(skill.files.begin(), skill.files.end());
  skill.digest = digest_of(text, skill);
  return skill;
}

std::string skill_text(const Skill& skill) {
  return "\n\n# Skill: " + skill.name + "\n" + skill.description + "\n\n" + skill.body;
}

std::string system_text(const Skill* skill) {
  return std::string(kNeutralSystemText) + (skill != nullptr ? skill_text(*skill) : "");
}

std::optional<std::string> sent_digest(const Skill* skill) {
  if (skill == nullptr) return std::nullopt;
  return storage::sha256(skill_text(*skill));
}

}  // namespace hone::skill
