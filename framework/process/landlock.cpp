#include "process/landlock.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace hone::process {
namespace {

// The kernel's interface (Documentation/userspace-api/landlock.rst), of newer versions than the
// headers of a system may know.
struct Ruleset {
  std::uint64_t filesystem, network, scoped;
};
struct [[gnu::packed]] PathRule {
  std::uint64_t allowed;
  std::int32_t parent;
};
constexpr unsigned kVersion = 1;  // flag of landlock_create_ruleset
constexpr unsigned kPathBeneath = 1;

constexpr unsigned long bit(int n) { return 1UL << n; }
constexpr unsigned long kExecute = bit(0), kWriteFile = bit(1), kReadFile = bit(2),
                        kReadFolder = bit(3), kMakeDevices = bit(6) | bit(11), kTruncate = bit(14),
                        kIoctl = bit(15);
constexpr unsigned long kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctl;
constexpr std::uint64_t kTcp = bit(0) | bit(1);                // bind, connect
constexpr std::uint64_t kSocketsAndSignals = bit(0) | bit(1);  // to outside of the domain

/// File rights that a version knows: 13 at first, then refer, truncate and ioctl were added.
unsigned long rights_of(int version) {
  const int count = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
  return bit(count) - 1;
}

std::string failed(const std::string& what) { return what + ": " + std::strerror(errno); }

}  // namespace

int landlock_version() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

Landlock::~Landlock() {
  if (fd_ >= 0) ::close(fd_);
}

std::string Landlock::create(bool network) {
  const int version = landlock_version();
  handled_ = rights_of(version);
  const Ruleset ruleset{handled_, version >= 4 && !network ? kTcp : 0,
                        version >= 6 ? kSocketsAndSignals : 0};
  const std::size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  fd_ = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &ruleset, size, 0));
  return fd_ < 0 ? failed("Landlock") : "";
}

std::string Landlock::allow(const std::string& path, Access access) {
  const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) return failed("cannot open " + path);
  struct stat info {};
  ::fstat(fd, &info);
  unsigned long rights = kReadFile | kReadFolder | kExecute;
  if (access == Access::write) rights = ~(kMakeDevices | kIoctl | kExecute);
  if (access == Access::device) rights = kReadFile | kWriteFile | kTruncate | kIoctl;
  if (!S_ISDIR(info.st_mode)) rights &= kOfFiles;
  const PathRule rule{rights & handled_, fd};
  const long result = ::syscall(SYS_landlock_add_rule, fd_, kPathBeneath, &rule, 0);
  const std::string error = result != 0 ? failed("Landlock cannot allow " + path) : "";
  ::close(fd);
  return error;
}

std::string Landlock::enter() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("no_new_privs");
  return ::syscall(SYS_landlock_restrict_self, fd_, 0) != 0 ? failed("Landlock") : "";
}

}  // namespace hone::process
