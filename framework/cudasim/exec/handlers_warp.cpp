// Warp-level exchange: shfl, vote, match, redux, elect.
#include <cstring>

#include "cudasim/exec/decoder.hpp"

namespace cudasim::handlers {
namespace {

template <typename T>
T* lanes(std::uint8_t* r, std::int32_t offset) {
  return reinterpret_cast<T*>(r + offset);
}

void set_predicate(std::uint8_t* r, std::int32_t offset, std::uint32_t mask, std::uint32_t value) {
  if (offset == 0) return;
  auto& p = *lanes<std::uint32_t>(r, offset);
  p = (p & ~mask) | (value & mask);
}

enum class Mode { up, down, bfly, idx };

bool uniform(const std::uint32_t* values) {
  std::uint32_t different = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) different |= values[i] ^ values[0];
  return different == 0;
}

template <Mode M>
void shuffle_lanes(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  auto* d = lanes<std::uint32_t>(r, op.r[0]);
  const auto* a = lanes<std::uint32_t>(r, op.r[2]);
  const auto* b = lanes<std::uint32_t>(r, op.r[3]);
  const auto* c = lanes<std::uint32_t>(r, op.r[4]);
  std::uint32_t values[kWarpSize];
  std::uint32_t in_range = 0;
  if (M == Mode::bfly && mask == kFullMask && (c[0] & 0x1f1f) == 31 && uniform(b) && uniform(c)) {
    // The usual step of a reduction: whole warps, no segments.
    const std::uint32_t delta = b[0] & 31;
    for (unsigned i = 0; i < kWarpSize; ++i) values[i] = a[i ^ delta];
    std::memcpy(d, values, sizeof values);
    return set_predicate(r, op.r[1], mask, kFullMask);
  }
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const std::uint32_t delta = b[i] & 31, segment = c[i] >> 8 & 31, clamp = c[i] & 31;
    const auto lane = static_cast<std::int32_t>(i);
    const auto bound = static_cast<std::int32_t>((i & segment) | (clamp & ~segment));
    const auto low = static_cast<std::int32_t>(i & segment);
    std::int32_t j = 0;
    bool good = false;
    if (M == Mode::up) {
      j = lane - static_cast<std::int32_t>(delta);
      good = j >= bound;
    } else if (M == Mode::down) {
      j = lane + static_cast<std::int32_t>(delta);
      good = j <= bound;
    } else if (M == Mode::bfly) {
      j = lane ^ static_cast<std::int32_t>(delta);
      good = j <= bound;
    } else {
      j = low | static_cast<std::int32_t>(delta & ~segment);
      good = j <= bound;
    }
    j = good ? j : lane;
    values[i] = a[j & 31];
    in_range |= (good ? 1u : 0u) << i;
  }
  if (mask == kFullMask) {
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = values[i];
  } else {
    for (unsigned i = 0; i < kWarpSize; ++i) {
      if (mask >> i & 1) d[i] = values[i];
    }
  }
  set_predicate(r, op.r[1], mask, in_range);
}

/// Calls visit(lanes of one member mask that take part, the member mask) for each different mask.
template <typename Visit>
void each_member_mask(std::uint8_t* r, const Op& op, std::uint32_t mask, Visit&& visit) {
  const auto* members = lanes<std::uint32_t>(r, op.r[7]);
  for (std::uint32_t left = mask; left != 0;) {
    const std::uint32_t m = members[__builtin_ctz(left)];
    std::uint32_t same = 0;
    for (std::uint32_t k = left; k != 0; k &= k - 1) {
      const unsigned i = static_cast<unsigned>(__builtin_ctz(k));
      if (members[i] == m) same |= 1u << i;
    }
    visit(same, m);
    left &= ~same;
  }
}

enum class Vote { all, any, uniform, ballot };

template <Vote V>
void vote_lanes(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  const std::uint32_t input =
      *lanes<std::uint32_t>(r, op.r[2]) ^ static_cast<std::uint32_t>(op.imm);
  each_member_mask(r, op, mask, [&](std::uint32_t same, std::uint32_t) {
    const std::uint32_t on = input & same;
    if (V == Vote::ballot) {
      for (std::uint32_t k = same; k != 0; k &= k - 1)
        lanes<std::uint32_t>(r, op.r[0])[__builtin_ctz(k)] = on;
      return;
    }
    const bool v = V == Vote::all ? on == same : V == Vote::any ? on != 0 : on == same || on == 0;
    set_predicate(r, op.r[0], same, v ? kFullMask : 0);
  });
}

