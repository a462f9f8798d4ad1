#include <cstdio>
#include <exception>
#include <iostream>

#include "cli/command.hpp"
#include "process/sandbox.hpp"

namespace {

constexpr const char* kFooter = R"(
Exit codes: 0 good; 1 judged bad (a gate failed, a candidate is not correct); 2 usage;
3 a file of yours is off; 4 infrastructure (no server, no nvcc, full disk: nothing was
judged); 77 skipped or inconclusive; 130 interrupted.

Environment: HONE_MANIFEST (manifest to use), HONE_DEVICE (auto, gpu, sim), HONE_RECORD
(record, replay, refresh, off), HONE_SANDBOX (strong, medium or weak: no better tier than that),
HONE_ALLOW_EXECUTION, NO_COLOR. Defaults can stand in hone.toml.)";

}  // namespace

int main(int argc, char** argv) {
  using namespace hone;
  CLI::App app(
      "Measures and sharpens agent skills that teach models to write CUDA kernels.\n"
      "Start with: hone doctor; hone list; hone eval <evaluation>",
      "hone");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", "hone " HONE_VERSION);
  app.fallthrough();
  app.option_defaults()->always_capture_default(false);

  cli::Context context;
  cli::Action action;
  app.add_option("--manifest", context.manifest_option,
                 "Manifest to use (default: $HONE_MANIFEST, else build/hone/manifest.json here or "
                 "above)");
  app.add_option("--device", context.device, "Where kernels run: auto, gpu or sim")
      ->check(CLI::IsMember({"auto", "gpu", "sim"}));
  app.add_option_function<std::string>("--allow-execution", process::allow_execution,
                                       "unsandboxed: build and run models' code even where no "
                                       "sandbox holds; stamped into the records")
      ->check(CLI::IsMember({"unsandboxed"}));
  app.add_flag("-q,--quiet", context.quiet, "Only results and errors");
  cli::add_init_command(app, action);
  cli::add_eval_commands(app, context, action);
  cli::add_list_commands(app, context, action);
  cli::add_record_command(app, context, action);
  cli::add_report_commands(app, context, action);
  cli::add_history_commands(app, context, action);
  cli::add_kernel_commands(app, context, action);
  cli::add_sim_command(app, context, action);
  cli::add_generate_command(app, context, action);
  cli::add_lint_command(app, context, action);
  cli::add_install_commands(app, context, action);
  cli::add_doctor_command(app, context, action);

  try {
    app.parse(argc, argv);
    cli::read_config(context);
    return static_cast<int>(action());
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(Exit::usage);
  } catch (const Error& e) {
    std::cout.flush();
    if (e.diagnostics().empty())
      std::cerr << "hone: " << e.what() << '\n';
    else
      cli::print_diagnostics(e.diagnostics());
    return static_cast<int>(e.code());
  } catch (const std::exception& e) {
    std::cerr << "hone: internal error: " << e.what() << '\n';
    return static_cast<int>(Exit::infrastructure);
  }
}
