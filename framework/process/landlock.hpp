#pragma once
#include <string>

namespace hone::process {

/// Version of Landlock's interface in this kernel; 0 where there is none.
int landlock_version();

/// What a file or folder is opened to. `device` also takes ioctl.
enum class Access { read, write, device };

/// A Landlock domain in the making: once entered, this process and its descendants reach only what
/// was allowed, for ever.
class Landlock {
 public:
  Landlock() = default;
  ~Landlock();
  Landlock(const Landlock&) = delete;
  Landlock& operator=(const Landlock&) = delete;

  /// Each returns why it failed, or "". `network` leaves TCP alone.
  std::string create(bool network);
  std::string allow(const std::string& path, Access access);
  std::string enter();

 private:
  int fd_ = -1;
  unsigned long handled_ = 0;
};

}  // namespace hone::process
