// Loads and stores. Registers: load r0..r3 = destinations, r4 = address; store r0..r3 = sources,
// r4 = address. imm is added to the address. aux bit 0: 32-bit address register; bit 1: a polling
// access (volatile, relaxed, acquire); bit 2: constant memory (not counted as global); bit 3: not
// kept in L1 (.cg, .cv).
#include "cudasim/exec/isa_parts.hpp"
#include "cudasim/exec/machine.hpp"

namespace cudasim::CUDASIM_ISA {
namespace {
#include "cudasim/exec/lanes.inl"

template <unsigned Bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = std::uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = std::uint64_t;
};
struct Sixteen {
  std::uint64_t low, high;
};
template <>
struct UnsignedOf<16> {
  using type = Sixteen;
};
template <unsigned Bytes>
using Raw = typename UnsignedOf<Bytes>::type;

/// The lanes of `mask` are at one address.
inline bool uniform_on(const std::uint64_t* a, std::uint32_t mask, std::uint64_t address) {
  std::uint64_t different = 0;
  for (unsigned i = 0; i < kWarpSize; ++i)
    different |= (a[i] ^ address) & (0 - std::uint64_t{mask >> i & 1});
  return different == 0;
}
/// d[i] = value on the lanes of `mask`.
template <typename T>
inline void fill_lanes(T* d, std::uint32_t mask, T value) {
  if (mask == kFullMask) {
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = value;
  } else {
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = mask >> i & 1 ? value : d[i];
  }
}

inline void addresses(const std::uint8_t* r, const Op& op, std::uint64_t* a) {
  const std::uint64_t offset = static_cast<std::uint64_t>(op.imm);
  if (op.aux & 1) {
    const auto* p =
        reinterpret_cast<const std::uint32_t*>(__builtin_assume_aligned(r + op.r[4], 64));
    const auto low = static_cast<std::uint32_t>(offset);
    for (unsigned i = 0; i < kWarpSize; ++i) a[i] = static_cast<std::uint32_t>(p[i] + low);
  } else {
    const auto* p =
        reinterpret_cast<const std::uint64_t*>(__builtin_assume_aligned(r + op.r[4], 64));
    for (unsigned i = 0; i < kWarpSize; ++i) a[i] = p[i] + offset;
  }
}
/// All lanes of a full warp at a[0], a[0] + step, …
inline bool consecutive(const std::uint64_t* a, std::uint64_t step) {
  std::uint64_t different = 0;
#pragma GCC ivdep
  for (unsigned i = 0; i < kWarpSize; ++i) different |= a[i] ^ (a[0] + i * step);
  return different == 0;
}
#ifdef CUDASIM_UNCOUNTED  // only to measure in cudasim_bench what counting costs
constexpr bool kCount = false;
#else
constexpr bool kCount = true;
#endif
constexpr std::uint8_t kNotInL1 = 2 | 8;

inline std::uint64_t count_of(std::uint32_t sectors) {
  return static_cast<std::uint64_t>(__builtin_popcount(sectors));
}
/// Marks sectors of a 128 B line.
inline void mark_line(std::uint64_t* bitmap, const Window& window, std::uint64_t line,
                      std::uint32_t sectors) {
  const std::uint64_t at = (line << 2) - window.sector0;
  bitmap[at >> 6] |= std::uint64_t{sectors} << (at & 63);
}
/// A warp reads sectors of a line of global memory: through the block's L1.
[[gnu::always_inline]] inline void read_line(Warp& w, const Window& window, const Op& op,
                                             std::uint64_t line, std::uint32_t sectors) {
  std::uint32_t missing = sectors;
  if (!(op.aux & kNotInL1)) [[likely]] {
    missing = w.block->l1.take(line, sectors);
    w.worker->counters.l1_hit_sectors += count_of(sectors & ~missing);
    if (missing == 0) [[likely]]
      return;
  }
  if (window.read_bits != nullptr) mark_line(window.read_bits, window, line, missing);
}
/// Calls visit(line, sectors) for the lines from the one of `first` to the one of `last`, both
/// sectors.
template <typename Visit>
inline void each_line_between(std::uint64_t first, std::uint64_t last, Visit&& visit) {
  std::uint32_t sectors = 15u << (first & 3) & 15u;
  for (std::uint64_t line = first >> 2; line < last >> 2; ++line) {
    visit(line, sectors);
    sectors = 15;
  }
  visit(last >> 2, sectors & 15u >> (3 - (last & 3)));
}
/// Calls visit(line, sectors) once for each 128 B line that the lanes touch, all in [low, low +
/// span). A lane touches one sector: accesses are aligned and at most 32 B.
template <typename Visit>
inline void each_line(const std::uint64_t* a, std::uint32_t mask, std::uint64_t low,
                      std::uint64_t span, Visit&& visit) {
  const std::uint64_t first = low >> 7 << 2;
  if ((low + span - 1) >> 5 < first + 64) {
    std::uint64_t sectors = 0;
    for (unsigned i = 0; i < kWarpSize; ++i)
      sectors |= std::uint64_t{mask >> i & 1} << (((a[i] >> 5) - first) & 63);
    while (sectors != 0) {
      const auto at = static_cast<unsigned>(__builtin_ctzll(sectors)) & ~3u;
      visit((first + at) >> 2, static_cast<std::uint32_t>(sectors >> at & 15));
      sectors &= ~(std::uint64_t{15} << at);
    }
    return;
  }
  std::uint64_t lines[kWarpSize];
  std::uint32_t sectors[kWarpSize];
  std::uint8_t slots[64] = {};  // index + 1, by hash
  unsigned count = 0, latest = 0;
  for (; mask != 0; mask &= mask - 1) {
    const std::uint64_t s = a[__builtin_ctz(mask)] >> 5, line = s >> 2;
    if (count == 0 || lines[latest] != line) {
      auto h = static_cast<unsigned>(line ^ line >> 6 ^ line >> 12) & 63;
      while (slots[h] != 0 && lines[slots[h] - 1] != line) h = (h + 1) & 63;
      if (slots[h] == 0) {
        lines[count] = line;
        sectors[count] = 0;
        slots[h] = static_cast<std::uint8_t>(++count);
      }
      latest = slots[h] - 1u;
    }
    sectors[latest] |= 1u << (s & 3);
  }
  for (unsigned i = 0; i < count; ++i) visit(lines[i], sectors[i]);
}
/// The most words that any bank has to serve to the lanes of a group.
[[gnu::noinline]] std::uint32_t count_conflicts(const std::uint64_t* a, std::uint32_t group,
                                                unsigned bytes) {
  std::uint64_t words[32][32];
  std::uint8_t counts[32] = {};
  std::uint32_t most = 1;
  for (; group != 0; group &= group - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(group));
    for (std::uint64_t w = a[i] >> 2; w <= (a[i] + bytes - 1) >> 2; ++w) {
      const unsigned bank = w & 31;
      unsigned k = 0;
      while (k < counts[bank] && words[bank][k] != w) ++k;
      if (k < counts[bank]) continue;
      words[bank][k] = w;
      most = ++counts[bank] > most ? counts[bank] : most;
    }
  }
  return most;
}
/// Shared memory passes: lanes are served in groups of 128 bytes asked for; within a group a pass
/// serves each of 32 banks one word; the same word is broadcast.
inline std::uint32_t count_wavefronts(const std::uint64_t* a, std::uint32_t mask, unsigned bytes) {
  if constexpr (!kCount) return 0;
  const unsigned words = bytes <= 4 ? 1 : bytes / 4, lanes = 32 / words;
  const std::uint32_t all = words >= 32 ? kFullMask : (1u << words) - 1;
  std::uint32_t total = 0;
  for (unsigned first = 0; first < kWarpSize; first += lanes) {
    const std::uint32_t group = mask >> first & (lanes == 32 ? kFullMask : (1u << lanes) - 1);
    if (group == 0) continue;
    std::uint32_t banks = 0;
    for (unsigned i = 0; i < lanes; ++i)
      banks |= (group >> i & 1 ? all : 0) << static_cast<unsigned>(a[first + i] >> 2 & 31);
    // Each lane at banks of its own: the common case.
    if (static_cast<unsigned>(__builtin_popcount(banks)) ==
        words * static_cast<unsigned>(__builtin_popcount(group)))
      ++total;
    else
      total += count_conflicts(a, group << first, bytes);
  }
  return total;
}

