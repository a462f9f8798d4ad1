#include "cudasim/check/race.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cudasim/check/region_shadow.hpp"

namespace cudasim {
namespace {

constexpr unsigned kCopyAgents = 32, kBulkAgents = 64;

bool only_reads(Touch t) {
  return t == Touch::read || t == Touch::atomic_read || t == Touch::volatile_read;
}
bool is_volatile(Touch t) { return t == Touch::volatile_read || t == Touch::volatile_write; }
bool is_strong(Touch t) {
  return t == Touch::atomic || t == Touch::atomic_cta || t == Touch::atomic_read || is_volatile(t);
}
bool is_copy(Touch t) { return t == Touch::copy_async || t == Touch::copy_bulk; }

/// Whether two unordered accesses disturb each other. Volatile ones of lanes of a warp do in shared
/// memory: they are what is left of warp-synchronous programming.
bool conflict(Touch a, Touch b, bool same_block, bool same_warp, bool shared) {
  if (only_reads(a) && only_reads(b)) return false;
  if (!is_strong(a) || !is_strong(b)) return true;
  if ((a == Touch::atomic_cta || b == Touch::atomic_cta) && !same_block) return true;
  return is_volatile(a) && is_volatile(b) && same_warp && shared;
}

class SegmentLock {
 public:
  SegmentLock(Segment& s, bool needed) : segment_(needed ? &s : nullptr) {
    if (segment_ == nullptr) return;
    while (__atomic_exchange_n(&segment_->lock, std::uint8_t{1}, __ATOMIC_ACQUIRE) != 0)
      __builtin_ia32_pause();
  }
  ~SegmentLock() {
    if (segment_ != nullptr) __atomic_store_n(&segment_->lock, std::uint8_t{0}, __ATOMIC_RELEASE);
  }
  SegmentLock(const SegmentLock&) = delete;
  SegmentLock& operator=(const SegmentLock&) = delete;

 private:
  Segment* segment_;
};

RaceBlock& state_of(const Block& block) { return *static_cast<RaceBlock*>(block.observed); }

template <typename Visit>
void each_lane(std::uint32_t lanes, Visit&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(__builtin_ctz(lanes)));
}

}  // namespace

/// One access of a warp while it is looked at.
struct RaceDetector::Context {
  Warp& w;
  RaceBlock& b;
  RaceWarp& v;
  const Op& op;
  const Access& access;
  std::uint8_t* r;
  std::uint32_t mask;
  const std::uint64_t* a;
  unsigned bytes;
  Touch touch;
  std::uint32_t pc;
  std::uint32_t where;
  std::uint32_t block;
  unsigned warp;
  bool shared = false;

  std::uint32_t clock(unsigned lane) const {
    return touch == Touch::copy_async  ? v.group[lane] + 1
           : touch == Touch::copy_bulk ? v.bulk[lane] + 1
                                       : v.clock;
  }
  Trace record(std::uint32_t lanes) const {
    return {block, is_copy(touch) ? clock(static_cast<unsigned>(__builtin_ctz(lanes))) : v.clock,
            lanes, where};
  }
};

void RaceDetector::begin(const LaunchState& launch) {
  launch_ = &launch;
  ++serial_;
  locks_ = !launch.single_worker;
  words_.clear();
  any_words_ = false;
  touched_.clear();
}

void RaceDetector::start(RaceBlock& b, const Block& block) {
  b.number = static_cast<std::uint32_t>(block.number);
  b.floor = 1;
  b.fenced_floor = 0;
  b.extra.clear();
  b.barriers = {};
  b.words.clear();
  b.alone = block.cluster->blocks.size() == 1;
  b.last_base = 1;
  b.last_end = 0;
  b.cluster.clear();
  b.warps.clear();
  b.warps.resize(block.warps.size());
  if (b.shared == nullptr && block.shared_bytes != 0) {
    b.shared = std::make_unique<RaceShadow>(reinterpret_cast<std::uint64_t>(block.shared),
                                            block.shared_bytes);
  } else if (b.shared != nullptr) {
    b.shared->clear();
  }
}

