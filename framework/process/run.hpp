#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hone::process {

/// By how much more than its computing time a child may last by the clock, where
/// Limits::busy_seconds or busy_seconds() bound it.
inline constexpr double kPatience = 4;

/// What a child may use. Zero means: not limited.
struct Limits {
  double wall_seconds = 60;  ///< then the child and all its descendants are killed
  /// The same once they have lasted and computed this long, so that what others do on the machine
  /// doesn't count; at the latest after kPatience times as long by the clock.
  double busy_seconds = 0;
  uint64_t cpu_seconds = 0;          ///< per process
  uint64_t address_space_bytes = 0;  ///< per process; leave 0 for a process that uses a GPU
  uint64_t data_bytes = 0;           ///< private memory that can be written, per process
  uint64_t file_size_bytes = 0;      ///< of each file written
  uint64_t processes = 0;            ///< at one time; the kernel does not hold root to it
  uint64_t output_bytes = 1 << 20;   ///< kept of stdout and of stderr, each; the rest is dropped
};

/// What a sandboxed child sees: the system's programs and libraries read-only, a private /tmp, /dev
/// with the harmless nodes, and what is named here. Everything else, the network and other
/// processes are out of its reach. Where no such sandbox can be had (tier "weak") the command is
/// refused, unless HONE_ALLOW_EXECUTION=unsandboxed is set.
struct Sandbox {
  std::vector<std::filesystem::path> readable;  ///< files or folders, at the same place, read-only
  std::vector<std::filesystem::path> writable;  ///< existing folders or files, at the same place
  bool gpu_devices = false;                     ///< /dev/nvidia*
  bool network = false;
  bool threads_only = false;  ///< no further process or program; argv[0] must then be a path
  uint64_t tmp_bytes = uint64_t{1} << 30;  ///< size of the private /tmp; 0: there is none
};

/// One program to start.
struct Command {
  std::vector<std::string> argv;                   ///< argv[0] is searched in PATH
  std::map<std::string, std::string> environment;  ///< all that a child gets, but see below
  bool inherit_environment = false;  ///< ours below `environment`; ignored when sandboxed
  std::filesystem::path directory;   ///< empty: ours, or / in a sandbox; must be visible there
  std::string input;                 ///< given on stdin by run(); then end of file
  Limits limits;
  std::optional<Sandbox> sandbox;
};

/// How a child ended. Never judged here.
struct Result {
  int exit_code = -1;             ///< valid when signal == 0 and error is empty
  int signal = 0;                 ///< that ended it; 0 when it exited
  bool timed_out = false;         ///< killed at a limit of time
  bool output_truncated = false;  ///< more was written than output_bytes
  std::string out, err;           ///< raw bytes: pass through sanitise() before showing them
  double seconds = 0;
  std::string tier;  ///< tier that held: "strong", "medium", "weak (…)"; "" when none was asked for
  std::string error;  ///< why it could not be started; empty when it was
  bool ok() const { return error.empty() && signal == 0 && !timed_out && exit_code == 0; }
  /// "exited with code 3", "killed by SIGSEGV (segmentation fault)", "timed out after 2 s" …
  std::string str() const;
};

/// Runs a program to its end. No descendant survives, even one that forked away. Does not throw for
/// anything that the child does; a child that floods its output (64 times output_bytes) is killed.
/// Thread-safe: many may run at once.
Result run(const Command& command);

}  // namespace hone::process
