#pragma once

#include <vector>

#include "cudasim/exec/machine.hpp"

namespace cudasim {

/// Traffic between L2 and DRAM, counted without an order of accesses, so that any number of host
/// threads finds the same. The blocks of a launch, in ascending order, are parted into phases, one
/// or more whole waves each. Within a phase a sector comes from DRAM once. A sector that an earlier
/// phase touched is still in L2 when everything touched since, that phase included, fits in 50 MiB.
/// So reuse over a long time within one phase is credited: the bytes are a lower bound.

/// Phases of a launch; 1 where all of the device's live memory fits in L2.
std::uint32_t count_phases(const LaunchState& launch);
/// The phase of a block.
std::uint32_t phase_of(const LaunchState& launch, std::uint64_t block);

/// Adds the distinct sectors, the DRAM sectors and the hottest sector of atomics.
void count_traffic(const std::vector<Worker*>& workers, std::uint32_t phases, Counters& counters);

}  // namespace cudasim