template <typename T, bool Any>
void match_lanes(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  const T* a = lanes<T>(r, op.r[2]);
  T values[kWarpSize];
  for (unsigned i = 0; i < kWarpSize; ++i) values[i] = a[i];
  auto* d = lanes<std::uint32_t>(r, op.r[0]);
  each_member_mask(r, op, mask, [&](std::uint32_t same, std::uint32_t) {
    const T first = values[__builtin_ctz(same)];
    bool all = true;
    for (std::uint32_t k = same; k != 0; k &= k - 1) {
      const unsigned i = static_cast<unsigned>(__builtin_ctz(k));
      all = all && values[i] == first;
      if (!Any) continue;
      std::uint32_t equal = 0;
      for (std::uint32_t n = same; n != 0; n &= n - 1) {
        const unsigned j = static_cast<unsigned>(__builtin_ctz(n));
        equal |= (values[j] == values[i] ? 1u : 0u) << j;
      }
      d[i] = equal;
    }
    if (Any) return;
    for (std::uint32_t k = same; k != 0; k &= k - 1) d[__builtin_ctz(k)] = all ? same : 0;
    set_predicate(r, op.r[1], same, all ? kFullMask : 0);
  });
}

enum class Reduce { add, min_s, max_s, min_u, max_u, and_, or_, xor_ };

template <Reduce R>
void reduce_lanes(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  const auto* a = lanes<std::uint32_t>(r, op.r[2]);
  auto* d = lanes<std::uint32_t>(r, op.r[0]);
  each_member_mask(r, op, mask, [&](std::uint32_t same, std::uint32_t) {
    std::uint32_t v = a[__builtin_ctz(same)];
    for (std::uint32_t k = same & (same - 1); k != 0; k &= k - 1) {
      const std::uint32_t x = a[__builtin_ctz(k)];
      switch (R) {
        case Reduce::add:
          v += x;
          break;
        case Reduce::min_s:
          v = static_cast<std::int32_t>(x) < static_cast<std::int32_t>(v) ? x : v;
          break;
        case Reduce::max_s:
          v = static_cast<std::int32_t>(x) > static_cast<std::int32_t>(v) ? x : v;
          break;
        case Reduce::min_u:
          v = x < v ? x : v;
          break;
        case Reduce::max_u:
          v = x > v ? x : v;
          break;
        case Reduce::and_:
          v &= x;
          break;
        case Reduce::or_:
          v |= x;
          break;
        case Reduce::xor_:
          v ^= x;
          break;
      }
    }
    for (std::uint32_t k = same; k != 0; k &= k - 1) d[__builtin_ctz(k)] = v;
  });
}

}  // namespace

Handler shuffle(std::string_view mode) {
  if (mode == "up") return shuffle_lanes<Mode::up>;
  if (mode == "down") return shuffle_lanes<Mode::down>;
  if (mode == "bfly") return shuffle_lanes<Mode::bfly>;
  if (mode == "idx") return shuffle_lanes<Mode::idx>;
  return nullptr;
}
Handler vote(std::string_view mode) {
  if (mode == "all") return vote_lanes<Vote::all>;
  if (mode == "any") return vote_lanes<Vote::any>;
  if (mode == "uni") return vote_lanes<Vote::uniform>;
  if (mode == "ballot") return vote_lanes<Vote::ballot>;
  return nullptr;
}
Handler match(bool any, unsigned bytes) {
  if (bytes == 4) return any ? match_lanes<std::uint32_t, true> : match_lanes<std::uint32_t, false>;
  if (bytes == 8) return any ? match_lanes<std::uint64_t, true> : match_lanes<std::uint64_t, false>;
  return nullptr;
}
Handler reduce(std::string_view operation, Type type) {
  const bool s = type == Type::s32;
  if (type_bytes(type) != 4 || type == Type::f32) return nullptr;
  if (operation == "add") return reduce_lanes<Reduce::add>;
  if (operation == "min") return s ? reduce_lanes<Reduce::min_s> : reduce_lanes<Reduce::min_u>;
  if (operation == "max") return s ? reduce_lanes<Reduce::max_s> : reduce_lanes<Reduce::max_u>;
  if (operation == "and") return reduce_lanes<Reduce::and_>;
  if (operation == "or") return reduce_lanes<Reduce::or_>;
  if (operation == "xor") return reduce_lanes<Reduce::xor_>;
  return nullptr;
}
void elect(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  auto* d = lanes<std::uint32_t>(r, op.r[0]);
  each_member_mask(r, op, mask, [&](std::uint32_t same, std::uint32_t) {
    const auto leader = static_cast<std::uint32_t>(__builtin_ctz(same));
    for (std::uint32_t k = same; k != 0; k &= k - 1) d[__builtin_ctz(k)] = leader;
    set_predicate(r, op.r[1], same, 1u << leader);
  });
}

}  // namespace cudasim::handlers
