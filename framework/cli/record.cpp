#include <fmt/format.h>

#include <iostream>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/served.hpp"
#include "model/recorded_set.hpp"
#include "trial/stages.hpp"

namespace hone::cli {
namespace {

struct RecordOptions {
  std::string evaluation;
  std::vector<std::string> models;
  bool missing = false, check = false;
};

/// What an evaluation needs of a model: asked, found on record or, when replaying, told as missing.
Exit record_model(Context& context, const trial::Plan& plan, const std::string& model_name,
                  const RecordOptions& o) {
  const auto& manifest = *plan.manifest;
  auto model = manifest.model(model_name);
  std::vector<trial::Selection> selections;
  for (const auto arm : trial::kArms)
    for (const auto& c : plan.cases) selections.push_back({&c, arm});
  std::vector<model::RecordedAnswer> answers;
  trial::StageOptions options;
  options.collected = &answers;
  options.fresh = !o.missing && !o.check;
  options.record = o.check ? model::RecordMode::replay : model::RecordMode::record;
  options.cancelled = interrupted;
  Progress progress(context.quiet);
  options.progress = [&](const model::AskProgress& p) { progress.show(p); };
  if (!context.quiet)
    options.print = [&](const std::string& line) {
      progress.clear();
      std::cout << "  " << line << std::endl;
    };
  const auto file = trial::recorded_set_file(manifest, plan.evaluation.name, model_name);
  if (o.check) {
    std::vector<std::string> stale;
    options.missing = &stale;
    options.print = {};
    trial::query(plan, model, selections, options);
    for (const auto& line : stale) std::cout << line << '\n';
    std::cout << fmt::format("{}: {} to be asked{}\n", file.string(), stale.size(),
                             stale.empty() ? "" : ": hone record --missing " + o.evaluation);
    return stale.empty() ? Exit::good : Exit::judged_bad;
  }
  const Served served(manifest, model, options.print, false);
  const auto result =
      trial::query(plan, trial::with_endpoint(manifest, model), selections, options);
  progress.clear();
  // What could be had is worth keeping, also when some could not.
  model::write_recorded_set(file, plan.evaluation.name, model, answers);
  std::cout << fmt::format("{}: {} answers\n", file.string(), answers.size());
  if (result.code == Exit::infrastructure) std::cerr << "hone: " << result.reason << '\n';
  return result.code;
}

Exit record(Context& context, const RecordOptions& o) {
  const auto plan = trial::make_plan(context.manifest(), o.evaluation);
  if (print_diagnostics(plan.diagnostics)) return Exit::bad_input;
  catch_interrupts();
  Exit worst = Exit::good;
  for (const auto& name : o.models.empty() ? plan.evaluation.models : o.models) {
    const Exit code = record_model(context, plan, context.use_model(o.evaluation, name).name, o);
    if (code != Exit::good) worst = code;
  }
  return worst;
}

}  // namespace

void add_record_command(CLI::App& app, Context& context, Action& action) {
  auto* command =
      app.add_subcommand("record",
                         "Ask all of an evaluation and write its recorded sets, "
                         "reports/recorded/<evaluation>/<model>.jsonl, for HONE_RECORD=replay");
  auto o = std::make_shared<RecordOptions>();
  command->add_option("evaluation", o->evaluation, "Its name")->required();
  command->add_option("-m,--model", o->models, "Only these models");
  command->add_flag("--missing", o->missing, "Ask only what the sets lack or what went stale");
  command->add_flag("--check", o->check, "Ask nothing; say what is missing or stale (then exit 1)");
  command->callback([&, o] { action = [&, o] { return record(context, *o); }; });
}

}  // namespace hone::cli
