// hone-confine: takes rights away from itself, for ever, then becomes the program that it was
// given. It is started inside bubblewrap, or alone where namespaces can't be made; see sandbox.hpp.
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/landlock.hpp"
#include "process/syscalls.hpp"

namespace {

using namespace hone::process;

/// Where the program stands open when nothing else may be executed. The limit on descriptors lies
/// below, so that no other file can ever take this number.
constexpr int kProgramFd = 640;
constexpr rlim_t kDescriptors = 512;

struct Options {
  int report = -1;  ///< says "started", and what failed; -1: stderr
  bool landlock = false, seccomp = false, network = false, threads_only = false, namespaces = false;
  std::vector<std::pair<std::string, Access>> paths;
  char** program = nullptr;
};

[[noreturn]] void fail(const Options& options, const std::string& why) {
  const std::string text = options.report < 0 ? "hone-confine: " + why + "\n" : why;
  (void)!::write(options.report < 0 ? STDERR_FILENO : options.report, text.data(), text.size());
  ::_exit(127);
}

Options parse(char** argv) {
  Options options;
  for (++argv; *argv != nullptr; ++argv) {
    const std::string_view word = *argv;
    const auto value = [&]() -> const char* {
      if (argv[1] == nullptr) fail(options, std::string(word) + " needs a value");
      return *++argv;
    };
    if (word == "--") {
      options.program = argv + 1;
      break;
    } else if (word == "--report") {
      options.report = std::atoi(value());
    } else if (word == "--landlock") {
      options.landlock = true;
    } else if (word == "--seccomp") {
      options.seccomp = true;
    } else if (word == "--network") {
      options.network = true;
    } else if (word == "--namespaces") {
      options.namespaces = true;
    } else if (word == "--threads-only") {
      options.threads_only = true;
    } else if (word == "--read") {
      options.paths.emplace_back(value(), Access::read);
    } else if (word == "--write") {
      options.paths.emplace_back(value(), Access::write);
    } else if (word == "--device") {
      options.paths.emplace_back(value(), Access::device);
    } else {
      fail(options, "unknown option " + std::string(word));
    }
  }
  if (options.program == nullptr || *options.program == nullptr) fail(options, "no program");
  return options;
}

std::string with_errno(const std::string& what) { return what + ": " + std::strerror(errno); }

/// Root's powers, and what execve would give back.
void drop_capabilities(const Options& options) {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1; ++capability)
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM)
      fail(options, with_errno("dropping capabilities"));
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) fail(options, with_errno("dropping capabilities"));
}

/// Opens the program as kProgramFd and makes that number the only one of its kind.
void hold_program(const Options& options) {
  const int fd = ::open(options.program[0], O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(options, with_errno(options.program[0]));
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (::dup3(fd, kProgramFd, O_CLOEXEC) < 0) fail(options, with_errno("holding the program"));
  ::close(fd);
  limit = {kDescriptors, kDescriptors};
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) fail(options, with_errno("RLIMIT_NOFILE"));
}

}  // namespace

int main(int, char** argv) {
  const Options options = parse(argv);
  const auto check = [&](const std::string& error) {
    if (!error.empty()) fail(options, error);
  };
  if (options.report >= 0) ::fcntl(options.report, F_SETFD, FD_CLOEXEC);
  if (options.threads_only) hold_program(options);
  drop_capabilities(options);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail(options, with_errno("no_new_privs"));
  if (options.landlock) {
    Landlock landlock;
    check(landlock.create(options.network));
    for (const auto& [path, access] : options.paths) check(landlock.allow(path, access));
    check(landlock.enter());
  }
  if (options.seccomp) {
    SyscallPolicy policy;
    policy.network = options.network;
    policy.signals_are_confined =
        options.namespaces || (options.landlock && landlock_version() >= 6);
    if (options.threads_only) policy.only_program = kProgramFd;
    check(enter(policy));
  }
  if (options.report >= 0) (void)!::write(options.report, "+", 1);
  if (options.threads_only)
    ::syscall(SYS_execveat, kProgramFd, "", options.program, environ, AT_EMPTY_PATH);
  else
    ::execvp(options.program[0], options.program);
  fail(options, with_errno(options.program[0]));
}
