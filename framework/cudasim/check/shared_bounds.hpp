#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/exec/machine.hpp"

namespace cudasim {

/// The shared variable that an operation's address is derived from, by its place in the block's
/// shared memory; `name` is null where that isn't known.
struct SharedBound {
  const std::string* name = nullptr;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;  ///< 0: the end of the block's shared memory (extern __shared__)
};

/// For each operation of the program that loads or stores by address. An address is derived from a
/// variable when every definition that reaches it moves the variable's address and adds numbers.
std::vector<SharedBound> shared_bounds(const Program& program);

}  // namespace cudasim
