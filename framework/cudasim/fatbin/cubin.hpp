#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace cudasim {

/// What ptxas decided about one kernel; -1: not told.
struct KernelFacts {
  int registers = -1;     ///< per thread
  int frame_bytes = -1;   ///< local memory per thread: stack and spills
  int shared_bytes = -1;  ///< static shared memory of a block
};

/// Reads ptxas's figures from a cubin's .nv.info and section sizes, by kernel name. A damaged
/// cubin yields fewer figures, never an error: they only sharpen the occupancy.
std::map<std::string, KernelFacts> read_cubin(std::span<const std::byte> elf);

}  // namespace cudasim
