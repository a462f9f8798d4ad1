#pragma once

// Included by the files that are compiled once for each instruction set, with CUDASIM_ISA naming
// the namespace that keeps them apart.
#include <emmintrin.h>

#include <limits>
#include <type_traits>
#include <utility>

#include "cudasim/exec/isa.hpp"

namespace cudasim::CUDASIM_ISA {

Handler arithmetic(const Key& key);
Handler float_arithmetic(const Key& key);
Handler compare_handler(const Key& key);
Handler convert(const Key& key);
Handler load(char space, unsigned bytes, bool sign, unsigned register_bytes, unsigned vector);
Handler store(char space, unsigned bytes, unsigned vector);

}  // namespace cudasim::CUDASIM_ISA
