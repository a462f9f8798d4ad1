// atom and red. Blocks run on several host threads, so these are host atomics.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "cudasim/exec/decoder.hpp"
#include "cudasim/exec/half.hpp"

namespace cudasim::handlers {
namespace {

template <typename T>
T* lanes(std::uint8_t* r, std::int32_t offset) {
  return reinterpret_cast<T*>(r + offset);
}

/// *p = f(*p) atomically; gives the old value.
template <typename T, typename F>
T update(T* p, F&& f) {
  T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(p, &old, f(old), true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

float brain_to_float(std::uint16_t h) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16);
}
std::uint16_t float_to_brain(float f) {
  const auto u = std::bit_cast<std::uint32_t>(f);
  return (u & 0x7fffffff) > 0x7f800000
             ? 0x7fff
             : static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

enum class Number { u, s, f32, f32_flushed, f64, f16, bf16, f16x2, bf16x2 };
enum class Do { add, min, max, and_, or_, xor_, exch, inc, dec, cas };

template <Do D, Number N>
std::uint16_t combine_small(std::uint16_t a, std::uint16_t b) {
  constexpr bool half = N == Number::f16 || N == Number::f16x2;
  const float x = half ? half_to_float(a) : brain_to_float(a),
              y = half ? half_to_float(b) : brain_to_float(b);
  float v = x + y;
  if (D == Do::min) v = std::fmin(x, y);
  if (D == Do::max) v = std::fmax(x, y);
  return half ? float_to_half(v) : float_to_brain(v);
}

/// A subnormal becomes a zero of its sign.
std::uint32_t flush(std::uint32_t bits) {
  return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

template <Do D, Number N, typename T>
T combine(T a, T b) {
  if constexpr (N == Number::f32_flushed) {
    return flush(combine<D, Number::f32, T>(flush(a), flush(b)));
  } else if constexpr (N == Number::f32) {
    return std::bit_cast<T>(std::bit_cast<float>(a) + std::bit_cast<float>(b));
  } else if constexpr (N == Number::f64) {
    return std::bit_cast<T>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
  } else if constexpr (N == Number::f16 || N == Number::bf16) {
    return combine_small<D, N>(a, b);
  } else if constexpr (N == Number::f16x2 || N == Number::bf16x2) {
    return static_cast<T>(
        combine_small<D, N>(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b)) |
        static_cast<T>(combine_small<D, N>(static_cast<std::uint16_t>(a >> 16),
                                           static_cast<std::uint16_t>(b >> 16)))
            << 16);
  } else {
    using S = std::make_signed_t<T>;
    constexpr bool s = N == Number::s;
    switch (D) {
      case Do::add:
        return a + b;
      case Do::min:
        return s ? (static_cast<S>(a) < static_cast<S>(b) ? a : b) : (a < b ? a : b);
      case Do::max:
        return s ? (static_cast<S>(a) > static_cast<S>(b) ? a : b) : (a > b ? a : b);
      case Do::and_:
        return a & b;
      case Do::or_:
        return a | b;
      case Do::xor_:
        return a ^ b;
      case Do::inc:
        return a >= b ? T(0) : static_cast<T>(a + 1);
      case Do::dec:
        return a == 0 || a > b ? b : static_cast<T>(a - 1);
      default:
        return b;
    }
  }
}

template <Do D, Number N, typename T>
T one(T* p, T b, T c, bool alone) {
  if (D == Do::cas) {
    T expected = b;
    __atomic_compare_exchange_n(p, &expected, c, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
  }
  if (alone) {
    const T old = *p;
    *p = combine<D, N, T>(old, b);
    return old;
  }
  if constexpr (sizeof(T) >= 4 && (N == Number::u || N == Number::s)) {
    if (D == Do::add) return __atomic_fetch_add(p, b, __ATOMIC_SEQ_CST);
    if (D == Do::and_) return __atomic_fetch_and(p, b, __ATOMIC_SEQ_CST);
    if (D == Do::or_) return __atomic_fetch_or(p, b, __ATOMIC_SEQ_CST);
    if (D == Do::xor_) return __atomic_fetch_xor(p, b, __ATOMIC_SEQ_CST);
    if (D == Do::exch) return __atomic_exchange_n(p, b, __ATOMIC_SEQ_CST);
  }
  return update(p, [&](T old) { return combine<D, N, T>(old, b); });
}

/// Lanes by the word they meet at.
struct Meetings {
  std::uint64_t words[kWarpSize];
  std::uint32_t counts[kWarpSize], n = 0, most = 0;

  Meetings(const std::uint64_t* a, std::uint32_t mask) {
    for (; mask != 0; mask &= mask - 1) {
      const std::uint64_t word = a[__builtin_ctz(mask)] >> 2;
      std::uint32_t k = n == 0 || words[n - 1] != word ? 0 : n - 1;
      while (k < n && words[k] != word) ++k;
      if (k == n) {
        words[n] = word;
        counts[n++] = 0;
      }
      most = std::max(most, ++counts[k]);
    }
  }
};

void count_global(Warp& w, const Op& op, const std::uint64_t* a, std::uint32_t mask) {
  Counters& c = w.worker->counters;
  const auto active = static_cast<std::uint64_t>(__builtin_popcount(mask));
  ++c.global_atomic_requests;
  c.global_atomic_lanes += active;
  if (op.aux & 8) c.global_reduction_lanes += active;
  const Window* window = &w.worker->windows[static_cast<std::size_t>(&op - w.worker->code)];
  Meetings m(a, mask);
  for (std::uint32_t k = 0; k < m.n; ++k) {
    if (m.counts[k] == 0) continue;
    const std::uint64_t address = m.words[k] << 2, sector = address >> 5;
    std::uint32_t most = 0;  // of the words of this sector
    for (std::uint32_t l = k; l < m.n; ++l) {
      if (m.words[l] >> 3 != sector) continue;
      most = std::max(most, m.counts[l]);
      m.counts[l] = 0;
    }
    ++c.global_atomic_sectors;
    c.global_atomic_passes += most;
    if (address - window->base >= window->size) window = resolve(w, op, address, 1);
    if (window == nullptr || window->map == nullptr) continue;
    const std::uint64_t at = sector - window->sector0;
    window->map->written[at >> 6] |= std::uint64_t{1} << (at & 63);
    window->map->add_passes(at, most);
  }
}

/// Host addresses of the lanes' targets; false after a fault. Counts the access.
bool targets(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w, std::uint64_t* a,
             unsigned bytes, bool shared_space, bool& shared) {
  Counters& c = w.worker->counters;
  bool any_global = false;
  shared = shared_space;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    a[i] = op.aux & 1 ? static_cast<std::uint32_t>(lanes<std::uint32_t>(r, op.r[4])[i] +
                                                   static_cast<std::uint32_t>(op.imm))
                      : lanes<std::uint64_t>(r, op.r[4])[i] + static_cast<std::uint64_t>(op.imm);
    if (shared_space) {
      std::uint8_t* p = a[i] & (bytes - 1) ? nullptr : shared_at(w, a[i], bytes);
      if (p == nullptr) {
        memory_fault(w, a[i], bytes, i, true, "shared");
        return false;
      }
      a[i] = reinterpret_cast<std::uint64_t>(p);
    } else {
      const Window& cached = w.worker->windows[static_cast<std::size_t>(&op - w.worker->code)];
      const Window* window = &cached;
      if (a[i] & (bytes - 1))
        window = nullptr;
      else if (!(a[i] - cached.base < cached.size && bytes <= cached.size - (a[i] - cached.base)))
        window = resolve(w, op, a[i], bytes);
      if (window == nullptr || !window->writable) {
        memory_fault(w, a[i], bytes, i, true, "");
        return false;
      }
      if (window->space == 1)
        shared = true;
      else
        any_global = true;
    }
  }
  if (any_global) shared = false;
  if (shared) {
    ++c.shared_atomic_requests;
    c.shared_atomic_wavefronts += Meetings(a, mask).most;
  } else {
    count_global(w, op, a, mask);
  }
  if (!(op.aux & 8)) ++w.polls;
  return true;
}

bool in_shared(const Warp& w, std::uint64_t address) {
  return std::ranges::any_of(w.block->cluster->blocks, [&](const auto& block) {
    return address - reinterpret_cast<std::uint64_t>(block->shared) < block->shared_bytes;
  });
}

template <Do D, Number N, typename T, bool Shared>
void run(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  std::uint64_t a[kWarpSize];
  bool shared = false;
  if (!targets(r, op, mask, w, a, sizeof(T), Shared, shared)) return;
  T* d = lanes<T>(r, op.r[0]);
  const T* b = lanes<T>(r, op.r[1]);
  const T* c = D == Do::cas ? lanes<T>(r, op.r[2]) : b;
  const bool alone = shared || w.worker->launch->single_worker;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    auto* p = reinterpret_cast<T*>(a[i]);
    if constexpr (N == Number::f32_flushed) {
      if (in_shared(w, a[i])) {
        d[i] = one<D, Number::f32, T>(p, b[i], c[i], alone);
        continue;
      }
    }
    d[i] = one<D, N, T>(p, b[i], c[i], alone);
  }
}

template <Do D, Number N, typename T, bool Shared>
void run_vector(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  std::uint64_t a[kWarpSize];
  bool shared = false;
  const auto n = static_cast<unsigned>(op.extra->registers.size() / 2);
  if (!targets(r, op, mask, w, a, static_cast<unsigned>(sizeof(T)) * n, Shared, shared)) return;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    for (unsigned v = 0; v < n; ++v) {
      const T b = lanes<T>(r, op.extra->registers[n + v])[i];
      lanes<T>(r, op.extra->registers[v])[i] =
          one<D, N, T>(reinterpret_cast<T*>(a[i]) + v, b, b, false);
    }
  }
}

struct Wide {
  std::uint64_t low, high;
};
template <bool Cas, bool Shared>
void run128(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  static std::mutex lock;  // 16-byte atomics are rare
  std::uint64_t a[kWarpSize];
  bool shared = false;
  if (!targets(r, op, mask, w, a, 16, Shared, shared)) return;
  const std::lock_guard hold(lock);
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    auto* p = reinterpret_cast<Wide*>(a[i]);
    const Wide old = *p, b = lanes<Wide>(r, op.r[1])[i];
    if (!Cas)
      *p = b;
    else if (old.low == b.low && old.high == b.high)
      *p = lanes<Wide>(r, op.r[2])[i];
    lanes<Wide>(r, op.r[0])[i] = old;
  }
}

