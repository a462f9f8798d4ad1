#include "cudasim/exec/texel_trace.hpp"

#include <algorithm>
#include <bit>

namespace cudasim {

void TexelTrace::add(const Image& image, const std::uint8_t* texel, unsigned bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(texel);
  if (&image != image_) {
    flush();
    image_ = &image;
    window_ = resolve(warp_, op_, image.base, 1);
    const Region* region = warp_.worker->launch->memory->find(image.base);
    tiled_ = region != nullptr && region->kind == RegionKind::array && image.pitch % 16 == 0 &&
             image.pitch != 0;
  }
  bytes_ += bytes;
  if (window_ == nullptr || address - window_->base >= window_->size) return;
  if (n_ == sectors_.size()) flush();
  std::uint64_t sector = address >> 5;
  if (tiled_) {
    const std::uint64_t offset = address - image.base, row = offset / image.pitch,
                        tile = row / 2 * (image.pitch / 16) + offset % image.pitch / 16;
    // The second half of a last odd row's tiles lies beyond the memory: it keeps its own place.
    if ((tile + 1) * 32 <= window_->size) sector = (image.base >> 5) + tile;
  }
  if (n_ == 0 || sectors_[n_ - 1] != sector) sectors_[n_++] = sector;
}

void TexelTrace::flush() {
  std::sort(sectors_.begin(), sectors_.begin() + n_);
  const auto end = std::unique(sectors_.begin(), sectors_.begin() + n_);
  Counters& c = warp_.worker->counters;
  (store_ ? c.global_store_sectors : c.global_load_sectors) +=
      static_cast<std::uint64_t>(end - sectors_.begin());
  for (auto at = sectors_.begin(); at != end;) {
    const std::uint64_t line = *at >> 2;
    std::uint32_t touched = 0;
    for (; at != end && *at >> 2 == line; ++at) touched |= 1u << (*at & 3);
    std::uint32_t missing = touched;
    if (!store_) {
      missing = warp_.block->l1.take(line, touched);
      c.l1_hit_sectors += static_cast<std::uint64_t>(std::popcount(touched & ~missing));
    }
    std::uint64_t* map = store_ ? window_->written_bits : window_->read_bits;
    const std::uint64_t place = (line << 2) - window_->sector0;
    if (map != nullptr) map[place >> 6] |= std::uint64_t{missing} << (place & 63);
  }
  n_ = 0;
}

void TexelTrace::count() {
  flush();
  Counters& c = warp_.worker->counters;
  ++(store_ ? c.global_store_requests : c.global_load_requests);
  (store_ ? c.global_store_bytes : c.global_load_bytes) += bytes_;
}

}  // namespace cudasim
