#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace cudasim {

/// What is known to be done: for each stream, its work up to a number.
struct StreamClock {
  std::map<std::uint64_t, std::uint64_t> done;

  void join(const StreamClock& other) {
    for (const auto& [stream, number] : other.done) {
      auto& mine = done[stream];
      mine = std::max(mine, number);
    }
  }
  bool covers(std::uint64_t stream, std::uint64_t number) const {
    const auto at = done.find(stream);
    return at != done.end() && at->second >= number;
  }
};

/// Where a piece of a stream's work stands among all work.
struct StreamOrder {
  std::uint64_t stream = 0;
  std::uint64_t number = 0;  ///< in its stream, from 1; 0: work that is ordered with all other
  StreamClock before;        ///< what it comes after
  StreamClock host;          ///< what the host has waited for: all later work comes after that
};

}  // namespace cudasim
