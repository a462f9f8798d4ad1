#include "process/run.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "process/child.hpp"
#include "process/launch.hpp"

namespace hone::process {
namespace {

/// One output of the child, kept up to a bound.
struct Sink {
  Fd& fd;
  std::string& text;
  uint64_t limit;
  uint64_t total = 0;

  void drain() {
    char buffer[65536];
    while (fd) {
      const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return fd.reset();
      total += static_cast<uint64_t>(n);
      if (text.size() < limit)
        text.append(buffer, std::min<size_t>(static_cast<size_t>(n), limit - text.size()));
      if (total > limit * 64) return;
    }
  }
};

/// When the limits of time end a child that starts now.
Deadline deadline_of(const Limits& limits) {
  const auto within = [](double seconds) { return seconds_from_now(seconds > 0 ? seconds : 1e8); };
  Deadline deadline = in_seconds(0);
  deadline.latest = std::min(within(limits.wall_seconds), within(kPatience * limits.busy_seconds));
  deadline.at = limits.busy_seconds > 0 ? within(limits.busy_seconds) : deadline.latest;
  deadline.cpu_seconds = limits.busy_seconds;
  return deadline;
}

}  // namespace

Result run(const Command& command) {
  Result result;
  const auto start = Clock::now();
  Launched child = launch(command);
  result.tier = child.tier;
  result.error = child.error;
  if (!result.error.empty()) return result;

  const NoSigpipe guard;
  const uint64_t keep =
      command.limits.output_bytes > 0 ? command.limits.output_bytes : uint64_t{1} << 48;
  Sink out{child.out, result.out, keep}, err{child.err, result.err, keep};
  std::string_view input = command.input;
  if (input.empty()) child.in.reset();
  const Deadline deadline = deadline_of(command.limits);

  for (;;) {
    pollfd fds[4] = {{child.status.get(), POLLIN, 0},
                     {child.out.get(), POLLIN, 0},
                     {child.err.get(), POLLIN, 0},
                     {child.in.get(), POLLOUT, 0}};
    ::poll(fds, 4, child.control ? milliseconds_until(deadline) : 1000);
    out.drain();
    err.drain();
    if (fds[3].revents != 0 && child.in) {
      const ssize_t n = ::write(child.in.get(), input.data(), input.size());
      if (n > 0) input.remove_prefix(static_cast<size_t>(n));
      if (input.empty() || (n < 0 && errno != EAGAIN && errno != EINTR)) child.in.reset();
    }
    if (fds[0].revents != 0) break;
    if (child.control && passed(deadline, child)) {
      result.timed_out = true;
      child.kill();
    }
    if (child.control && (out.total > keep * 64 || err.total > keep * 64)) child.kill();
  }
  out.drain();  // everyone who could write is gone
  err.drain();
  result.output_truncated = out.total > keep || err.total > keep;
  child.finish(result, result.err);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

std::string Result::str() const {
  if (!error.empty()) return error;
  if (timed_out) return fmt::format("timed out after {:.3g} s", seconds);
  if (signal != 0) {
    const char* name = ::sigabbrev_np(signal);
    const char* what = ::sigdescr_np(signal);
    return fmt::format("killed by SIG{} ({})", name != nullptr ? name : std::to_string(signal),
                       what != nullptr ? what : "unknown");
  }
  return fmt::format("exited with code {}", exit_code);
}

}  // namespace hone::process
