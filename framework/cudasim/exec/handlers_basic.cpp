// Handlers that need no vector instruction set: width changes, frames, addresses, clocks.
#include <chrono>
#include <cstring>

#include "cudasim/exec/decoder.hpp"

namespace cudasim::handlers {
namespace {

template <typename T>
T* lanes(std::uint8_t* r, std::int32_t offset) {
  return reinterpret_cast<T*>(r + offset);
}

template <typename D, typename S>
void change_width(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  D* d = lanes<D>(r, op.r[0]);
  const S* s = lanes<S>(r, op.r[1]);
  if (mask == kFullMask) {
#pragma GCC ivdep
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = static_cast<D>(s[i]);
  } else {
    for (unsigned i = 0; i < kWarpSize; ++i) {
      if (mask >> i & 1) d[i] = static_cast<D>(s[i]);
    }
  }
}
template <unsigned D, unsigned S, bool Sign>
void change_wide(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (!(mask >> i & 1)) continue;
    std::uint8_t value[16] = {};
    std::memcpy(value, r + op.r[1] + i * S, S < D ? S : D);
    std::memcpy(r + op.r[0] + i * D, value, D);
  }
}

// aux: 0: an argument or result of a call, in registers on the device; 1: local memory, 2: a
// further element of a vector.
template <bool Store>
void count_frame(Warp& w, const Op& op, std::uint64_t offset, unsigned bytes, std::uint32_t mask) {
  if (op.aux == 0) return;
  Counters& c = w.worker->counters;
  if (op.aux == 1) ++(Store ? c.local_store_requests : c.local_load_requests);
  (Store ? c.local_store_bytes : c.local_load_bytes) +=
      std::uint64_t{bytes} * static_cast<unsigned>(__builtin_popcount(mask));
  count_local_words(w, Store, offset >> 2, bytes, mask);
}

template <unsigned Bytes, unsigned Wide, bool Sign>
void load_frame(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  const std::uint64_t offset = w.frame->local_offset + static_cast<std::uint64_t>(op.imm);
  count_frame<false>(w, op, offset, Bytes, mask);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (!(mask >> i & 1)) continue;
    std::uint8_t value[16] = {};
    std::memcpy(value, w.lane_local(i) + offset, Bytes);
    if (Sign && Bytes < Wide && (value[Bytes - 1] & 0x80))
      std::memset(value + Bytes, 0xff, Wide - Bytes);
    std::memcpy(r + op.r[0] + i * Wide, value, Wide);
  }
}
template <unsigned Bytes, unsigned Lane>
void store_frame(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  const std::uint64_t offset = w.frame->local_offset + static_cast<std::uint64_t>(op.imm);
  count_frame<true>(w, op, offset, Bytes, mask);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (mask >> i & 1) std::memcpy(w.lane_local(i) + offset, r + op.r[0] + i * Lane, Bytes);
  }
}

std::uint64_t nanoseconds() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

Handler narrow(unsigned from, unsigned to) {
  switch (from * 100 + to) {
    case 402:
      return change_width<std::uint16_t, std::uint32_t>;
    case 802:
      return change_width<std::uint16_t, std::uint64_t>;
    case 804:
      return change_width<std::uint32_t, std::uint64_t>;
    case 1608:
      return change_wide<8, 16, false>;
    case 1604:
      return change_wide<4, 16, false>;
    default:
      return nullptr;
  }
}
Handler widen(unsigned from, unsigned to, bool sign) {
  switch (from * 100 + to) {
    case 204:
      return sign ? change_width<std::int32_t, std::int16_t>
                  : change_width<std::uint32_t, std::uint16_t>;
    case 208:
      return sign ? change_width<std::int64_t, std::int16_t>
                  : change_width<std::uint64_t, std::uint16_t>;
    case 408:
      return sign ? change_width<std::int64_t, std::int32_t>
                  : change_width<std::uint64_t, std::uint32_t>;
    case 816:
      return change_wide<16, 8, false>;
    default:
      return nullptr;
  }
}
Handler frame_load(unsigned bytes, unsigned wide, bool sign) {
  switch (bytes * 100 + wide) {
    case 102:
      return sign ? load_frame<1, 2, true> : load_frame<1, 2, false>;
    case 104:
      return sign ? load_frame<1, 4, true> : load_frame<1, 4, false>;
    case 108:
      return sign ? load_frame<1, 8, true> : load_frame<1, 8, false>;
    case 202:
      return load_frame<2, 2, false>;
    case 204:
      return sign ? load_frame<2, 4, true> : load_frame<2, 4, false>;
    case 208:
      return sign ? load_frame<2, 8, true> : load_frame<2, 8, false>;
    case 404:
      return load_frame<4, 4, false>;
    case 408:
      return sign ? load_frame<4, 8, true> : load_frame<4, 8, false>;
    case 808:
      return load_frame<8, 8, false>;
    case 1616:
      return load_frame<16, 16, false>;
    default:
      return nullptr;
  }
}
Handler frame_store(unsigned bytes) {
  switch (bytes) {
    case 1:
      return store_frame<1, 2>;
    case 2:
      return store_frame<2, 2>;
    case 4:
      return store_frame<4, 4>;
    case 8:
      return store_frame<8, 8>;
    case 16:
      return store_frame<16, 16>;
    default:
      return nullptr;
  }
}

