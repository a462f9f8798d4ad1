#pragma once
#include "author/generate.hpp"

namespace hone::author {

/// Writes the finished skill into settings.out: SKILL.md and its references, the generated cases as
/// cases/train.json and cases/held-out.json, given ones as they are, skill_meta.json for upskill,
/// CMakeLists.txt. `proposals` are the generated cases; `split` may be empty when nothing was
/// evaluated.
void write_package(const GenerateSettings& settings, const Version& version,
                   const std::vector<ProposedCase>& proposals, const Split& split,
                   const Generated& result);

}  // namespace hone::author
