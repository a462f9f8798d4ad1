#include "cudasim/check/clock.hpp"

#include <algorithm>

namespace cudasim {
namespace {

std::uint64_t key_of(std::uint32_t block, unsigned agent) {
  return std::uint64_t{block} << 8 | agent;
}

}  // namespace

void Clock::join(const Clock& other) {
  if (&other == this) return;
  for (const auto& [block, floor] : other.floors_) see_floor(block, floor);
  for (const auto& [key, clocks] : other.lanes_) {
    const auto [at, fresh] = lanes_.try_emplace(key, clocks);
    if (fresh) continue;
    for (std::size_t i = 0; i < clocks.size(); ++i)
      at->second[i] = std::max(at->second[i], clocks[i]);
  }
}

void Clock::see_floor(std::uint32_t block, std::uint32_t floor) {
  std::uint32_t& known = floors_[block];
  known = std::max(known, floor);
}

void Clock::see(std::uint32_t block, unsigned agent, unsigned lane, std::uint32_t clock) {
  std::uint32_t& known = lanes_of(block, agent)[lane];
  known = std::max(known, clock);
}

std::array<std::uint32_t, 32>& Clock::lanes_of(std::uint32_t block, unsigned agent) {
  return lanes_.try_emplace(key_of(block, agent)).first->second;
}

bool Clock::covers(std::uint32_t block, unsigned agent, std::uint32_t lanes,
                   std::uint32_t clock) const {
  if (empty()) return false;
  if (agent < 32) {
    const auto floor = floors_.find(block);
    if (floor != floors_.end() && clock < floor->second) return true;
  }
  const auto at = lanes_.find(key_of(block, agent));
  if (at == lanes_.end()) return false;
  for (; lanes != 0; lanes &= lanes - 1) {
    if (clock > at->second[static_cast<unsigned>(__builtin_ctz(lanes))]) return false;
  }
  return true;
}

}  // namespace cudasim
