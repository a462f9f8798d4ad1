#include "cudasim/exec/block_l1.hpp"

#include <algorithm>
#include <bit>

namespace cudasim {
namespace {

constexpr std::uint64_t kLineBytes = 128;
constexpr std::uint64_t kWays = 8;  ///< places where a line may lie
constexpr std::uint64_t kFewestLines = 4;

}  // namespace

void BlockL1::resize(std::uint64_t bytes, std::uint64_t origin) {
  const std::uint64_t lines = std::max(bytes / kLineBytes, kFewestLines);
  half_ = static_cast<std::uint32_t>(lines / 2);
  entries_.assign(std::bit_ceil(std::max(2 * lines, kWays)), Entry{});
  mask_ = entries_.size() - 1;
  origin_ = origin / kLineBytes;
}

void BlockL1::clear() {
  generation_ += 2;
  filled_ = 0;
}

std::uint32_t BlockL1::take_slowly(std::uint64_t line, std::uint32_t sectors) {
  const std::uint64_t first = place(line), key = line & ~std::uint64_t{0} >> 4;
  Entry* chosen = nullptr;  // the line's own, else the first free one, else the oldest
  std::uint32_t missing = sectors;
  bool found = false;
  for (std::uint64_t way = 0; way < kWays; ++way) {
    Entry& e = entries_[(first + way) & mask_];
    const bool free = e.generation + 1 < generation_;
    found = !free && e.key >> 4 == key;
    if (found) {
      missing = static_cast<std::uint32_t>(sectors & ~e.key);
      e.key |= sectors;
      if (e.generation == generation_) return missing;
    }
    if (found || free || chosen == nullptr || e.generation < chosen->generation) chosen = &e;
    if (found || free) break;
  }
  if (!found) chosen->key = line << 4 | sectors;
  chosen->generation = generation_;
  if (++filled_ >= half_) {
    filled_ = 0;
    ++generation_;
  }
  return missing;
}

}  // namespace cudasim
