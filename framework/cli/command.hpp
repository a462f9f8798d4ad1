#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "author/upskill_config.hpp"
#include "diagnostic/diagnostic.hpp"
#include "model/budget.hpp"
#include "report/results.hpp"
#include "trial/plan.hpp"

namespace hone::cli {

/// What every command shares: global options and the defaults of hone.toml.
struct Context {
  std::filesystem::path manifest_option;
  std::string device;  ///< auto | gpu | sim; "": HONE_DEVICE, else auto
  bool quiet = false;

  std::map<std::string, std::string> aliases;  ///< [models] of hone.toml
  std::map<std::string, model::Price> prices;  ///< [prices] of hone.toml, by model id

  model::Budget budget;  ///< --max-cost and --max-tokens of the command

  std::string base_url, service;  ///< where models that are not declared are asked; may be empty
  author::UpskillConfig upskill;  ///< of a user who comes from there; empty without a file

  /// The manifest in use, loaded at the first call. Keys leave the environment with it. Where no
  /// project is found: one that declares nothing and keeps its records in .hone/ of this folder, if
  /// the command needs no project (`bare`) or such records are there.
  const trial::Manifest& manifest(bool bare = false);

  /// Adds a skill and an evaluation that no project declares.
  void declare(trial::SkillEntry skill, trial::EvaluationEntry evaluation);

  /// Reads upskill's configuration, if there is one, and says so.
  void read_upskill();

  /// The model of that name; one that is not declared joins the evaluation.
  const model::ModelConfig& use_model(const std::string& evaluation, const std::string& name);

 private:
  std::shared_ptr<trial::Manifest> loaded_;
};

/// A command's work, run after the command line was parsed; returns the process's exit code.
using Action = std::function<Exit()>;

/// Each adds its subcommands to `app` and sets `action` when one is chosen.
void add_list_commands(CLI::App& app, Context& context, Action& action);   // list, check
void add_eval_commands(CLI::App& app, Context& context, Action& action);   // eval, stage, endpoint
void add_record_command(CLI::App& app, Context& context, Action& action);  // record
void add_report_commands(CLI::App& app, Context& context,
                         Action& action);  // report, gate, baseline
void add_kernel_commands(CLI::App& app, Context& context, Action& action);   // kernel build
void add_history_commands(CLI::App& app, Context& context, Action& action);  // runs, compare, …
void add_sim_command(CLI::App& app, Context& context, Action& action);        // sim
void add_generate_command(CLI::App& app, Context& context, Action& action);   // generate
void add_lint_command(CLI::App& app, Context& context, Action& action);       // lint
void add_init_command(CLI::App& app, Action& action);                         // init
void add_install_commands(CLI::App& app, Context& context, Action& action);   // install, uninstall, status
void add_doctor_command(CLI::App& app, Context& context, Action& action);     // doctor

/// Reads hone.toml (in the working folder or its parents) into `context`. Throws Error(bad_input)
/// with file:line:column for what is wrong in it.
void read_config(Context& context);

/// The history's file: $HONE_HISTORY, else hone/history.sqlite in the build folder.
std::filesystem::path history_file(Context& context);

/// What is measured now, judged; nothing is written.
report::Results results_now(Context& context, const std::vector<std::string>& evaluations);

/// What git prints in the source folder; "" when it fails.
std::string git(const trial::Manifest& manifest, const std::vector<std::string>& arguments);

struct ReportRequest {
  std::vector<std::string> evaluations;  ///< empty: all
  std::string model;                     ///< "": all
  int runs = 0;                          ///< of each case and arm; 0: as declared
  std::string reports_dir;               ///< "": the manifest's
  std::string format, output;            ///< print or write this format instead of all files
  bool only_failures = false, no_judge = false, strict_junit = false;
};

/// Collects, records in the history, writes and prints; what `hone report` does.
Exit report(Context& context, const ReportRequest& request);

/// Measures as many runs again as the evaluation declares, beside the ones on record: what an alarm
/// is confirmed with. Runs that were asked before are used as they are.
Exit ask_fresh_runs(Context& context, const std::string& evaluation,
                    const std::vector<std::string>& models);

/// HONE_CONFIRM is set, and not to 0.
bool confirm_by_environment();

/// Declares an evaluation of a skill's folder that asks these case files, or else those that stand
/// in the folder, and returns its name. An evaluation of the project that is all of this is named
/// instead. Throws Error(usage) where there are no case files.
struct FolderEvaluation {
  std::filesystem::path skill;
  std::vector<std::string> tests, models, gates;
  int runs = 1;
  std::string delivery;
};
std::string declare_evaluation(Context& context, FolderEvaluation wanted);

/// Prints what each run that is not correct answered, and what was wrong with it.
void print_failures(const trial::Plan& plan, const std::vector<std::string>& models);

/// Lists the skills in a folder: name, description and files; `verbose`: the start of their text.
Exit list_skills(const std::filesystem::path& dir, bool verbose);

/// The folder of a skill: `skill` itself where that is a folder, else the declared skill of that
/// name. Throws Error(usage) for neither.
std::filesystem::path skill_folder(Context& context, const std::string& skill);

/// Prints diagnostics to stderr, one a line; true when one is an error.
bool print_diagnostics(const std::vector<Diagnostic>& diagnostics);

}  // namespace hone::cli
