#pragma once
#include <string>
#include <vector>

#include "history/store.hpp"
#include "report/writers.hpp"

namespace hone::history {

enum class Metric { success, tokens, cost, lift };

/// Throws Error(usage) naming the known ones.
Metric metric_named(const std::string& name);
const char* metric_name(Metric metric);

/// The metric of a run with and without the skill; lift has one value, in `with`.
struct MetricValue {
  std::optional<double> with, without;
};
MetricValue value_of(Metric metric, const RunRow& row);
/// The value for people: "59.3 %", "+12.0", "798", "0.00213".
std::string metric_text(Metric metric, const std::optional<double>& value);

/// Listings of runs: a table with bars of the metric, CSV with a header, a JSON array.
std::string runs_table(const std::vector<RunRow>& rows, Metric metric,
                       const report::TerminalStyle& style = {});
std::string runs_csv(const std::vector<RunRow>& rows);
std::string runs_json(const std::vector<RunRow>& rows);

}  // namespace hone::history
