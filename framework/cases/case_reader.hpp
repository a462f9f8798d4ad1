#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cases/case.hpp"
#include "cases/located_json.hpp"

namespace hone::cases {

/// Reads the cases of one file, whatever its dialect. Appends the good ones to `cases` (ids unique
/// in the file, digest not yet set) and everything that is wrong to `diagnostics`.
void read_case_file(const std::filesystem::path& file, const CaseOptions& options,
                    std::vector<Case>& cases, std::vector<Diagnostic>& diagnostics);

}  // namespace hone::cases
