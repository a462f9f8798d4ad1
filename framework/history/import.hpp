#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "history/snapshot.hpp"

namespace hone::history {

/// What other tools left on disk, as snapshots; what cannot be read is named in `problems`.
struct Imported {
  std::vector<Snapshot> snapshots;
  std::vector<Diagnostic> problems;
};

/// upskill's runs folder (runs/<stamp>/run_N/run_result.json) or one of its batches. A batch's runs
/// of one model become one snapshot; upskill keeps no record of single cases, so that its runs
/// count as runs of one case named like the task: rates are there, an interval over cases is not. A
/// run with an error_message is an infrastructure error, not a failure, and 0 tokens are none
/// reported. Throws Error(bad_input) when there is no run in the folder.
Imported import_upskill(const std::filesystem::path& folder);

/// skill-creator's benchmark.json. A run passes when all its expectations do (pass_rate 1); one
/// with errors and nothing graded is an infrastructure error. Configurations other than with_skill
/// (or new_skill) count as without. Throws Error(bad_input).
Imported import_skill_creator(const std::filesystem::path& file);

/// Whichever `path` is: a folder is upskill's, a file skill-creator's.
Imported import(const std::filesystem::path& path);

}  // namespace hone::history
