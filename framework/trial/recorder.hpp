#pragma once
#include <filesystem>
#include <string>

#include "trial/stages.hpp"

namespace hone::trial {

using storage::Json;

/// The runs of one selection, with what every stage needs to record them.
class Recorder {
 public:
  Recorder(const Plan& plan, const model::ModelConfig& model, const Selection& selection,
           const StageOptions& options)
      : plan_(plan), model_(model), selection_(selection), options_(options) {}

  std::filesystem::path dir(int run) const;
  /// A record of a run, or null when it isn't there.
  Json read(int run, const char* file) const;
  /// Counts and prints what a run came to.
  void note(StageResult& result, int run, const std::string& outcome, const std::string& evidence,
            bool reused = false) const;
  const cases::Case& c() const { return *selection_.c; }
  int runs() const { return plan_.evaluation.runs; }
  const Plan& plan() const { return plan_; }
  const StageOptions& options() const { return options_; }

 private:
  const Plan& plan_;
  const model::ModelConfig& model_;
  const Selection& selection_;
  const StageOptions& options_;
};

/// The result with its exit code and reason; `nothing` is the reason where no run was recorded.
StageResult finished(StageResult result, const std::string& nothing);

/// What a trial has come to: by its newest record, verify.json, build.json or response.json.
struct Ending {
  std::string record, outcome, evidence;  ///< all "" where there is none
};
Ending ending_of(const std::filesystem::path& trial_dir);

/// "" for a record that isn't there.
std::string outcome_of(const Json& record);

}  // namespace hone::trial
