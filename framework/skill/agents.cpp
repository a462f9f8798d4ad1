#include "skill/agents.hpp"

#include <algorithm>

#include "diagnostic/diagnostic.hpp"

namespace hone::skill {
namespace {

// As the agents' documentation has it. Codex reads the folder of the agentskills convention.
constexpr Agent kAgents[] = {
    {"claude", ".claude/skills", ".claude/skills"},
    {"codex", ".agents/skills", ".agents/skills"},
    {"cursor", ".cursor/skills", ".cursor/skills"},
    {"opencode", ".opencode/skills", ".config/opencode/skills"},
};

}  // namespace

std::span<const Agent> known_agents() { return kAgents; }

std::vector<Agent> agents_named(const std::vector<std::string>& names) {
  std::vector<Agent> found;
  const auto add = [&](const Agent& agent) {
    if (std::none_of(found.begin(), found.end(), [&](auto& a) { return a.name == agent.name; }))
      found.push_back(agent);
  };
  for (const auto& name : names) {
    bool known = name == "all";
    for (const auto& agent : kAgents) {
      if (name != "all" && name != agent.name) continue;
      add(agent);
      known = true;
    }
    if (!known)
      throw Error(Exit::usage,
                  "unknown agent '" + name + "'; known: claude, codex, cursor, opencode, all");
  }
  return found;
}

SkillsFolder folder_of(const Agent& agent, Scope scope, const Places& places) {
  if (scope == Scope::user) return {places.home / agent.user, scope};
  return {places.project / agent.project, scope};
}

}  // namespace hone::skill
