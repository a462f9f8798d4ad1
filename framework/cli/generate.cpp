#include "author/generate.hpp"

#include <fmt/format.h>

#include <deque>
#include <iostream>
#include <set>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/served.hpp"
#include "model/store.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct GenerateArguments {
  author::GenerateSettings settings;
  std::string from, out, model, test_model;
  std::vector<std::string> case_files;
  std::optional<long> budget;
  std::optional<size_t> cases;
  std::optional<int> max_refine;
  bool no_eval = false, verbose = false;
};

/// What is not given follows from what is.
void complete(Context& context, GenerateArguments& a) {
  auto& s = a.settings;
  const auto& manifest = context.manifest(true);
  context.read_upskill();
  const auto& upskill = context.upskill;
  const auto or_else = [](std::string& value, const std::string& usual) {
    if (value.empty()) value = usual;
  };
  or_else(a.model, upskill.model);
  or_else(a.test_model, upskill.test_gen_model);
  if (s.eval_models.empty() && !upskill.eval_model.empty()) s.eval_models = {upskill.eval_model};
  s.max_attempts = a.max_refine.value_or(upskill.max_refine_attempts.value_or(s.max_attempts));
  if (a.model.empty()) {
    if (manifest.models.empty())
      throw Error(Exit::usage, "no model: name one with -m, or declare one with hone_add_model");
    a.model = manifest.models.front().name;
  }
  or_else(a.test_model, a.model);
  if (s.eval_models.empty()) s.eval_models = {a.model};
  for (auto& name : s.eval_models) name = context.use_model("", name).name;
  s.from = a.from;
  s.case_files = {a.case_files.begin(), a.case_files.end()};
  s.evaluate = !a.no_eval && upskill.auto_eval.value_or(true);
  const bool given = !s.case_files.empty() || !s.suites.empty();
  s.cases_wanted = a.cases.value_or(given ? 0 : s.cases_wanted);
  if (!a.from.empty() && !fs::exists(s.from))
    throw Error(Exit::usage, "there is no file or folder '" + a.from + "'");
  if (fs::is_directory(s.from)) {
    std::vector<Diagnostic> warnings;
    s.name = skill::load_skill(s.from, warnings).name;
    print_diagnostics(warnings);
  } else if (s.name.empty()) {
    s.name = a.out.empty() ? author::name_for(s.task) : fs::path(a.out).filename().string();
  }
  if (!skill::is_spec_name(s.name))
    throw Error(Exit::usage, "'" + s.name +
                                 "' is no name of a skill: 1 to 64 of a-z, 0-9 and "
                                 "single '-'; name it with --name, or the folder of -o like it");
  const fs::path skills = upskill.skills_dir.empty() ? "skills" : upskill.skills_dir;
  s.out = a.out.empty() ? skills / s.name : fs::path(a.out);
  if (fs::absolute(s.out).lexically_normal().filename() != s.name)
    throw Error(Exit::usage, "the folder of -o must be named like the skill, " + s.name);
}

void tell(const author::Generated& result, const author::Spending& spending) {
  const auto line = [](const char* side, const author::Generated::Side& s) {
    std::cout << fmt::format(
        "  {:<9} {:>2} cases   without {:>3.0f} %   first {:>3.0f} %   best {:>3.0f} %\n", side,
        s.cases, 100 * s.without, 100 * s.first, 100 * s.best);
  };
  std::cout << fmt::format("{}: version {} of {}; stopped: {}\n", result.dir.string(),
                           result.version, result.versions, result.stopped);
  if (result.train) line("train", *result.train);
  if (result.held_out) line("held out", *result.held_out);
  for (const auto& one : result.rejected)
    std::cout << fmt::format("  case turned down: {}{}{}\n", one.reason,
                             one.prompt.empty() ? "" : ": ", one.prompt);
  std::cout << fmt::format("  {} tokens\n", spending.tokens);
}

