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
/// `strict` leaves out what Jenkins' xunit schema does not know: file and line of a testcase.
std::string write_junit(const Results& results, bool strict = false);

/// results.json, schema "hone.results/1": see results.schema.json beside this file.
std::string write_results_json(const Results& results);

/// Google Benchmark's JSON: every trial's rows, named
/// <evaluation>/<model>/<case>/<arm>/<run>/<original name>.
std::string write_benchmarks_json(const Results& results);

/// The same for dashboards that read every row: one row a benchmark, the median over the runs,
/// named <evaluation>/<model>/<case>/<arm>/<original name>; no errors, no aggregates.
std::string write_dashboard_json(const Results& results);

/// Bencher Metric Format: latency of each benchmark (median, least and greatest run), pass_rate
/// with its interval and tokens of each model and arm, lift of each model.
std::string write_bmf_json(const Results& results);

/// customBiggerIsBetter of github-action-benchmark: pass rate of each model and arm, lift, in %.
std::string write_pass_rate_json(const Results& results);

/// Summary of a pull request, GitHub-flavoured Markdown; at most 60 kB, so that it fits a comment
/// and $GITHUB_STEP_SUMMARY: the tables of cases are cut first, and it says so.
std::string write_markdown(const Results& results);

/// SARIF 2.1.0: a result for each compile error and each finding of the sanitizers in an answer.
/// URIs are relative to the run folder.
std::string write_sarif(const Results& results);

/// benchmark.json of skill-creator for one evaluation and model: an entry for each trial that ran;
/// a trial that could not be measured has errors 1 and nothing graded.
std::string write_skill_creator(const Results& results, const EvaluationResult& evaluation,
                                size_t model);

}  // namespace hone::report
