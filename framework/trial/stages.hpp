#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/budget.hpp"
#include "model/llama_server.hpp"
#include "model/store.hpp"
#include "trial/plan.hpp"

namespace hone::trial {

/// The trials of one case in one arm: all its runs.
struct Selection {
  const cases::Case* c = nullptr;
  Arm arm = Arm::with_skill;
};

struct Trial {
  std::string case_id;
  Arm arm;
  int run;
  std::filesystem::path dir;
};

struct StageOptions {
  bool fresh = false;                       ///< ask and measure again where a record could be used
  std::function<bool(const Trial&)> rerun;  ///< the same for some trials
  model::RecordMode record = model::record_mode_from_environment();
  model::Budget* budget = nullptr;
  http::ClientOptions client;       ///< of the asking: retries, clock, cap on bodies
  http::Timeouts timeouts;          ///< of one attempt to ask
  std::function<bool()> cancelled;  ///< polled; true ends the asking
  std::function<void(const model::AskProgress&)> progress;
  /// Not null: every answer of the plan goes here, whether asked or on record, and those of the
  /// recorded set count as on record in every mode.
  std::vector<model::RecordedAnswer>* collected = nullptr;
  /// Not null: nothing is asked or written; what the recorded set lacks is listed here, and why.
  std::vector<std::string>* missing = nullptr;
  std::string device;  ///< auto | gpu | sim; "": HONE_DEVICE, else auto
  /// One line for each thing that was recorded.
  std::function<void(const std::string&)> print;
};

/// What a stage did over the runs of its selections. Measuring is not judging: a wrong answer is a
/// recorded outcome, so `code` is good; infrastructure when something could not be measured,
/// inconclusive when the predecessor left nothing to work on (`reason` says why).
struct StageResult {
  Exit code = Exit::good;
  std::string reason;
  int recorded = 0, reused = 0, failed = 0;
};

/// Asks the model; writes request.json and response.json of each run. An answer on record to the
/// very same request, in the run folder or in the store of answers, is used again unless `fresh`; a
/// changed one clears the trial's folder. When replaying, answers come from the recorded set and
/// the store alone. Throws Error(interrupted) when `cancelled`.
StageResult query(const Plan& plan, const model::ModelConfig& model,
                  std::span<const Selection> selections, const StageOptions& options);

/// Where the recorded set of a model in an evaluation is:
/// reports/recorded/<evaluation>/<model>.jsonl.
std::filesystem::path recorded_set_file(const Manifest& manifest, const std::string& evaluation,
                                        const std::string& model);

/// Extracts and compiles kernel answers; writes answer/ and build.json. An answer that its token
/// limit cut off is judged by what it holds; one that fails for it has outcome "truncated".
StageResult build(const Plan& plan, const model::ModelConfig& model, const Selection& selection,
                  const StageOptions& options);

/// Judges answers: the text checks, or the suite's oracle; writes verify.json.
StageResult verify(const Plan& plan, const model::ModelConfig& model, const Selection& selection,
                   const StageOptions& options);

/// Asks again, at most Case::turns times in all, where an answer has faults, with the evidence; builds
/// and judges what comes. Earlier turns' records move to turns/<turn>/ with feedback.json.
StageResult repair(const Plan& plan, const model::ModelConfig& model, const Selection& selection,
                   const StageOptions& options);

/// Times the correct candidates; writes bench.json.
StageResult bench(const Plan& plan, const model::ModelConfig& model, const Selection& selection,
                  const StageOptions& options);

/// A stage by its name, for one selection. Throws Error(usage) for an unknown one.
StageResult run_stage(const std::string& stage, const Plan& plan, const model::ModelConfig& model,
                      const Selection& selection, const StageOptions& options);

/// `model` with the base URL of its local server filled in, where it has one. Throws
/// Error(infrastructure) naming the command that starts it when none runs.
model::ModelConfig with_endpoint(const Manifest& manifest, model::ModelConfig model);

/// How the local server of a model is started.
model::LlamaServerConfig endpoint_config(const Manifest& manifest, const model::ModelConfig& model);

}  // namespace hone::trial
