#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "cudasim/check/options.hpp"
#include "cudasim/exec/launch.hpp"

namespace cudasim {

/// A C++ name as people write it; what is no mangled name is given back.
std::string demangled(const std::string& name);

/// Where a thread was when it did something.
struct Place {
  std::string access;  ///< "read", "write", "atomic" …; empty where it is no memory access
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::string instruction;  ///< PTX text
  int ptx_line = 0;
  std::string file;  ///< from .loc, empty without -lineinfo
  int line = 0;
};

/// One fault of a program.
struct Finding {
  Check check{};
  std::string kind;      ///< e.g. "out-of-bounds", "race", "uninitialized", "leak"
  bool warning = false;  ///< a hazard of lower rank: no error
  std::string message;
  std::string kernel;  ///< mangled; empty for the host's faults
  Place at;
  bool has_other = false;
  Place other;  ///< races: the other side
  std::uint64_t address = 0;
  std::string space;       ///< "global", "shared", "local"; empty when there is no address
  std::string allocation;  ///< of the address: size, number, where it was allocated
  std::uint64_t count = 1;

  std::string text() const;
  std::string json() const;  ///< one line
};

/// The findings of a process, one for each place. Thread-safe.
class Findings {
 public:
  static constexpr std::size_t kMost = 1000;  ///< different ones that are kept

  /// Adds one; a second at the same place only counts.
  void add(Finding finding);
  /// Those that came since the last call, with their counts so far.
  std::vector<Finding> take_new();
  std::vector<Finding> all() const;
  std::uint64_t errors() const;    ///< occurrences
  std::uint64_t warnings() const;  ///< occurrences
  std::string summary_json() const;
  std::string summary_text() const;

 private:
  using Key = std::tuple<Check, std::string, bool, std::string, std::string, int, std::string, int,
                         std::uint64_t>;
  mutable std::mutex mutex_;
  std::map<Key, std::size_t> index_;
  std::vector<Finding> findings_;
  std::size_t taken_ = 0;
  std::uint64_t errors_ = 0, warnings_ = 0, dropped_ = 0;
};

}  // namespace cudasim