RaceShadow* RaceDetector::shadow_of(const Block& block, std::uint64_t address, std::uint64_t& end,
                                    bool& shared) {
  shared = false;
  RaceBlock& b = state_of(block);
  if (address >= b.last_base && address < b.last_end) {
    end = b.last_end;
    return b.last;
  }
  for (const auto& other : block.cluster->blocks) {
    const auto base = reinterpret_cast<std::uint64_t>(other->shared);
    if (address - base >= other->shared_bytes) continue;
    shared = true;
    end = base + other->shared_bytes;
    return state_of(*other).shared.get();
  }
  const Region* region = launch_->memory->find(address);
  if (region == nullptr || region->kind == RegionKind::constant) return nullptr;
  end = region->base + region->size;
  RaceShadow& shadow = RegionShadow::of(*region).race(*region);
  if (shadow.enter(serial_)) {
    const std::lock_guard lock(touched_mutex_);
    touched_.push_back(region);
  }
  b.last_base = region->base;
  b.last_end = end;
  b.last = &shadow;
  return &shadow;
}

bool RaceDetector::ordered(const Context& c, const Trace& r, std::uint32_t lanes) const {
  const Touch touch = r.touch();
  const unsigned agent = r.warp() + (touch == Touch::copy_async  ? kCopyAgents
                                     : touch == Touch::copy_bulk ? kBulkAgents
                                                                 : 0);
  const bool mine = r.block == c.block;
  if (agent < kCopyAgents && mine && r.clock < c.b.floor) return true;
  const bool same_warp = mine && r.warp() == c.warp;
  if (same_warp && agent < kCopyAgents) {
    if (r.clock <= c.v.sync) return true;
    if (r.lanes == lanes && std::has_single_bit(lanes)) return true;
  }
  if (c.b.extra.covers(r.block, agent, r.lanes, r.clock) ||
      c.v.extra.covers(r.block, agent, r.lanes, r.clock))
    return true;
  for (std::uint32_t us = lanes; us != 0; us &= us - 1) {
    const auto u = static_cast<unsigned>(__builtin_ctz(us));
    std::uint32_t unknown = r.lanes;
    if (same_warp && (r.lanes >> u & 1) != 0) {
      const std::uint32_t done = touch == Touch::copy_async ? c.v.done[u] : c.v.bulk_done[u];
      if (agent < kCopyAgents || done >= r.clock) unknown &= ~(1u << u);
    }
    if (same_warp && agent < kCopyAgents && c.v.matrix != nullptr) {
      each_lane(unknown, [&](unsigned t) {
        if ((*c.v.matrix)[u][t] >= r.clock) unknown &= ~(1u << t);
      });
    }
    if (unknown == 0) continue;
    if (c.v.lane_extra == nullptr ||
        !(*c.v.lane_extra)[u].covers(r.block, agent, unknown, r.clock)) {
      // Lanes that only the three together know are rare: they are looked up one by one.
      bool known = !c.b.extra.empty() || !c.v.extra.empty();
      each_lane(known ? unknown : 0, [&](unsigned t) {
        known = known && (c.b.extra.covers(r.block, agent, 1u << t, r.clock) ||
                          c.v.extra.covers(r.block, agent, 1u << t, r.clock) ||
                          (c.v.lane_extra != nullptr &&
                           (*c.v.lane_extra)[u].covers(r.block, agent, 1u << t, r.clock)));
      });
      if (!known) return false;
    }
  }
  return true;
}

void RaceDetector::found(Context& c, const Trace& r, std::uint32_t lanes, std::uint64_t address) {
  Race race;
  race.earlier = r;
  race.touch = c.touch;
  race.pc = c.pc;
  race.address = address;
  race.shared = c.shared;
  race.lane = static_cast<unsigned>(__builtin_ctz(lanes));
  race.other_lane = static_cast<unsigned>(__builtin_ctz(r.lanes));
  bool chosen = false;
  each_lane(lanes, [&](unsigned u) {
    each_lane(r.lanes, [&](unsigned t) {
      if (chosen) return;
      Trace one = r;
      one.lanes = 1u << t;
      if (ordered(c, one, 1u << u)) return;
      race.lane = u;
      race.other_lane = t;
      chosen = true;
    });
  });
  const auto plain_write = [](Touch t) { return t == Touch::write || t == Touch::volatile_write; };
  if (plain_write(c.touch) && plain_write(r.touch()) && c.access.kind == Access::Kind::store) {
    const auto value = [&](unsigned lane, std::uint8_t* out) {
      for (unsigned k = 0; k < c.access.vector; ++k) {
        std::memcpy(out + k * c.access.bytes,
                    c.r + c.op.r[k] + static_cast<std::size_t>(lane) * c.access.wide,
                    c.access.bytes);
      }
    };
    std::uint8_t ours[64] = {}, theirs[64] = {};
    value(race.lane, ours);
    const std::uint64_t base = c.a[race.lane];
    const bool now = r.block == c.block && r.warp() == c.warp && r.pc() == (c.pc & 0x7fffffu) &&
                     r.clock == c.v.clock && (c.mask >> race.other_lane & 1) != 0 &&
                     race.other_lane < race.lane && c.a[race.other_lane] == base;
    if (now)  // the same instruction: the other lane's value isn't in memory yet
      value(race.other_lane, theirs);
    else
      std::memcpy(theirs, reinterpret_cast<const void*>(base), c.bytes);
    race.same_value = std::memcmp(ours, theirs, c.bytes) == 0;
  }
  report_(context_, c.w, race);
}

