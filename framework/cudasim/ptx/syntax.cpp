#include "cudasim/ptx/syntax.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cudasim {
namespace {

struct TypeEntry {
  std::string_view name;
  Type type;
  std::uint32_t bytes;
};

constexpr std::array kTypes = {
    TypeEntry{"", Type::none, 0},         TypeEntry{"pred", Type::pred, 0},
    TypeEntry{"b8", Type::b8, 1},         TypeEntry{"b16", Type::b16, 2},
    TypeEntry{"b32", Type::b32, 4},       TypeEntry{"b64", Type::b64, 8},
    TypeEntry{"b128", Type::b128, 16},    TypeEntry{"u8", Type::u8, 1},
    TypeEntry{"u16", Type::u16, 2},       TypeEntry{"u32", Type::u32, 4},
    TypeEntry{"u64", Type::u64, 8},       TypeEntry{"s8", Type::s8, 1},
    TypeEntry{"s16", Type::s16, 2},       TypeEntry{"s32", Type::s32, 4},
    TypeEntry{"s64", Type::s64, 8},       TypeEntry{"f16", Type::f16, 2},
    TypeEntry{"f32", Type::f32, 4},       TypeEntry{"f64", Type::f64, 8},
    TypeEntry{"bf16", Type::bf16, 2},     TypeEntry{"tf32", Type::tf32, 4},
    TypeEntry{"f16x2", Type::f16x2, 4},   TypeEntry{"bf16x2", Type::bf16x2, 4},
    TypeEntry{"u16x2", Type::u16x2, 4},   TypeEntry{"s16x2", Type::s16x2, 4},
    TypeEntry{"e4m3", Type::e4m3, 1},     TypeEntry{"e5m2", Type::e5m2, 1},
    TypeEntry{"e4m3x2", Type::e4m3x2, 2}, TypeEntry{"e5m2x2", Type::e5m2x2, 2},
    TypeEntry{"e2m1", Type::e2m1, 1},     TypeEntry{"e2m1x2", Type::e2m1x2, 1},
    TypeEntry{"e2m3", Type::e2m3, 1},     TypeEntry{"e3m2", Type::e3m2, 1},
    TypeEntry{"e2m3x2", Type::e2m3x2, 2}, TypeEntry{"e3m2x2", Type::e3m2x2, 2},
    TypeEntry{"ue8m0", Type::ue8m0, 1},   TypeEntry{"ue8m0x2", Type::ue8m0x2, 2},
    TypeEntry{"s4", Type::s4, 1},         TypeEntry{"u4", Type::u4, 1},
    TypeEntry{"b1", Type::b1, 1},         TypeEntry{"s2", Type::s2, 1},
    TypeEntry{"u2", Type::u2, 1},
};

}  // namespace

std::uint32_t type_bytes(Type type) { return kTypes[static_cast<std::size_t>(type)].bytes; }

Type type_from_name(std::string_view word) {
  for (const TypeEntry& entry : kTypes) {
    if (entry.name == word && !word.empty()) return entry.type;
  }
  return Type::none;
}

std::string_view type_name(Type type) { return kTypes[static_cast<std::size_t>(type)].name; }

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

}  // namespace cudasim