/// Local memory is interleaved on the device: a word of all lanes is one line.
template <bool Store>
inline void count_local(Warp& w, const std::uint64_t* a, std::uint32_t mask, unsigned bytes) {
  Counters& c = w.worker->counters;
  ++(Store ? c.local_store_requests : c.local_load_requests);
  (Store ? c.local_store_bytes : c.local_load_bytes) +=
      static_cast<std::uint64_t>(__builtin_popcount(mask)) * bytes;
  for (std::uint32_t left = mask; left != 0;) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t word = (a[lane] - reinterpret_cast<std::uint64_t>(w.lane_local(lane))) >> 2;
    std::uint32_t same = 0;
    for (unsigned i = 0; i < kWarpSize; ++i)
      same |= (a[i] - reinterpret_cast<std::uint64_t>(w.lane_local(i))) >> 2 == word ? 1u << i : 0;
    count_local_words(w, Store, word, bytes, same & left);
    left &= ~same;
  }
}
/// Counts an access of lanes that lie in one window, in [low, low + span).
template <bool Store>
inline void count_access(Warp& w, const Window& window, const std::uint64_t* a, std::uint32_t mask,
                         unsigned bytes, const Op& op, std::uint64_t low, std::uint64_t span) {
  if constexpr (!kCount) return;
  Counters& c = w.worker->counters;
  const auto lanes = static_cast<std::uint64_t>(__builtin_popcount(mask));
  switch (window.space) {
    case 1:
      ++(Store ? c.shared_store_requests : c.shared_load_requests);
      (Store ? c.shared_store_wavefronts : c.shared_load_wavefronts) +=
          count_wavefronts(a, mask, bytes);
      (Store ? c.shared_store_bytes : c.shared_load_bytes) += lanes * bytes;
      break;
    case 2:
      count_local<Store>(w, a, mask, bytes);
      break;
    case 3:
      ++c.constant_requests;
      break;
    default:
      if (op.aux & 4) {
        ++c.constant_requests;
        break;
      }
      ++(Store ? c.global_store_requests : c.global_load_requests);
      (Store ? c.global_store_bytes : c.global_load_bytes) += lanes * bytes;
      each_line(a, mask, low, span, [&](std::uint64_t line, std::uint32_t sectors) {
        (Store ? c.global_store_sectors : c.global_load_sectors) += count_of(sectors);
        if constexpr (!Store)
          read_line(w, window, op, line, sectors);
        else if (window.written_bits != nullptr)
          mark_line(window.written_bits, window, line, sectors);
      });
  }
}

