#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/baseline.hpp"
#include "report/results.hpp"
#include "storage/storage.hpp"

namespace hone::history {

/// One arm of one case, of all its runs.
struct ArmNumbers {
  stats::Tally tally;
  int infrastructure_errors = 0;
  std::optional<double> input_tokens, output_tokens, cost;  ///< a trial
  /// Input and output; nothing when either is unknown.
  std::optional<double> tokens() const;
};

struct CaseNumbers {
  std::string name, suite, digest;
  ArmNumbers with_skill, without_skill;
  std::vector<double> times_ns;  ///< of the correct candidates with the skill, ascending
  std::string time_kind;         ///< "model bound" | "measured" | ""
  const ArmNumbers& of(stats::Arm arm) const {
    return arm == stats::Arm::with_skill ? with_skill : without_skill;
  }
};

/// Where a measurement comes from and with what it was made; empty means unknown.
struct Provenance {
  std::string time;    ///< ISO UTC, of the last request
  std::string source;  ///< hone | baseline | upskill | skill-creator
  std::string evaluation, skill, skill_digest;
  std::string model, model_id, model_digest;
  std::string commit;
  std::optional<bool> dirty;
  std::string device, sandbox, toolkit, host;
  std::string verdict;  ///< worst gate: pass | inconclusive | fail; "" without gates
};

/// One measurement of one evaluation and model, small enough to keep for ever.
struct Snapshot {
  Provenance from;
  int runs = 0;  ///< planned, of each case and arm
  std::vector<CaseNumbers> cases;

  stats::Tally total(stats::Arm arm) const;
  /// Mean over the cases that have scored runs.
  std::optional<double> rate(stats::Arm arm) const;
  /// With minus without, over the cases scored in both.
  std::vector<double> differences() const;
  /// Mean over the cases that report it, a trial.
  std::optional<double> tokens(stats::Arm arm) const;
  std::optional<double> cost(stats::Arm arm) const;
  int infrastructure_errors() const;
  /// Digest over the names and digests of the cases.
  std::string case_digest() const;
  /// Names the measurement: the same records give the same key.
  std::string key() const;
};

/// One for each evaluation and model; models of which nothing was scored are left out.
std::vector<Snapshot> snapshots_of(const report::Results& results);

std::vector<Snapshot> snapshots_of(const report::Baseline& baseline);

/// Of a results.json (hone.results/1) or a baseline (hone.baseline/1) file. Throws
/// Error(bad_input) that names the file and what it should hold.
std::vector<Snapshot> read_snapshots(const std::filesystem::path& file);
/// The same of its content; `name` stands for the file in errors.
std::vector<Snapshot> snapshots_in(const storage::Json& json, const std::string& name);

}  // namespace hone::history