void frame_address(std::uint8_t* r, const Op& op, std::uint32_t, Warp& w) {
  auto* d = lanes<std::uint64_t>(r, op.r[0]);
  const std::uint64_t base = reinterpret_cast<std::uint64_t>(w.local) + w.frame->local_offset +
                             static_cast<std::uint64_t>(op.imm);
  for (unsigned i = 0; i < kWarpSize; ++i) d[i] = base + i * w.local_stride;
}
void read_root(std::uint8_t* r, const Op& op, std::uint32_t, Warp& w) {
  std::memcpy(r + op.r[0], w.root + op.imm, 4 * kWarpSize);
}
void clock64(std::uint8_t* r, const Op& op, std::uint32_t, Warp& w) {
  // Time of this worker in warp operations: it moves on, which is all that programs rely on.
  const std::uint64_t now = nanoseconds() * 2 >> op.imm;
  (void)w;
  for (unsigned i = 0; i < kWarpSize; ++i) lanes<std::uint64_t>(r, op.r[0])[i] = now;
  ++w.polls;
}
void global_timer(std::uint8_t* r, const Op& op, std::uint32_t, Warp& w) {
  const std::uint64_t now = nanoseconds() >> op.imm;
  for (unsigned i = 0; i < kWarpSize; ++i) lanes<std::uint64_t>(r, op.r[0])[i] = now;
  ++w.polls;
}
void nop(std::uint8_t*, const Op&, std::uint32_t, Warp&) {}
void fence(std::uint8_t*, const Op&, std::uint32_t, Warp&) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void activemask(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (mask >> i & 1) lanes<std::uint32_t>(r, op.r[0])[i] = mask;
  }
}
void move128(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (mask >> i & 1) std::memmove(r + op.r[0] + 16 * i, r + op.r[1] + 16 * i, 16);
  }
}
// aux: bytes of the whole; imm: bytes of a part. An 8-bit part lies in a 16-bit register.
void pack(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  const auto each = static_cast<std::size_t>(op.imm), lane = each == 1 ? 2 : each,
             whole = std::size_t{op.aux};
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (!(mask >> i & 1)) continue;
    std::uint8_t value[16];
    for (std::size_t p = 0; p < op.extra->registers.size(); ++p)
      std::memcpy(value + p * each, r + op.extra->registers[p] + i * lane, each);
    std::memcpy(r + op.r[0] + i * whole, value, whole);
  }
}
void unpack(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  const auto each = static_cast<std::size_t>(op.imm), lane = each == 1 ? 2 : each,
             whole = std::size_t{op.aux};
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (!(mask >> i & 1)) continue;
    std::uint8_t value[16];
    std::memcpy(value, r + op.r[0] + i * whole, whole);
    for (std::size_t p = 0; p < op.extra->registers.size(); ++p) {
      if (each == 1) r[op.extra->registers[p] + static_cast<std::int32_t>(i * 2 + 1)] = 0;
      std::memcpy(r + op.extra->registers[p] + i * lane, value + p * each, each);
    }
  }
}

