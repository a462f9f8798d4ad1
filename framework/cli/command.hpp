#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "diagnostic/diagnostic.hpp"
#include "report/results.hpp"
#include "model/budget.hpp"
#include "trial/plan.hpp"

namespace hone::cli {

/// What every command shares: global options and the defaults of hone.toml.
struct Context {
  std::filesystem::path manifest_option;
  std::string device;   ///< auto | gpu | sim; "": HONE_DEVICE, else auto
  bool quiet = false;

  std::map<std::string, std::string> aliases;      ///< [models] of hone.toml
  std::map<std::string, model::Price> prices;      ///< [prices] of hone.toml, by model id

  model::Budget budget;  ///< --max-cost and --max-tokens of the command

  /// The manifest in use, loaded at the first call. Keys leave the environment with it.
  const trial::Manifest& manifest();

  /// The model of that name; one that is not declared joins the evaluation.
  const model::ModelConfig& use_model(const std::string& evaluation, const std::string& name);

 private:
  std::shared_ptr<trial::Manifest> loaded_;
};

/// A command's work, run after the command line was parsed; returns the process's exit code.
using Action = std::function<Exit()>;

/// Each adds its subcommands to `app` and sets `action` when one is chosen.
void add_list_commands(CLI::App& app, Context& context, Action& action);      // list, check
void add_eval_commands(CLI::App& app, Context& context, Action& action);      // eval, stage, endpoint
void add_record_command(CLI::App& app, Context& context, Action& action);    // record
void add_report_commands(CLI::App& app, Context& context, Action& action);    // report, gate, baseline
void add_kernel_commands(CLI::App& app, Context& context, Action& action);   // kernel build
void add_history_commands(CLI::App& app, Context& context, Action& action);  // runs, compare, …
void add_sim_command(CLI::App& app, Context& context, Action& action);        // sim
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

/// The folder of a skill: `skill` itself where that is a folder, else the declared skill of that
/// name. Throws Error(usage) for neither.
std::filesystem::path skill_folder(Context& context, const std::string& skill);

/// Prints diagnostics to stderr, one a line; true when one is an error.
bool print_diagnostics(const std::vector<Diagnostic>& diagnostics);

}  // namespace hone::cli
