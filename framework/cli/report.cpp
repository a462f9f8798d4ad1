#include "report/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "cli/command.hpp"
#include "history/store.hpp"
#include "kernel/toolkit.hpp"
#include "process/run.hpp"
#include "report/writers.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

/// What the kernel's last benchmark test left beside its library.
std::optional<report::ReferenceKernel> read_reference(const trial::KernelEntry& kernel) {
  const fs::path file = fs::path(kernel.library).parent_path() / "bench.json";
  if (!fs::exists(file)) return std::nullopt;
  const auto json = storage::read_json(file);
  report::ReferenceKernel reference;
  reference.kernel = kernel.name;
  reference.device = json.value("device", "");
  reference.time_kind = json.value("time_kind", "");
  reference.benchmarks = json.value("benchmarks", storage::Json::array());
  return reference;
}

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
    input.models.push_back(
        {m.name,
         m.provider,
         m.model,
         m.gguf_sha256,
         {{"temperature", m.temperature ? storage::Json(*m.temperature) : storage::Json()},
          {"max_tokens", m.max_tokens},
          {"seed", m.seed ? storage::Json(*m.seed) : storage::Json()}}});
  }
  for (const auto& c : plan.cases)
    input.cases.push_back(
        {c.id, c.where.file, c.where.line, c.suite, c.kind(), c.digest, c.require, c.turns});
  input.runs = plan.evaluation.runs;
  input.gates = plan.evaluation.gates;
  input.baseline = manifest.baselines_dir / (evaluation + ".json");
  for (const auto& k : manifest.kernels)
    if (auto reference = read_reference(k)) input.references[k.suite] = std::move(*reference);
  return input;
}

report::Environment environment(const trial::Manifest& manifest) {
  report::Environment e;
  e.hone_version = HONE_VERSION;
  const auto commit = git(manifest, {"rev-parse", "HEAD"});
  if (commit.size() >= 40) {
    e.git_commit = commit.substr(0, 40);
    e.git_dirty = !git(manifest, {"status", "--porcelain"}).empty();
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

std::vector<report::ReportInput> inputs_of(const trial::Manifest& manifest, Strings evaluations,
                                           bool& broken) {
  std::vector<report::ReportInput> inputs;
  for (const auto& name : all_when_empty(manifest, std::move(evaluations)))
    inputs.push_back(input_of(manifest, name, broken));
  return inputs;
}

}  // namespace

std::string git(const trial::Manifest& manifest, const Strings& arguments) {
  process::Command command;
  command.argv = {"git", "-C", manifest.source_dir.string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.inherit_environment = true;
  command.limits.wall_seconds = 10;
  const auto result = process::run(command);
  return result.ok() ? result.out : "";
}

report::Results results_now(Context& context, const Strings& evaluations) {
  const auto& manifest = context.manifest();
  bool broken = false;
  return report::collect_all(inputs_of(manifest, evaluations, broken), environment(manifest));
}

Exit report(Context& context, const ReportRequest& request) {
  const auto& manifest = context.manifest();
  bool broken = false;
  auto inputs = inputs_of(manifest, request.evaluations, broken);
  for (auto& input : inputs) {
    if (request.runs > 0) input.runs = request.runs;
    if (!request.model.empty())
      std::erase_if(input.models,
                    [&](const report::ModelInfo& m) { return m.name != request.model; });
  }
  report::ReportOptions options;
  options.reports_dir =
      request.reports_dir.empty() ? manifest.reports_dir : fs::path(request.reports_dir);
  options.style = report::terminal_style(STDOUT_FILENO);
  options.style.only_failures = request.only_failures;
  options.strict_junit = request.strict_junit;
  const auto results = report::collect_all(inputs, environment(manifest));
  history::Store store(history_file(context));
  for (const auto& snapshot : history::snapshots_of(results)) store.add(snapshot);
  for (const auto& run : store.list())
    options.history.push_back({run.from.evaluation, run.from.model, run.from.time, run.from.commit,
                               run.lift, run.lift_low, run.lift_high});
  if (request.format.empty()) {
    report::publish(results, options, std::cout);
  } else if (request.output.empty() || request.output == "-") {
    std::cout << report::write_format(request.format, results, options) << std::flush;
  } else {
    storage::write_atomically(request.output,
                              report::write_format(request.format, results, options));
  }
  const auto code = report::exit_code(results);
  if (request.no_judge) return Exit::good;
  return broken && code == Exit::good ? Exit::bad_input : code;
}

void add_report_commands(CLI::App& app, Context& context, Action& action) {
  auto* command = app.add_subcommand(
      "report", "Read the run folder, judge the gates, write the reports, print the table");
  auto r = std::make_shared<ReportRequest>();
  command->add_option("evaluations", r->evaluations, "Only these (default: all)");
  command->add_option("-m,--model", r->model, "Only this model");
  command->add_option("--reports-dir", r->reports_dir, "Where the files go");
  std::string known;
  for (const auto& f : report::formats()) known += "\n  " + f.name + ": " + f.meaning;
  command->add_option("--format", r->format,
                      "Print this one instead of writing the files:" + known);
  command->add_option("-o,--output", r->output, "With --format: write there instead of stdout");
  auto junit = std::make_shared<std::string>();
  command->add_option("--junit", *junit, "strict: no file and line, for Jenkins' schema")
      ->check(CLI::IsMember({"strict", "full"}));
  command->add_flag("--only-failures", r->only_failures,
                    "List only cases that are not all correct");
  command->add_flag("--no-judge", r->no_judge,
                    "Exit 0 once the files are written, whatever the gates say");
  command->callback([&, r, junit] {
    action = [&, r, junit] {
      r->strict_junit = *junit == "strict";
      return report(context, *r);
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
  auto confirm = std::make_shared<bool>(false);
  gate->add_flag(
      "--confirm", *confirm,
      "When it fails, ask as many fresh runs once: only a failure that they repeat stays "
      "one (HONE_CONFIRM=1 does the same)");
  gate->callback([&, expression, evaluation, model, confirm] {
    action = [&, expression, evaluation, model, confirm] {
      bool broken = false;
      context.manifest().model(*model);
      const auto judge = [&] {
        return report::judge_gate(input_of(context.manifest(), *evaluation, broken), *model,
                                  *expression, std::cout);
      };
      const auto code = judge();
      if (code != Exit::judged_bad || !(*confirm || confirm_by_environment())) return code;
      const auto asked = ask_fresh_runs(context, *evaluation, {*model});
      return asked == Exit::good ? judge() : asked;
    };
  });

  auto* baseline = app.add_subcommand(
      "baseline",
      "Write what was measured into reports/baselines/<evaluation>.json, for the "
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