namespace {

/// Where a read or an atomic is put among those that later writes are checked against: in place of
/// an older one of the same lanes, of one that a barrier has ordered, of the last.
unsigned choose_slot(const Trace (&slots)[3], const Trace& mine, std::uint32_t floor) {
  unsigned free = 0;
  const bool reads = only_reads(mine.touch());
  for (unsigned k = 1; k < 3; ++k) {
    const Trace& r = slots[k];
    if (r.where == 0) return k;
    if (r.block != mine.block) continue;
    if ((r.where ^ mine.where) >> Trace::kPcBits == 0 && (r.lanes & ~mine.lanes) == 0) return k;
    if (free == 0 && r.clock < floor && (!reads || only_reads(r.touch()))) free = k;
  }
  if (free != 0) return free;
  return reads && !only_reads(slots[2].touch()) ? 1 : 2;
}

}  // namespace

void RaceDetector::cell(Context& c, Cell& cell, std::uint32_t lanes, std::uint64_t address) {
  const bool reads = only_reads(c.touch);
  for (unsigned k = 0; k < 3; ++k) {
    const Trace& r = cell.slots[k];
    if (r.where == 0) continue;
    const Touch before = r.touch();
    if (reads && only_reads(before)) continue;
    const bool same_block = r.block == c.block;
    if (same_block && r.clock < c.b.floor && !is_copy(before)) continue;
    if (!conflict(before, c.touch, same_block, same_block && r.warp() == c.warp, c.shared))
      continue;
    if (!ordered(c, r, lanes)) found(c, r, lanes, address);
  }
  Trace mine = c.record(lanes);
  if (c.touch == Touch::write || c.touch == Touch::volatile_write || is_copy(c.touch)) {
    if ((lanes & (lanes - 1)) != 0 && c.access.kind == Access::Kind::store) {
      // Lanes of one instruction that write the same place.
      each_lane(lanes & (lanes - 1), [&](unsigned u) {
        Trace first = mine;
        first.lanes = lanes & ~(lanes - 1);
        found(c, first, 1u << u, address);
      });
    }
    cell.slots[0] = mine;
    cell.slots[1] = cell.slots[2] = Trace{};
    return;
  }
  cell.slots[choose_slot(cell.slots, mine, c.b.floor)] = mine;
}

void RaceDetector::fine(Context& c, RaceShadow& shadow, std::uint64_t address, std::uint64_t bytes,
                        std::uint32_t lanes) {
  const std::uint64_t end = address + bytes;
  while (address < end) {
    Segment& s = *shadow.at(address);
    const std::uint64_t here = std::min<std::uint64_t>(64 - (address & 63), end - address);
    const SegmentLock lock(s, locks_ && !c.shared);
    const std::uint64_t bits = address | here;
    const unsigned unit = (bits & 3) == 0 ? 4 : (bits & 1) == 0 ? 2 : 1;
    if (s.fine == 0) {
      Trace all;
      for (const Trace& r : s.slots) {
        if (r.where == 0) continue;
        all.lanes |= (all.clock != 0 && all.block != r.block) || is_copy(r.touch()) ? 1u : 0u;
        all.block = r.block;
        all.clock = std::max(all.clock, r.clock);
      }
      shadow.refine(s, unit);
      s.slots[1] = all;
    } else if (s.fine > unit) {
      const Trace all = s.slots[1];
      shadow.refine(s, unit);
      s.slots[1] = all;
    }
    note(c, s);
    for (std::uint64_t i = (address & 63) / s.fine; i < ((address & 63) + here) / s.fine; ++i)
      cell(c, s.cells[i], lanes, (address & ~std::uint64_t{63}) + i * s.fine);
    address += here;
  }
}

