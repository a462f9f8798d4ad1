#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "report/results.hpp"

namespace hone::report {

/// An earlier measurement, for the page's trend.
struct HistoryPoint {
  std::string evaluation, model, time, commit;
  std::optional<double> lift, low, high;
};

/// The report as one HTML file that needs no network: charts, gates, the matrix of cases, and each
/// trial's prompt, answer, compiler output and verdict, read from the run folder as it is written.
/// Answers are hostile: they reach the document as compressed data only, its script makes text
/// nodes of them, and the page's policy admits no script but its own two, by their digests.
/// Streams, so that 10 000 trials need little memory.
void write_page(const Results& results, const std::vector<HistoryPoint>& history,
                std::ostream& out);

/// One case's trials of one model, as the page wants them: zlib-compressed JSON in base64.
std::string page_details(const EvaluationResult& evaluation, size_t model, size_t case_index);

}  // namespace hone::report
