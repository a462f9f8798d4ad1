// hone-canary: started in the sandbox when that is tried out. It attempts what a hostile program
// would and says each thing that worked, one a line, then "done".
//
//   hone-canary <secret file> <its folder> <writable folder> <pid outside> <"threads">
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void escaped(const std::string& what) { std::printf("%s\n", what.c_str()); }

void open_file(const std::string& path, int flags, const char* what) {
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd >= 0) escaped(what + (" " + path));
}

/// A process of its own session whose parents are gone: it holds the lock as long as it lives.
void fork_away(const std::string& lock) {
  const pid_t child = ::fork();
  if (child < 0) return;
  if (child > 0) {
    ::waitpid(child, nullptr, 0);
    return;
  }
  ::setsid();
  int ready[2];
  if (::pipe(ready) != 0) ::_exit(0);
  if (::fork() == 0) {
    const int fd = ::open(lock.c_str(), O_RDWR | O_CREAT, 0600);
    if (fd >= 0) ::flock(fd, LOCK_EX);
    (void)!::write(ready[1], "x", 1);
    for (int i = 0; i < 30; ++i) ::sleep(1);
    ::_exit(0);
  }
  char byte;
  (void)!::read(ready[0], &byte, 1);
  ::_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const std::string secret = argv[1], folder = argv[2], writable = argv[3];
  const pid_t outside = std::atoi(argv[4]);
  const std::string proc = "/proc/" + std::string(argv[4]);

  open_file("/etc/passwd", O_RDONLY, "read");
  open_file(secret, O_RDONLY, "read");
  open_file(secret, O_WRONLY | O_TRUNC, "wrote");
  open_file(folder + "/planted", O_WRONLY | O_CREAT, "created");
  open_file(proc + "/environ", O_RDONLY, "read");
  open_file(proc + "/mem", O_RDWR, "opened");
  if (::opendir(folder.c_str()) != nullptr) escaped("listed " + folder);
  if (::chmod(secret.c_str(), 0600) == 0) escaped("changed the mode of " + secret);
  if (::unlink(secret.c_str()) == 0) escaped("removed " + secret);
  for (const int family : {AF_INET, AF_INET6, AF_NETLINK})
    if (::socket(family, SOCK_DGRAM, 0) >= 0)
      escaped("opened a socket of family " + std::to_string(family));
  if (::kill(outside, 0) == 0) escaped("may kill process " + std::to_string(outside));
  if (::ptrace(PTRACE_SEIZE, outside, nullptr, nullptr) == 0) escaped("traced another process");
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) escaped("made namespaces of its own");
  if (std::string(argv[5]) == "threads") {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    if (child > 0) escaped("forked");
    char* const arguments[] = {argv[0], nullptr};
    ::execv("/proc/self/exe", arguments);
    ::execv(argv[0], arguments);
  } else {
    fork_away(writable + "/lock");
  }
  std::puts("done");
  std::fflush(stdout);
  ::_exit(0);
}
