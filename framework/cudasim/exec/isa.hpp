#pragma once

#include <string_view>

#include "cudasim/exec/op.hpp"
#include "cudasim/ptx/type.hpp"

namespace cudasim {

/// What selects the handler of a lane-wise operation.
struct Key {
  std::string_view op;     ///< root, e.g. "add"; with a variant where roots differ: "mul.hi"
  Type type = Type::none;  ///< instruction type; conversions: destination
  Type from = Type::none;  ///< conversions, set, slct: source
  char rounding = 0;       ///< 'n', 'z', 'm', 'p', 'a' (rna); for integer rounding too
  bool integer_rounding = false;
  bool ftz = false, sat = false, approx = false, nan = false, relu = false, full = false;
  bool xorsign = false, abs = false, satfinite = false;
  std::string_view compare;  ///< setp, set: "lt", "geu" …
  std::string_view mode;     ///< and/or/xor combination; other variants
};

/// Handlers compiled for one instruction set of the host.
struct Isa {
  Handler (*arithmetic)(const Key&);  ///< nullptr when there is none
  Handler (*convert)(const Key&);
  /// ld/st: space 'g' (global, generic, const, param by address), 's' shared, 'l' local; element
  /// bytes and its register's bytes; sign extension; vector length.
  Handler (*load)(char space, unsigned bytes, bool sign, unsigned register_bytes, unsigned vector);
  Handler (*store)(char space, unsigned bytes, unsigned vector);
};

/// The best one that this CPU runs; CUDASIM_ISA=base takes the plain one.
const Isa& host_isa();

}  // namespace cudasim
