// What stands in for the handlers of operations under the checks.
#include "cudasim/check/observing.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cudasim/check/checker.hpp"
#include "cudasim/check/region_shadow.hpp"
#include "cudasim/check/taint.hpp"

namespace cudasim {
namespace {

using Kind = Access::Kind;

template <typename Visit>
void each_lane(std::uint32_t lanes, Visit&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(__builtin_ctz(lanes)));
}

Touch touch_of(const Access& a) {
  const bool relaxed = a.order != Access::Order::weak;
  const Touch atomic = a.scope == Access::Scope::cta ? Touch::atomic_cta : Touch::atomic;
  switch (a.kind) {
    case Kind::load:
      return !relaxed                                ? Touch::read
             : a.order == Access::Order::is_volatile ? Touch::volatile_read
                                                     : Touch::atomic_read;
    case Kind::store:
      return !relaxed                                ? Touch::write
             : a.order == Access::Order::is_volatile ? Touch::volatile_write
                                                     : atomic;
    case Kind::rows_load:
    case Kind::tile_load:
      return Touch::read;
    case Kind::rows_store:
    case Kind::tile_store:
      return Touch::write;
    default:
      return atomic;
  }
}

std::uint64_t lane_value(const std::uint8_t* r, std::int32_t offset, bool narrow, unsigned lane) {
  return narrow ? reinterpret_cast<const std::uint32_t*>(r + offset)[lane]
                : reinterpret_cast<const std::uint64_t*>(r + offset)[lane];
}

}  // namespace

/// The replacements; each finds its program by the launch that the warp belongs to.
struct Observing {
  Checker& c;
  CheckedWarp& s;
  Warp& w;
  std::size_t index;
  const Access& access;
  const Op& real;

  static Observing of(const Op& op, Warp& w) {
    auto& c = static_cast<Checker&>(*w.worker->launch->observer);
    const auto index = static_cast<std::size_t>(&op - w.worker->code);
    return {c,
            *static_cast<CheckedWarp*>(w.observed),
            w,
            index,
            c.current_->access[index],
            w.worker->launch->program->code[index]};
  }

  Taint taint() const { return Taint(c, w, s, index); }

  /// Runs the original; under memcheck lanes with a bad access are left out. Gives the others.
  std::uint32_t run(std::uint8_t* r, const Op& op, std::uint32_t mask) const {
    if (!c.has(Check::memcheck)) {
      real.fn(r, op, mask, w);
      return mask;
    }
    Worker& k = *w.worker;
    s.skipping = true;
    real.fn(r, op, mask, w);
    while (k.refused != 0) [[unlikely]] {
        const std::uint32_t refused = k.refused & mask;
        k.refused = 0;
        mask &= ~refused;
        if (refused == 0 || mask == 0 || k.stop) break;
        real.fn(r, op, mask, w);
      }
    s.skipping = false;
    return mask;
  }

  /// Takes out lanes that touch the local memory of others.
  std::uint32_t own_local_only(const std::uint64_t* a, std::uint32_t mask, unsigned bytes) const {
    const Block& block = *w.block;
    if (block.local_bytes == 0) return mask;
    const auto base = reinterpret_cast<std::uint64_t>(block.local_memory);
    std::uint32_t good = mask;
    each_lane(mask, [&](unsigned i) {
      if (a[i] - base >= block.local_bytes && access.space != Space::local) return;
      const std::uint64_t offset = a[i] - reinterpret_cast<std::uint64_t>(w.lane_local(i));
      if (offset < w.local_stride && bytes <= w.local_stride - offset) return;
      good &= ~(1u << i);
      c.add(Check::memcheck, "out-of-bounds", false, w, i, static_cast<std::uint32_t>(index),
            std::string(access.writes ? "write" : "read") + " of " + std::to_string(bytes) +
                " bytes beyond the thread's own local memory (" + std::to_string(w.local_stride) +
                " bytes): an array on the stack is overrun",
            a[i], access.writes ? "write" : "read");
    });
    return good;
  }

