#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "kernel/toolkit.hpp"
#include "skill/lint.hpp"

namespace hone::author {

struct LintOptions {
  std::optional<kernel::Toolkit> toolkit;    ///< none: code is not built
  std::string capability = "9.0";            ///< what cuda blocks are built for
  std::filesystem::path cache_dir;           ///< of builds; empty: none is kept
  std::vector<std::filesystem::path> cases;  ///< empty: those in the skill's folder
};

struct LintReport {
  std::vector<skill::Finding> findings;
  size_t blocks = 0;      ///< of CUDA code that were built
  size_t cases = 0;       ///< that were read
  std::string not_built;  ///< why no code was built, or ""
};

/// The case files that stand in a skill's folder: those in cases/, evals/ and tests/, else
/// skill_meta.json.
std::vector<std::filesystem::path> case_files_of(const std::filesystem::path& skill_dir);

/// All that can be said of a skill without asking a model: the rules of skill::lint_text;
/// `cuda-block`, code blocks of language cuda (cu) in its Markdown that do not compile alone,
/// unless their info string says `fragment`; `toolkit-arch`, architectures that this toolkit does
/// not know; `case` and the rules of weaknesses_of for its cases. Blocks are built in the sandbox,
/// as answers are; where that cannot be done `not_built` says why and nothing is held against the
/// skill.
LintReport lint(const std::filesystem::path& skill_dir, const LintOptions& options);

}  // namespace hone::author