/// Keeps the latest clock of a fine segment, in a slot that it doesn't use, as long as all its
/// accesses are of one block.
void RaceDetector::note(Context& c, Segment& s) {
  Trace& all = s.slots[1];
  if (all.clock == 0)
    all.block = c.block;
  else if (all.block != c.block)
    all.lanes = 1;
  if (is_copy(c.touch)) all.lanes = 1;
  all.clock = std::max(all.clock, c.v.clock);
}

/// The whole segment is touched, lane after lane; false when it must be looked at cell by cell.
bool RaceDetector::coarse(Context& c, Segment& s, unsigned shape) {
  const unsigned first = shape & 31, count = Segment::kBytes >> (shape >> 5);
  const std::uint32_t lanes = (count == 32 ? kFullMask : (1u << count) - 1) << first;
  const bool reads = only_reads(c.touch);
  if (s.fine != 0) {
    // When a barrier has ordered all that was there, a write takes its place; in shared memory that
    // no other block sees a read may as well.
    const Trace& all = s.slots[1];
    if (all.lanes != 0 || all.block != c.block || all.clock >= c.b.floor || is_copy(c.touch) ||
        (c.touch != Touch::write && !(c.shared && c.b.alone)))
      return false;
    s.fine = 0;
    for (Trace& r : s.slots) r = Trace{};
  }
  for (unsigned k = 0; k < 3; ++k) {
    const Trace& r = s.slots[k];
    if (r.where == 0) continue;
    const Touch before = r.touch();
    if (reads && only_reads(before)) continue;
    if (r.block == c.block && r.clock < c.b.floor && !is_copy(before)) continue;
    if (!conflict(before, c.touch, r.block == c.block, r.block == c.block && r.warp() == c.warp,
                  c.shared))
      continue;
    if (r.block == c.block && r.warp() == c.warp && s.shapes[k] == shape && !is_copy(before))
      continue;
    if (is_copy(before) || !ordered(c, r, lanes)) return false;
  }
  const Trace mine = c.record(lanes);
  unsigned k = 0;
  if (c.touch == Touch::write || c.touch == Touch::volatile_write || is_copy(c.touch)) {
    s.slots[1] = s.slots[2] = Trace{};
  } else {
    k = choose_slot(s.slots, mine, c.b.floor);
    // Another shape of the same warp isn't the same lanes at the same bytes.
    if (s.slots[k].where != 0 && s.shapes[k] != shape && s.slots[k].clock > c.v.sync &&
        s.slots[k].block == c.block && s.slots[k].warp() == c.warp)
      return false;
  }
  s.slots[k] = mine;
  s.shapes[k] = static_cast<std::uint8_t>(shape);
  return true;
}