  /// Window addresses to host ones; gives the lanes whose addresses are good.
  std::uint32_t to_host(std::uint64_t* a, std::uint32_t mask, unsigned bytes,
                        Pattern pattern = Pattern::scattered) const {
    const std::uint64_t host = reinterpret_cast<std::uint64_t>(w.block->shared) - kSharedStart;
    const std::uint64_t limit = w.block->shared_bytes;
    if (pattern != Pattern::scattered && a[0] >= kSharedStart && a[31] >= a[0] &&
        a[31] - kSharedStart + bytes <= limit) {
      for (unsigned i = 0; i < kWarpSize; ++i) a[i] += host;
      return mask;
    }
    std::uint32_t good = mask;
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const std::uint64_t offset = a[i] - kSharedStart;
      if (offset < limit && bytes <= limit - offset) {
        a[i] += host;
        continue;
      }
      std::uint8_t* p = (mask >> i & 1) != 0 ? shared_at(w, a[i], bytes) : nullptr;
      if (p == nullptr) good &= ~(1u << i);
      a[i] = reinterpret_cast<std::uint64_t>(p);
    }
    return good;
  }

  /// Notes lanes whose access leaves the shared variable that their address comes from; it is in
  /// the block's memory and goes on.
  void stay_in_variable(const std::uint64_t* a, std::uint32_t mask, unsigned bytes) const {
    if (c.current_->bounds.empty()) return;
    const SharedBound& bound = c.current_->bounds[index];
    if (bound.name == nullptr) return;
    const std::uint64_t start =
        access.window ? kSharedStart : reinterpret_cast<std::uint64_t>(w.block->shared);
    const std::uint64_t end = bound.end != 0 ? bound.end : w.block->shared_bytes;
    std::uint32_t out = 0;
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const std::uint64_t offset = a[i] - start;
      // What isn't in the block's memory at all is for others to tell.
      const bool leaves =
          (offset < bound.begin || offset + bytes > end) && offset < w.block->shared_bytes;
      out |= static_cast<std::uint32_t>(leaves) << i;
    }
    each_lane(out & mask, [&](unsigned i) {
      const auto from = static_cast<std::int64_t>(a[i] - start) - bound.begin;
      c.add(Check::memcheck, "out-of-bounds", false, w, i, static_cast<std::uint32_t>(index),
            std::string(access.writes ? "write" : "read") + " of " + std::to_string(bytes) +
                " bytes at byte " + std::to_string(from) + " of the shared variable " +
                demangled(bound.name->substr(bound.name->find('/') + 1)) + ", which has " +
                std::to_string(end - bound.begin) + " bytes",
            a[i] - start + reinterpret_cast<std::uint64_t>(w.block->shared),
            access.writes ? "write" : "read");
    });
  }

  /// Memcheck alone, where the address is of a known shared variable.
  static void in_variable(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    std::uint64_t at[kWarpSize];
    lane_addresses(r, op, at);
    o.stay_in_variable(at, mask, o.access.total());
    o.run(r, op, mask);
  }

  /// Memcheck alone, where the plain bounds checks see all.
  static void bounded(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    of(op, w).run(r, op, mask);
  }

  /// Memcheck alone, where local memory may be touched.
  static void local_or_generic(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    std::uint64_t at[kWarpSize];
    lane_addresses(r, op, at);
    mask = o.own_local_only(at, mask, o.access.total());
    if (mask != 0) o.run(r, op, mask);
  }

  /// ld, st, atom, red under racecheck or initcheck.
  template <bool Race, bool Init>
  static void by_address(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    const Access& a = o.access;
    const unsigned bytes = a.total();
    std::uint64_t at[kWarpSize];
    lane_addresses(r, op, at);
    const Pattern pattern = pattern_of(at, mask, bytes);
    o.stay_in_variable(at, mask, bytes);
    if (a.window) {
      const std::uint32_t seen = o.to_host(at, mask, bytes, pattern);
      if (seen != mask) {
        o.observed<Race, Init>(r, op, seen, at, bytes, Pattern::scattered);
        if (!w.worker->stop) o.run(r, op, mask & ~seen);  // the original says what is wrong
        return;
      }
    } else if (a.space != Space::global && o.c.has(Check::memcheck)) {
      mask = o.own_local_only(at, mask, bytes);
    }
    o.observed<Race, Init>(r, op, mask, at, bytes,
                           mask == kFullMask ? pattern : Pattern::scattered);
  }

  template <bool Race, bool Init>
  void observed(std::uint8_t* r, const Op& op, std::uint32_t mask, const std::uint64_t* at,
                unsigned bytes, Pattern pattern) const {
    if (mask == 0) return;
    const bool ordering =
        Race && (access.kind == Kind::atomic || access.order != Access::Order::weak);
    if (Init) taint().before_access(access, r, op, mask, at);
    if (Race) {
      c.races_.touch(w, op, access, r, mask, at, bytes, touch_of(access), access.window, pattern);
      if (ordering && access.kind != Kind::load) c.races_.release(w, mask, at, access);
    }
    mask = run(r, op, mask);
    if (mask == 0 || w.worker->stop) return;
    if (ordering && access.kind != Kind::store) c.races_.acquire(w, mask, at);
    if (Init) taint().after_access(access, r, op, mask, at);
  }

  static void frame(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    o.real.fn(r, op, mask, w);
    o.taint().frame_access(o.access, op, mask);
  }

  /// The rows that a warp's matrix instruction reads or writes.
  template <typename Visit>
  void each_row(std::uint8_t* r, const Op& op, std::uint32_t mask, Visit&& visit) const {
    const bool narrow = (op.aux & 1) != 0;
    if (access.kind == Kind::rows_load || access.kind == Kind::rows_store) {
      for (unsigned lane = 0; lane < 8u * access.rows; ++lane) {
        std::uint64_t a = lane_value(r, op.r[4], narrow, lane) + static_cast<std::uint64_t>(op.imm);
        if (access.window) a = reinterpret_cast<std::uint64_t>(shared_at(w, a, 16));
        if (a != 0) visit(a, 16u);
      }
      return;
    }
    const auto& v = op.extra->values;
    const auto which = static_cast<char>(v[3]);
    const auto type = static_cast<Type>(v[4]);
    const bool row_major = v[6] != 0;
    const auto rows = static_cast<std::uint64_t>(which == 'b' ? v[2] : v[0]),
               columns = static_cast<std::uint64_t>(which == 'a' ? v[2] : v[1]);
    const std::uint64_t bits = type == Type::b1                       ? 1
                               : type == Type::s4 || type == Type::u4 ? 4
                               : type == Type::tf32                   ? 32
                                                                      : type_bytes(type) * 8;
    const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
    const std::uint64_t base =
        lane_value(r, op.r[4], narrow, lane) + static_cast<std::uint64_t>(op.imm);
    const std::uint64_t stride = op.r[5] != 0
                                     ? reinterpret_cast<const std::uint32_t*>(r + op.r[5])[lane]
                                     : (row_major ? columns : rows);
    const std::uint64_t length = (row_major ? columns : rows) * bits / 8;
    for (std::uint64_t i = 0; i < (row_major ? rows : columns); ++i) {
      std::uint64_t a = base + i * stride * bits / 8;
      if (access.window) a = reinterpret_cast<std::uint64_t>(shared_at(w, a, length));
      if (a != 0) visit(a, length);
    }
  }

  static void matrix_memory(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    if (o.c.has(Check::racecheck)) {
      o.each_row(r, op, mask, [&](std::uint64_t a, std::uint64_t bytes) {
        o.c.races_.touch_range(w, op, mask, a, bytes, touch_of(o.access));
      });
    }
    o.run(r, op, mask);
    if (!o.c.has(Check::initcheck) || w.worker->stop) return;
    const Taint t = o.taint();
    if (o.access.kind == Kind::rows_load) {
      t.rows_load(op, r);
      return;
    }
    t.clear_writes(mask);
    if (!o.access.writes) return;
    o.each_row(r, op, mask, [&](std::uint64_t a, std::uint64_t bytes) { t.mark(a, bytes, true); });
  }

  static void copy_async(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    const unsigned bytes = op.target;
    each_lane(mask, [&](unsigned i) {
      const std::uint64_t window = lane_value(r, op.r[0], (op.aux & 16) != 0, i) +
                                   static_cast<std::uint64_t>(op.extra->values[0]);
      const std::uint64_t from =
          lane_value(r, op.r[4], (op.aux & 1) != 0, i) + static_cast<std::uint64_t>(op.imm);
      const auto to = reinterpret_cast<std::uint64_t>(shared_at(w, window, bytes));
      if (to == 0) return;
      std::uint32_t size =
          op.r[1] != 0 ? reinterpret_cast<const std::uint32_t*>(r + op.r[1])[i] : bytes;
      if (op.r[2] != 0 && ((*reinterpret_cast<const std::uint32_t*>(r + op.r[2]) ^
                            static_cast<std::uint32_t>(op.r[3])) >>
                               i &
                           1) != 0)
        size = 0;
      size = std::min(size, bytes);
      if (o.c.has(Check::racecheck)) {
        if (size != 0) o.c.races_.touch_range(w, op, 1u << i, from, size, Touch::read);
        o.c.races_.touch_range(w, op, 1u << i, to, bytes, Touch::copy_async);
      }
      if (o.c.has(Check::initcheck)) {
        o.taint().copy(to, from, size);
        if (size < bytes) o.taint().mark(to + size, bytes - size, true);
      }
    });
    o.run(r, op, mask);
  }

  static void copy_bulk(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    const auto& v = op.extra->values;
    const auto flags = static_cast<unsigned>(v[2]);
    const auto host = [&](std::uint64_t a, bool window, std::uint64_t bytes) {
      return window ? reinterpret_cast<std::uint64_t>(shared_at(w, a, bytes)) : a;
    };
    each_lane(mask, [&](unsigned i) {
      const std::uint32_t size = reinterpret_cast<const std::uint32_t*>(r + op.r[1])[i];
      const std::uint64_t to =
          host(lane_value(r, op.r[0], (flags & 4) != 0, i) + static_cast<std::uint64_t>(v[0]),
               (flags & 1) != 0, size);
      const std::uint64_t from =
          host(lane_value(r, op.r[4], (flags & 8) != 0, i) + static_cast<std::uint64_t>(op.imm),
               (flags & 2) != 0, size);
      if (to == 0 || from == 0) return;
      if (o.c.has(Check::racecheck)) {
        o.c.races_.touch_range(w, op, 1u << i, from, size, Touch::read);
        o.c.races_.touch_range(w, op, 1u << i, to, size, Touch::copy_bulk);
      }
      if (o.c.has(Check::initcheck)) o.taint().copy(to, from, size);
      if (op.r[2] == 0 || !o.c.has(Check::racecheck)) return;
      const std::uint64_t word = host(
          lane_value(r, op.r[2], (flags & 16) != 0, i) + static_cast<std::uint64_t>(v[1]), true, 8);
      if (word == 0) return;
      o.c.races_.bulk_on_word(w, i, word);
    });
    std::vector<std::pair<std::uint64_t, std::uint64_t>> before;
    if (op.r[2] != 0) {
      each_lane(mask, [&](unsigned i) {
        const std::uint64_t word =
            host(lane_value(r, op.r[2], (flags & 16) != 0, i) + static_cast<std::uint64_t>(v[1]),
                 true, 8);
        if (word != 0) before.emplace_back(word, *reinterpret_cast<const std::uint64_t*>(word));
      });
    }
    o.run(r, op, mask);
    o.completed(before);
  }

  /// Barrier words whose phase has changed are complete.
  void completed(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& before) const {
    if (!c.has(Check::racecheck) || w.worker->stop) return;
    for (const auto& [word, value] : before) {
      if ((*reinterpret_cast<const std::uint64_t*>(word) ^ value) >> 63 != 0)
        c.races_.word_completed(w, word);
    }
  }

  static void barrier_word(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    std::uint64_t at[kWarpSize];
    lane_addresses(r, op, at);
    std::uint32_t good = mask;
    if (o.access.window) good = o.to_host(at, mask, 8);
    const bool races = o.c.has(Check::racecheck);
    const bool async = o.access.kind == Kind::async_on_barrier;
    const auto readable = [&](std::uint64_t a) {
      if (o.access.window) return a != 0;
      for (const auto& b : w.block->cluster->blocks) {
        if (a - reinterpret_cast<std::uint64_t>(b->shared) < b->shared_bytes) return true;
      }
      return w.worker->launch->memory->find(a) != nullptr;
    };
    std::vector<std::pair<std::uint64_t, std::uint64_t>> before;
    for (std::uint32_t left = races ? good : 0; left != 0;) {
      const auto first = static_cast<unsigned>(__builtin_ctz(left));
      std::uint32_t same = 0;
      each_lane(left, [&](unsigned u) { same |= (at[u] == at[first] ? 1u : 0u) << u; });
      left &= ~same;
      if (!readable(at[first]) || at[first] % 8 != 0) continue;
      if (o.access.word == Access::Word::init || o.access.word == Access::Word::inval) {
        o.c.races_.touch_range(w, op, same, at[first], 8, Touch::write);
        o.c.races_.word_started(w, at[first]);
        continue;
      }
      o.c.races_.touch_range(w, op, same, at[first], 8, Touch::atomic);
      before.emplace_back(at[first], *reinterpret_cast<const std::uint64_t*>(at[first]));
      if (async)
        o.c.races_.copies_on_word(w, same, at[first]);
      else if (o.access.word == Access::Word::arrive)
        o.c.races_.word_arrived(w, same, at[first]);
    }
    mask = o.run(r, op, mask);
    if (w.worker->stop) return;
    if (races && o.access.word == Access::Word::test) {
      const std::uint32_t passed =
          *reinterpret_cast<const std::uint32_t*>(r + op.r[0]) & mask & good;
      each_lane(passed, [&](unsigned u) {
        if (readable(at[u])) o.c.races_.word_tested(w, 1u << u, at[u]);
      });
    } else {
      o.completed(before);
    }
    if (!o.c.has(Check::initcheck)) return;
    const Taint t = o.taint();
    t.clear_writes(mask);
    each_lane(mask & good, [&](unsigned u) { t.mark(at[u], 8, true); });
  }

  /// Operations that only order accesses.
  static void order(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    switch (o.access.kind) {
      case Kind::fence:
        o.c.races_.fence(w, mask, o.access.scope);
        break;
      case Kind::async_commit:
      case Kind::bulk_commit:
        o.c.races_.copies_committed(w, mask, o.access.kind == Kind::bulk_commit);
        break;
      case Kind::async_wait:
      case Kind::bulk_wait:
        o.c.races_.copies_waited(w, mask, o.access.kind == Kind::bulk_wait, o.access.pending);
        break;
      default:
        break;
    }
    o.real.fn(r, op, mask, w);
  }

  static void warp_sync(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    if (o.c.has(Check::synccheck)) o.c.check_members(w, op, r, mask);
    if (o.c.has(Check::racecheck)) {
      // Lanes of one instruction may name different groups.
      const auto* members = reinterpret_cast<const std::uint32_t*>(r + op.r[7]);
      for (std::uint32_t left = mask; left != 0;) {
        std::uint32_t same = 0;
        const std::uint32_t named = members[__builtin_ctz(left)];
        each_lane(left, [&](unsigned i) { same |= (members[i] == named ? 1u : 0u) << i; });
        o.c.races_.warp_sync(w, same);
        left &= ~same;
      }
    }
    o.real.fn(r, op, mask, w);
  }

  static void exchange(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    if (o.c.has(Check::synccheck)) o.c.check_members(w, op, r, mask);
    const bool tainted = o.c.has(Check::initcheck) && o.s.tainted;
    if (tainted) o.taint().exchange(op, o.real.fn, r, mask);
    o.real.fn(r, op, mask, w);
  }

  static void flow(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    if (o.s.tainted) [[unlikely]]
      o.taint().flow(op, mask);
    o.real.fn(r, op, mask, w);
  }

  static void multiply(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    if (o.s.tainted) o.taint().matrix_multiply(op);
    o.real.fn(r, op, mask, w);
  }

  static void other_memory(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    if (o.s.tainted) o.taint().addresses(mask);
    mask = o.run(r, op, mask);
    if (o.c.has(Check::initcheck)) o.taint().clear_writes(mask);
  }

  /// A branch, an indexed branch or an indirect call, before it is taken.
  static void control(std::uint8_t*, const Op& op, std::uint32_t mask, Warp& w) {
    const Observing o = of(op, w);
    if (o.s.tainted) [[unlikely]]
      o.taint().control(mask);
  }
};

