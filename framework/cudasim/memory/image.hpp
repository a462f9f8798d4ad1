#pragma once
#include <cstdint>

#include "cudasim/memory/memory.hpp"

namespace cudasim {

/// What a texture or surface object stands for: its 64-bit handle is the address of one of these,
/// in a region of kind `image`. Texels lie row by row: element (x, y, z) of level 0 is at
/// base + z * slice + y * pitch + x * element_bytes; a layer or a cube face is a z.
struct Image {
  enum class Shape : std::uint8_t { linear, one, two, three, one_layered, two_layered, cube };
  enum class Channel : std::uint8_t { signed_int, unsigned_int, floating };
  enum class Address : std::uint8_t { wrap, clamp, mirror, border };

  std::uint64_t base = 0;
  std::uint64_t width = 0, height = 0, depth = 0;  ///< in elements; 0 where there is no such axis
  std::uint64_t pitch = 0, slice = 0;              ///< bytes
  std::uint32_t element_bytes = 0;
  std::uint8_t channels = 1;       ///< 1, 2 or 4 as stored
  std::uint8_t channel_bytes = 4;  ///< 1, 2 or 4; floats of 2 are half
  Channel channel = Channel::floating;
  Shape shape = Shape::two;
  Address address[3] = {Address::clamp, Address::clamp, Address::clamp};
  bool linear_filter = false;
  bool normalized_coordinates = false;
  bool normalized_read = false;  ///< 8- and 16-bit integers are read as floats in [0,1] or [-1,1]
  bool srgb = false;
  float border[4] = {0, 0, 0, 0};
};

/// The image behind a texture or surface handle, or null when the handle is not one.
inline const Image* find_image(const DeviceMemory& memory, std::uint64_t handle) noexcept {
  const Region* region = memory.find(handle);
  if (region == nullptr || region->kind != RegionKind::image || region->base != handle) {
    return nullptr;
  }
  return reinterpret_cast<const Image*>(handle);
}

}  // namespace cudasim