template <typename D, typename M, bool Sign>
inline D widen(M m) {
  if constexpr (sizeof(M) == 16)
    return m;
  else if constexpr (Sign)
    return static_cast<D>(
        static_cast<std::make_signed_t<D>>(static_cast<std::make_signed_t<M>>(m)));
  else
    return static_cast<D>(m);
}

inline bool may_write(const Window& window) { return window.writable; }

/// The window for all lanes, or null after a lane-by-lane search has to be done. They lie in
/// [low, low + span).
template <bool Store>
inline const Window* window_for(Warp& w, const Op& op, const std::uint64_t* a, std::uint32_t mask,
                                unsigned bytes, std::uint64_t& low, std::uint64_t& span) {
  std::uint64_t high = 0, low_bits = 0;
  low = ~std::uint64_t{0};
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const bool on = mask >> i & 1;
    const std::uint64_t lo = on ? a[i] : ~std::uint64_t{0}, hi = on ? a[i] : 0;
    low = lo < low ? lo : low;
    high = hi > high ? hi : high;
    low_bits |= hi;
  }
  if (low_bits & (bytes - 1)) [[unlikely]]
    return nullptr;
  span = high - low + bytes;
  const Window& cached = w.worker->windows[static_cast<std::size_t>(&op - w.worker->code)];
  if (low - cached.base < cached.size && span <= cached.size - (low - cached.base) &&
      (!Store || cached.writable)) [[likely]]
    return &cached;
  const Window* found = resolve(w, op, low, span);
  return found != nullptr && (!Store || found->writable) ? found : nullptr;
}
/// Lanes in different windows, or a fault to be reported. True when all lanes are good.
template <bool Store>
bool check_lanes(Warp& w, const Op& op, const std::uint64_t* a, std::uint32_t mask,
                 unsigned bytes) {
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(__builtin_ctz(left));
    const Window* window = a[i] & (bytes - 1) ? nullptr : resolve(w, op, a[i], bytes);
    if (window == nullptr || (Store && !window->writable)) {
      memory_fault(w, a[i], bytes, i, Store, "");
      return false;
    }
    count_access<Store>(w, *window, a, 1u << i, bytes, op, a[i], bytes);  // this is rare
  }
  return true;
}

