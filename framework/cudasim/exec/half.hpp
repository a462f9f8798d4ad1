#pragma once

#include <bit>
#include <cstdint>

namespace cudasim {

inline float half_to_float(std::uint16_t h) {
  const std::uint32_t magnitude = h & 0x7fffu;
  const std::uint32_t u = magnitude >= 0x7c00u
                              ? (magnitude << 13) | 0x7f800000u
                              : std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) *
                                                             std::bit_cast<float>(0x77800000u));
  return std::bit_cast<float>(u | static_cast<std::uint32_t>(h & 0x8000u) << 16);
}

/// To nearest even; NaN becomes 0x7fff.
inline std::uint16_t float_to_half(float f) {
  const auto u = std::bit_cast<std::uint32_t>(f);
  const auto sign = static_cast<std::uint16_t>(u >> 16 & 0x8000u);
  const std::uint32_t x = u & 0x7fffffffu;
  if (x > 0x7f800000u) return 0x7fff;
  if (x >= 0x477ff000u) return sign | 0x7c00u;
  if (x < 0x38800000u)
    return static_cast<std::uint16_t>(
        sign | (std::bit_cast<std::uint32_t>(std::bit_cast<float>(x) + 0.5f) - 0x3f000000u));
  return static_cast<std::uint16_t>(sign | ((x - 0x38000000u + 0xfffu + (x >> 13 & 1u)) >> 13));
}

}  // namespace cudasim
