#pragma once
#include <string>

#include "report/results.hpp"

namespace hone::report {

struct TerminalStyle {
  int width = 80;  ///< columns; at least 64 are used, at most 160
  bool colour = false;
  bool only_failures = false;
};

/// Style of the stream that `fd` is: its width, colour when it is a terminal and NO_COLOR is unset.
TerminalStyle terminal_style(int fd);

/// Table for people: per model pass rates with bars, lift with interval, tokens, gates, cases.
std::string write_terminal(const Results& results, const TerminalStyle& style = {});

/// JUnit XML. A testsuite per evaluation and model; a testcase per case and arm, which passes when
/// it was measured whatever the answers were (measuring is not judging), is an <error> when a run
/// hit an infrastructure error, a <failure> when the case's `require` is missed, <skipped> when
/// nothing ran; and a testcase per gate: fail = <failure>, inconclusive = <skipped>.
std::string write_junit(const Results& results);

/// results.json, schema "hone.results/1": see results.schema.json beside this file.
std::string write_results_json(const Results& results);

/// Google Benchmark's JSON: every trial's rows, named
/// <evaluation>/<model>/<case>/<arm>/<run>/<original name>.
std::string write_benchmarks_json(const Results& results);

}  // namespace hone::report
