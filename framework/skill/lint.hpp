#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.hpp"
#include "skill/skill.hpp"

namespace hone::skill {

/// Something that is wrong in a skill, and the rule that says so.
struct Finding {
  std::string rule;
  Diagnostic diagnostic;
};

/// Tokens of a text, about: a token is taken to be four bytes.
size_t about_tokens(std::string_view text);

/// Tokens that the body of a skill should stay under, as the specification advises.
inline constexpr size_t kMaxBodyTokens = 5000;

/// The rules that need no more than the skill's files: `spec` (what loading says), `body-size`,
/// `missing-reference`, `outside-reference`, `nested-reference`, `unused-file`, `unclosed-fence`.
/// Never throws for what is in the files.
std::vector<Finding> lint_text(const std::filesystem::path& dir);

}  // namespace hone::skill
