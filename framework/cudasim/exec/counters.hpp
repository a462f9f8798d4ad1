#pragma once

#include <cstdint>

namespace cudasim {

/// Exact counts of one launch (or, merged, of several). Deterministic unless a kernel's own control
/// flow depends on timing. "Requests" are warp-level memory instructions, "sectors" are 32 bytes.
struct Counters {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t warps = 0;
  std::uint64_t threads = 0;

  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions =
      0;  ///< sum of lanes that executed (predicated-off ones aside)

  /// Warp instructions by pipe.
  std::uint64_t warp_fp32 = 0, warp_fp64 = 0, warp_half = 0, warp_tensor = 0, warp_int = 0,
                warp_sfu = 0, warp_convert = 0, warp_move = 0, warp_control = 0, warp_load = 0,
                warp_store = 0, warp_atomic = 0, warp_sync = 0, warp_shuffle = 0, warp_texture = 0,
                warp_other = 0;
  /// Thread instructions by pipe.
  std::uint64_t thread_fp32 = 0, thread_fp64 = 0, thread_half = 0, thread_tensor = 0,
                thread_int = 0, thread_sfu = 0, thread_convert = 0, thread_move = 0,
                thread_control = 0, thread_load = 0, thread_store = 0, thread_atomic = 0,
                thread_sync = 0, thread_shuffle = 0, thread_texture = 0, thread_other = 0;

  /// Floating-point operations: fma counts 2, packed x2 counts both, mma counts 2*m*n*k.
  std::uint64_t flops_fp32 = 0, flops_fp64 = 0, flops_half = 0, flops_tensor = 0,
                ops_tensor_int = 0;
  /// The tensor cores' work in FP16 operations that take as long: tf32 twice its count, f64 16
  /// times, 8-bit types half, 4-bit a quarter, 1-bit an eighth.
  std::uint64_t tensor_work = 0;

  std::uint64_t branches = 0;            ///< warp-level executed branches
  std::uint64_t divergent_branches = 0;  ///< those that split their lanes

  std::uint64_t global_load_requests = 0, global_load_sectors = 0, global_load_bytes = 0;
  std::uint64_t global_store_requests = 0, global_store_sectors = 0, global_store_bytes = 0;
  std::uint64_t global_atomic_requests = 0, global_atomic_sectors = 0, global_atomic_lanes = 0;
  std::uint64_t global_reduction_lanes = 0;  ///< atomics whose result is unused, within the above
  /// Turns that atomics take: within a request lanes that meet at one word go one after the other,
  /// different words of a sector together. The hottest is the most turns that any one sector
  /// served.
  std::uint64_t global_atomic_passes = 0, hottest_atomic_passes = 0;
  std::uint64_t local_load_requests = 0, local_load_sectors = 0, local_load_bytes = 0;
  std::uint64_t local_store_requests = 0, local_store_sectors = 0, local_store_bytes = 0;
  std::uint64_t shared_load_requests = 0, shared_load_wavefronts = 0, shared_load_bytes = 0;
  std::uint64_t shared_store_requests = 0, shared_store_wavefronts = 0, shared_store_bytes = 0;
  std::uint64_t shared_atomic_requests = 0, shared_atomic_wavefronts = 0;
  std::uint64_t constant_requests = 0;

  std::uint64_t distinct_sectors_read = 0;     ///< different 32 B sectors of global memory read
  std::uint64_t distinct_sectors_written = 0;  ///< … written (stores and atomics)
  /// Sectors of the above requests that the block's share of L1 held: see block_l1.hpp.
  std::uint64_t l1_hit_sectors = 0, local_l1_hit_sectors = 0;
  /// Sectors that a 50 MiB L2 fetches from and writes back to DRAM: see traffic.hpp.
  std::uint64_t dram_read_sectors = 0, dram_write_sectors = 0;

  /// cp.async: requests (within global_load_requests), waits of warps, and the groups that those
  /// waits left in flight.
  std::uint64_t async_copy_requests = 0, async_waits = 0, async_groups_left = 0;

  std::uint64_t barriers = 0;       ///< block barriers, counted once a warp
  std::uint64_t warp_barriers = 0;  ///< bar.warp.sync

  /// Sectors between the SMs and L2; an atomic moves its sector there and back.
  std::uint64_t l2_sectors() const {
    return global_load_sectors - l1_hit_sectors + global_store_sectors + 2 * global_atomic_sectors +
           local_load_sectors + local_store_sectors - local_l1_hit_sectors;
  }
  std::uint64_t dram_bytes() const { return 32 * (dram_read_sectors + dram_write_sectors); }
  /// Adds all counts.
  void merge(const Counters& other);
};

/// Calls visit(name, count) for each counter, in the order above.
template <typename Visit>
void for_each_counter(Counters& c, Visit&& visit) {
#define CUDASIM_COUNTER(name) visit(#name, c.name);
#include "cudasim/exec/counters.inc"
#undef CUDASIM_COUNTER
}

}  // namespace cudasim
