#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/exec/counters.hpp"
#include "cudasim/model/occupancy.hpp"

namespace cudasim {

/// One resource's time for a launch.
struct BoundTerm {
  const char* name;  ///< "DRAM", "L2", "L1", "shared", "issue", "FP32", …
  double seconds;
};

/// The model bound of one launch: not a measured time. The counts are those of PTX, which is
/// close to, and not the same as, what ptxas makes of it.
struct Bound {
  double seconds = 0;
  std::string limiter;           ///< name of the term that decides
  std::vector<BoundTerm> terms;  ///< all of them, the launch term last
  double waves = 0;              ///< blocks over the blocks that are resident at once
  double tail = 1;  ///< waves / whole waves: below 1 some SMs are idle while the last wave runs
  Occupancy occupancy;
};

/// seconds = launch + max(terms), the form of the instruction roofline (Ding and Williams 2019)
/// with a latency term. All rates and their sources: h100.hpp.
///
/// FP32, FP64, half, INT, SFU, convert, shuffle: warp instructions of the class / (rate per clock
/// and SM), times the share of the busiest SM (ceil(blocks/132) of the blocks), over the clock.
/// issue: all instructions but moves and address conversions, which ptxas mostly removes.
/// tensor: work in FP16 operations over the rate that mma.sync reaches.
/// ld/st: one memory request a clock and SM. shared: one wavefront (a pass of all banks) a clock.
/// L1: four sectors a clock. L2: sectors that L1 doesn't hold, stores, and atomics twice, at L2's
/// bandwidth, and at 64 bytes a clock for the busiest SM. DRAM: sectors that a 50 MiB L2 doesn't
/// hold. atomic: the turns that the most contended sector takes, one a clock.
/// latency: waves of resident blocks, each as long as one warp's instructions, loads, atomics with
/// a result and barriers take with the parallelism that h100.hpp assumes; it decides when too few
/// warps or bytes in flight hide the latencies.
Bound bound(const Counters& counters, const BlockNeeds& needs);

/// Copies and fills, in seconds: over the host link, or twice through (once into) device memory.
double copy_bound(std::uint64_t bytes, bool over_host_link);
double fill_bound(std::uint64_t bytes);

}  // namespace cudasim
