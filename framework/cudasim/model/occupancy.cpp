#include "cudasim/model/occupancy.hpp"

#include <algorithm>

#include "cudasim/model/h100.hpp"

namespace cudasim {
namespace {

std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint32_t warps_for_registers(std::uint32_t registers) {
  const std::uint32_t per_warp =
      round_up(std::max(registers, 1u) * h100::kWarpSize, h100::kRegisterUnit);
  return h100::kSchedulers * (h100::kRegistersPerSm / h100::kSchedulers / per_warp);
}

}  // namespace

Occupancy occupancy(const BlockNeeds& needs) {
  Occupancy result;
  if (needs.threads == 0 || needs.threads > h100::kMaxThreadsPerBlock) {
    result.limiter = "threads";
    return result;
  }
  const std::uint32_t warps = (needs.threads + h100::kWarpSize - 1) / h100::kWarpSize;
  const std::uint32_t shared =
      round_up(needs.shared_bytes + h100::kSharedReservedPerBlock, h100::kSharedUnit);
  struct Limit {
    std::uint32_t blocks;
    std::string_view name;
  };
  const Limit limits[] = {
      {h100::kMaxWarpsPerSm / warps, "threads"},
      {warps_for_registers(needs.registers) / warps, "registers"},
      {needs.shared_bytes > h100::kSharedPerBlockOptin ? 0 : h100::kSharedPerSm / shared,
       "shared memory"},
      {h100::kMaxBlocksPerSm, "blocks"},
  };
  const Limit& least = *std::ranges::min_element(limits, {}, &Limit::blocks);
  result.blocks_per_sm = least.blocks;
  result.limiter = least.name;
  result.warps_per_sm = least.blocks * warps;
  result.fraction = static_cast<double>(result.warps_per_sm) / h100::kMaxWarpsPerSm;
  return result;
}

CacheShare cache_share(const BlockNeeds& needs, std::uint64_t grid_blocks) {
  const std::uint64_t fit = std::max(1u, occupancy(needs).blocks_per_sm);
  const std::uint64_t busy =  // of the fullest SM
      std::clamp<std::uint64_t>((grid_blocks + h100::kSms - 1) / h100::kSms, 1, fit);
  const std::uint64_t shared =
      needs.shared_bytes == 0 ? 0 : busy * (needs.shared_bytes + h100::kSharedReservedPerBlock);
  std::uint64_t carveout = h100::kSharedPerSm;
  for (const std::uint32_t kib : {0, 8, 16, 32, 64, 100, 132, 164, 196}) {
    if (kib * 1024 >= shared) {
      carveout = kib * 1024;
      break;
    }
  }
  return {(h100::kL1AndSharedPerSm - carveout) / busy, fit * h100::kSms};
}

std::uint32_t max_threads_for_registers(std::uint32_t registers) {
  return std::min(h100::kMaxThreadsPerBlock, warps_for_registers(registers) * h100::kWarpSize);
}

}  // namespace cudasim
