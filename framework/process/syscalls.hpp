#pragma once
#include <string>

namespace hone::process {

/// Which system calls a sandboxed process may make.
struct SyscallPolicy {
  bool network = false;
  /// No other process can be signalled by other means (a PID namespace, Landlock 6): otherwise a
  /// process may signal itself alone.
  bool signals_are_confined = false;
  /// Threads only: no fork, and no program but the one that stands open as this descriptor. -1: new
  /// processes and programs are allowed.
  int only_program = -1;
};

/// Holds this process and its descendants to `policy` from now on, by a seccomp filter. What is not
/// allowed fails with EPERM; what old kernels lack fails with ENOSYS. Returns why it failed, or "".
std::string enter(const SyscallPolicy& policy);

}  // namespace hone::process
