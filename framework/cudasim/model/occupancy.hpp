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

/// What the blocks of a launch have of the caches.
struct CacheShare {
  std::uint64_t l1_bytes_per_block = 0;
  std::uint64_t resident_blocks = 0;  ///< of the whole device, at once
};

/// L1 and shared memory are one array of 256 KiB an SM; the driver cuts off the smallest of the
/// carve-outs 0, 8, 16, 32, 64, 100, 132, 164, 196 and 228 KiB that holds the resident blocks'
/// shared memory (CUDA programming guide, compute capability 9.0), and the blocks share the rest.
CacheShare cache_share(const BlockNeeds& needs, std::uint64_t grid_blocks);

/// Most threads a block can have at this register count.
std::uint32_t max_threads_for_registers(std::uint32_t registers);

}  // namespace cudasim