template <unsigned Bytes, unsigned RegBytes, bool Sign, unsigned Vector>
inline void load_lanes(std::uint8_t* r, const Op& op, std::uint32_t mask, const std::uint64_t* a) {
  using M = Raw<Bytes>;
  using D = Raw<RegBytes>;
  for (unsigned v = 0; v < Vector; ++v) {
    D* d = reg<D>(r, op.r[v]);
    if (mask == kFullMask) {
      for (unsigned i = 0; i < kWarpSize; ++i)
        d[i] = widen<D, M, Sign>(reinterpret_cast<const M*>(a[i])[v]);
    } else {
      for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const unsigned i = static_cast<unsigned>(__builtin_ctz(left));
        d[i] = widen<D, M, Sign>(reinterpret_cast<const M*>(a[i])[v]);
      }
    }
  }
}
template <unsigned Bytes, unsigned Vector>
inline void store_lanes(std::uint8_t* r, const Op& op, std::uint32_t mask, const std::uint64_t* a) {
  using M = Raw<Bytes>;
  using S = Raw<(Bytes == 1 ? 2 : Bytes)>;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(__builtin_ctz(left));
    for (unsigned v = 0; v < Vector; ++v) {
      if constexpr (Bytes == 16)
        reinterpret_cast<M*>(a[i])[v] = reg<S>(r, op.r[v])[i];
      else
        reinterpret_cast<M*>(a[i])[v] = static_cast<M>(reg<S>(r, op.r[v])[i]);
    }
  }
}

