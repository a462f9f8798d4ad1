#pragma once
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace hone::process {

/// A shell command that sleeps for hours and that no other process of tests runs: the same tests
/// may run beside us in another tier of the sandbox.
inline std::string marked_sleep() {
  static const std::string seconds = "47110." + std::to_string(::getpid());
  return "sleep " + seconds;
}

/// Whether a process anywhere runs it.
inline bool marked_sleep_runs() {
  std::string wanted = marked_sleep() + '\0';
  std::replace(wanted.begin(), wanted.end(), ' ', '\0');
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ec)) {
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    const std::string line{std::istreambuf_iterator<char>(in), {}};
    if (line == wanted) return true;
  }
  return false;
}

}  // namespace hone::process
