#pragma once

#include <cstdint>
#include <string_view>

namespace cudasim {

/// PTX fundamental types. b128 is a 16-byte register.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f32,
  f64,
  bf16,
  tf32,
  f16x2,
  bf16x2,
  u16x2,
  s16x2,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e2m1,
  e2m1x2,
  e2m3,
  e3m2,
  e2m3x2,
  e3m2x2,
  ue8m0,
  ue8m0x2,
  s4,
  u4,
  b1,
  s2,
  u2,
};

/// Bytes of a register of this type (pred: 0; x2 of 8-bit floats: 2).
std::uint32_t type_bytes(Type type);
/// Type of a modifier such as "u32"; Type::none when the word is no type.
Type type_from_name(std::string_view word);
std::string_view type_name(Type type);

}  // namespace cudasim
