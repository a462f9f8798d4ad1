#pragma once

#include <array>
#include <cstdint>

#include "cudasim/exec/machine.hpp"
#include "cudasim/memory/image.hpp"

namespace cudasim {

/// The sectors that one texture or surface operation of a warp touches. In linear memory they are
/// those of the addresses; an array is taken as tiled, a 32 B sector as 16 B of two rows, so that
/// neighbours in both directions share one (a GPU's block-linear arrays: 64 B x 8 rows of such
/// sectors; the order of the tiles changes no count but that of 128 B lines).
class TexelTrace {
 public:
  TexelTrace(Warp& warp, const Op& op, bool store) : warp_(warp), op_(op), store_(store) {}

  /// A lane touches `bytes` at `texel`, in memory of the image.
  void add(const Image& image, const std::uint8_t* texel, unsigned bytes);
  /// Counts the request, its sectors, what L1 held and what L2 must bring; once, at the end.
  void count();

 private:
  void flush();

  Warp& warp_;
  const Op& op_;
  bool store_;
  const Image* image_ = nullptr;
  const Window* window_ = nullptr;
  bool tiled_ = false;
  std::uint64_t bytes_ = 0;
  unsigned n_ = 0;
  std::array<std::uint64_t, 8 * kWarpSize> sectors_;  ///< eight corners of a linear 3D filter
};

}  // namespace cudasim
