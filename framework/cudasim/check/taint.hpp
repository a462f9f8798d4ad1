#pragma once

#include <cstdint>

#include "cudasim/check/access.hpp"
#include "cudasim/exec/machine.hpp"

namespace cudasim {

class Checker;
class InitShadow;
struct CheckedWarp;

/// Follows uninitialised values through the registers of a warp (initcheck): a bit for each lane
/// and register. A register is tainted when all the bytes of the element it was loaded from were
/// never written, so a value with some padding in it is not. What is computed from a tainted value
/// is tainted; a finding is made where one reaches an address, a branch, or a store to global
/// memory. A vector that is stored with some elements tainted is a copy of partly written data: its
/// taint goes on into memory and no finding is made.
class Taint {
 public:
  Taint(Checker& checker, Warp& warp, CheckedWarp& state, std::size_t index);

  void before_access(const Access& a, std::uint8_t* r, const Op& op, std::uint32_t mask,
                     const std::uint64_t* at) const;
  void after_access(const Access& a, std::uint8_t* r, const Op& op, std::uint32_t mask,
                    const std::uint64_t* at) const;
  void frame_access(const Access& a, const Op& op, std::uint32_t mask) const;
  void rows_load(const Op& op, const std::uint8_t* r) const;
  void exchange(const Op& op, Handler original, const std::uint8_t* r, std::uint32_t mask) const;
  void flow(const Op& op, std::uint32_t mask) const;
  void matrix_multiply(const Op& op) const;
  void addresses(std::uint32_t mask) const;
  void control(std::uint32_t mask) const;
  void clear_writes(std::uint32_t mask) const;
  void mark(std::uint64_t address, std::uint64_t bytes, bool initialized) const;
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) const;

 private:
  std::uint32_t& at(std::int32_t offset) const { return taint_[offset / 4]; }
  std::uint32_t reads() const;
  std::uint32_t guard() const;
  void write(std::int32_t offset, std::uint32_t mask, std::uint32_t lanes) const;
  /// Lanes whose element of `bytes` was never written.
  std::uint32_t unwritten(const std::uint64_t* addresses, std::uint32_t mask, std::uint64_t offset,
                          unsigned bytes) const;

  Checker& checker_;
  Warp& warp_;
  CheckedWarp& state_;
  std::size_t index_;
  std::uint32_t* taint_;
};

}  // namespace cudasim
