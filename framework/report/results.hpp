#pragma once
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnostic/diagnostic.hpp"
#include "stats/gate.hpp"
#include "stats/intervals.hpp"
#include "stats/paired.hpp"
#include "stats/tally.hpp"
#include "storage/storage.hpp"

namespace hone::report {

/// A case as the plan knows it.
struct CaseInfo {
  std::string id;
  std::string file;
  int line = 0;
  std::string suite;              ///< "" for text cases
  std::string kind = "text";      ///< "text" | "kernel"
  std::string digest;             ///< of the case; "" when unknown
  std::optional<double> require;  ///< least with-skill pass rate that the case file asks for
  int turns = 1;                  ///< answers that a trial may take, each after the first to faults
};

/// Google Benchmark rows of a suite's reference kernel, as its last benchmark left them.
struct ReferenceKernel {
  std::string kernel, device, time_kind;
  storage::Json benchmarks = storage::Json::array();
};

/// A model as declared; all but the name may be empty.
struct ModelInfo {
  std::string name;
  std::string provider;
  std::string id;          ///< model id or GGUF file name
  std::string digest;      ///< of the model file
  storage::Json sampling;  ///< {"temperature":…, "max_tokens":…, …} or null
};

/// Where and with what it was measured; empty means unknown.
struct Environment {
  std::string hone_version;
  std::string git_commit;
  std::optional<bool> git_dirty;
  std::string host;
  std::string device;   ///< filled from the verify records when empty
  std::string sandbox;  ///< filled from the build records when empty
  std::string toolkit;
  int cpus = 0;  ///< 0: unknown
  int cpu_mhz = 0;
  std::string generated;  ///< ISO UTC; the time of the report, now when empty
};

/// Everything a report needs to know of one evaluation besides its run folder.
struct ReportInput {
  std::string evaluation;
  std::string skill;
  std::string skill_digest;
  std::filesystem::path run_dir;  ///< holds <evaluation>/<model>/<case>/<arm>/<run>/
  std::vector<ModelInfo> models;
  std::vector<CaseInfo> cases;
  int runs = 1;
  std::vector<std::string> gates;
  std::filesystem::path baseline;  ///< reports/baselines/<evaluation>.json; need not exist
  std::string baseline_command;    ///< what writes it; "hone baseline <evaluation>" when empty
  std::map<std::string, ReferenceKernel> references;  ///< by suite, those that were timed
  int first_run = 0;                                  ///< runs first_run … first_run + runs - 1
};

/// Tokens as the server counted them; absent is absent, never 0.
struct Usage {
  std::optional<long> input;
  std::optional<long> cached;
  std::optional<long> output;
  std::optional<long> reasoning;
};

struct KernelFacts {
  std::string name;
  int registers = 0;
  int spill_stores = 0;
  int spill_loads = 0;
  int shared_bytes = 0;
  int stack_bytes = 0;
};

inline constexpr const char* kCorrect = "correct";
inline constexpr const char* kNotRun = "not-run";
inline constexpr const char* kInfrastructureError = "infrastructure-error";
/// What a trial that was run can come to.
inline constexpr std::array kOutcomes = {
    kCorrect,       "wrong",   "no-code",    "extract-error",     "compile-error", "launch-error",
    "memory-fault", "race",    "sync-fault", "timeout",           "crashed",       "no-kernel",
    "suspicious",   "refused", "truncated",  kInfrastructureError};

/// One run of one case in one arm, read from its folder.
struct Trial {
  std::string evaluation, skill, model, case_id;
  size_t case_index = 0;  ///< into ReportInput::cases
  stats::Arm arm = stats::Arm::with_skill;
  int run = 0;
  int turns = 1;  ///< answers that it took
  std::optional<long> seed;
  std::string outcome;         ///< of the last turn: a trial outcome, or "not-run"
  std::string evidence;        ///< one line; the first failing thing
  Usage usage;                 ///< of all turns; absent where a turn has none
  std::optional<double> cost;  ///< of all turns, in the price table's currency
  double seconds = 0;          ///< of all stages
  std::vector<KernelFacts> kernels;
  storage::Json benchmarks = storage::Json::array();  ///< Google Benchmark rows, verbatim
  std::string time_kind;                              ///< "model bound" | "measured" | ""
  std::optional<double> time_ns;  ///< geometric mean over the rows that have no error
  std::string folder;             ///< relative to run_dir
  std::string asked;              ///< ISO UTC of the request
  std::string skill_digest, case_digest, device, sandbox, served_model;
  std::string error_file;  ///< of the compiler's first error or the finding, in the answer; or ""
  int error_line = 0;
  std::string bench_problem;  ///< why there are no timings although there should be, or ""

