#pragma once
#include <string>
#include <vector>

#include "process/run.hpp"

namespace hone::process {

/// What this machine's sandbox was found to hold, by trying.
struct SandboxProbe {
  std::string tier;  ///< "bubblewrap" or "rlimits"
  std::string
      reason;  ///< why not bubblewrap ("bwrap: setting up uid map: Permission denied"), or ""
  std::string bwrap;      ///< path of the program
  bool proc = false;      ///< a private /proc can be mounted
  bool tmp_size = false;  ///< the private /tmp can be bounded
};

/// Probes once a process by running a child in it. HONE_SANDBOX=rlimits forces the weak tier.
const SandboxProbe& probe_sandbox();

/// "bubblewrap" or "rlimits".
inline const std::string& sandbox_tier() { return probe_sandbox().tier; }

/// The bwrap command line up to and including "--"; the program and its arguments follow.
/// `status_fd` (or -1) is where bwrap writes its JSON status.
std::vector<std::string> bwrap_argv(const SandboxProbe& probe, const Command& command,
                                    int status_fd);

}  // namespace hone::process
