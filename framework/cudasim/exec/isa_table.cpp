// The table of one instruction set.
#include "cudasim/exec/isa_parts.hpp"

namespace cudasim::CUDASIM_ISA {

extern const Isa kTable;
const Isa kTable = {arithmetic, convert, load, store};

}  // namespace cudasim::CUDASIM_ISA
