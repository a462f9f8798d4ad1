#include "process/launch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "process/sandbox.hpp"
#include "process/terminal.hpp"

namespace hone::process {
namespace {

namespace fs = std::filesystem;

constexpr int kStartFd = 3;  // in the child: where hone-confine says that the program starts

/// Recorded where a model's code ran in no sandbox because the user allowed it.
constexpr const char* kUnsandboxed = "weak (unsandboxed, as allowed)";

/// What travels over the status pipe.
struct Report {
  enum Kind : int { no_start, exited, signalled } kind;
  int value;
};

/// All that the two forks need, prepared before them: they may only make system calls.
struct Plan {
  std::vector<char*> argv, environment;
  std::string program, directory;
  std::vector<std::pair<int, rlimit>> limits;
  int in, out, err, start, control, status;
  bool sandboxed;
};

struct Pipe {
  Fd read, write;
  bool open() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read.reset(fds[0]);
    write.reset(fds[1]);
    return true;
  }
};

void close_fds_but(const std::array<int, 6>& keep) {
  std::array<int, 6> sorted = keep;
  std::sort(sorted.begin(), sorted.end());
  unsigned first = 0;
  const auto close_range = [](unsigned from, unsigned to) {
    if (from > to || ::syscall(SYS_close_range, from, to, 0) == 0) return;
    for (unsigned fd = from; fd <= std::min(to, 65535U); ++fd) ::close(static_cast<int>(fd));
  };
  for (const int fd : sorted) {
    if (fd < 0) continue;
    if (static_cast<unsigned>(fd) > first) close_range(first, static_cast<unsigned>(fd) - 1);
    first = static_cast<unsigned>(fd) + 1;
  }
  close_range(first, ~0U);
}

void write_report(int fd, Report report) {
  while (::write(fd, &report, sizeof report) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void exec_child(const Plan& plan) {
  // Move the pipes out of the way of 0..3 first.
  int in = ::fcntl(plan.in, F_DUPFD_CLOEXEC, 10), out = ::fcntl(plan.out, F_DUPFD_CLOEXEC, 10),
      err = ::fcntl(plan.err, F_DUPFD_CLOEXEC, 10),
      status = ::fcntl(plan.status, F_DUPFD_CLOEXEC, 10);
  int start = plan.start < 0 ? -1 : ::fcntl(plan.start, F_DUPFD_CLOEXEC, 10);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  if (start >= 0) ::dup2(start, kStartFd);
  close_fds_but({0, 1, 2, start >= 0 ? kStartFd : -1, status, -1});

  ::setpgid(0, 0);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  const auto fail = [&] {
    write_report(status, {Report::no_start, errno});
    ::_exit(127);
  };
  for (const auto& [resource, limit] : plan.limits)
    if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) fail();
  if (plan.sandboxed) {  // where memory runs out, it is this one that ends
    const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) (void)!::write(score, "1000", 4);
    if (score >= 0) ::close(score);
  }
  if (!plan.directory.empty() && ::chdir(plan.directory.c_str()) != 0) fail();
  ::execve(plan.program.c_str(), plan.argv.data(), plan.environment.data());
  fail();
  ::_exit(127);
}

/// Kills every direct child of ours; orphans of theirs become children of ours.
void kill_children() {
  static char buffer[65536];
  const int fd = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t size = ::read(fd, buffer, sizeof buffer);
  ::close(fd);
  long pid = 0;
  for (ssize_t i = 0; i < size; ++i) {
    if (buffer[i] >= '0' && buffer[i] <= '9') {
      pid = pid * 10 + (buffer[i] - '0');
    } else if (pid > 1) {
      ::kill(static_cast<pid_t>(pid), SIGKILL);
      pid = 0;
    }
  }
}

[[noreturn]] void supervise(const Plan& plan) {
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) exec_child(plan);
  if (child < 0) {
    write_report(plan.status, {Report::no_start, errno});
    ::_exit(0);
  }
  close_fds_but({plan.control, plan.status, -1, -1, -1, -1});
  sigset_t chld;
  sigemptyset(&chld);
  sigaddset(&chld, SIGCHLD);
  const int signals = ::signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);

  Report report{Report::signalled, SIGKILL};
  bool ended = false, sweeping = false;
  for (int rounds = 0; rounds < 20000;) {
    int status = 0;
    pid_t pid;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid != child) continue;
      ended = true;
      report = WIFEXITED(status) ? Report{Report::exited, WEXITSTATUS(status)}
                                 : Report{Report::signalled, WTERMSIG(status)};
    }
    if (pid < 0 && errno == ECHILD) break;
    if (ended) sweeping = true;
    if (sweeping) {
      ::kill(-child, SIGKILL);
      if (!ended) ::kill(child, SIGKILL);
      kill_children();
      ++rounds;
    }
    pollfd fds[2] = {{signals, POLLIN, 0}, {sweeping ? -1 : plan.control, POLLIN, 0}};
    ::poll(fds, 2, sweeping ? 1 : -1);
    char drop[512];
    while (::read(signals, drop, sizeof drop) > 0) {
    }
    if (fds[1].revents != 0) sweeping = true;
  }
  write_report(plan.status, report);
  ::_exit(0);
}

