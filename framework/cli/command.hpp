#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>

#include "diagnostic/diagnostic.hpp"
#include "trial/plan.hpp"

namespace hone::cli {

/// What every command shares: global options and the defaults of hone.toml.
struct Context {
  std::filesystem::path manifest_option;
  std::string device;   ///< auto | gpu | sim; "": HONE_DEVICE, else auto
  bool quiet = false;

  /// The manifest in use, loaded at the first call.
  const trial::Manifest& manifest();

 private:
  std::shared_ptr<trial::Manifest> loaded_;
};

/// A command's work, run after the command line was parsed; returns the process's exit code.
using Action = std::function<Exit()>;

/// Each adds its subcommands to `app` and sets `action` when one is chosen.
void add_list_commands(CLI::App& app, Context& context, Action& action);      // list, check
void add_eval_commands(CLI::App& app, Context& context, Action& action);      // eval, stage, endpoint
void add_report_commands(CLI::App& app, Context& context, Action& action);    // report, gate, baseline
void add_kernel_commands(CLI::App& app, Context& context, Action& action);   // kernel build
void add_sim_command(CLI::App& app, Context& context, Action& action);        // sim
void add_lint_command(CLI::App& app, Context& context, Action& action);       // lint
void add_install_commands(CLI::App& app, Context& context, Action& action);   // install, uninstall, status
void add_doctor_command(CLI::App& app, Context& context, Action& action);     // doctor

/// Reads hone.toml (in the working folder or its parents) into `context`. Throws Error(bad_input)
/// with file:line:column for what is wrong in it.
void read_config(Context& context);

/// Writes and prints the report of these evaluations (empty: all); what `hone report` does.
Exit report(Context& context, const std::vector<std::string>& evaluations,
            const std::filesystem::path& reports_dir, bool only_failures);

/// The folder of a skill: `skill` itself where that is a folder, else the declared skill of that
/// name. Throws Error(usage) for neither.
std::filesystem::path skill_folder(Context& context, const std::string& skill);

/// Prints diagnostics to stderr, one a line; true when one is an error.
bool print_diagnostics(const std::vector<Diagnostic>& diagnostics);

}  // namespace hone::cli
