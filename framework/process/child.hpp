#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "process/run.hpp"

namespace hone::process {

using Clock = std::chrono::steady_clock;

/// Passed at `at` when the child has then computed for `cpu_seconds` in its life, else as soon as
/// it has, but at `latest` whatever it did.
struct Deadline {
  Clock::time_point at;
  Clock::time_point latest = at;
  double cpu_seconds = 0;
};

inline Clock::time_point seconds_from_now(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// The deadline that lies `seconds` from now by the clock.
inline Deadline in_seconds(double seconds) { return {seconds_from_now(seconds)}; }

/// How a transfer ended. `eof`: the peer closed its end (it exited, crashed or closed the pipe).
enum class Io { ok, eof, timeout };

/// A long-lived child with binary pipes on its stdin and stdout. Stderr is collected in the
/// background of each call, its last 64 KiB kept, so a chatty child never blocks; one that writes
/// more than 64 MiB is killed.
/// limits.wall_seconds bounds the whole life: past it every call returns Io::timeout. The
/// destructor kills the child and all its descendants. Not thread-safe; movable.
class Child {
 public:
  /// Starts the program; `input` is ignored. On failure the object is dead and error() says why.
  static Child start(const Command& command);

  Child(Child&&) noexcept;
  Child& operator=(Child&&) noexcept;
  ~Child();

  const std::string& error() const;  ///< why it could not be started, or ""
  const std::string& tier() const;   ///< as Result::tier

  /// Writes all bytes, draining stderr meanwhile. A child that writes without reading, until both
  /// pipes are full, ends in a timeout, not a deadlock.
  Io write_all(std::string_view bytes, Deadline deadline);

  /// Reads exactly `size` bytes into `out` (replaced); on eof or timeout `out` holds what came.
  Io read_exact(std::string& out, size_t size, Deadline deadline);

  /// The same into memory of the caller's; `received` counts the bytes that came.
  Io read_exact(void* out, size_t size, size_t& received, Deadline deadline);

  /// Ends the child's stdin.
  void close_input();

  /// Passed when, from now, it has lasted and computed for `seconds`, so that a busy machine alone
  /// makes nothing late; at the latest after kPatience times as long by the clock.
  Deadline busy_seconds(double seconds) const;

  /// The last bytes of stderr so far: raw, sanitise() before showing them.
  const std::string& stderr_tail();

  /// Kills the child and all its descendants; wait() still tells how it ended.
  void kill();

  /// Waits for the end of the child and its descendants; at the deadline they are killed and
  /// timed_out is set. `out` of the result is empty, `err` is the stderr tail. May be repeated.
  const Result& wait(Deadline deadline);

 private:
  struct State;
  explicit Child(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone::process
