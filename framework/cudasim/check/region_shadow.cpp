#include "cudasim/check/region_shadow.hpp"

#include <mutex>

namespace cudasim {
namespace {
std::mutex& lock() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}
}  // namespace

RegionShadow::~RegionShadow() {
  delete race_.load();
  delete init_.load();
}

RegionShadow& RegionShadow::of(const Region& region) {
  auto* shadow = static_cast<RegionShadow*>(region.shadow.load(std::memory_order_acquire));
  if (shadow != nullptr) return *shadow;
  const std::lock_guard hold(lock());
  shadow = static_cast<RegionShadow*>(region.shadow.load());
  if (shadow == nullptr) {
    shadow = new RegionShadow;
    region.shadow.store(shadow, std::memory_order_release);
  }
  return *shadow;
}

void RegionShadow::drop(const Region& region) {
  delete static_cast<RegionShadow*>(region.shadow.exchange(nullptr));
}

RaceShadow& RegionShadow::make_race(const Region& region) {
  const std::lock_guard hold(lock());
  if (race_.load() == nullptr)
    race_.store(new RaceShadow(region.base, region.size), std::memory_order_release);
  return *race_.load();
}

InitShadow& RegionShadow::make_init(const Region& region) {
  const std::lock_guard hold(lock());
  if (init_.load() == nullptr) {
    const bool fresh = region.kind == RegionKind::device || region.kind == RegionKind::device_heap;
    init_.store(new InitShadow(region.base, region.size, !fresh), std::memory_order_release);
  }
  return *init_.load();
}

}  // namespace cudasim
