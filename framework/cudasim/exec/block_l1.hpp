#pragma once

#include <cstdint>
#include <vector>

namespace cudasim {

/// One block's share of its SM's L1: 128-byte lines of four 32-byte sectors. Lines are kept in two
/// generations; when half the capacity was taken anew, the older generation is gone: close to least
/// recently used. It sees the accesses of its own block alone, so the result depends neither on
/// the host's threads nor on which block runs when.
class BlockL1 {
 public:
  /// Local memory's line of four-byte word `word` of all lanes of a warp.
  static constexpr std::uint64_t local_line(std::uint32_t warp, std::uint64_t word) {
    return std::uint64_t{1} << 48 | std::uint64_t{warp} << 32 | word;
  }

  /// `origin`: start of the device's addresses, so that their place in the process doesn't matter.
  void resize(std::uint64_t bytes, std::uint64_t origin);
  void clear();

  /// Reads sectors (bits 0 to 3) of a line; returns those that were not there. They are now.
  [[gnu::always_inline]] std::uint32_t take(std::uint64_t line, std::uint32_t sectors) {
    line -= origin_;
    Entry& e = entries_[place(line)];
    if (e.key >> 4 == line && e.generation == generation_) [[likely]] {
      const auto missing = static_cast<std::uint32_t>(sectors & ~e.key);
      if (missing != 0) e.key |= sectors;
      return missing;
    }
    return take_slowly(line, sectors);
  }

 private:
  struct Entry {
    std::uint64_t key = ~std::uint64_t{0};  ///< line << 4 | sectors
    std::uint64_t generation = 0;
  };
  [[gnu::always_inline]] std::uint64_t place(std::uint64_t line) const {
    return (line ^ line >> 9 ^ line >> 18) & mask_;
  }
  std::uint32_t take_slowly(std::uint64_t line, std::uint32_t sectors);

  std::vector<Entry> entries_;
  std::uint64_t mask_ = 0;
  std::uint64_t origin_ = 0;
  std::uint64_t generation_ = 2;  ///< entries of this one and the one before are held
  std::uint32_t half_ = 1;        ///< lines of a generation
  std::uint32_t filled_ = 0;
};

}  // namespace cudasim
