#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::skill {

/// A program that reads skills, and where it looks for them.
struct Agent {
  std::string_view name;
  std::string_view project;  ///< below a project's folder
  std::string_view user;     ///< below the home folder
};

std::span<const Agent> known_agents();

/// The agents of these names, each once; "all" is every known one. Throws Error(usage) that quotes
/// an unknown name and lists the known ones.
std::vector<Agent> agents_named(const std::vector<std::string>& names);

enum class Scope { project, user };

/// The folders that skills are installed below.
struct Places {
  std::filesystem::path project, home;
};

/// A folder of skills that an agent reads.
struct SkillsFolder {
  std::filesystem::path path;
  Scope scope = Scope::project;
};

SkillsFolder folder_of(const Agent& agent, Scope scope, const Places& places);

}  // namespace hone::skill
