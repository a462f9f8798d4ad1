#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

namespace cudasim {

/// What is known to have happened: a vector clock, compressed. Each warp has a clock that its
/// synchronising operations advance. For a block a floor says that all its accesses with a lower
/// clock are known; beyond it single lanes of an agent are known up to a clock. Agents 0 to 31 are
/// the block's warps, 32 to 63 the cp.async copies of each warp's lanes, 64 to 95 their bulk
/// copies.
class Clock {
 public:
  void join(const Clock& other);
  void see_floor(std::uint32_t block, std::uint32_t floor);
  void see(std::uint32_t block, unsigned agent, unsigned lane, std::uint32_t clock);
  /// Whether the accesses of all the lanes at `clock` are known.
  bool covers(std::uint32_t block, unsigned agent, std::uint32_t lanes, std::uint32_t clock) const;
  /// The clocks known of the agent's lanes, to be raised.
  std::array<std::uint32_t, 32>& lanes_of(std::uint32_t block, unsigned agent);
  bool empty() const { return floors_.empty() && lanes_.empty(); }
  void clear() {
    if (empty()) return;
    floors_.clear();
    lanes_.clear();
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> floors_;
  std::unordered_map<std::uint64_t, std::array<std::uint32_t, 32>> lanes_;
};

}  // namespace cudasim
