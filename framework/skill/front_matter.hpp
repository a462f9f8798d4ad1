#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.hpp"
#include "skill/skill.hpp"

namespace hone::skill {

/// Splits SKILL.md into YAML front matter and body and fills in the skill's fields. Errors and
/// warnings are appended to `diagnostics`, with line and column. Tolerates CRLF and a byte order
/// mark.
void read_skill_text(const std::string& file, std::string_view text, Skill& skill,
                     std::vector<Diagnostic>& diagnostics);

}  // namespace hone::skill