/// All lanes read one address of the operation's window: true when done.
template <unsigned Bytes, unsigned RegBytes, bool Sign, unsigned Vector>
inline bool load_uniform(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w,
                         const std::uint64_t* lanes) {
  constexpr unsigned total = Bytes * Vector;
  const std::uint64_t a = lanes[__builtin_ctz(mask)];
  const Window& window = w.worker->windows[static_cast<std::size_t>(&op - w.worker->code)];
  if (a - window.base >= window.size || total > window.size - (a - window.base) ||
      (window.space != 0 && window.space != 3) || (a & (total - 1)) != 0 ||
      !uniform_on(lanes, mask, a)) {
    return false;
  }
  for (unsigned v = 0; v < Vector; ++v) {
    fill_lanes(reg<Raw<RegBytes>>(r, op.r[v]), mask,
               widen<Raw<RegBytes>, Raw<Bytes>, Sign>(reinterpret_cast<const Raw<Bytes>*>(a)[v]));
  }
  if constexpr (!kCount) return true;
  Counters& c = w.worker->counters;
  if ((op.aux & 4) || window.space == 3) {
    ++c.constant_requests;
    return true;
  }
  ++c.global_load_requests;
  ++c.global_load_sectors;
  c.global_load_bytes += static_cast<std::uint64_t>(__builtin_popcount(mask)) * total;
  read_line(w, window, op, a >> 7, 1u << (a >> 5 & 3));
  return true;
}
template <unsigned Bytes, unsigned RegBytes, bool Sign, unsigned Vector>
void load_global(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  constexpr unsigned total = Bytes * Vector;
  alignas(64) std::uint64_t a[kWarpSize];
  addresses(r, op, a);
  if (op.aux & 2) ++w.polls;
  if (mask == kFullMask && consecutive(a, total)) [[likely]] {
    const Window& window = w.worker->windows[static_cast<std::size_t>(&op - w.worker->code)];
    if (a[0] - window.base < window.size &&
        total * kWarpSize <= window.size - (a[0] - window.base) && window.space == 0 &&
        (a[0] & (total - 1)) == 0) [[likely]] {
      const auto* p = reinterpret_cast<const Raw<Bytes>*>(a[0]);
      for (unsigned v = 0; v < Vector; ++v) {
        auto* d = reg<Raw<RegBytes>>(r, op.r[v]);
#pragma GCC ivdep
        for (unsigned i = 0; i < kWarpSize; ++i)
          d[i] = widen<Raw<RegBytes>, Raw<Bytes>, Sign>(p[i * Vector + v]);
      }
      if constexpr (!kCount) return;
      Counters& c = w.worker->counters;
      if (op.aux & 4) {
        ++c.constant_requests;
        return;
      }
      const std::uint64_t first = a[0] >> 5, last = (a[0] + total * kWarpSize - 1) >> 5;
      ++c.global_load_requests;
      c.global_load_sectors += last - first + 1;
      c.global_load_bytes += total * kWarpSize;
      if (total % 4 == 0 && (a[0] & 127) == 0) [[likely]] {
        for (std::uint64_t line = a[0] >> 7; line < (a[0] >> 7) + total / 4; ++line)
          read_line(w, window, op, line, 15);
        return;
      }
      each_line_between(first, last, [&](std::uint64_t line, std::uint32_t sectors) {
        read_line(w, window, op, line, sectors);
      });
      return;
    }
  }
  if (load_uniform<Bytes, RegBytes, Sign, Vector>(r, op, mask, w, a)) return;
  std::uint64_t low = 0, span = 0;
  if (const Window* window = window_for<false>(w, op, a, mask, total, low, span)) [[likely]] {
    count_access<false>(w, *window, a, mask, total, op, low, span);
  } else if (!check_lanes<false>(w, op, a, mask, total)) {
    return;
  }
  load_lanes<Bytes, RegBytes, Sign, Vector>(r, op, mask, a);
}
template <unsigned Bytes, unsigned Vector>
void store_global(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  constexpr unsigned total = Bytes * Vector;
  alignas(64) std::uint64_t a[kWarpSize];
  addresses(r, op, a);
  if (mask == kFullMask && consecutive(a, total)) [[likely]] {
    const Window& window = w.worker->windows[static_cast<std::size_t>(&op - w.worker->code)];
    if (a[0] - window.base < window.size &&
        total * kWarpSize <= window.size - (a[0] - window.base) && window.space == 0 &&
        window.writable && (a[0] & (total - 1)) == 0) [[likely]] {
      auto* p = reinterpret_cast<Raw<Bytes>*>(a[0]);
      for (unsigned v = 0; v < Vector; ++v) {
        const auto* s = reg<Raw<(Bytes == 1 ? 2 : Bytes)>>(r, op.r[v]);
#pragma GCC ivdep
        for (unsigned i = 0; i < kWarpSize; ++i) {
          if constexpr (Bytes == 16)
            p[i * Vector + v] = s[i];
          else
            p[i * Vector + v] = static_cast<Raw<Bytes>>(s[i]);
        }
      }
      if constexpr (!kCount) return;
      const std::uint64_t first = a[0] >> 5, last = (a[0] + total * kWarpSize - 1) >> 5;
      Counters& c = w.worker->counters;
      ++c.global_store_requests;
      c.global_store_sectors += last - first + 1;
      c.global_store_bytes += total * kWarpSize;
      if (window.written_bits != nullptr) {
        each_line_between(first, last, [&](std::uint64_t line, std::uint32_t sectors) {
          mark_line(window.written_bits, window, line, sectors);
        });
      }
      return;
    }
  }
  std::uint64_t low = 0, span = 0;
  if (const Window* window = window_for<true>(w, op, a, mask, total, low, span)) [[likely]] {
    count_access<true>(w, *window, a, mask, total, op, low, span);
  } else if (!check_lanes<true>(w, op, a, mask, total)) {
    return;
  }
  store_lanes<Bytes, Vector>(r, op, mask, a);
}

