#include "report/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "cli/command.hpp"
#include "kernel/toolkit.hpp"
#include "process/run.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

report::ReportInput input_of(const trial::Manifest& manifest, const std::string& evaluation,
                             bool& broken) {
  const auto plan = trial::make_plan(manifest, evaluation);
  broken = print_diagnostics(plan.diagnostics) || broken;
  report::ReportInput input;
  input.evaluation = evaluation;
  input.skill = plan.skill.name;
  input.skill_digest = skill::sent_digest(&plan.skill).value_or("");
  input.run_dir = manifest.run_dir;
  for (const auto& name : plan.evaluation.models) {
    const auto& m = manifest.model(name);
    input.models.push_back({m.name, m.provider, m.model, m.gguf_sha256,
                            {{"temperature", m.temperature ? storage::Json(*m.temperature) : nullptr},
                             {"max_tokens", m.max_tokens},
                             {"seed", m.seed ? storage::Json(*m.seed) : nullptr}}});
  }
  for (const auto& c : plan.cases)
    input.cases.push_back({c.id, c.where.file, c.where.line, c.suite, c.kind(), c.digest, c.require});
  input.runs = plan.evaluation.runs;
  input.gates = plan.evaluation.gates;
  input.baseline = manifest.baselines_dir / (evaluation + ".json");
  return input;
}

std::string git(const fs::path& dir, Strings args) {
  process::Command command;
  command.argv = {"git", "-C", dir.string()};
  command.argv.insert(command.argv.end(), args.begin(), args.end());
  command.inherit_environment = true;
  command.limits.wall_seconds = 10;
  const auto result = process::run(command);
  return result.ok() ? result.out : "";
}

report::Environment environment(const trial::Manifest& manifest) {
  report::Environment e;
  e.hone_version = HONE_VERSION;
  const auto commit = git(manifest.source_dir, {"rev-parse", "HEAD"});
  if (commit.size() >= 40) {
    e.git_commit = commit.substr(0, 40);
    e.git_dirty = !git(manifest.source_dir, {"status", "--porcelain"}).empty();
  }
  char host[256] = "";
  if (::gethostname(host, sizeof host - 1) == 0) e.host = host;
  if (const auto toolkit = kernel::find_toolkit(manifest.toolkit_root))
    e.toolkit = "CUDA " + toolkit->version;
  return e;
}

Strings all_when_empty(const trial::Manifest& manifest, Strings names) {
  if (names.empty())
    for (const auto& e : manifest.evaluations) names.push_back(e.name);
  return names;
}

}  // namespace

Exit report(Context& context, const Strings& evaluations, const fs::path& reports_dir,
            bool only_failures) {
  const auto& manifest = context.manifest();
  bool broken = false;
  std::vector<report::ReportInput> inputs;
  for (const auto& name : all_when_empty(manifest, evaluations))
    inputs.push_back(input_of(manifest, name, broken));
  report::ReportOptions options;
  options.reports_dir = reports_dir.empty() ? manifest.reports_dir : reports_dir;
  options.environment = environment(manifest);
  options.style = report::terminal_style(STDOUT_FILENO);
  options.style.only_failures = only_failures;
  const auto code = report::report_evaluations(inputs, options, std::cout);
  return broken && code == Exit::good ? Exit::bad_input : code;
}

void add_report_commands(CLI::App& app, Context& context, Action& action) {
  auto* command = app.add_subcommand(
      "report", "Read the run folder, judge the gates, write junit.xml, results.json and "
                "benchmarks.json, print the table");
  auto names = std::make_shared<Strings>();
  auto dir = std::make_shared<std::string>();
  auto only_failures = std::make_shared<bool>(false);
  auto no_judge = std::make_shared<bool>(false);
  command->add_option("evaluations", *names, "Only these (default: all)");
  command->add_option("--reports-dir", *dir, "Where the files go");
  command->add_flag("--only-failures", *only_failures, "List only cases that are not all correct");
  command->add_flag("--no-judge", *no_judge,
                    "Exit 0 once the files are written, whatever the gates say");
  command->callback([&, names, dir, only_failures, no_judge] {
    action = [&, names, dir, only_failures, no_judge] {
      const auto code = report(context, *names, *dir, *only_failures);
      return *no_judge ? Exit::good : code;
    };
  });

  auto* gate = app.add_subcommand("gate", "Judge one gate of one evaluation and model");
  auto expression = std::make_shared<std::string>();
  auto evaluation = std::make_shared<std::string>();
  auto model = std::make_shared<std::string>();
  std::string help = "Such as \"lift >= 0.1\" or \"no-regression\". Quantities:";
  for (const auto& q : stats::gate_quantities()) help += "\n  " + q.usage + ": " + q.meaning;
  gate->add_option("expression", *expression, help)->required();
  gate->add_option("--evaluation", *evaluation, "Its name")->required();
  gate->add_option("--model", *model, "Its name")->required();
  gate->callback([&, expression, evaluation, model] {
    action = [&, expression, evaluation, model] {
      bool broken = false;
      context.manifest().model(*model);
      return report::judge_gate(input_of(context.manifest(), *evaluation, broken), *model,
                                *expression, std::cout);
    };
  });

  auto* baseline = app.add_subcommand(
      "baseline", "Write what was measured into reports/baselines/<evaluation>.json, for the "
                  "no-regression gate");
  auto baseline_names = std::make_shared<Strings>();
  baseline->add_option("evaluations", *baseline_names, "Only these (default: all)");
  baseline->callback([&, baseline_names] {
    action = [&, baseline_names] {
      bool broken = false;
      for (const auto& name : all_when_empty(context.manifest(), *baseline_names))
        std::cout << report::update_baseline(
                         report::collect(input_of(context.manifest(), name, broken)))
                  << '\n';
      return broken ? Exit::bad_input : Exit::good;
    };
  });
}

}  // namespace hone::cli
