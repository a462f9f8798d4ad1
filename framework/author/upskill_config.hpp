#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "diagnostic/diagnostic.hpp"

namespace hone::author {

/// What a configuration file of upskill says; what it leaves out is empty.
struct UpskillConfig {
  std::filesystem::path file;  ///< where it was read; empty: there is none
  std::string model;           ///< `skill_generation_model`, or `model` as older files call it
  std::string eval_model, test_gen_model;
  std::filesystem::path skills_dir, runs_dir;  ///< as written, relative to the working folder
  std::optional<bool> auto_eval;
  std::optional<int> max_refine_attempts;
};

/// The file that upskill would read: $UPSKILL_CONFIG, ./upskill.config.yaml below `folder`, or
/// ~/.config/upskill/config.yaml; empty when there is none.
std::filesystem::path find_upskill_config(const std::filesystem::path& folder);

/// Reads it. Unknown keys and `fastagent_config`, which means nothing here, are appended to
/// `warnings`. Throws Error(bad_input) with file:line:column for what is wrong.
UpskillConfig read_upskill_config(const std::filesystem::path& file,
                                  std::vector<Diagnostic>& warnings);

}  // namespace hone::author
