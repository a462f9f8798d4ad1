#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/exec/launch.hpp"
#include "cudasim/model/bound.hpp"

namespace cudasim {

/// All launches of one kernel.
struct KernelSummary {
  std::string name;  ///< demangled
  Dim3 grid, block;  ///< these two and the next of the latest launch
  std::uint32_t registers = 0, static_shared = 0, dynamic_shared = 0, local_bytes = 0;
  Counters counters;             ///< summed
  double seconds = 0;            ///< model bound, summed
  std::vector<BoundTerm> terms;  ///< summed
  std::string limiter;
  Occupancy occupancy;  ///< of the latest launch, as are waves and tail
  double waves = 0, tail = 1;
};

/// A text in the manner of Nsight Compute's speed-of-light section: for each kernel the model bound
/// and what limits it, the share that each resource takes of it, occupancy, and the counters that
/// explain them. `colours`: with escape sequences of a terminal.
std::string table(const std::vector<KernelSummary>& kernels, bool colours);

}  // namespace cudasim