/// Turns shared-window addresses into host ones; false after a fault.
template <bool Store>
inline bool shared_addresses(Warp& w, std::uint32_t mask, std::uint64_t* a, unsigned bytes) {
  const Block& block = *w.block;
  const std::uint64_t limit = block.shared_bytes;
  std::uint64_t bad = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const bool on = mask >> i & 1;
    const std::uint64_t offset = a[i] - kSharedStart;
    bad |= on && (offset + bytes > limit || offset > limit || (offset & (bytes - 1))) ? 1u : 0u;
  }
  if (bad == 0) [[likely]] {
    const std::uint64_t host = reinterpret_cast<std::uint64_t>(block.shared) - kSharedStart;
    for (unsigned i = 0; i < kWarpSize; ++i) a[i] += host;
    return true;
  }
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(__builtin_ctz(left));
    std::uint8_t* p = a[i] & (bytes - 1) ? nullptr : shared_at(w, a[i], bytes);
    if (p == nullptr) {
      memory_fault(w, a[i], bytes, i, Store, "shared");
      return false;
    }
    a[i] = reinterpret_cast<std::uint64_t>(p);
  }
  return true;
}
/// How the 32-bit addresses of a full warp lie.
struct Pattern {
  bool uniform = false, consecutive = false;
  std::uint32_t offset = 0;  ///< of lane 0, from the start of shared memory
};
template <unsigned Step>
inline Pattern pattern_of(const std::uint8_t* r, const Op& op) {
  const auto* p = reinterpret_cast<const std::uint32_t*>(__builtin_assume_aligned(r + op.r[4], 64));
  std::uint32_t from_first = 0, from_step = 0;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) {
    from_first |= p[i] ^ p[0];
    from_step |= p[i] ^ (p[0] + i * Step);
  }
  return {from_first == 0, from_step == 0,
          p[0] + static_cast<std::uint32_t>(op.imm) - kSharedStart};
}
template <unsigned Bytes, unsigned RegBytes, bool Sign, unsigned Vector>
void load_shared(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  constexpr unsigned total = Bytes * Vector;
  Counters& c = w.worker->counters;
  if (op.aux & 2) ++w.polls;
  ++c.shared_load_requests;
  c.shared_load_bytes += static_cast<std::uint64_t>(__builtin_popcount(mask)) * total;
  if (mask == kFullMask && (op.aux & 1)) [[likely]] {
    const Pattern pattern = pattern_of<total>(r, op);
    const std::uint64_t offset = pattern.offset, limit = w.block->shared_bytes;
    const auto* p = reinterpret_cast<const Raw<Bytes>*>(w.block->shared + offset);
    if ((offset & (total - 1)) == 0) {
      if (pattern.uniform && offset + total <= limit) {
        c.shared_load_wavefronts += 1;
        for (unsigned v = 0; v < Vector; ++v) {
          fill_lanes(reg<Raw<RegBytes>>(r, op.r[v]), kFullMask,
                     widen<Raw<RegBytes>, Raw<Bytes>, Sign>(p[v]));
        }
        return;
      }
      if (pattern.consecutive && offset + total * kWarpSize <= limit) {
        c.shared_load_wavefronts += total <= 4 ? 1 : total / 4;
        for (unsigned v = 0; v < Vector; ++v) {
          auto* d = reg<Raw<RegBytes>>(r, op.r[v]);
#pragma GCC ivdep
          for (unsigned i = 0; i < kWarpSize; ++i)
            d[i] = widen<Raw<RegBytes>, Raw<Bytes>, Sign>(p[i * Vector + v]);
        }
        return;
      }
    }
  }
  alignas(64) std::uint64_t a[kWarpSize];
  addresses(r, op, a);
  c.shared_load_wavefronts += count_wavefronts(a, mask, total);
  if (!shared_addresses<false>(w, mask, a, total)) return;
  load_lanes<Bytes, RegBytes, Sign, Vector>(r, op, mask, a);
}
template <unsigned Bytes, unsigned Vector>
void store_shared(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  constexpr unsigned total = Bytes * Vector;
  Counters& c = w.worker->counters;
  ++c.shared_store_requests;
  c.shared_store_bytes += static_cast<std::uint64_t>(__builtin_popcount(mask)) * total;
  if (mask == kFullMask && (op.aux & 1)) [[likely]] {
    const Pattern pattern = pattern_of<total>(r, op);
    const std::uint64_t offset = pattern.offset, limit = w.block->shared_bytes;
    if (pattern.consecutive && offset + total * kWarpSize <= limit && (offset & (total - 1)) == 0) {
      c.shared_store_wavefronts += total <= 4 ? 1 : total / 4;
      auto* p = reinterpret_cast<Raw<Bytes>*>(w.block->shared + offset);
      for (unsigned v = 0; v < Vector; ++v) {
        const auto* s = reg<Raw<(Bytes == 1 ? 2 : Bytes)>>(r, op.r[v]);
#pragma GCC ivdep
        for (unsigned i = 0; i < kWarpSize; ++i) {
          if constexpr (Bytes == 16)
            p[i * Vector + v] = s[i];
          else
            p[i * Vector + v] = static_cast<Raw<Bytes>>(s[i]);
        }
      }
      return;
    }
  }
  alignas(64) std::uint64_t a[kWarpSize];
  addresses(r, op, a);
  c.shared_store_wavefronts += count_wavefronts(a, mask, total);
  if (!shared_addresses<true>(w, mask, a, total)) return;
  store_lanes<Bytes, Vector>(r, op, mask, a);
}