Exit generate(Context& context, GenerateArguments& a) {
  complete(context, a);
  catch_interrupts();
  auto& s = a.settings;
  const auto& manifest = context.manifest();
  Progress progress(context.quiet);
  const auto print = [&](const std::string& line) {
    progress.clear();
    std::cout << line << std::endl;
  };
  if (!context.quiet) s.progress = print;

  std::deque<Served> servers;
  std::set<std::string> served;
  const auto reach = [&](const std::string& name) -> model::ModelConfig {
    const auto& model = context.use_model("", name);
    if (served.insert(model.name).second)
      servers.emplace_back(manifest, model, s.progress, /*keep=*/false);
    return trial::with_endpoint(manifest, model);
  };

  author::Spending spending;
  spending.limit = a.budget;
  // Every answer is kept, so that an interrupted run goes on without asking again.
  auto mode = model::record_mode_from_environment();
  if (s.fresh && mode == model::RecordMode::record) mode = model::RecordMode::refresh;
  model::AnswerStore store(manifest.cache_dir / "answers", mode);
  model::AskOptions asking;
  asking.store = &store;
  asking.client.cancelled = interrupted;
  author::ModelWriter author_model(reach(a.model), spending, asking);
  author::ModelWriter case_author(reach(a.test_model), spending, asking);
  author::TrialSettings trial;
  trial.models = s.eval_models;
  trial.suites = s.suites;
  if (s.cases_wanted > 0 || !s.case_files.empty())
    trial.cases = {(author::cases_of(s.out) / "*.json").string()};
  trial.runs = s.runs;
  trial.run_dir = s.out / ".hone/runs";
  trial.device = context.device;
  trial.cancelled = interrupted;
  if (a.verbose) trial.print = [&](const std::string& line) { print("  " + line); };
  trial.progress = [&](const model::AskProgress& p) { progress.show(p); };
  if (s.evaluate)
    for (const auto& name : s.eval_models) reach(name);
  author::TrialStudent student(manifest, trial);

  const auto result = author::generate(s, {author_model, case_author, student, spending});
  progress.clear();
  tell(result, spending);
  if (!s.evaluate || result.passed()) return Exit::good;
  std::cout << "The skill did not pass: "
            << (result.held_out ? "on held-out cases it is no better than none\n"
                                : "there were too few usable cases to judge it\n");
  return Exit::judged_bad;
}

}  // namespace

void add_generate_command(CLI::App& app, Context& context, Action& action) {
  auto* command = app.add_subcommand(
      "generate",
      "Write a skill for a task with a model, with cases, and refine it on the models that are to "
      "use it (exit 1 when it is no better than none on held-out cases)");
  auto a = std::make_shared<GenerateArguments>();
  auto& s = a->settings;
  command->add_option("task", s.task, "What the skill is for, in a sentence")->required();
  command->add_option("--from,-f,--trace", a->from,
                      "A trace of the task, or the folder of a skill to improve");
  command->add_option("-e,--example", s.examples, "Something that will be asked");
  command->add_option("-m,--model", a->model, "Who writes (default: the first declared model)");
  command->add_option("--test-gen-model", a->test_model, "Who writes the cases (default: -m)");
  command->add_option("--eval-model", s.eval_models, "Who is to use the skill (default: -m)");
  command->add_option("-o,--output", a->out, "The skill's folder (default: skills/<name>)");
  command->add_option("--name", s.name, "The skill's name (default: made from the task)");
  command->add_option("-t,--tests", a->case_files, "Case files to use")->check(CLI::ExistingFile);
  command->add_option("--suite", s.suites, "Suites whose cases count, too");
  command->add_option("--cases", a->cases,
                      "Cases to have written (default: 8, or 0 with -t or --suite)");
  command->add_option("-n,--runs", s.runs, "Runs of each case (default: 3)")
      ->check(CLI::PositiveNumber);
  command->add_option("--max-refine", a->max_refine, "Rewrites at most (default: 3)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--target", s.target, "Pass rate that is enough (default: 1)")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--tokens", s.target_tokens, "Length of the body (default: 500)")
      ->check(CLI::Range(50, 4000));
  command->add_option("--budget", a->budget, "Tokens that may be spent, about")
      ->check(CLI::PositiveNumber);
  command->add_option("--base-url,--eval-base-url", context.base_url,
                      "Where models that are not declared are asked");
  command
      ->add_option("--provider,--eval-provider", context.service,
                   "What is spoken there (default: generic)")
      ->check(CLI::IsMember({"anthropic", "openai", "generic"}));
  command->add_flag("--no-eval", a->no_eval, "Only write the skill");
  command->add_flag("--fresh", s.fresh, "Begin anew where work is on record");
  command->add_flag("-v,--verbose", a->verbose, "A line for each answer of the students");
  command->callback([&, a] { action = [&, a] { return generate(context, *a); }; });
}

}  // namespace hone::cli
