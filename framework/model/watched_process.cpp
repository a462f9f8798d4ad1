#include "model/watched_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

#include "diagnostic/diagnostic.hpp"

namespace hone::model {
namespace {

struct ProcStat {
  char state = '?';
  unsigned long long cpu_ticks = 0;
  unsigned long long start_time = 0;
};

/// Reads /proc/<pid>/stat; allocates nothing, as the watcher runs between fork and exec.
bool read_stat(pid_t pid, ProcStat& stat) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[1024];
  const ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (n <= 0) return false;
  text[n] = '\0';
  const char* at = std::strrchr(text, ')');  // the name before it may hold anything
  if (at == nullptr || at[1] != ' ') return false;
  at += 2;
  stat.state = *at;
  for (int field = 3; *at != '\0'; ++field) {  // numbered as in proc(5)
    if (field == 14 || field == 15) stat.cpu_ticks += std::strtoull(at, nullptr, 10);
    if (field == 22) {
      stat.start_time = std::strtoull(at, nullptr, 10);
      return true;
    }
    at = std::strchr(at, ' ');
    if (at == nullptr) return false;
    ++at;
  }
  return false;
}

bool lives(const ProcessId& process) {
  ProcStat stat;
  return process.pid > 0 && read_stat(process.pid, stat) && stat.state != 'Z' &&
         stat.state != 'X' && stat.start_time == process.start_time;
}

/// What the two forked processes need, made before the fork.
struct Prepared {
  std::vector<char*> argv;
  int log = -1;
  int report = -1;  ///< pipe to the starter
  ProcessId owner;
  long idle_limit = 0;
};

[[noreturn]] void run_command(const Prepared& p, pid_t watcher) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != watcher) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::close_range(3, ~0U, 0);
  ::execv(p.argv[0], p.argv.data());
  const char* why = std::strerror(errno);
  for (const char* part : {"cannot execute ", static_cast<const char*>(p.argv[0]), ": ", why, "\n"})
    if (::write(2, part, std::strlen(part)) < 0) break;
  ::_exit(127);
}

/// Lets the child run until it ends, the owner is gone, or nothing happened for too long.
[[noreturn]] void watch(const Prepared& p, pid_t child) {
  sigset_t child_signal;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  const timespec second{1, 0};
  // More than a fifth of a core within a second is work; a server that waits uses less.
  const auto busy_ticks = static_cast<unsigned long long>(::sysconf(_SC_CLK_TCK)) / 5;
  unsigned long long last_ticks = 0;
  off_t last_size = 0;
  long idle = 0;
  bool ending = false;
  for (int grace = 0;;) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) {
      ::kill(-child, SIGKILL);  // whatever it left behind
      ::_exit(0);
    }
    ::sigtimedwait(&child_signal, nullptr, &second);
    struct stat log {};
    ProcStat stat;
    ::fstat(1, &log);
    read_stat(child, stat);
    const bool busy = log.st_size != last_size || stat.cpu_ticks > last_ticks + busy_ticks;
    last_size = log.st_size;
    last_ticks = stat.cpu_ticks;
    idle = busy ? 0 : idle + 1;
    const bool orphaned = p.owner.pid != 0 && !lives(p.owner);
    if (!ending && (orphaned || (p.idle_limit > 0 && idle >= p.idle_limit))) {
      ending = true;
      ::kill(-child, SIGTERM);
    }
    if (ending && ++grace > 10) ::kill(-child, SIGKILL);
  }
}

[[noreturn]] void run_watcher(const Prepared& p) {
  ::setsid();
  ::prctl(PR_SET_NAME, "hone-watch");
  for (int s = 1; s < NSIG; ++s) std::signal(s, SIG_DFL);
  sigset_t child_signal;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &child_signal, nullptr);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, 0);
  ::dup2(p.log, 1);
  ::dup2(p.log, 2);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) run_command(p, self);
  ProcStat stat;
  ProcessId id{child, 0};
  if (child > 0 && read_stat(child, stat)) id.start_time = stat.start_time;
  if (::write(p.report, &id, sizeof id) != sizeof id || child < 0) ::_exit(1);
  ::close_range(3, ~0U, 0);
  watch(p, child);
}

struct Fd {
  int fd = -1;
  explicit Fd(int f) : fd(f) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }
  void reset() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

[[noreturn]] void fail(const std::string& what) {
  const int error = errno;
  throw Error(Exit::infrastructure, what + ": " + std::strerror(error));
}

}  // namespace

std::optional<ProcessId> identify(pid_t pid) {
  ProcStat stat;
  if (pid <= 0 || !read_stat(pid, stat) || stat.state == 'Z' || stat.state == 'X')
    return std::nullopt;
  return ProcessId{pid, stat.start_time};
}

bool alive(const ProcessId& process) { return lives(process); }

ProcessId spawn_watched(const WatchedCommand& command) {
  const Fd log(
      ::open(command.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (log.fd < 0) fail("cannot write " + command.log.string());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe");
  const Fd from(ends[0]);
  Fd to(ends[1]);

  Prepared p;
  for (const auto& arg : command.argv) p.argv.push_back(const_cast<char*>(arg.c_str()));
  p.argv.push_back(nullptr);
  p.log = log.fd;
  p.report = to.fd;
  p.owner = command.owner;
  p.idle_limit = static_cast<long>(command.idle_limit.count());

  // Two forks, so that the watcher is nobody's child and nobody has to wait for it.
  const pid_t between = ::fork();
  if (between < 0) fail("cannot fork");
  if (between == 0) {
    const pid_t watcher = ::fork();
    if (watcher == 0) run_watcher(p);
    ::_exit(watcher < 0 ? 1 : 0);
  }
  to.reset();
  while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  ProcessId id;
  ssize_t n = 0;
  while ((n = ::read(from.fd, &id, sizeof id)) < 0 && errno == EINTR) {
  }
  if (n != sizeof id || id.pid <= 0)
    throw Error(Exit::infrastructure, "cannot start " + command.argv.front() + ": fork failed");
  return id;
}

bool end_process(const ProcessId& process, std::chrono::milliseconds patience) {
  if (!lives(process)) return false;
  ::kill(-process.pid, SIGTERM);
  auto deadline = std::chrono::steady_clock::now() + patience;
  for (bool killed = false; lives(process);) {
    if (std::chrono::steady_clock::now() > deadline) {
      if (killed)
        throw Error(Exit::infrastructure,
                    "process " + std::to_string(process.pid) + " does not end");
      ::kill(-process.pid, SIGKILL);
      killed = true;
      deadline += std::chrono::seconds(10);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace hone::model
