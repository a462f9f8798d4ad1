#pragma once
#include <string>

#include "model/model.hpp"
#include "skill/skill.hpp"

namespace hone::trial {

/// How a skill reaches the model: its text in the system prompt, or its name and description there
/// and a tool that reads the rest.
enum class Delivery { inject, disclose };
/// Throws Error(bad_input) for another word than "inject" or "disclose"; "" is inject.
Delivery delivery_named(const std::string& text);

/// What the skill adds to the neutral system text when it is disclosed.
std::string disclosed_text(const skill::Skill& skill);

/// read_skill(name, file): `file` is SKILL.md when it is not given.
model::Tool read_skill_tool();

/// What a call of the tool gives the model: the body, a file of the skill, or what is wrong with
/// the call. `opened` is the file that was read, or "".
std::string read_skill(const skill::Skill& skill, const model::ToolCall& call, std::string& opened);

}  // namespace hone::trial