template <Do D, Number N, typename T>
void reduce_bulk(std::uint8_t* target, const std::uint8_t* source, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += sizeof(T)) {
    T value{};
    std::memcpy(&value, source + at, sizeof value);
    one<D, N, T>(reinterpret_cast<T*>(target + at), value, value, false);
  }
}
template <Number N, typename T>
BulkReduction pick_bulk(std::string_view o) {
  if (o == "add") return reduce_bulk<Do::add, N, T>;
  if constexpr (N != Number::f32_flushed && N != Number::f64) {
    if (o == "min") return reduce_bulk<Do::min, N, T>;
    if (o == "max") return reduce_bulk<Do::max, N, T>;
  }
  if constexpr (N == Number::u) {
    if (o == "and") return reduce_bulk<Do::and_, N, T>;
    if (o == "or") return reduce_bulk<Do::or_, N, T>;
    if (o == "xor") return reduce_bulk<Do::xor_, N, T>;
    if (o == "inc") return reduce_bulk<Do::inc, N, T>;
    if (o == "dec") return reduce_bulk<Do::dec, N, T>;
  }
  return nullptr;
}

template <Do D, Number N, typename T>
Handler pick(unsigned vector, bool shared) {
  if (vector > 1) return shared ? run_vector<D, N, T, true> : run_vector<D, N, T, false>;
  return shared ? run<D, N, T, true> : run<D, N, T, false>;
}
template <Number N, typename T>
Handler pick_small(std::string_view o, unsigned vector, bool shared) {
  if (o == "add") return pick<Do::add, N, T>(vector, shared);
  if (o == "min") return pick<Do::min, N, T>(vector, shared);
  if (o == "max") return pick<Do::max, N, T>(vector, shared);
  return nullptr;
}
template <typename T>
Handler pick_integer(std::string_view o, bool s, bool shared) {
  if (o == "add") return pick<Do::add, Number::u, T>(1, shared);
  if (o == "min")
    return s ? pick<Do::min, Number::s, T>(1, shared) : pick<Do::min, Number::u, T>(1, shared);
  if (o == "max")
    return s ? pick<Do::max, Number::s, T>(1, shared) : pick<Do::max, Number::u, T>(1, shared);
  if (o == "and") return pick<Do::and_, Number::u, T>(1, shared);
  if (o == "or") return pick<Do::or_, Number::u, T>(1, shared);
  if (o == "xor") return pick<Do::xor_, Number::u, T>(1, shared);
  if (o == "exch") return pick<Do::exch, Number::u, T>(1, shared);
  if (o == "inc") return pick<Do::inc, Number::u, T>(1, shared);
  if (o == "dec") return pick<Do::dec, Number::u, T>(1, shared);
  if (o == "cas") return pick<Do::cas, Number::u, T>(1, shared);
  return nullptr;
}

}  // namespace