void observe_operation(Checks checks, const Program& program, std::size_t index,
                       const Access& access, bool bounded, Op& op) {
  const bool memory = checks.has(Check::memcheck), race = checks.has(Check::racecheck),
             init = checks.has(Check::initcheck), sync = checks.has(Check::synccheck);
  const auto replace_control = [&] {
    op.step = Step::control;
    op.control = Control::none;
    op.guard = 0;
    op.guard_flip = 0;
    op.fn = Observing::control;
  };
  switch (access.kind) {
    case Kind::load:
    case Kind::store:
    case Kind::atomic:
      if (race && access.space != Space::local && access.space != Space::constant &&
          access.space != Space::param)
        op.fn = init ? Observing::by_address<true, true> : Observing::by_address<true, false>;
      else if (init)
        op.fn = Observing::by_address<false, true>;
      else if (memory && bounded)
        op.fn = Observing::in_variable;
      else if (memory)
        op.fn = access.space == Space::global || access.window ? Observing::bounded
                                                               : Observing::local_or_generic;
      return;
    case Kind::frame_load:
    case Kind::frame_store:
      if (init) op.fn = Observing::frame;
      return;
    case Kind::rows_load:
    case Kind::rows_store:
    case Kind::tile_load:
    case Kind::tile_store:
      if (memory || race || init) op.fn = Observing::matrix_memory;
      return;
    case Kind::copy_async:
      if (memory || race || init) op.fn = Observing::copy_async;
      return;
    case Kind::copy_bulk:
      if (memory || race || init) op.fn = Observing::copy_bulk;
      return;
    case Kind::barrier_word:
      if (memory || race || init) op.fn = Observing::barrier_word;
      return;
    case Kind::async_on_barrier:
      if (op.step == Step::faulting) {
        if (memory || race || init) op.fn = Observing::barrier_word;
      }
      return;
    case Kind::async_commit:
    case Kind::async_wait:
    case Kind::bulk_commit:
    case Kind::bulk_wait:
    case Kind::fence:
      if (race) op.fn = Observing::order;
      return;
    case Kind::warp_sync:
      if (race || sync) op.fn = Observing::warp_sync;
      return;
    case Kind::exchange:
      if (sync || init) op.fn = Observing::exchange;
      return;
    case Kind::other_memory:
      if (memory || init) op.fn = Observing::other_memory;
      return;
    case Kind::none:
      break;
  }
  if (!init) return;
  const OpInfo& info = program.info[index];
  if (op.step == Step::branch) {
    if (op.guard != 0) replace_control();
  } else if (op.control == Control::branch_indexed) {
    replace_control();
  } else if (op.fn != nullptr && info.tensor_flops != 0) {
    op.fn = Observing::multiply;
  } else if (op.fn != nullptr &&
             (info.weight == 0 || program.flows[index].reads + program.flows[index].writes != 0)) {
    op.fn = Observing::flow;
  }
}

}  // namespace cudasim
