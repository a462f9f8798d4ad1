#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cudasim/ptx/type.hpp"

namespace cudasim {

/// PTX state spaces; generic is "none named".
enum class Space : std::uint8_t { generic, reg, param, local, shared, global, constant, texture };

/// One operand of an instruction.
struct Operand {
  enum class Kind : std::uint8_t {
    identifier,  ///< register, special register, variable, label or function; name holds it
    integer,     ///< value
    real32,      ///< 0f…: low 32 bits of value
    real64,      ///< 0d… or decimal: bits in value
    address,     ///< [base + value]; base in name (may be empty)
    vector,      ///< {a, b, …} in items
    list,        ///< (a, b, …) of a call, in items
    sink,        ///< _
    texture,     ///< [tex, sampler?, {coordinates}] in items
  };
  Kind kind = Kind::identifier;
  bool negated = false;  ///< !p
  std::string name;
  std::string dual;  ///< q of a p|q destination
  std::int64_t value = 0;
  std::vector<Operand> items;
};

struct SourceLine {
  int file = 0;  ///< .file index, 0 when unknown
  int line = 0;
};

/// One statement of a body: an instruction, or a label when root is empty.
struct Instruction {
  std::string root;                    ///< "ld"
  std::vector<std::string> modifiers;  ///< "global", "v4", "f32"
  std::string guard;                   ///< predicate's name, empty when none
  bool guard_negated = false;
  std::vector<Operand> operands;
  std::string label;  ///< for a label statement
  std::string text;   ///< as written, one line, for messages
  int line = 0;       ///< of the PTX text
  SourceLine source;
  std::vector<SourceLine> inlined;  ///< while parsing: callers of the inlined code, innermost first
  int scope = 0;                    ///< block scope, an index of Function scopes; 0 is the body

  bool has(std::string_view modifier) const;
};

/// `.reg`, `.local`, `.shared`, `.param`, `.global`/`.const` in a body; `.branchtargets`,
/// `.calltargets` and `.callprototype` too.
struct Declaration {
  enum class Kind : std::uint8_t { variable, branch_targets, call_prototype } kind = Kind::variable;
  Space space = Space::reg;
  Type type = Type::none;
  std::string name;
  int count = -1;  ///< r<count>: count registers name0 … ; -1: one of that name
  std::uint64_t size = 0;
  std::uint32_t align = 1;
  int scope = 0;
  int parent_scope = 0;
  std::vector<std::string> targets;        ///< labels of .branchtargets
  std::vector<std::uint32_t> param_sizes;  ///< of a prototype
  std::vector<std::uint32_t> param_aligns;
  std::vector<std::uint32_t> result_sizes;
  std::vector<std::uint32_t> result_aligns;
};

}  // namespace cudasim
