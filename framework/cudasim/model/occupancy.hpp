#pragma once
#include <cstdint>
#include <string_view>

namespace cudasim {

/// What one block of a kernel takes.
struct BlockNeeds {
  std::uint32_t threads = 0;
  std::uint32_t registers = 0;     ///< per thread
  std::uint32_t shared_bytes = 0;  ///< static and dynamic
};

struct Occupancy {
  std::uint32_t blocks_per_sm = 0;  ///< 0: one block alone does not fit
  std::uint32_t warps_per_sm = 0;
  double fraction = 0;       ///< of 64 warps
  std::string_view limiter;  ///< "blocks", "threads", "registers" or "shared memory"
};

/// Resident blocks of one SM of H100, by the rules of NVIDIA's occupancy calculator: warps are
/// spread over four partitions of 16 384 registers, registers come in units of 256 a warp, shared
/// memory in units of 128 bytes with 1 024 bytes kept for the system in each block.
Occupancy occupancy(const BlockNeeds& needs);

/// Most threads a block can have at this register count.
std::uint32_t max_threads_for_registers(std::uint32_t registers);

}  // namespace cudasim
