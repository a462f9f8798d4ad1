#include <cstdlib>
#include <filesystem>

#include "cli/command.hpp"
#include "cudasim/tool/run_program.hpp"
#include "trial/manifest.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

/// Folder of our libcudart.so.13: beside the program (build tree and installation), else the
/// manifest's.
fs::path cudasim_dir(Context& context) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const char* beside : {"../lib/cudasim", "../lib/hone/cudasim"})
    if (fs::exists(here / beside / "libcudart.so.13")) return fs::canonical(here / beside);
  return context.manifest().cudasim_dir;
}

}  // namespace

void add_sim_command(CLI::App& app, Context& context, Action& action) {
  auto* sim = app.add_subcommand(
      "sim",
      "Run a CUDA program on the CPU: hone sim [options] -- ./program arguments.\n"
      "The program must be linked with nvcc --cudart shared and hold PTX "
      "(-gencode arch=compute_90,code=[sm_90,compute_90])");
  auto options = std::make_shared<cudasim::RunOptions>();
  auto counters = std::make_shared<std::string>();
  auto findings = std::make_shared<std::string>();
  auto argv = std::make_shared<std::vector<std::string>>();
  sim->add_flag("--counters{table}", *counters,
                "At exit, counters and model bounds of each kernel: a table on stderr, "
                "--counters=json there, or JSON to a file: --counters=FILE");
  sim->add_option("--check", options->check,
                  "Checks to run under: memcheck, racecheck, initcheck, synccheck, leakcheck "
                  "(separated by commas), or all");
  sim->add_option("--findings", *findings,
                  "Write what the checks find as JSON lines to a file, or - for stderr");
  sim->add_option("--schedule", options->schedule,
                  "Order in which blocks start: ascending, descending or random:SEED");
  sim->add_option("--threads", options->threads, "Host threads (default: all cores)")
      ->check(CLI::NonNegativeNumber);
  sim->add_option("--timeout", options->timeout, "Seconds that one kernel may take")
      ->check(CLI::NonNegativeNumber);
  sim->add_option(
      "--error-exitcode", options->error_exitcode,
      "Exit code after a kernel fault or a finding of a check (default: the program's own)");
  sim->add_option("program", *argv, "The program and its arguments, after --")->required();
  sim->callback([&, options, counters, findings, argv] {
    action = [&, options, counters, findings, argv] {
      options->library_dir = cudasim_dir(context);
      if (*counters == "table")
        options->report = true;
      else if (!counters->empty())
        options->counters = *counters == "json" ? "-" : *counters;
      if (!findings->empty()) options->findings = *findings;
      return static_cast<Exit>(cudasim::run_program(*options, *argv));
    };
  });
}

}  // namespace hone::cli