void RaceDetector::touch(Warp& w, const Op& op, const Access& access, std::uint8_t* r,
                         std::uint32_t mask, const std::uint64_t* a, unsigned bytes, Touch touch,
                         bool shared_only, Pattern pattern) {
  RaceBlock& b = state_of(*w.block);
  const auto pc = static_cast<std::uint32_t>(&op - w.worker->code);
  Context c{w,        b,      b.warps[w.index],
            op,       access, r,
            mask,     a,      bytes,
            touch,    pc,     Trace::pack(w.index, touch, pc),
            b.number, w.index};
  const unsigned first = static_cast<unsigned>(__builtin_ctz(mask));
  std::uint64_t end = 0;
  RaceShadow* shadow = nullptr;
  if (shared_only &&
      a[first] - reinterpret_cast<std::uint64_t>(w.block->shared) < w.block->shared_bytes) {
    shadow = b.shared.get();
    end = reinterpret_cast<std::uint64_t>(w.block->shared) + w.block->shared_bytes;
    c.shared = true;
  } else {
    shadow = shadow_of(*w.block, a[first], end, c.shared);
  }
  if (pattern == Pattern::consecutive && (a[0] & 63) == 0 && bytes >= 2 && bytes <= 16 &&
      std::has_single_bit(bytes)) {
    if (shadow == nullptr || a[0] + std::uint64_t{bytes} * kWarpSize > end) return;
    const auto log = static_cast<unsigned>(std::countr_zero(bytes));
    for (unsigned lane = 0; lane < kWarpSize; lane += Segment::kBytes >> log) {
      Segment& s = *shadow->at(a[lane]);
      {
        const SegmentLock lock(s, locks_ && !c.shared);
        if (coarse(c, s, log << 5 | lane)) continue;
      }
      for (unsigned i = lane; i < lane + (Segment::kBytes >> log); ++i)
        fine(c, *shadow, a[i], bytes, 1u << i);
      if (c.touch == Touch::write) {
        // A write that covers it all makes the segment coarse again.
        const SegmentLock lock(s, locks_ && !c.shared);
        const std::size_t cells = Segment::kBytes / std::max<unsigned>(1, s.fine);
        bool whole = s.fine != 0;
        for (std::size_t i = 0; whole && i < cells; ++i) {
          const Trace& rec = s.cells[i].slots[0];
          whole = rec.where == c.where && rec.block == c.block && rec.clock == c.v.clock;
        }
        if (whole) {
          const unsigned n = Segment::kBytes >> log;
          s.fine = 0;
          s.slots[0] = c.record((n == 32 ? kFullMask : (1u << n) - 1) << lane);
          s.shapes[0] = static_cast<std::uint8_t>(log << 5 | lane);
          s.slots[1] = s.slots[2] = Trace{};
        }
      }
    }
    return;
  }
  if (pattern == Pattern::uniform) {
    if (shadow != nullptr && a[first] + bytes <= end) fine(c, *shadow, a[first], bytes, mask);
    return;
  }
  for (std::uint32_t left = mask; left != 0;) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    std::uint32_t same = 0;
    for (std::uint32_t m = left; m != 0; m &= m - 1) {
      const auto j = static_cast<unsigned>(__builtin_ctz(m));
      if (a[j] != a[i]) break;
      same |= 1u << j;
    }
    left &= ~same;
    if (shadow == nullptr || a[i] - shadow->base() >= end - shadow->base())
      shadow = shadow_of(*w.block, a[i], end, c.shared);
    if (shadow != nullptr && a[i] + bytes <= end) fine(c, *shadow, a[i], bytes, same);
  }
}

void RaceDetector::touch_range(Warp& w, const Op& op, std::uint32_t lanes, std::uint64_t address,
                               std::uint64_t bytes, Touch touch) {
  RaceBlock& b = state_of(*w.block);
  const auto pc = static_cast<std::uint32_t>(&op - w.worker->code);
  static constexpr Access kAny{};
  const std::uint64_t none[kWarpSize] = {};
  Context c{w,        b,      b.warps[w.index],
            op,       kAny,   nullptr,
            lanes,    none,   0,
            touch,    pc,     Trace::pack(w.index, touch, pc),
            b.number, w.index};
  std::uint64_t end = 0;
  RaceShadow* shadow = shadow_of(*w.block, address, end, c.shared);
  if (shadow != nullptr && address + bytes <= end) fine(c, *shadow, address, bytes, lanes);
}

// ---- order ----

/// What any of the lanes knows.
void RaceDetector::add_known(const RaceBlock& b, const RaceWarp& v, unsigned warp,
                             std::uint32_t lanes, Clock& to) {
  to.see_floor(b.number, b.floor);
  auto& clocks = to.lanes_of(b.number, warp);
  for (unsigned t = 0; t < kWarpSize; ++t) {
    std::uint32_t known = (lanes >> t & 1) != 0 ? v.clock : v.sync;
    if (v.matrix != nullptr)
      each_lane(lanes, [&](unsigned u) { known = std::max(known, (*v.matrix)[u][t]); });
    clocks[t] = std::max(clocks[t], known);
  }
  if (v.copies) {
    each_lane(lanes, [&](unsigned u) {
      if (v.done[u] != 0) to.see(b.number, warp + kCopyAgents, u, v.done[u]);
      if (v.bulk_done[u] != 0) to.see(b.number, warp + kBulkAgents, u, v.bulk_done[u]);
    });
  }
  to.join(b.extra);
  to.join(v.extra);
  if (v.lane_extra != nullptr) each_lane(lanes, [&](unsigned u) { to.join((*v.lane_extra)[u]); });
}

