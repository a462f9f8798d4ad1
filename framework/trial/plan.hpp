#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cases/case.hpp"
#include "skill/skill.hpp"
#include "trial/manifest.hpp"

namespace hone::trial {

enum class Arm { with_skill, without_skill };
inline constexpr Arm kArms[] = {Arm::with_skill, Arm::without_skill};
/// "with_skill" or "without_skill".
std::string_view name(Arm arm);
/// The inverse. Throws Error(usage).
Arm arm_named(std::string_view text);

/// One evaluation with its skill and cases loaded.
struct Plan {
  const Manifest* manifest = nullptr;
  EvaluationEntry evaluation;
  skill::Skill skill;
  std::vector<cases::Case> cases;
  std::vector<Diagnostic> diagnostics;  ///< of case files and the skill, warnings included

  bool has_errors() const;
  /// Throws Error(usage) listing the known ids.
  const cases::Case& find_case(const std::string& id) const;
  std::filesystem::path trial_dir(const std::string& model, const std::string& case_id, Arm arm,
                                  int run) const;
};

/// Loads an evaluation: its skill, its own cases and those of its suites. What is wrong in the
/// files is in `diagnostics`; the good cases are there. Throws Error(bad_input) when the skill
/// itself cannot be read, Error(usage) for unknown names.
Plan make_plan(const Manifest& manifest, const std::string& evaluation);

/// The user's message of a case: its prompt, its context files and, for a kernel case, the suite's
/// C ABI, the same in both arms.
std::string user_text(const Plan& plan, const cases::Case& c);

/// Stages that a case goes through, in order: query, build (kernels), verify, repair (with more than
/// one turn), bench (kernels).
std::vector<std::string> stages_of(const cases::Case& c);

}  // namespace hone::trial