template <unsigned Bytes, unsigned RegBytes, bool Sign>
Handler load_vector(char space, unsigned vector) {
  const bool shared = space == 's';
  switch (vector) {
    case 1:
      return shared ? load_shared<Bytes, RegBytes, Sign, 1> : load_global<Bytes, RegBytes, Sign, 1>;
    case 2:
      if constexpr (Bytes <= 8)
        return shared ? load_shared<Bytes, RegBytes, Sign, 2>
                      : load_global<Bytes, RegBytes, Sign, 2>;
      else
        return nullptr;
    case 4:
      if constexpr (Bytes <= 4)
        return shared ? load_shared<Bytes, RegBytes, Sign, 4>
                      : load_global<Bytes, RegBytes, Sign, 4>;
      else
        return nullptr;
    default:
      return nullptr;
  }
}
template <unsigned Bytes>
Handler store_vector(char space, unsigned vector) {
  const bool shared = space == 's';
  switch (vector) {
    case 1:
      return shared ? store_shared<Bytes, 1> : store_global<Bytes, 1>;
    case 2:
      if constexpr (Bytes <= 8)
        return shared ? store_shared<Bytes, 2> : store_global<Bytes, 2>;
      else
        return nullptr;
    case 4:
      if constexpr (Bytes <= 4)
        return shared ? store_shared<Bytes, 4> : store_global<Bytes, 4>;
      else
        return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

Handler load(char space, unsigned bytes, bool sign, unsigned register_bytes, unsigned vector) {
  switch (bytes * 100 + register_bytes) {
    case 102:
      return sign ? load_vector<1, 2, true>(space, vector)
                  : load_vector<1, 2, false>(space, vector);
    case 104:
      return sign ? load_vector<1, 4, true>(space, vector)
                  : load_vector<1, 4, false>(space, vector);
    case 108:
      return sign ? load_vector<1, 8, true>(space, vector)
                  : load_vector<1, 8, false>(space, vector);
    case 202:
      return load_vector<2, 2, false>(space, vector);
    case 204:
      return sign ? load_vector<2, 4, true>(space, vector)
                  : load_vector<2, 4, false>(space, vector);
    case 208:
      return sign ? load_vector<2, 8, true>(space, vector)
                  : load_vector<2, 8, false>(space, vector);
    case 404:
      return load_vector<4, 4, false>(space, vector);
    case 408:
      return sign ? load_vector<4, 8, true>(space, vector)
                  : load_vector<4, 8, false>(space, vector);
    case 808:
      return load_vector<8, 8, false>(space, vector);
    case 1616:
      return load_vector<16, 16, false>(space, vector);
    default:
      return nullptr;
  }
}
Handler store(char space, unsigned bytes, unsigned vector) {
  switch (bytes) {
    case 1:
      return store_vector<1>(space, vector);
    case 2:
      return store_vector<2>(space, vector);
    case 4:
      return store_vector<4>(space, vector);
    case 8:
      return store_vector<8>(space, vector);
    case 16:
      return store_vector<16>(space, vector);
    default:
      return nullptr;
  }
}

}  // namespace cudasim::CUDASIM_ISA
