#include "report/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <sstream>

#include "report/clean_text.hpp"

namespace hone::report {
namespace {

int cpu_mhz() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("cpu MHz"))
      return static_cast<int>(std::strtod(line.c_str() + line.find(':') + 1, nullptr));
  return 0;
}

void take_first(std::string& value, const std::string& candidate) {
  if (value.empty()) value = candidate;
}

}  // namespace

Results collect_all(const std::vector<ReportInput>& inputs, Environment environment) {
  Results results;
  results.environment = std::move(environment);
  auto& e = results.environment;
  for (const auto& input : inputs) {
    results.evaluations.push_back(collect(input));
    for (const auto& t : results.evaluations.back().trials) {
      take_first(e.device, t.device);
      take_first(e.sandbox, t.sandbox);
    }
  }
  take_first(e.generated, storage::utc_now());
  if (e.host.empty()) {
    char host[256] = "";
    if (::gethostname(host, sizeof host - 1) == 0) e.host = host;
  }
  if (e.cpus == 0) e.cpus = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  if (e.cpu_mhz == 0) e.cpu_mhz = cpu_mhz();
  return results;
}

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {"html", "report.html", "one page with charts, gates, cases and every answer"},
      {"markdown", "summary.md", "summary of a pull request"},
      {"junit", "junit.xml", "testcases for CI servers"},
      {"json", "results.json", "everything (hone.results/1)"},
      {"benchmarks", "benchmarks.json", "Google Benchmark, every run"},
      {"dashboard", "benchmarks.dashboard.json", "Google Benchmark, one median a benchmark"},
      {"bmf", "bmf.json", "Bencher Metric Format"},
      {"pass-rate", "pass_rate.json", "github-action-benchmark, bigger is better"},
      {"sarif", "findings.sarif", "compile errors and sanitizer findings"},
      {"skill-creator", "", "benchmark.json of skill-creator"},
      {"terminal", "", "the table"},
  };
  return all;
}

std::string write_format(const std::string& name, const Results& results,
                         const ReportOptions& options) {
  if (name == "html") {
    std::ostringstream page;
    write_page(results, options.history, page);
    return std::move(page).str();
  }
  if (name == "markdown") return write_markdown(results);
  if (name == "junit") return write_junit(results, options.strict_junit);
  if (name == "json") return write_results_json(results);
  if (name == "benchmarks") return write_benchmarks_json(results);
  if (name == "dashboard") return write_dashboard_json(results);
  if (name == "bmf") return write_bmf_json(results);
  if (name == "pass-rate") return write_pass_rate_json(results);
  if (name == "sarif") return write_sarif(results);
  if (name == "terminal") return write_terminal(results, options.style);
  if (name == "skill-creator") {
    if (results.evaluations.size() != 1 || results.evaluations[0].models.size() != 1)
      throw Error(Exit::usage,
                  "skill-creator's benchmark.json holds one evaluation and model: name them, as in "
                  "hone report <evaluation> --model <model> --format skill-creator");
    return write_skill_creator(results, results.evaluations[0], 0);
  }
  std::string known;
  for (const auto& f : formats()) known += (known.empty() ? "" : ", ") + f.name;
  throw Error(Exit::usage, "unknown format '" + name + "'; known: " + known);
}

void publish(const Results& results, const ReportOptions& options, std::ostream& out) {
  const auto& dir = options.reports_dir;
  std::string files;
  for (const auto& format : formats()) {
    if (format.file.empty()) continue;
    storage::write_atomically(dir / format.file, write_format(format.name, results, options));
    files += (files.empty() ? "" : ", ") + format.file;
  }
  out << write_terminal(results, options.style);
  for (const auto& evaluation : results.evaluations) {
    if (!evaluation.problems.empty()) out << '\n';
    for (const auto& problem : evaluation.problems) out << clean_line(problem.str(), 1000) << '\n';
  }
  out << fmt::format("\nReports in {}/: {}\n", std::filesystem::proximate(dir).string(), files);
  out.flush();
}

Exit report_evaluations(const std::vector<ReportInput>& inputs, const ReportOptions& options,
                        std::ostream& out) {
  const Results results = collect_all(inputs, options.environment);
  publish(results, options, out);
  return exit_code(results);
}

Exit judge_gate(ReportInput input, const std::string& model, const std::string& gate,
                std::ostream& out) {
  std::erase_if(input.models, [&](const ModelInfo& m) { return m.name != model; });
  if (input.models.empty())
    throw Error(Exit::usage,
                fmt::format("evaluation {} has no model '{}'", input.evaluation, model));
  input.gates = {gate};
  const EvaluationResult result = collect(input);
  const auto& verdict = result.models.front().gates.front().verdict;
  out << fmt::format("{}: {}: {}\n", stats::gate_outcome_name(verdict.outcome), gate,
                     clean_line(verdict.message, 4000));
  for (const auto& move : verdict.moved)
    out << fmt::format("  {}: {}/{} -> {}/{}\n", clean_line(move.name), move.before.passes,
                       move.before.n, move.after.passes, move.after.n);
  if (result.bad_input) return Exit::bad_input;
  switch (verdict.outcome) {
    case stats::GateOutcome::pass:
      return Exit::good;
    case stats::GateOutcome::fail:
      return Exit::judged_bad;
    case stats::GateOutcome::inconclusive:
      break;
  }
  return Exit::inconclusive;
}

}  // namespace hone::report
