#include "process/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "process/launch.hpp"

namespace hone::process {
namespace {

constexpr size_t kTail = 65536;
constexpr uint64_t kFlood = uint64_t{64} << 20;  ///< bytes of stderr; then the child is killed

}  // namespace

struct Child::State {
  Launched child;
  Result result;
  Clock::time_point end_of_life;
  Clock::time_point started = Clock::now();
  uint64_t written = 0;  ///< to stderr
  bool finished = false;

  bool alive() const { return child.error.empty(); }

  /// No later than the end of life.
  Deadline bounded(Deadline deadline) const {
    deadline.latest = std::min(deadline.latest, end_of_life);
    return deadline;
  }

  void drain_stderr() {
    char buffer[16384];
    while (child.err) {
      const ssize_t n = ::read(child.err.get(), buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return child.err.reset();
      result.err.append(buffer, static_cast<size_t>(n));
      written += static_cast<uint64_t>(n);
      if (written > kFlood) child.kill();
      if (result.err.size() > 2 * kTail) {
        result.err.erase(0, result.err.size() - kTail);
        result.output_truncated = true;
      }
      if (static_cast<size_t>(n) < sizeof buffer || !child.control) return;
    }
  }

  /// Waits until `fd` is ready for `events`, reading stderr meanwhile.
  bool ready(int fd, short events, Deadline deadline) {
    deadline = bounded(deadline);
    for (;;) {
      pollfd fds[2] = {{fd, events, 0}, {child.err.get(), POLLIN, 0}};
      ::poll(fds, 2, milliseconds_until(deadline));
      if (fds[1].revents != 0) drain_stderr();
      if (fds[0].revents != 0) return true;
      if (passed(deadline, child)) return false;
    }
  }
};

Child::Child(std::unique_ptr<State> state) : state_(std::move(state)) {}
Child::Child(Child&&) noexcept = default;

Child& Child::operator=(Child&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Child::~Child() {
  if (!state_) return;
  kill();
  wait(in_seconds(0));
}

Child Child::start(const Command& command) {
  auto state = std::make_unique<State>();
  state->child = launch(command);
  for (const Fd* fd : {&state->child.in, &state->child.out})
    if (*fd) ::fcntl(fd->get(), F_SETPIPE_SZ, 1 << 20);  // tensors pass here; refused is as well
  state->result.tier = state->child.tier;
  state->result.error = state->child.error;
  state->finished = !state->alive();
  state->end_of_life =
      seconds_from_now(command.limits.wall_seconds > 0 ? command.limits.wall_seconds : 1e8);
  return Child(std::move(state));
}

const std::string& Child::error() const { return state_->result.error; }
const std::string& Child::tier() const { return state_->result.tier; }

Io Child::write_all(std::string_view bytes, Deadline deadline) {
  const NoSigpipe guard;
  while (!bytes.empty()) {
    if (!state_->child.in) return Io::eof;
    const ssize_t n = ::write(state_->child.in.get(), bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      if (!state_->ready(state_->child.in.get(), POLLOUT, deadline)) return Io::timeout;
    } else if (errno != EINTR) {
      state_->child.in.reset();
      return Io::eof;
    }
  }
  return Io::ok;
}

Io Child::read_exact(void* out, size_t size, size_t& received, Deadline deadline) {
  received = 0;
  while (received < size) {
    if (!state_->child.out) return Io::eof;
    const ssize_t n =
        ::read(state_->child.out.get(), static_cast<char*>(out) + received, size - received);
    if (n > 0) {
      received += static_cast<size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {
      if (!state_->ready(state_->child.out.get(), POLLIN, deadline)) return Io::timeout;
    } else if (n == 0 || errno != EINTR) {
      state_->child.out.reset();
      return Io::eof;
    }
  }
  return Io::ok;
}

Io Child::read_exact(std::string& out, size_t size, Deadline deadline) {
  out.resize(size);
  size_t received = 0;
  const Io io = read_exact(out.data(), size, received, deadline);
  out.resize(received);
  return io;
}

Deadline Child::busy_seconds(double seconds) const {
  return {seconds_from_now(seconds), seconds_from_now(kPatience * seconds),
          seconds + (state_->alive() ? cpu_seconds(state_->child.supervisor) : 0)};
}

void Child::close_input() { state_->child.in.reset(); }

const std::string& Child::stderr_tail() {
  state_->drain_stderr();
  return state_->result.err;
}

void Child::kill() { state_->child.kill(); }

const Result& Child::wait(Deadline deadline) {
  State& s = *state_;
  if (s.finished) return s.result;
  deadline = s.bounded(deadline);
  // Unread output is thrown away, so that a child that still writes can end.
  for (char drop[65536];;) {
    pollfd fds[3] = {{s.child.status.get(), POLLIN, 0},
                     {s.child.out.get(), POLLIN, 0},
                     {s.child.err.get(), POLLIN, 0}};
    ::poll(fds, 3, !s.child.control ? 1000 : milliseconds_until(deadline));
    s.drain_stderr();
    if (fds[1].revents != 0 && ::read(s.child.out.get(), drop, sizeof drop) == 0)
      s.child.out.reset();
    if (fds[0].revents != 0) break;
    if (s.child.control && passed(deadline, s.child)) {
      s.result.timed_out = true;
      s.child.kill();
    }
  }
  while (s.child.err) {
    const size_t before = s.result.err.size();
    s.drain_stderr();
    if (s.result.err.size() == before) break;
  }
  if (s.result.err.size() > kTail) s.result.err.erase(0, s.result.err.size() - kTail);
  s.child.finish(s.result, s.result.err);
  s.result.seconds = std::chrono::duration<double>(Clock::now() - s.started).count();
  s.finished = true;
  return s.result;
}

}  // namespace hone::process