/// What a relaxed write of the lane publishes: what it knew at its last fence. False: nothing.
bool RaceDetector::add_released(const RaceBlock& b, const RaceWarp& v, unsigned warp, unsigned lane,
                                Access::Scope scope, Clock& to) {
  const RaceWarp::Fence* f = v.fences[scope == Access::Scope::cta ? 0 : 1].get();
  const bool fenced = f != nullptr && f->clock[lane] != 0;
  if (!fenced && b.fenced_floor == 0) return false;
  const std::uint32_t floor = std::max(b.fenced_floor, fenced ? f->floor[lane] : 0u);
  to.see_floor(b.number, floor);
  if (fenced) {
    auto& clocks = to.lanes_of(b.number, warp);
    for (unsigned t = 0; t < kWarpSize; ++t)
      clocks[t] = std::max(clocks[t], t == lane ? f->clock[lane] : f->sync[lane]);
  }
  if (v.copies && v.done[lane] != 0) to.see(b.number, warp + kCopyAgents, lane, v.done[lane]);
  to.join(b.extra);
  to.join(v.extra);
  if (v.lane_extra != nullptr) to.join((*v.lane_extra)[lane]);
  return true;
}

void RaceDetector::learn(RaceWarp& v, std::uint32_t live, std::uint32_t lanes, const Clock& clock) {
  if (clock.empty()) return;
  if ((live & ~lanes) == 0) {
    v.extra.join(clock);
    return;
  }
  if (v.lane_extra == nullptr) v.lane_extra = std::make_unique<std::array<Clock, 32>>();
  each_lane(lanes, [&](unsigned u) { (*v.lane_extra)[u].join(clock); });
}

void RaceDetector::warp_sync(Warp& w, std::uint32_t lanes) {
  RaceBlock& b = state_of(*w.block);
  RaceWarp& v = b.warps[w.index];
  if (v.copies) {
    Clock done;
    each_lane(lanes, [&](unsigned t) {
      if (v.done[t] != 0) done.see(b.number, w.index + kCopyAgents, t, v.done[t]);
      if (v.bulk_done[t] != 0) done.see(b.number, w.index + kBulkAgents, t, v.bulk_done[t]);
    });
    learn(v, w.live, lanes, done);
  }
  if ((w.live & ~lanes) == 0) {
    v.sync = v.clock;
    v.matrix.reset();
    if (v.lane_extra != nullptr) {
      for (const Clock& extra : *v.lane_extra) v.extra.join(extra);
      v.lane_extra.reset();
    }
  } else {
    if (v.matrix == nullptr) v.matrix = std::make_unique<RaceWarp::Matrix>();
    auto& m = *v.matrix;
    std::array<std::uint32_t, 32> joined{};
    each_lane(lanes, [&](unsigned u) {
      for (unsigned t = 0; t < kWarpSize; ++t) joined[t] = std::max(joined[t], m[u][t]);
    });
    each_lane(lanes, [&](unsigned u) { joined[u] = v.clock; });
    each_lane(lanes, [&](unsigned u) { m[u] = joined; });
    if (v.lane_extra != nullptr) {
      Clock all;
      each_lane(lanes, [&](unsigned u) { all.join((*v.lane_extra)[u]); });
      each_lane(lanes, [&](unsigned u) { (*v.lane_extra)[u] = all; });
    }
  }
  ++v.clock;
}

void RaceDetector::fence(Warp& w, std::uint32_t lanes, Access::Scope scope) {
  RaceBlock& b = state_of(*w.block);
  RaceWarp& v = b.warps[w.index];
  for (unsigned wide = 0; wide < (scope == Access::Scope::cta ? 1u : 2u); ++wide) {
    if (v.fences[wide] == nullptr) v.fences[wide] = std::make_unique<RaceWarp::Fence>();
    RaceWarp::Fence& f = *v.fences[wide];
    each_lane(lanes, [&](unsigned u) {
      f.clock[u] = v.clock;
      f.floor[u] = b.floor;
      f.sync[u] = v.sync;
    });
  }
  ++v.clock;
}

SyncWord* RaceDetector::word_of(Warp& w, std::uint64_t address, bool make,
                                std::unique_lock<std::mutex>& lock) {
  for (const auto& other : w.block->cluster->blocks) {
    if (address - reinterpret_cast<std::uint64_t>(other->shared) >= other->shared_bytes) continue;
    auto& words = state_of(*other).words;
    if (make) return &words[address];
    const auto at = words.find(address);
    return at == words.end() ? nullptr : &at->second;
  }
  if (!make && !any_words_.load(std::memory_order_acquire)) return nullptr;
  lock = std::unique_lock(words_mutex_);
  if (make) {
    any_words_.store(true, std::memory_order_release);
    return &words_[address];
  }
  const auto at = words_.find(address);
  return at == words_.end() ? nullptr : &at->second;
}

