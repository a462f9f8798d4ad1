#pragma once
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hone::model {

/// A process beyond the reuse of its number.
struct ProcessId {
  pid_t pid = 0;
  unsigned long long start_time = 0;  ///< clock ticks from boot to its start
};

/// Of a process that lives (a zombie does not).
std::optional<ProcessId> identify(pid_t pid);
bool alive(const ProcessId& process);

struct WatchedCommand {
  std::vector<std::string> argv;  ///< argv[0] is a path
  std::filesystem::path log;      ///< its stdout and stderr; emptied first
  ProcessId owner;                ///< it ends with this process; pid 0: none
  std::chrono::seconds idle_limit{
      0};  ///< it ends after this long without log lines or CPU use; 0: never
};

/// Starts the command in a session of its own with nothing inherited but the log, under a small
/// watcher process that ends it as asked above, and that it does not outlive.
/// Throws Error(infrastructure).
ProcessId spawn_watched(const WatchedCommand& command);

/// TERM to its process group, KILL after `patience`; waits until it is gone. A process that is not
/// this one any more is left alone. False when there was nothing to end.
bool end_process(const ProcessId& process, std::chrono::milliseconds patience);

}  // namespace hone::model