void shared_to_generic(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  auto* d = lanes<std::uint64_t>(r, op.r[0]);
  const auto* s = lanes<std::uint64_t>(r, op.r[1]);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (!(mask >> i & 1)) continue;
    const std::uint64_t rank = s[i] >> kSharedRankShift;
    const Block* block = w.block;
    if (rank != 0 && rank <= w.block->cluster->blocks.size())
      block = w.block->cluster->blocks[rank - 1].get();
    d[i] = reinterpret_cast<std::uint64_t>(block->shared) - kSharedStart +
           (rank != 0 ? s[i] & ((1u << kSharedRankShift) - 1) : s[i]);
  }
}
void generic_to_shared(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  auto* d = lanes<std::uint64_t>(r, op.r[0]);
  const auto* s = lanes<std::uint64_t>(r, op.r[1]);
  const auto base = reinterpret_cast<std::uint64_t>(w.block->shared);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (!(mask >> i & 1)) continue;
    std::uint64_t value = s[i] - base + kSharedStart;
    if (s[i] - base > w.block->shared_bytes && w.block->cluster->blocks.size() > 1) {
      for (const auto& other : w.block->cluster->blocks) {
        const std::uint64_t offset = s[i] - reinterpret_cast<std::uint64_t>(other->shared);
        if (offset <= other->shared_bytes)
          value = (std::uint64_t{other->cluster_rank} + 1) << kSharedRankShift |
                  (offset + kSharedStart);
      }
    }
    d[i] = value;
  }
}
void isspacep(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  const auto* s = lanes<std::uint64_t>(r, op.r[1]);
  std::uint32_t result = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (!(mask >> i & 1)) continue;
    unsigned space = 0;
    for (const auto& other : w.block->cluster->blocks) {
      if (s[i] - reinterpret_cast<std::uint64_t>(other->shared) < other->shared_bytes) space = 1;
    }
    const auto local = reinterpret_cast<std::uint64_t>(w.block->local_memory);
    if (w.block->local_bytes != 0 && s[i] - local < w.block->local_bytes) space = 2;
    const auto& launch = *w.worker->launch;
    if (s[i] - reinterpret_cast<std::uint64_t>(launch.params) < launch.param_bytes) space = 3;
    if (space == 0) {
      const Region* region = launch.memory->find(s[i]);
      if (region != nullptr && region->kind == RegionKind::constant) space = 4;
    }
    result |= (space == op.aux ? 1u : 0u) << i;
  }
  auto& p = *lanes<std::uint32_t>(r, op.r[0]);
  p = (p & ~mask) | (result & mask);
}
void mapa(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  const auto* rank = lanes<std::uint32_t>(r, op.r[2]);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (!(mask >> i & 1)) continue;
    std::uint64_t a = 0;
    std::memcpy(&a, r + op.r[1] + i * op.aux, op.aux);
    std::uint64_t value = 0;
    if (rank[i] < w.block->cluster->blocks.size()) {
      const Block& other = *w.block->cluster->blocks[rank[i]];
      if (op.imm) {
        value =
            (std::uint64_t{rank[i]} + 1) << kSharedRankShift | (a & ((1u << kSharedRankShift) - 1));
      } else {
        for (const auto& b : w.block->cluster->blocks) {
          const std::uint64_t offset = a - reinterpret_cast<std::uint64_t>(b->shared);
          if (offset <= b->shared_bytes)
            value = reinterpret_cast<std::uint64_t>(other.shared) + offset;
        }
      }
    }
    std::memcpy(r + op.r[0] + i * op.aux, &value, op.aux);
  }
}
void getctarank(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  auto* d = lanes<std::uint32_t>(r, op.r[0]);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (!(mask >> i & 1)) continue;
    std::uint64_t a = 0;
    std::memcpy(&a, r + op.r[1] + i * op.aux, op.aux);
    d[i] = w.block->cluster_rank;
    if (op.imm) {
      if (a >> kSharedRankShift) d[i] = static_cast<std::uint32_t>((a >> kSharedRankShift) - 1);
    } else {
      for (const auto& b : w.block->cluster->blocks) {
        if (a - reinterpret_cast<std::uint64_t>(b->shared) <= b->shared_bytes)
          d[i] = b->cluster_rank;
      }
    }
  }
}

}  // namespace cudasim::handlers
