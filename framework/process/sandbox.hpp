#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "process/run.hpp"

namespace hone::process {

/// How well a sandbox holds. `strong`: bubblewrap (namespaces), Landlock, seccomp and resource
/// limits. `medium`: seccomp and resource limits with one of the other two. `weak`: resource limits
/// alone, which hide nothing; sandboxed commands are then refused, see execution_allowed().
enum class Tier { weak, medium, strong };

/// "weak", "medium", "strong": as in every record.
const char* name_of(Tier tier);

/// What this machine's sandbox was found to hold, by trying.
struct SandboxProbe {
  Tier tier = Tier::weak;
  std::string reason;     ///< why not strong, or ""
  std::string bwrap;      ///< path of the program, where it takes part
  bool proc = false;      ///< a private /proc can be mounted
  bool tmp_size = false;  ///< the private /tmp can be bounded
  int landlock = 0;       ///< version of the interface, where it takes part
  bool seccomp = false;
  std::string confine;  ///< path of hone-confine

  /// "bubblewrap, Landlock 7, seccomp, resource limits"
  std::string mechanisms() const;
};

/// Probes once a process: hone-canary is run in the sandbox as a compiler and as a candidate would
/// be, and a tier holds when nothing that it tries works. HONE_SANDBOX=medium or weak asks for no
/// more than that tier.
const SandboxProbe& probe_sandbox();

/// "weak", "medium" or "strong".
std::string sandbox_tier();

/// Whether code of a model may be built and run here: the tier is medium or better, or
/// HONE_ALLOW_EXECUTION=unsandboxed is set.
bool execution_allowed();

/// Sets HONE_ALLOW_EXECUTION for this process and its children: the option --allow-execution.
void allow_execution(const std::string& word);

/// How a command below medium is refused: what is missing and what would be right.
std::string execution_refused();

/// The command line that puts `command` into a sandbox, up to and including "--"; the program and
/// its arguments follow. hone-confine reports to `report_fd` (or to stderr when -1): "+" once all
/// is in place, and then or instead of it why the program could not be started. `tmp` is the
/// child's own temporary folder where no private /tmp is mounted; empty: none.
std::vector<std::string> sandbox_argv(const SandboxProbe& probe, const Command& command,
                                      int report_fd, const std::filesystem::path& tmp);

}  // namespace hone::process
