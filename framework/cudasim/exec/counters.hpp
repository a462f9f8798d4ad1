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

  std::uint64_t branches = 0;            ///< warp-level executed branches
  std::uint64_t divergent_branches = 0;  ///< those that split their lanes

  std::uint64_t global_load_requests = 0, global_load_sectors = 0, global_load_bytes = 0;
  std::uint64_t global_store_requests = 0, global_store_sectors = 0, global_store_bytes = 0;
  std::uint64_t global_atomic_requests = 0, global_atomic_sectors = 0, global_atomic_lanes = 0;
  std::uint64_t global_reduction_lanes = 0;  ///< atomics whose result is unused, within the above
  std::uint64_t local_load_requests = 0, local_load_sectors = 0, local_load_bytes = 0;
  std::uint64_t local_store_requests = 0, local_store_sectors = 0, local_store_bytes = 0;
  std::uint64_t shared_load_requests = 0, shared_load_wavefronts = 0, shared_load_bytes = 0;
  std::uint64_t shared_store_requests = 0, shared_store_wavefronts = 0, shared_store_bytes = 0;
  std::uint64_t shared_atomic_requests = 0, shared_atomic_wavefronts = 0;
  std::uint64_t constant_requests = 0;

  std::uint64_t distinct_sectors_read = 0;     ///< different 32 B sectors of global memory read
  std::uint64_t distinct_sectors_written = 0;  ///< … written (stores and atomics)

  std::uint64_t barriers = 0;       ///< block barriers, counted once a warp
  std::uint64_t warp_barriers = 0;  ///< bar.warp.sync

  /// Compulsory DRAM traffic: each distinct sector once each way.
  std::uint64_t compulsory_bytes() const {
    return 32 * (distinct_sectors_read + distinct_sectors_written);
  }
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
