#pragma once
#include "author/lint.hpp"

namespace hone::author {

/// Builds the CUDA blocks of a skill's Markdown files and looks for architectures that the toolkit
/// does not know; adds what it finds to the report.
void check_code_blocks(const std::filesystem::path& skill_dir, const LintOptions& options,
                       LintReport& report);

}  // namespace hone::author