void RaceDetector::release(Warp& w, std::uint32_t lanes, const std::uint64_t* a,
                           const Access& access) {
  RaceBlock& b = state_of(*w.block);
  RaceWarp& v = b.warps[w.index];
  const bool strong =
      access.order == Access::Order::release || access.order == Access::Order::acq_rel;
  if (!strong && v.fences[0] == nullptr && b.fenced_floor == 0) return;
  each_lane(lanes, [&](unsigned u) {
    for (const bool narrow : {false, true}) {
      if (strong && narrow != (access.scope == Access::Scope::cta)) continue;
      Clock clock;
      if (strong)
        add_known(b, v, w.index, 1u << u, clock);
      else if (!add_released(b, v, w.index, u, narrow ? Access::Scope::cta : Access::Scope::gpu,
                             clock))
        continue;
      std::unique_lock<std::mutex> lock;
      SyncWord& word = *word_of(w, a[u], true, lock);
      if (!narrow) {
        word.known.join(clock);
      } else {
        if (word.block != b.number) word.in_block.clear();
        word.block = b.number;
        word.in_block.join(clock);
      }
    }
  });
  if (strong) ++v.clock;
}

void RaceDetector::acquire(Warp& w, std::uint32_t lanes, const std::uint64_t* a) {
  RaceBlock& b = state_of(*w.block);
  if (!any_words_.load(std::memory_order_acquire) && b.words.empty() &&
      w.block->cluster->blocks.size() == 1)
    return;
  RaceWarp& v = b.warps[w.index];
  for (std::uint32_t left = lanes; left != 0;) {
    const auto first = static_cast<unsigned>(__builtin_ctz(left));
    std::uint32_t same = 0;
    each_lane(left, [&](unsigned u) { same |= (a[u] == a[first] ? 1u : 0u) << u; });
    left &= ~same;
    std::unique_lock<std::mutex> lock;
    const SyncWord* word = word_of(w, a[first], false, lock);
    if (word == nullptr) continue;
    learn(v, w.live, same, word->known);
    if (word->block == b.number) learn(v, w.live, same, word->in_block);
  }
}

void RaceDetector::barrier_arrived(Warp& w, std::uint32_t lanes, unsigned id, bool counted,
                                   bool waits) {
  RaceBlock& b = state_of(*w.block);
  RaceBlock::Barrier& barrier = b.barriers[id];
  barrier.lanes += static_cast<std::uint32_t>(std::popcount(lanes));
  barrier.all_wait = barrier.all_wait && waits;
  // A barrier of the whole block is treated at once when it is complete.
  if (!counted) return;
  if (waits) barrier.waiting.emplace_back(w.index, lanes);
  RaceWarp& v = b.warps[w.index];
  add_known(b, v, w.index, lanes, barrier.known);
  ++v.clock;
}

void RaceDetector::full_barrier(Block& block, RaceBlock& b) {
  std::uint32_t floor = b.floor;
  bool fenced = true;
  for (unsigned i = 0; i < b.warps.size(); ++i) {
    RaceWarp& v = b.warps[i];
    floor = std::max(floor, v.clock);
    if (!v.extra.empty()) b.extra.join(v.extra);
    v.extra.clear();
    if (v.lane_extra != nullptr) {
      for (const Clock& extra : *v.lane_extra) b.extra.join(extra);
      v.lane_extra.reset();
    }
    if (v.copies) {
      for (unsigned t = 0; t < kWarpSize; ++t) {
        if (v.done[t] != 0) b.extra.see(b.number, i + kCopyAgents, t, v.done[t]);
        if (v.bulk_done[t] != 0) b.extra.see(b.number, i + kBulkAgents, t, v.bulk_done[t]);
      }
    }
    v.matrix.reset();
    if (block.warps[i]->live != 0 && v.fences[1] == nullptr) fenced = false;
    each_lane(fenced ? block.warps[i]->live : 0,
              [&](unsigned t) { fenced = fenced && v.fences[1]->clock[t] >= b.floor; });
  }
  b.floor = floor + 1;
  if (fenced) b.fenced_floor = b.floor;
  for (RaceWarp& v : b.warps) {
    v.clock = b.floor;
    v.sync = b.floor - 1;
  }
}

