#include "process/syscalls.hpp"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <memory>

namespace hone::process {
namespace {

constexpr std::uint32_t kRefused = SCMP_ACT_ERRNO(EPERM), kAbsent = SCMP_ACT_ERRNO(ENOSYS);

/// A way out, a hold on another process, or a change of the machine.
constexpr const char* kNever[] = {
    // sockets and file work behind a filter's back
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    // other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
    "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "kcmp", "migrate_pages", "move_pages",
    // namespaces and mounts
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount",
    "fspick", "move_mount", "open_tree", "mount_setattr",
    // memory and queues shared by key or name
    "shmget", "shmat", "shmctl", "shmdt", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop",
    "semctl", "semtimedop", "mq_open", "mq_unlink",
    // the kernel
    "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "init_module",
    "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff",
    "sethostname", "setdomainname", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
    "iopl", "ioperm", "quotactl", "acct", "syslog", "open_by_handle_at", "name_to_handle_at",
    "vhangup", "fanotify_init",
    // what Landlock does not see
    "truncate", "chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat", "setxattr",
    "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "utime", "utimes",
    "futimesat", "utimensat"};

/// Of a program that has no use for other processes.
constexpr const char* kNotWhenAlone[] = {"fork", "vfork", "execve", "setrlimit"};
constexpr int kFchmodat2 = 452;

/// From here on system calls are newer than this list. mseal only takes rights away.
constexpr int kFirstUnknown = 460, kLastUnknown = 600, kMseal = 462;

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ALLOW), seccomp_release) {}

  template <class... Comparison>
  void add(std::uint32_t action, int number, Comparison... comparison) {
    if (number == __NR_SCMP_ERROR || error_ != 0 || !context_) return;
    error_ = seccomp_rule_add(context_.get(), action, number, sizeof...(comparison), comparison...);
    if (error_ == -EDOM) error_ = 0;  // not a system call of this architecture
  }
  template <class... Comparison>
  void refuse(const char* name, Comparison... comparison) {
    add(kRefused, seccomp_syscall_resolve_name(name), comparison...);
  }
  std::string load() {
    if (!context_) return "seccomp: no memory";
    if (error_ == 0) error_ = seccomp_load(context_.get());
    return error_ == 0 ? "" : std::string("seccomp: ") + std::strerror(-error_);
  }

 private:
  std::unique_ptr<void, decltype(&seccomp_release)> context_;
  int error_ = 0;
};

scmp_arg_cmp is(unsigned argument, std::uint64_t value) {
  return SCMP_CMP64(argument, SCMP_CMP_EQ, value);
}
scmp_arg_cmp is_not(unsigned argument, std::uint64_t value) {
  return SCMP_CMP64(argument, SCMP_CMP_NE, value);
}
scmp_arg_cmp has(unsigned argument, std::uint64_t flag, bool wanted = true) {
  return SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, flag, wanted ? flag : 0);
}

void confine_signals(Filter& filter) {
  const auto self = static_cast<std::uint64_t>(::getpid());
  for (const char* name : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"})
    filter.refuse(name, is_not(0, self));
  filter.refuse("tkill");
  for (const int command : {F_SETOWN, 15 /* F_SETOWN_EX */})
    filter.refuse("fcntl", is(1, static_cast<std::uint64_t>(command)));
}

}  // namespace

std::string enter(const SyscallPolicy& policy) {
  Filter filter;
  for (const char* name : kNever) filter.refuse(name);
  filter.add(kRefused, kFchmodat2);
  if (!policy.network) filter.refuse("socket");

  // clone3 hides its flags in memory; libraries fall back to clone.
  filter.add(kAbsent, SCMP_SYS(clone3));
  for (const std::uint64_t flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                   CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET})
    filter.refuse("clone", has(0, flag));

  // Scheduling and limits: one's own alone.
  for (const char* name :
       {"sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "prlimit64"})
    filter.refuse(name, is_not(0, 0));
  for (const char* name : {"setpriority", "ioprio_set"}) filter.refuse(name, is_not(1, 0));
  for (const int request : {TIOCSTI, TIOCLINUX})
    filter.refuse("ioctl", is(1, static_cast<std::uint64_t>(request)));

  if (!policy.signals_are_confined) confine_signals(filter);
  if (policy.only_program >= 0) {
    for (const char* name : kNotWhenAlone) filter.refuse(name);
    filter.refuse("clone", has(0, CLONE_THREAD, false));
    filter.refuse("execveat", is_not(0, static_cast<std::uint64_t>(policy.only_program)));
    filter.refuse("prlimit64", is_not(2, 0));  // the descriptor's number stays out of reach
  }
  for (int number = kFirstUnknown; number <= kLastUnknown; ++number)
    if (number != kMseal) filter.add(kAbsent, number);
  return filter.load();
}

}  // namespace hone::process