std::string lookup(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) return name;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string candidate = path.substr(begin, end - begin) + "/" + name;
    if (end > begin && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return "";
}

/// Processes and threads that our user has now: what RLIMIT_NPROC counts.
uint64_t processes_of_user() {
  uint64_t count = 0;
  std::error_code ec;
  for (fs::directory_iterator it("/proc", ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream status(it->path() / "status");
    std::string line;
    bool ours = false;
    while (std::getline(status, line)) {
      if (line.rfind("Uid:", 0) == 0)
        ours = std::strtoul(line.c_str() + 4, nullptr, 10) == ::getuid();
      if (ours && line.rfind("Threads:", 0) == 0)
        count += std::strtoul(line.c_str() + 8, nullptr, 10);
    }
  }
  return count;
}

std::vector<std::pair<int, rlimit>> resource_limits(const Limits& limits) {
  std::vector<std::pair<int, rlimit>> list = {{RLIMIT_CORE, {0, 0}}};
  const auto add = [&](int resource, uint64_t value) {
    rlimit now{};
    ::getrlimit(static_cast<__rlimit_resource_t>(resource), &now);
    if (value > 0)
      list.push_back(
          {resource,
           {std::min<rlim_t>(value, now.rlim_max), std::min<rlim_t>(value, now.rlim_max)}});
  };
  add(RLIMIT_CPU, limits.cpu_seconds);
  add(RLIMIT_AS, limits.address_space_bytes);
  add(RLIMIT_DATA, limits.data_bytes);
  add(RLIMIT_FSIZE, limits.file_size_bytes);
  if (limits.processes > 0) add(RLIMIT_NPROC, processes_of_user() + limits.processes);
  return list;
}

/// The program's file is visible in its sandbox without being named.
void show_program(Command& command) {
  const fs::path program = command.argv[0];
  std::error_code ec;
  if (program.is_absolute() && fs::exists(program, ec))
    command.sandbox->readable.push_back(program);
}

}  // namespace

PrivateFolder PrivateFolder::make() {
  PrivateFolder folder;
  std::error_code ec;
  std::string pattern = (fs::temp_directory_path(ec) / "hone_tmp_XXXXXX").string();
  if (!ec && ::mkdtemp(pattern.data()) != nullptr) folder.path_ = pattern;
  return folder;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ec;
  if (!path_.empty()) fs::remove_all(path_, ec);
}

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Launched launch(const Command& given) {
  Launched launched;
  if (given.argv.empty() || given.argv[0].empty()) {
    launched.error = "no program was named";
    return launched;
  }
  Command command = given;
  std::map<std::string, std::string> environment = command.environment;
  std::vector<std::string> argv = command.argv;
  if (command.sandbox && !execution_allowed()) {
    launched.error = execution_refused();
    return launched;
  }
  const bool jailed = command.sandbox && probe_sandbox().tier >= Tier::medium;
  const bool with_bwrap = jailed && !probe_sandbox().bwrap.empty();
  if (command.sandbox) {
    launched.tier = jailed ? sandbox_tier() : kUnsandboxed;
    std::string tmp = "/tmp";
    if (!with_bwrap && command.sandbox->tmp_bytes > 0) {
      launched.tmp = PrivateFolder::make();
      tmp = launched.tmp.path();
      if (tmp.empty()) {
        launched.error = std::string("cannot make a temporary folder: ") + std::strerror(errno);
        return launched;
      }
    }
    command.environment.emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.environment.emplace("HOME", tmp);
    command.environment.emplace("TMPDIR", tmp);
    environment = command.environment;
  } else if (command.inherit_environment) {
    for (char** e = environ; *e != nullptr; ++e) {
      const std::string entry = *e;
      if (const auto eq = entry.find('='); eq != std::string::npos)
        environment.emplace(entry.substr(0, eq), entry.substr(eq + 1));
    }
  }

  Plan plan{};
  plan.directory = command.directory.string();
  plan.sandboxed = command.sandbox.has_value();
  if (jailed) {
    show_program(command);
    argv = sandbox_argv(probe_sandbox(), command, kStartFd, launched.tmp.path());
    argv.insert(argv.end(), command.argv.begin(), command.argv.end());
    plan.program = argv[0];
    launched.by_bwrap = with_bwrap;
    if (with_bwrap) {  // the child's environment and folder are in its arguments
      environment.clear();
      plan.directory.clear();
    } else if (plan.directory.empty()) {
      plan.directory = "/";
    }
  } else {
    const char* path = std::getenv("PATH");
    const auto own = environment.find("PATH");
    plan.program = lookup(argv[0], own != environment.end() ? own->second
                                   : path != nullptr        ? path
                                                            : "/usr/local/bin:/usr/bin:/bin");
  }
  if (plan.program.empty()) {
    launched.error = "cannot start " + argv[0] + ": not found in PATH";
    return launched;
  }
  for (auto& arg : argv) plan.argv.push_back(arg.data());
  plan.argv.push_back(nullptr);
  std::vector<std::string> entries;
  for (const auto& [key, value] : environment) entries.push_back(key + "=" + value);
  for (auto& entry : entries) plan.environment.push_back(entry.data());
  plan.environment.push_back(nullptr);
  plan.limits = resource_limits(command.limits);

  Pipe in, out, err, control, status, start;
  if (!in.open() || !out.open() || !err.open() || !control.open() || !status.open() ||
      (jailed && !start.open())) {
    launched.error = std::string("cannot make pipes: ") + std::strerror(errno);
    return launched;
  }
  plan.in = in.read.get();
  plan.out = out.write.get();
  plan.err = err.write.get();
  plan.control = control.read.get();
  plan.status = status.write.get();
  plan.start = jailed ? start.write.get() : -1;

  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  launched.supervisor = ::fork();
  if (launched.supervisor == 0) supervise(plan);
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (launched.supervisor < 0) {
    launched.error = std::string("cannot fork: ") + std::strerror(fork_error);
    return launched;
  }
  launched.in = std::move(in.write);
  launched.out = std::move(out.read);
  launched.err = std::move(err.read);
  launched.control = std::move(control.write);
  launched.status = std::move(status.read);
  launched.start = std::move(start.read);
  for (const Fd* fd : {&launched.in, &launched.out, &launched.err, &launched.start})
    if (*fd) ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) | O_NONBLOCK);
  return launched;
}

