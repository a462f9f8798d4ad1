#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cudasim {

/// How `hone sim` runs a program.
struct RunOptions {
  std::filesystem::path library_dir;    ///< holds our libcudart.so.13
  std::optional<std::string> counters;  ///< JSON file, or "-" for stderr
  bool report = false;                  ///< table of kernels and model bounds at exit, on stderr
  int threads = 0;                      ///< host threads; 0: all cores
  double timeout = 0;                   ///< seconds that one kernel may take; 0: the default
  std::string check;                    ///< names of checks, "all"; empty: none
  std::optional<std::string> findings;  ///< JSON lines of the checks: a file, or "-" for stderr
  std::string schedule;                 ///< ascending, descending, random:SEED; empty: the default
  int error_exitcode = 0;  ///< exit code after a fault or a finding; 0: the program's own
};

/// What stands against running a program on cudasim; empty when nothing does.
struct Obstacle {
  std::string text;
  bool fatal = false;  ///< false: a warning, it may run all the same
};
std::vector<Obstacle> find_obstacles(const std::filesystem::path& program);

/// Replaces this process by the program (argv[0], found on PATH), with cudasim as its CUDA
/// runtime. Returns only when it can't: 2 for an empty argv, 3 for a program that can't run on
/// cudasim or options that aren't understood, 4 when our library is missing or exec fails; the
/// reason is on stderr.
int run_program(const RunOptions& options, const std::vector<std::string>& argv);

}  // namespace cudasim
