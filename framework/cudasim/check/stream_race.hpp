#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cudasim/check/finding.hpp"
#include "cudasim/check/race_shadow.hpp"
#include "cudasim/check/stream_order.hpp"
#include "cudasim/exec/machine.hpp"

namespace cudasim {

/// Work that touched device memory: a kernel, or a copy or fill of the host's.
struct StreamParty {
  StreamOrder order;
  std::shared_ptr<const void> keep;  ///< of `program`
  const Program* program = nullptr;  ///< null: no kernel
  Dim3 grid, block;
  const DeviceMemory* memory = nullptr;
};

/// What earlier work that isn't known to be over did to one allocation.
struct StreamHistory {
  static constexpr std::size_t kMost = 6;  ///< older ones are forgotten
  struct Past {
    std::shared_ptr<const StreamParty> party;
    std::unique_ptr<RaceShadow> shadow;  ///< of a kernel
    std::uint64_t begin = 0, end = 0;    ///< of a copy or fill
    bool write = false;
  };
  std::vector<Past> past;

  /// Drops what all later work comes after and makes room for one more.
  void prune(const StreamOrder& now);
};

/// A place in a kernel.
Place place_in(const Program& program, const Dim3& grid, const Dim3& block, std::uint64_t number,
               unsigned warp, unsigned lane, std::uint32_t pc, std::string access);

/// Compares what a kernel did to an allocation (`shadow`) with the work before it that nothing
/// orders, and adds a finding for each such piece of work that it disturbs or is disturbed by.
void find_stream_races(const StreamHistory& history, const StreamParty& party, RaceShadow& shadow,
                       Findings& findings);
/// The same for a copy or fill of [begin, end).
void find_stream_races(const StreamHistory& history, const StreamParty& party, std::uint64_t begin,
                       std::uint64_t end, bool write, Findings& findings);

}  // namespace cudasim
