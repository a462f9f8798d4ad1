#pragma once

#include <cstddef>

#include "cudasim/check/access.hpp"
#include "cudasim/check/options.hpp"

namespace cudasim {

/// Replaces `op`, the copy of program.code[index], by one that the asked checks look at, where they
/// have to. `bounded`: its address is of a known shared variable.
void observe_operation(Checks checks, const Program& program, std::size_t index,
                       const Access& access, bool bounded, Op& op);

}  // namespace cudasim
