#pragma once
#include <filesystem>
#include <vector>

#include "skill/lint.hpp"
#include "storage/storage.hpp"

namespace hone::skill {

/// The findings as a SARIF 2.1.0 log; files below `base` are named relative to it.
storage::Json to_sarif(const std::vector<Finding>& findings, const std::filesystem::path& base);

}  // namespace hone::skill