void Launched::finish(Result& result, const std::string& err_text) {
  const bool killed = !control;
  Report report{};
  ssize_t size;
  while ((size = ::read(status.get(), &report, sizeof report)) < 0 && errno == EINTR) {
  }
  while (::waitpid(supervisor, nullptr, 0) < 0 && errno == EINTR) {
  }
  supervisor = -1;
  if (size != static_cast<ssize_t>(sizeof report)) {
    result.signal = SIGKILL;  // someone killed the supervisor
    return;
  }
  if (report.kind == Report::no_start) {
    result.error = std::string("cannot start the program: ") + std::strerror(report.value);
    return;
  }
  result.signal = report.kind == Report::signalled ? report.value : 0;
  result.exit_code = report.kind == Report::exited ? report.value : -1;
  if (!start) return;
  // "+" says that the program was about to start; more, or anything else, why it did not.
  char text[4096];
  const ssize_t length = ::read(start.get(), text, sizeof text);
  std::string_view said(text, length > 0 ? static_cast<size_t>(length) : 0);
  const bool started = said.substr(0, 1) == "+";
  if (started) said.remove_prefix(1);
  if (!said.empty() || (!started && !killed)) {
    const std::string why = said.empty() ? first_line(err_text) : first_line(said);
    result.error = "cannot start the program in its sandbox: " + (why.empty() ? result.str() : why);
  } else if (by_bwrap && result.exit_code > 128 && result.exit_code < 128 + 32) {
    result.signal = result.exit_code - 128;  // as bwrap says it
    result.exit_code = -1;
  }
}

double cpu_seconds(pid_t root) {
  static const double per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const fs::path proc = fs::path("/proc") / std::to_string(root);
  std::string stat;
  std::getline(std::ifstream(proc / "stat"), stat);
  // After the name in parentheses: state and ten more fields, then utime (proc(5)).
  std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double ticks = 0;
  for (int i = 0; i < 4; ++i)  // utime, stime, and both of those reaped
    if (double value = 0; fields >> value) ticks += value;
  double seconds = ticks / per_second;
  std::error_code ec;
  for (fs::directory_iterator it(proc / "task", ec), end; !ec && it != end; it.increment(ec)) {
    std::ifstream children(it->path() / "children");
    for (pid_t child = 0; children >> child;) seconds += cpu_seconds(child);
  }
  return seconds;
}

bool passed(const Deadline& deadline, const Launched& child) {
  const auto now = Clock::now();
  return now >= deadline.latest ||
         (now >= deadline.at && cpu_seconds(child.supervisor) >= deadline.cpu_seconds);
}

int milliseconds_until(const Deadline& deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      std::min(deadline.at, deadline.latest) - Clock::now());
  const bool by_clock = deadline.latest <= deadline.at;
  return static_cast<int>(std::clamp<long long>(left.count(), by_clock ? 0 : 100, 1000000));
}

NoSigpipe::NoSigpipe() {
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  active_ = sigismember(&before, SIGPIPE) == 0;
}

NoSigpipe::~NoSigpipe() {
  if (!active_) return;
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  const timespec now{};
  while (::sigtimedwait(&pipe, nullptr, &now) < 0 && errno == EINTR) {
  }
  ::pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
}

}  // namespace hone::process
