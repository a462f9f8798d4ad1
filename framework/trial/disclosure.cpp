#include "trial/disclosure.hpp"

#include <algorithm>

#include "storage/storage.hpp"

namespace hone::trial {

using storage::Json;

Delivery delivery_named(const std::string& text) {
  if (text.empty() || text == "inject") return Delivery::inject;
  if (text == "disclose") return Delivery::disclose;
  throw Error(Exit::bad_input, "unknown delivery '" + text + "'; known: inject, disclose");
}

std::string disclosed_text(const skill::Skill& skill) {
  return "\n\nSkills that may help; read one with the tool read_skill before you use it:\n- " +
         skill.name + ": " + skill.description;
}

model::Tool read_skill_tool() {
  return {"read_skill", "Reads a skill's instructions, or one of its further files.",
          Json{{"type", "object"},
               {"properties",
                {{"name", {{"type", "string"}, {"description", "Name of the skill"}}},
                 {"file",
                  {{"type", "string"},
                   {"description", "A file of the skill; left out: its instructions"}}}}},
               {"required", {"name"}}}};
}

std::string read_skill(const skill::Skill& skill, const model::ToolCall& call,
                       std::string& opened) {
  opened.clear();
  if (call.name != "read_skill") return "error: there is no tool '" + call.name + "'";
  const auto text = [&](const char* key) {
    const bool there = call.arguments.is_object() && call.arguments.contains(key) &&
                       call.arguments[key].is_string();
    return there ? call.arguments[key].get<std::string>() : std::string();
  };
  if (text("name") != skill.name)
    return "error: there is no skill '" + text("name") + "'; known: " + skill.name;
  const std::string file = text("file");
  if (file.empty() || file == "SKILL.md") {
    opened = "SKILL.md";
    return skill.body;
  }
  // Only what the skill lists: nothing outside its folder can be named.
  if (std::find(skill.files.begin(), skill.files.end(), file) == skill.files.end())
    return "error: the skill has no file '" + file + "'";
  opened = file;
  return storage::read_file(skill.dir / file);
}

}  // namespace hone::trial