Handler atomic(std::string_view o, Type type, unsigned vector, bool shared) {
  switch (type) {
    case Type::f32:
      // Adds in global memory flush subnormals, those in shared memory don't.
      if (o != "add") return nullptr;
      return shared ? pick<Do::add, Number::f32, std::uint32_t>(vector, true)
                    : pick<Do::add, Number::f32_flushed, std::uint32_t>(vector, false);
    case Type::f64:
      return o == "add" && vector == 1 ? pick<Do::add, Number::f64, std::uint64_t>(1, shared)
                                       : nullptr;
    case Type::f16:
      return pick_small<Number::f16, std::uint16_t>(o, vector, shared);
    case Type::bf16:
      return pick_small<Number::bf16, std::uint16_t>(o, vector, shared);
    case Type::f16x2:
      return pick_small<Number::f16x2, std::uint32_t>(o, vector, shared);
    case Type::bf16x2:
      return pick_small<Number::bf16x2, std::uint32_t>(o, vector, shared);
    default:
      break;
  }
  if (vector != 1) return nullptr;
  const bool s = type == Type::s32 || type == Type::s64;
  switch (type_bytes(type)) {
    case 2:
      return o == "cas" ? pick<Do::cas, Number::u, std::uint16_t>(1, shared) : nullptr;
    case 4:
      return pick_integer<std::uint32_t>(o, s, shared);
    case 8:
      return pick_integer<std::uint64_t>(o, s, shared);
    case 16:
      if (o == "cas") return shared ? run128<true, true> : run128<true, false>;
      if (o == "exch") return shared ? run128<false, true> : run128<false, false>;
      return nullptr;
    default:
      return nullptr;
  }
}

BulkReduction bulk_reduction(std::string_view o, Type type) {
  switch (type) {
    case Type::u32:
    case Type::b32:
      return pick_bulk<Number::u, std::uint32_t>(o);
    case Type::s32:
      return pick_bulk<Number::s, std::uint32_t>(o);
    case Type::u64:
    case Type::b64:
      return pick_bulk<Number::u, std::uint64_t>(o);
    case Type::s64:
      return pick_bulk<Number::s, std::uint64_t>(o);
    case Type::f16:
      return pick_bulk<Number::f16, std::uint16_t>(o);
    case Type::bf16:
      return pick_bulk<Number::bf16, std::uint16_t>(o);
    case Type::f32:
      return pick_bulk<Number::f32_flushed, std::uint32_t>(o);
    case Type::f64:
      return pick_bulk<Number::f64, std::uint64_t>(o);
    default:
      return nullptr;
  }
}

}  // namespace cudasim::handlers
