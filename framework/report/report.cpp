#include "report/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <ostream>

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

void publish(const Results& results, const ReportOptions& options, std::ostream& out) {
  const auto& dir = options.reports_dir;
  storage::write_atomically(dir / "junit.xml", write_junit(results));
  storage::write_atomically(dir / "results.json", write_results_json(results));
  storage::write_atomically(dir / "benchmarks.json", write_benchmarks_json(results));
  out << write_terminal(results, options.style);
  for (const auto& evaluation : results.evaluations) {
    if (!evaluation.problems.empty()) out << '\n';
    for (const auto& problem : evaluation.problems) out << clean_line(problem.str(), 1000) << '\n';
  }
  out << fmt::format("\nReports: {}/ junit.xml, results.json, benchmarks.json\n",
                     std::filesystem::proximate(dir).string());
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
