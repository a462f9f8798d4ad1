#pragma once

#include <cstdint>

namespace cudasim {

/// Which bytes of a range of memory were written: a bit each, kept beside it. Bits of bytes that
/// several host threads touch are set atomically.
class InitShadow {
 public:
  InitShadow(std::uint64_t base, std::uint64_t bytes, bool initialized);
  ~InitShadow();
  InitShadow(const InitShadow&) = delete;
  InitShadow& operator=(const InitShadow&) = delete;

  std::uint64_t base() const { return base_; }
  bool always() const { return always_; }  ///< nothing to keep: all of it counts as written
  /// Marks bytes as written or not.
  void set(std::uint64_t address, std::uint64_t bytes, bool initialized);
  /// How many of the bytes were written.
  std::uint64_t count(std::uint64_t address, std::uint64_t bytes) const;
  bool written(std::uint64_t address) const {
    const std::uint64_t i = address - base_;
    return always_ || (bits_[i >> 6] >> (i & 63) & 1) != 0;
  }

 private:
  std::uint64_t base_, bytes_, mapped_ = 0;
  bool always_;
  std::uint64_t* bits_ = nullptr;
};

}  // namespace cudasim
