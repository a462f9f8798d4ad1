#pragma once
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "process/child.hpp"

namespace hone::process {

/// A file descriptor that is closed with its owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

/// A new temporary folder that goes with its owner.
class PrivateFolder {
 public:
  PrivateFolder() = default;
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~PrivateFolder();
  static PrivateFolder make();  ///< empty path and errno when it cannot be made
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A started child, from our side. Between us and it stands a supervisor: a fork of ours that is
/// the subreaper of all the child's descendants, kills them when the child ends, when told to, or
/// when we die, and reports how the child ended.
struct Launched {
  std::string error;  ///< why nothing was started; everything below is then empty
  std::string tier;
  pid_t supervisor = -1;
  Fd in, out, err;        ///< non-blocking
  Fd control;             ///< closing it kills the child and its descendants
  Fd status;              ///< readable when all of them are gone
  Fd start;               ///< of a sandbox: "+" when the program started, else why not
  bool by_bwrap = false;  ///< which turns a signal into exit code 128 + signal
  PrivateFolder tmp;

  /// Kills the child and its descendants.
  void kill() { control.reset(); }
  /// After `status` became readable: fills exit_code, signal and error, and reaps the supervisor.
  /// `err_text` is what the child wrote to stderr: the sandbox's own complaint may be in it.
  void finish(Result& result, const std::string& err_text);
};

Launched launch(const Command& command);

/// CPU time in seconds that a process, its descendants and those that it has reaped have used.
double cpu_seconds(pid_t root);

bool passed(const Deadline& deadline, const Launched& child);
/// For poll: until the deadline; past its `at` a moment, for computing time to be looked at.
int milliseconds_until(const Deadline& deadline);

/// Keeps SIGPIPE from this thread for its lifetime, so that a write to a gone child is EPIPE.
class NoSigpipe {
 public:
  NoSigpipe();
  ~NoSigpipe();
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  bool active_ = false;
};

}  // namespace hone::process
