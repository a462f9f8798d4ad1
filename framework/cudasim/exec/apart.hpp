#pragma once

#include "cudasim/exec/machine.hpp"

namespace cudasim {

/// Lanes that wait at one kind of warp exchange (shfl, vote, match, redux, elect) with one member
/// mask, but at different places, carry it out together, as the PTX ISA says of .sync. False when
/// no mask is complete.
bool exchange_apart(Warp& warp);

}  // namespace cudasim
