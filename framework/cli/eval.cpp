#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/served.hpp"
#include "model/llama_server.hpp"
#include "trial/recorder.hpp"
#include "trial/stages.hpp"

namespace hone::cli {
namespace {

using Strings = std::vector<std::string>;

trial::StageOptions stage_options(const Context& context, bool fresh) {
  trial::StageOptions options;
  options.fresh = fresh;
  options.device = context.device;
  if (!context.quiet)
    options.print = [](const std::string& line) { std::cout << "  " << line << std::endl; };
  return options;
}

Exit start_endpoint(Context& context, const std::string& model_name) {
  const auto& manifest = context.manifest();
  const auto& model = manifest.model(model_name);
  if (model::record_mode_from_environment() == model::RecordMode::replay) {
    std::cout << "answers are replayed: nothing to start\n";
    return Exit::good;
  }
  if (model.endpoint.empty()) {
    std::cout << fmt::format("model '{}' is served at {}: nothing to start\n", model.name,
                             model.base_url);
    return Exit::good;
  }
  auto config = trial::endpoint_config(manifest, model);
  if (!context.quiet)
    config.progress = [](const std::string& line) { std::cout << line << std::endl; };
  const auto endpoint = model::start(config);
  std::cout << fmt::format("{} {} at {} (pid {}, log {})\n", endpoint.reused ? "found" : "started",
                           model.name, endpoint.base_url, endpoint.pid, endpoint.log.string());
  return Exit::good;
}

Exit stop_endpoint(Context& context, const std::string& model_name) {
  const auto& manifest = context.manifest();
  const auto& model = manifest.model(model_name);
  const bool ran = model::stop(trial::endpoint_config(manifest, model).state_dir, model.model);
  std::cout << (ran ? "stopped " : "no server ran for ") << model_name << '\n';
  return Exit::good;
}

Exit run_one_stage(Context& context, const std::string& stage, const std::string& evaluation,
                   const std::string& model_name, const std::string& case_id,
                   const std::string& arm, bool fresh) {
  const auto& manifest = context.manifest();
  const auto plan = trial::make_plan(manifest, evaluation);
  auto model = manifest.model(model_name);
  if (stage == "query" || stage == "repair")
    model = trial::with_endpoint(manifest, std::move(model));
  const trial::Selection selection{&plan.find_case(case_id), trial::arm_named(arm)};
  const auto result =
      trial::run_stage(stage, plan, model, selection, stage_options(context, fresh));
  if (!result.reason.empty()) std::cout << result.reason << '\n';
  return result.code;
}

struct EvalOptions {
  std::string evaluation;
  Strings models, cases, arms;
  std::string rerun;
  std::optional<double> max_cost;
  std::optional<long> max_tokens;
  int runs = 0;
  bool fresh = false, keep_server = false, no_report = false, confirm = false;
  Strings tests, gates;
  std::string delivery, reports_dir;
  bool no_baseline = false, verbose = false;
};

/// The models of an evaluation that no project declares: those named, else upskill's, else the
/// project's first.
Strings models_for_folder(Context& context, const Strings& named) {
  Strings models = named;
  const auto& upskill = context.upskill;
  const auto& usual = upskill.eval_model.empty() ? upskill.model : upskill.eval_model;
  if (models.empty() && !usual.empty()) models = {usual};
  if (models.empty() && !context.manifest(true).models.empty())
    models = {context.manifest().models.front().name};
  if (models.empty()) throw Error(Exit::usage, "no model: name one with -m");
  for (auto& name : models) name = context.use_model("", name).name;
  return models;
}

/// Makes `options.evaluation` the name of an evaluation where it is a skill's folder.
void take_folder(Context& context, EvalOptions& options) {
  const std::filesystem::path dir = options.evaluation;
  if (!std::filesystem::exists(dir / "SKILL.md")) {
    const bool path = options.evaluation.find('/') != std::string::npos;
    if (path || !options.tests.empty())
      throw Error(Exit::usage, "'" + options.evaluation + "' is no skill: it has no SKILL.md");
    context.manifest().evaluation(options.evaluation);
    return;
  }
  context.read_upskill();
  FolderEvaluation folder;
  folder.skill = dir;
  folder.tests = options.tests;
  folder.models = models_for_folder(context, options.models);
  folder.runs = options.runs > 0 ? options.runs : 1;
  folder.delivery = options.delivery;
  folder.gates = options.gates;
  if (folder.gates.empty() && options.arms.empty()) folder.gates = {"lift >= 0"};
  options.evaluation = declare_evaluation(context, std::move(folder));
}

std::vector<trial::Selection> select(const trial::Plan& plan, const EvalOptions& options) {
  std::vector<const cases::Case*> chosen;
  for (const auto& id : options.cases) chosen.push_back(&plan.find_case(id));
  if (chosen.empty())
    for (const auto& c : plan.cases) chosen.push_back(&c);
  std::vector<trial::Selection> selections;
  for (const auto arm : trial::kArms) {
    const auto wanted = std::string(trial::name(arm));
    if (!options.arms.empty() &&
        std::find(options.arms.begin(), options.arms.end(), wanted) == options.arms.end())
      continue;
    for (const auto* c : chosen) selections.push_back({c, arm});
  }
  return selections;
}

/// What --rerun names: trials that failed, that could not be measured, or those of a case.
std::function<bool(const trial::Trial&)> rerun_filter(const std::string& what) {
  if (what.empty()) return {};
  if (what.starts_with("case=")) {
    const auto id = what.substr(5);
    return [id](const trial::Trial& t) { return t.case_id == id; };
  }
  const auto outcome = [](const trial::Trial& t) { return trial::ending_of(t.dir).outcome; };
  if (what == "errors")
    return [outcome](const trial::Trial& t) { return outcome(t) == "infrastructure-error"; };
  if (what == "failed") return [outcome](const trial::Trial& t) { return outcome(t) != "correct"; };
  throw Error(Exit::usage, "--rerun '" + what + "': failed, errors or case=<id>");
}

/// One model through all stages; the worst exit code of them.
Exit evaluate_model(const trial::Plan& plan, const model::ModelConfig& declared,
                    const EvalOptions& options, Context& context) {
  const auto& manifest = *plan.manifest;
  const auto selections = select(plan, options);
  auto stage_opts = stage_options(context, options.fresh);
  Progress progress(context.quiet);
  if (stage_opts.print)
    stage_opts.print = [&, print = stage_opts.print](const std::string& line) {
      progress.clear();
      print(line);
    };
  stage_opts.progress = [&](const model::AskProgress& p) { progress.show(p); };
  stage_opts.rerun = rerun_filter(options.rerun);
  stage_opts.cancelled = interrupted;
  stage_opts.budget = &context.budget;
  const Served served(manifest, declared, stage_opts.print, options.keep_server);
  Exit worst = Exit::good;
  const auto note = [&](const trial::StageResult& result, const std::string& what) {
    if (result.code != Exit::infrastructure) return;
    worst = Exit::infrastructure;
    std::cerr << "hone: " << what << ": " << result.reason << '\n';
  };
  const auto model = trial::with_endpoint(manifest, declared);
  note(trial::query(plan, model, selections, stage_opts), "query");
  progress.clear();
  for (const char* stage : {"build", "verify", "repair", "bench"})
    for (const auto& s : selections) {
      const auto stages = trial::stages_of(*s.c);
      if (std::find(stages.begin(), stages.end(), stage) == stages.end()) continue;
      note(trial::run_stage(stage, plan, model, s, stage_opts), stage);
    }
  return worst;
}

/// The models of which a gate failed and no fresh runs have been asked yet.
Strings models_with_alarms(Context& context, const std::string& evaluation) {
  Strings names;
  const auto results = results_now(context, {evaluation});
  for (const auto& m : results.evaluations.front().models)
    if (std::any_of(m.gates.begin(), m.gates.end(), [](const report::GateResult& g) {
          return g.verdict.outcome == stats::GateOutcome::fail && !g.fresh;
        }))
      names.push_back(m.info.name);
  return names;
}

Exit evaluate(Context& context, EvalOptions& options) {
  catch_interrupts();
  if (options.no_baseline) options.arms = {std::string(trial::name(trial::Arm::with_skill))};
  take_folder(context, options);
  context.budget.max_cost = options.max_cost;
  context.budget.max_tokens = options.max_tokens;
  for (const auto& name : options.models) context.use_model(options.evaluation, name);
  const auto& manifest = context.manifest();
  auto plan = trial::make_plan(manifest, options.evaluation);
  if (options.runs > 0) plan.evaluation.runs = options.runs;
  const bool broken = print_diagnostics(plan.diagnostics);
  if (plan.cases.empty()) return Exit::bad_input;
  Exit worst = broken ? Exit::bad_input : Exit::good;
  int skipped = 0;
  Strings models = plan.evaluation.models;
  if (!options.models.empty()) models = options.models;
  for (auto& name : models) name = context.use_model(options.evaluation, name).name;
  for (const auto& model_name : models) {
    const auto& model = manifest.model(model_name);
    const auto begin = std::chrono::steady_clock::now();
    std::cout << fmt::format("{} with {}: {} cases, {} runs an arm\n", options.evaluation,
                             model_name, plan.cases.size(), plan.evaluation.runs);
    try {
      if (evaluate_model(plan, model, options, context) != Exit::good) worst = Exit::infrastructure;
    } catch (const Error& e) {
      if (e.code() != Exit::inconclusive && e.code() != Exit::infrastructure) throw;
      std::cerr << "hone: " << model_name << ": " << e.what() << '\n';
      if (e.code() == Exit::inconclusive)
        ++skipped;
      else
        worst = Exit::infrastructure;
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    std::cout << fmt::format("{} took {:.0f} s\n", model_name, spent.count());
  }
  if (!options.no_report) {
    ReportRequest request;
    request.evaluations = {options.evaluation};
    request.runs = options.runs;
    request.reports_dir = options.reports_dir;
    if (options.verbose) print_failures(plan, models);
    auto judged = report(context, request);
    if (judged == Exit::judged_bad && (options.confirm || confirm_by_environment())) {
      const auto alarmed = models_with_alarms(context, options.evaluation);
      if (!alarmed.empty()) {
        std::cout << "\nA gate failed: asking fresh runs once, to confirm\n";
        const auto asked = ask_fresh_runs(context, options.evaluation, alarmed);
        if (asked != Exit::good) worst = asked;
        judged = report(context, request);
      }
    }
    if (worst == Exit::good) worst = judged;
  }
  if (worst == Exit::good && skipped == static_cast<int>(models.size())) worst = Exit::inconclusive;
  return worst;
}

}  // namespace

bool confirm_by_environment() {
  const char* value = std::getenv("HONE_CONFIRM");
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

Exit ask_fresh_runs(Context& context, const std::string& evaluation, const Strings& models) {
  const auto& manifest = context.manifest();
  auto plan = trial::make_plan(manifest, evaluation);
  plan.evaluation.runs *= 2;
  Exit worst = Exit::good;
  for (const auto& name : models) {
    EvalOptions options;
    options.evaluation = evaluation;
    if (evaluate_model(plan, manifest.model(name), options, context) != Exit::good)
      worst = Exit::infrastructure;
  }
  return worst;
}

namespace {

/// What an evaluation of a skill's folder takes, by the names that users of upskill know.
void add_folder_options(CLI::App& command, Context& context, EvalOptions& o) {
  command.add_option("-t,--tests", o.tests, "Case files, with the folder of a skill")
      ->check(CLI::ExistingFile);
  command.add_option("--gate", o.gates, "With a folder: what to judge (default: lift >= 0)");
  command.add_option("--delivery", o.delivery, "With a folder: inject or disclose the skill")
      ->check(CLI::IsMember({"inject", "disclose"}));
  command.add_option("--base-url", context.base_url,
                     "Where models that are not declared are asked");
  command.add_option("--provider", context.service, "What is spoken there (default: generic)")
      ->check(CLI::IsMember({"anthropic", "openai", "generic"}));
  command.add_flag("-v,--verbose", o.verbose, "Print the answers that are not correct");
}

}  // namespace

void add_eval_commands(CLI::App& app, Context& context, Action& action) {
  auto* eval = app.add_subcommand(
      "eval", "Ask, build, verify, time and report an evaluation: what ctest does, in one process");
  auto o = std::make_shared<EvalOptions>();
  eval->add_option("evaluation", o->evaluation, "Its name (see hone list), or a skill's folder")
      ->required();
  eval->add_option("-m,--model", o->models,
                   "Only these models: declared ones, aliases, or service.model[.effort]");
  eval->add_option("-c,--case", o->cases, "Only these cases");
  auto* arm = eval->add_option("--arm", o->arms, "Only this arm: with_skill or without_skill")
                  ->check(CLI::IsMember({"with_skill", "without_skill"}));
  eval->add_option("-n,--runs", o->runs,
                   "Runs of each case and arm instead of the declared ones (a folder: 1)")
      ->check(CLI::PositiveNumber);
  eval->add_flag("--no-baseline", o->no_baseline, "Do not ask without the skill")->excludes(arm);
  add_folder_options(*eval, context, *o);
  eval->add_flag("--fresh", o->fresh, "Ask again where an answer is on record");
  eval->add_option("--rerun", o->rerun, "Ask again only: failed, errors, or case=<id>");
  eval->add_option("--max-cost", o->max_cost, "US dollars that this command may spend")
      ->check(CLI::NonNegativeNumber);
  eval->add_option("--max-tokens", o->max_tokens, "Tokens, in and out, that it may use")
      ->check(CLI::NonNegativeNumber);
  eval->add_flag("--keep-server", o->keep_server, "Leave the local model server running");
  eval->add_flag("--no-report", o->no_report, "Only record");
  eval->add_flag("--confirm", o->confirm,
                 "When a gate fails, ask as many fresh runs once: only a failure that they repeat "
                 "stays one");
  eval->callback([&, o] { action = [&, o] { return evaluate(context, *o); }; });

  auto* benchmark = app.add_subcommand(
      "benchmark", "hone eval of a skill's folder with 3 runs, for the models that are named");
  auto b = std::make_shared<EvalOptions>();
  b->runs = 3;
  benchmark->add_option("skill", b->evaluation, "The skill's folder")->required();
  benchmark->add_option("-m,--model", b->models, "The models")->required();
  benchmark->add_option("-n,--runs", b->runs, "Runs of each case and arm (default: 3)")
      ->check(CLI::PositiveNumber);
  benchmark->add_option("-o,--output", b->reports_dir, "Where the reports go");
  add_folder_options(*benchmark, context, *b);
  benchmark->callback([&, b] { action = [&, b] { return evaluate(context, *b); }; });

  auto* stage = app.add_subcommand("stage",
                                   "One stage of one case, arm and model: query, build, verify, "
                                   "repair or bench (used by ctest)");
  auto s = std::make_shared<std::map<std::string, std::string>>();
  auto fresh = std::make_shared<bool>(false);
  stage->add_option("stage", (*s)["stage"], "query, build, verify, repair or bench")->required();
  for (const char* key : {"evaluation", "model", "case", "arm"})
    stage->add_option(std::string("--") + key, (*s)[key])->required();
  stage->add_flag("--fresh", *fresh, "Measure again where a record could be used");
  stage->callback([&, s, fresh] {
    action = [&, s, fresh] {
      return run_one_stage(context, s->at("stage"), s->at("evaluation"), s->at("model"),
                           s->at("case"), s->at("arm"), *fresh);
    };
  });

  auto* endpoint = app.add_subcommand("endpoint", "Start or stop the local server of a model");
  endpoint->require_subcommand(1);
  auto model = std::make_shared<std::string>();
  for (const bool start : {true, false}) {
    auto* sub = endpoint->add_subcommand(start ? "start" : "stop",
                                         start ? "Start it, or find it running" : "End it");
    sub->add_option("--model", *model, "The model's name")->required();
    sub->callback([&, model, start] {
      action = [&, model, start] {
        return start ? start_endpoint(context, *model) : stop_endpoint(context, *model);
      };
    });
  }
}

}  // namespace hone::cli