  bool run_done() const { return outcome != kNotRun; }
  bool scored() const { return run_done() && outcome != kInfrastructureError; }
  bool passed() const { return outcome == kCorrect; }
};

/// One case in one arm.
struct ArmCase {
  stats::Tally tally;
  int infrastructure_errors = 0;
  int not_run = 0;
  double seconds = 0;
  std::map<std::string, int> outcomes;
  std::string evidence;                      ///< of the first run that is not correct
  long input_tokens = 0, output_tokens = 0;  ///< sums over the trials_with_usage
  int trials_with_usage = 0;
  std::vector<double> times;      ///< ns of the correct runs, ascending
  std::string time_kind, device;  ///< of the times
  /// The best of the correct runs.
  std::optional<double> time_ns() const {
    return times.empty() ? std::nullopt : std::optional(times.front());
  }
};

struct CaseResult {
  CaseInfo info;
  ArmCase with_skill, without_skill;
  std::string measured_digest;  ///< of the case as it was asked; the plan's when no record tells
  std::optional<stats::GateVerdict> require;  ///< of `info.require`, when it asks for a rate
  std::optional<double> reference_ns;         ///< the suite's reference kernel on the same device
  const ArmCase& of(stats::Arm arm) const {
    return arm == stats::Arm::with_skill ? with_skill : without_skill;
  }
  /// The case's `require` failed: missed, and not by chance.
  bool requirement_missed() const {
    return require && require->outcome == stats::GateOutcome::fail;
  }
};

/// One arm over all cases. Rates are means over the cases that have scored runs.
struct ArmResult {
  stats::Tally total;
  int cases = 0;  ///< with at least one scored run
  int infrastructure_errors = 0;
  int not_run = 0;
  std::optional<double> pass_rate;          ///< absent when nothing was scored
  std::optional<stats::Interval> interval;  ///< t over cases; Wilson of the total below two cases
  std::map<std::string, int> outcomes;
  std::optional<long> input_tokens, output_tokens;  ///< sums over the trials that report them
  int trials_with_usage = 0;
  std::optional<double> tokens_per_trial;    ///< input + output
  std::optional<double> tokens_per_correct;  ///< of all scored trials, per correct one
  std::optional<double> cost_per_trial, cost_per_correct;
  std::optional<double> clustered_se;  ///< of the pass rate, runs clustered by case
  int flaky_cases = 0;
  /// Share of the runs that are correct by turn 1, 2, …, mean over cases; empty where no case may
  /// take more than one.
  std::vector<double> pass_at_turn;
};

struct GateResult {
  std::string text;
  stats::GateVerdict verdict;  ///< with the fresh runs taken into account, where there are any
  std::optional<stats::GateVerdict> fresh;  ///< of a failure: what the fresh runs alone say
  bool unusable_baseline = false;  ///< it is there, but broken: an error rather than a skip
};

/// One model in one evaluation.
struct ModelResult {
  ModelInfo info;
  std::vector<CaseResult> cases;  ///< in the order of ReportInput::cases
  ArmResult with_skill, without_skill;
  int paired_cases = 0;  ///< scored in both arms: what lift speaks of
  std::optional<double> lift;
  std::optional<stats::PairedT> lift_t;
  std::optional<stats::SignFlip> lift_sign_flip;
  std::optional<stats::Interval> lift_bootstrap;
  std::optional<double> lift_p_holm;  ///< t p of the lift, adjusted for the evaluation's models
  std::optional<double> normalised_gain;
  std::optional<double>
      fast_1;  ///< fast_p at p = 1: kernel cases correct and beating the reference
  std::optional<double> tokens_saved;  ///< a trial, without - with, mean over paired cases
  std::string caveat;                  ///< what these numbers cannot claim and what would; or ""
  std::vector<GateResult> gates;
  const ArmResult& of(stats::Arm arm) const {
    return arm == stats::Arm::with_skill ? with_skill : without_skill;
  }
};

struct EvaluationResult {
  ReportInput input;
  std::vector<Trial> trials;
  std::vector<ModelResult> models;
  std::vector<Diagnostic> problems;  ///< unreadable records, a broken baseline
  /// The runs of one case in one arm: trials stand in the order model, case, arm, run.
  std::span<const Trial> runs_of(size_t model, size_t case_index, stats::Arm arm) const;
  bool bad_input = false;  ///< one of the problems is a file of the user's
};

/// What every writer gets.
struct Results {
  Environment environment;
  std::vector<EvaluationResult> evaluations;
};

/// Reads the run folder, aggregates, and judges the gates (against the baseline when it exists).
/// A missing later file makes a trial "not-run"; an unreadable one an infrastructure error that
/// names the file. Throws Error(bad_input) only for a gate that does not parse.
EvaluationResult collect(const ReportInput& input);

/// The process exit code for results: judged_bad when a gate failed or a `require` is missed, then
/// bad_input, then infrastructure when a trial hit an infrastructure error, then inconclusive when
/// no trial ran or every gate is inconclusive, else good.
Exit exit_code(const Results& results);

}  // namespace hone::report
