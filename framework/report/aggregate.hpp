#pragma once
#include <string>
#include <vector>

#include "report/baseline.hpp"
#include "report/results.hpp"

namespace hone::report {

/// The steps of collect().

/// Reads every trial that the plan names, in the order model, case, arm, run.
std::vector<Trial> read_trials(const ReportInput& input);

/// Sums up one model's trials; leaves the gates empty.
ModelResult aggregate(const ReportInput& input, const ModelInfo& model,
                      const std::vector<Trial>& trials);

/// What gates may look at. `baseline` may be null: `no_baseline` then says why.
stats::GateFacts gate_facts(const ReportInput& input, const ModelResult& result,
                            const std::vector<Trial>& trials, const Baseline* baseline,
                            const std::string& no_baseline);

/// Digest of the skill that the model's with-skill trials were asked with; the plan's when none
/// tells. `mixed` is set when they were asked with several.
std::string measured_skill_digest(const ReportInput& input, const std::string& model,
                                  const std::vector<Trial>& trials, bool* mixed = nullptr);

/// Nanoseconds of a Google Benchmark time_unit; "" is ns.
double unit_ns(const std::string& unit);

/// Geometric mean in ns of Google Benchmark rows that have no error; nothing where none has a time.
std::optional<double> time_of_rows(const storage::Json& rows);

}  // namespace hone::report
