#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cudasim/exec/launch.hpp"

namespace cudasim {

enum class Check : std::uint8_t { memcheck, racecheck, initcheck, synccheck, leakcheck, count_ };
std::string_view name_of(Check check);

/// A set of checks.
class Checks {
 public:
  /// Names separated by commas, or "all". Throws std::invalid_argument, which quotes the word that
  /// is no check and gives the known ones.
  static Checks parse(std::string_view text);
  bool has(Check check) const { return (bits_ >> static_cast<unsigned>(check) & 1) != 0; }
  void add(Check check) { bits_ |= 1u << static_cast<unsigned>(check); }
  bool any() const { return bits_ != 0; }
  /// Whether one of them looks at kernels while they run (leakcheck doesn't).
  bool any_in_kernels() const;
  unsigned bits() const { return bits_; }

 private:
  unsigned bits_ = 0;
};

/// "ascending", "descending" or "random:SEED" into the launch. Throws std::invalid_argument.
void parse_schedule(std::string_view text, BlockOrder& order, std::uint64_t& seed);

}  // namespace cudasim
