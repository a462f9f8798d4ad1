// Lane loops shared by the handler files. Included inside an instruction set's own namespace, so
// that code compiled for AVX2 is never picked by a plain CPU.

template <typename T>
inline T* reg(std::uint8_t* r, std::int32_t offset) {
  return static_cast<T*>(__builtin_assume_aligned(r + offset, 64));
}
inline std::uint32_t& pred(std::uint8_t* r, std::int32_t offset) {
  return *reinterpret_cast<std::uint32_t*>(r + offset);
}
template <typename To, typename From>
inline To bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// d = f(a) on the lanes of the mask. Registers either coincide or don't overlap: ivdep holds.
template <typename D, typename A, typename F>
void unary(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  D* d = reg<D>(r, op.r[0]);
  const A* a = reg<A>(r, op.r[1]);
  if (mask == kFullMask) [[likely]] {
#pragma GCC ivdep
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = F::run(a[i]);
  } else {
#pragma GCC ivdep
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const D v = F::run(a[i]);
      d[i] = (mask >> i & 1) ? v : d[i];
    }
  }
}
template <typename D, typename A, typename B, typename F>
void binary(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  D* d = reg<D>(r, op.r[0]);
  const A* a = reg<A>(r, op.r[1]);
  const B* b = reg<B>(r, op.r[2]);
  if (mask == kFullMask) [[likely]] {
#pragma GCC ivdep
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = F::run(a[i], b[i]);
  } else {
#pragma GCC ivdep
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const D v = F::run(a[i], b[i]);
      d[i] = (mask >> i & 1) ? v : d[i];
    }
  }
}
template <typename D, typename A, typename B, typename C, typename F>
void ternary(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  D* d = reg<D>(r, op.r[0]);
  const A* a = reg<A>(r, op.r[1]);
  const B* b = reg<B>(r, op.r[2]);
  const C* c = reg<C>(r, op.r[3]);
  if (mask == kFullMask) [[likely]] {
#pragma GCC ivdep
    for (unsigned i = 0; i < kWarpSize; ++i) d[i] = F::run(a[i], b[i], c[i]);
  } else {
#pragma GCC ivdep
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const D v = F::run(a[i], b[i], c[i]);
      d[i] = (mask >> i & 1) ? v : d[i];
    }
  }
}
// d = f(a, b, c, e): four sources.
template <typename D, typename A, typename B, typename C, typename E, typename F>
void quaternary(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  D* d = reg<D>(r, op.r[0]);
  const A* a = reg<A>(r, op.r[1]);
  const B* b = reg<B>(r, op.r[2]);
  const C* c = reg<C>(r, op.r[3]);
  const E* e = reg<E>(r, op.r[4]);
#pragma GCC ivdep
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const D v = F::run(a[i], b[i], c[i], e[i]);
    d[i] = (mask >> i & 1) ? v : d[i];
  }
}

/// Bit i of the result: flags[i] != 0; flags hold 0 or -1.
inline std::uint32_t gather_flags(const std::int32_t* flags) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < kWarpSize; i += 16) {
    const auto* p = reinterpret_cast<const __m128i*>(flags + i);
    const __m128i low = _mm_packs_epi32(_mm_load_si128(p), _mm_load_si128(p + 1));
    const __m128i high = _mm_packs_epi32(_mm_load_si128(p + 2), _mm_load_si128(p + 3));
    result |= static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high))) << i;
  }
  return result;
}
/// compare(a, b) as a mask.
template <typename A, typename F>
inline std::uint32_t compare_lanes(const A* a, const A* b) {
  alignas(64) std::int32_t flags[kWarpSize];
#pragma GCC ivdep
  for (unsigned i = 0; i < kWarpSize; ++i) flags[i] = F::run(a[i], b[i]) ? -1 : 0;
  return gather_flags(flags);
}
