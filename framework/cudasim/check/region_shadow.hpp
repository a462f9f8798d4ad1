#pragma once

#include <atomic>
#include <memory>

#include "cudasim/check/init_shadow.hpp"
#include "cudasim/check/race_shadow.hpp"
#include "cudasim/check/stream_race.hpp"
#include "cudasim/memory/memory.hpp"

namespace cudasim {

/// What the checks keep of an allocation, made when they first meet it.
class RegionShadow {
 public:
  static RegionShadow& of(const Region& region);
  /// Drops it; for an allocation that was freed.
  static void drop(const Region& region);

  RaceShadow& race(const Region& region) {
    RaceShadow* p = race_.load(std::memory_order_acquire);
    return p != nullptr ? *p : make_race(region);
  }
  InitShadow& init(const Region& region) {
    InitShadow* p = init_.load(std::memory_order_acquire);
    return p != nullptr ? *p : make_init(region);
  }
  ~RegionShadow();
  /// Between launches: what earlier work of streams did, and the last kernel's accesses to join it.
  StreamHistory& history() { return history_; }
  std::unique_ptr<RaceShadow> take_race() {
    return std::unique_ptr<RaceShadow>(race_.exchange(nullptr));
  }

 private:
  RaceShadow& make_race(const Region& region);
  InitShadow& make_init(const Region& region);
  StreamHistory history_;
  std::atomic<RaceShadow*> race_{nullptr};
  std::atomic<InitShadow*> init_{nullptr};
};

}  // namespace cudasim
