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
  Occupancy occupancy;
};

/// seconds = launch + max(terms).
///
/// Pipe terms: warp instructions of the class / (rate per clock and SM), times the share of the
/// busiest SM (ceil(blocks/132) of the blocks), over the clock. `issue` counts all instructions
/// but moves and address conversions, which ptxas mostly removes.
/// DRAM: each distinct 32-byte sector once each way over the peak bandwidth.
/// L2: every requested sector, with no reuse in L1 credited; atomics count twice.
/// latency: waves of resident blocks, each as long as one warp's instructions and loads take with
/// the parallelism assumed in h100.hpp; it decides when too few warps hide the latencies.
Bound bound(const Counters& counters, const BlockNeeds& needs);

/// Copies and fills, in seconds: over the host link, or twice through (once into) device memory.
double copy_bound(std::uint64_t bytes, bool over_host_link);
double fill_bound(std::uint64_t bytes);

}  // namespace cudasim