void RaceDetector::barrier_completed(Block& block, unsigned id) {
  RaceBlock& b = state_of(block);
  RaceBlock::Barrier& barrier = b.barriers[id];
  if (barrier.all_wait && barrier.lanes >= block.live_threads) {
    full_barrier(block, b);
  } else {
    for (const auto& [warp, lanes] : barrier.waiting)
      learn(b.warps[warp], block.warps[warp]->live, lanes, barrier.known);
  }
  barrier.lanes = 0;
  barrier.all_wait = true;
  barrier.waiting.clear();
  barrier.known.clear();
}

void RaceDetector::cluster_arrived(Warp& w, std::uint32_t lanes) {
  RaceBlock& b = state_of(*w.block);
  Clock& known = state_of(*w.block->cluster->blocks[0]).cluster;
  RaceWarp& v = b.warps[w.index];
  add_known(b, v, w.index, lanes, known);
  ++v.clock;
}

void RaceDetector::cluster_completed(Cluster& cluster) {
  Clock known = std::move(state_of(*cluster.blocks[0]).cluster);
  state_of(*cluster.blocks[0]).cluster.clear();
  for (const auto& block : cluster.blocks) state_of(*block).extra.join(known);
}

void RaceDetector::word_started(Warp& w, std::uint64_t address) {
  std::unique_lock<std::mutex> lock;
  *word_of(w, address, true, lock) = SyncWord{};
}

void RaceDetector::word_arrived(Warp& w, std::uint32_t lanes, std::uint64_t address) {
  RaceBlock& b = state_of(*w.block);
  RaceWarp& v = b.warps[w.index];
  std::unique_lock<std::mutex> lock;
  SyncWord& word = *word_of(w, address, true, lock);
  add_known(b, v, w.index, lanes, word.pending);
  ++v.clock;
}

void RaceDetector::word_completed(Warp& w, std::uint64_t address) {
  std::unique_lock<std::mutex> lock;
  SyncWord& word = *word_of(w, address, true, lock);
  word.known.join(word.pending);
  word.pending.clear();
}

void RaceDetector::word_tested(Warp& w, std::uint32_t lanes, std::uint64_t address) {
  RaceBlock& b = state_of(*w.block);
  std::unique_lock<std::mutex> lock;
  if (const SyncWord* word = word_of(w, address, false, lock))
    learn(b.warps[w.index], w.live, lanes, word->known);
}

void RaceDetector::copies_on_word(Warp& w, std::uint32_t lanes, std::uint64_t address) {
  RaceBlock& b = state_of(*w.block);
  RaceWarp& v = b.warps[w.index];
  std::unique_lock<std::mutex> lock;
  SyncWord& word = *word_of(w, address, true, lock);
  each_lane(lanes, [&](unsigned u) {
    word.pending.see(b.number, w.index + kCopyAgents, u, v.group[u] + 1);
    ++v.group[u];  // later copies belong to another arrival
  });
}

void RaceDetector::bulk_on_word(Warp& w, unsigned lane, std::uint64_t address) {
  RaceBlock& b = state_of(*w.block);
  RaceWarp& v = b.warps[w.index];
  std::unique_lock<std::mutex> lock;
  SyncWord& word = *word_of(w, address, true, lock);
  v.copies = true;
  word.pending.see(b.number, w.index + kBulkAgents, lane, ++v.bulk[lane]);
}

void RaceDetector::copies_committed(Warp& w, std::uint32_t lanes, bool bulk) {
  RaceWarp& v = state_of(*w.block).warps[w.index];
  v.copies = true;
  each_lane(lanes, [&](unsigned u) {
    if (bulk)
      v.bulk_group[u] = ++v.bulk[u];
    else
      ++v.group[u];
  });
}

void RaceDetector::copies_waited(Warp& w, std::uint32_t lanes, bool bulk, std::int64_t pending) {
  RaceWarp& v = state_of(*w.block).warps[w.index];
  v.copies = true;
  each_lane(lanes, [&](unsigned u) {
    if (bulk) {
      v.bulk_done[u] = v.bulk[u];
      return;
    }
    if (pending < 0) ++v.group[u];  // wait_all: of the open group as well
    const auto open = static_cast<std::uint32_t>(std::max<std::int64_t>(pending, 0));
    if (v.group[u] > open) v.done[u] = std::max(v.done[u], v.group[u] - open);
  });
}

}  // namespace cudasim
