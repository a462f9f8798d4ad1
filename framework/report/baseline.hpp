#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "report/results.hpp"

namespace hone::report {

/// One model's part of a baseline file.
struct BaselineModel {
  struct Case {
    /// Tokens a trial, as the server counted them.
    struct Tokens {
      double input = 0, output = 0;
    };
    stats::Tally with_skill, without_skill;
    std::string digest, suite;
    std::optional<Tokens> with_tokens, without_tokens;
    std::vector<double> time_ns;  ///< of the correct candidates with the skill, ascending
  };
  std::string skill_digest, date, model_id, model_digest;
  std::string device, time_kind;  ///< of the times; "" when there are none
  storage::Json sampling;
  int runs = 0;
  std::map<std::string, Case> cases;
  /// With-skill passes and runs of all cases.
  stats::Tally total() const;
};

/// reports/baselines/<evaluation>.json: one line a case, sorted, so that it diffs and merges.
struct Baseline {
  std::string evaluation, skill;
  std::map<std::string, BaselineModel> models;
};

/// Throws Error(bad_input) with the file and what is expected in it.
Baseline read_baseline(const std::filesystem::path& path);
/// The same of its content; `name` stands for the file in errors.
Baseline baseline_in(const storage::Json& json, const std::string& name);

/// The measurements of an evaluation as a baseline. Cases without scored with-skill runs are left
/// out. Throws Error(inconclusive) when no case was scored, so that an empty run replaces nothing.
Baseline make_baseline(const EvaluationResult& result);

/// `base` with the models of `update` replaced or added.
Baseline merge(Baseline base, const Baseline& update);

/// The file's text.
std::string write_baseline(const Baseline& baseline);

/// Merges the result into the file at input.baseline (made when missing) and returns what was
/// written, in one sentence. Throws what make_baseline and read_baseline throw.
std::string update_baseline(const EvaluationResult& result);

/// A model's baseline as the no-regression gate wants it, with what has changed besides the skill.
stats::GateBaseline to_gate_baseline(const BaselineModel& baseline, const ModelInfo& now,
                                     const std::string& skill_digest_now);

}  // namespace hone::report
