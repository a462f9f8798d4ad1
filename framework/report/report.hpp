#pragma once
#include <filesystem>
#include <iosfwd>
#include <vector>

#include "report/baseline.hpp"
#include "report/page.hpp"
#include "report/results.hpp"
#include "report/writers.hpp"

namespace hone::report {

struct ReportOptions {
  std::filesystem::path reports_dir;  ///< receives the file of each of formats() that has one
  Environment environment;
  TerminalStyle style;
  bool strict_junit = false;
  std::vector<HistoryPoint> history;  ///< for the page
};

/// A form that results can be written in.
struct Format {
  std::string name;  ///< as in hone report --format
  std::string file;  ///< in the reports folder; "" when it is only written on demand
  std::string meaning;
};
const std::vector<Format>& formats();

/// Results in one format. Throws Error(usage) for an unknown name, quoting the known ones, and for
/// skill-creator where there is more than one evaluation and model.
std::string write_format(const std::string& name, const Results& results,
                         const ReportOptions& options);

/// Collects every evaluation; fills the environment's gaps from the records.
Results collect_all(const std::vector<ReportInput>& inputs, Environment environment);

/// Writes the files and prints the table, the problems and where the files are to `out`. Throws
/// Error(infrastructure) when a file cannot be written.
void publish(const Results& results, const ReportOptions& options, std::ostream& out);

/// collect_all, publish, and the exit code.
Exit report_evaluations(const std::vector<ReportInput>& inputs, const ReportOptions& options,
                        std::ostream& out);

/// Judges one gate of one model, as the gate stage does: prints verdict, message and moved cases
/// to `out`; returns good, judged_bad or inconclusive.
Exit judge_gate(ReportInput input, const std::string& model, const std::string& gate,
                std::ostream& out);

}  // namespace hone::report
