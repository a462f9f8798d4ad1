// Scalar integer and bit operations as PTX defines them.

template <typename T>
using Signed = std::make_signed_t<T>;
template <typename T>
using Unsigned = std::make_unsigned_t<T>;
template <typename T>
struct WiderOf;
template <>
struct WiderOf<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct WiderOf<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct WiderOf<std::uint32_t> {
  using type = std::uint64_t;
};
template <>
struct WiderOf<std::int32_t> {
  using type = std::int64_t;
};
template <>
struct WiderOf<std::uint64_t> {
  __extension__ using type = unsigned __int128;
};
template <>
struct WiderOf<std::int64_t> {
  __extension__ using type = __int128;
};
template <typename T>
using Wider = typename WiderOf<T>::type;

template <typename T>
struct IAdd {
  static T run(T a, T b) { return static_cast<T>(a + b); }
};
template <typename T>
struct ISub {
  static T run(T a, T b) { return static_cast<T>(a - b); }
};
template <typename T>
struct IMul {
  static T run(T a, T b) {
    if constexpr (sizeof(T) == 2)
      return static_cast<T>(static_cast<std::uint32_t>(a) * b);
    else
      return a * b;
  }
};
template <typename T>
struct IMulHi {
  static T run(T a, T b) {
    return static_cast<T>((static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b)) >> (sizeof(T) * 8));
  }
};
template <typename T>
struct IMulWide {
  static Wider<T> run(T a, T b) {
    using U = Unsigned<Wider<T>>;
    return static_cast<Wider<T>>(static_cast<U>(static_cast<Wider<T>>(a)) *
                                 static_cast<U>(static_cast<Wider<T>>(b)));
  }
};
template <typename T>
struct IMadLo {
  static T run(T a, T b, T c) { return static_cast<T>(IMul<T>::run(a, b) + c); }
};
template <typename T>
struct IMadHi {
  static T run(T a, T b, T c) {
    return static_cast<T>(static_cast<Unsigned<T>>(IMulHi<T>::run(a, b)) +
                          static_cast<Unsigned<T>>(c));
  }
};
template <typename T>
struct IMadHiSat {
  static T run(T a, T b, T c) {
    const Wider<T> v = static_cast<Wider<T>>(IMulHi<T>::run(a, b)) + c;
    const Wider<T> lo = std::numeric_limits<T>::min(), hi = std::numeric_limits<T>::max();
    return static_cast<T>(v < lo ? lo : v > hi ? hi : v);
  }
};
template <typename T>
struct IMadWide {
  static Wider<T> run(T a, T b, Wider<T> c) {
    using U = Unsigned<Wider<T>>;
    return static_cast<Wider<T>>(static_cast<U>(IMulWide<T>::run(a, b)) + static_cast<U>(c));
  }
};
template <typename T>
struct IDiv {
  static T run(T a, T b) {
    if (b == 0) return static_cast<T>(~T(0));
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(0 - static_cast<Unsigned<T>>(a));
    }
    return static_cast<T>(a / b);
  }
};
template <typename T>
struct IRem {
  static T run(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
template <typename T>
struct IMin {
  static T run(T a, T b) { return a < b ? a : b; }
};
template <typename T>
struct IMax {
  static T run(T a, T b) { return a > b ? a : b; }
};
template <typename T>
struct IMinRelu {
  static T run(T a, T b) {
    const T v = a < b ? a : b;
    return v > 0 ? v : T(0);
  }
};
template <typename T>
struct IMaxRelu {
  static T run(T a, T b) {
    const T v = a > b ? a : b;
    return v > 0 ? v : T(0);
  }
};
template <typename T>
struct IAbs {
  static T run(T a) { return a < 0 ? static_cast<T>(0 - static_cast<Unsigned<T>>(a)) : a; }
};
template <typename T>
struct INeg {
  static T run(T a) { return static_cast<T>(0 - a); }
};
template <typename T>
struct INot {
  static T run(T a) { return static_cast<T>(~a); }
};
template <typename T>
struct ICnot {
  static T run(T a) { return a == 0 ? 1 : 0; }
};
template <typename T>
struct IAnd {
  static T run(T a, T b) { return a & b; }
};
template <typename T>
struct IOr {
  static T run(T a, T b) { return a | b; }
};
template <typename T>
struct IXor {
  static T run(T a, T b) { return a ^ b; }
};
template <typename T>
struct Move {
  static T run(T a) { return a; }
};
template <typename T>
struct IShl {
  static T run(T a, std::uint32_t n) {
    const T v = static_cast<T>(a << (n & (sizeof(T) * 8 - 1)));
    return n >= sizeof(T) * 8 ? T(0) : v;
  }
};
template <typename T>
struct IShr {
  static T run(T a, std::uint32_t n) {
    const std::uint32_t top = sizeof(T) * 8 - 1;
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (n > top ? top : n));
    const T v = static_cast<T>(a >> (n & top));
    return n > top ? T(0) : v;
  }
};
template <typename T>
struct IAddSat {
  static T run(T a, T b) {
    const std::int64_t v = static_cast<std::int64_t>(a) + b;
    return static_cast<T>(v > 0x7fffffff ? 0x7fffffff : v < -0x80000000ll ? -0x80000000ll : v);
  }
};
template <typename T>
struct ISubSat {
  static T run(T a, T b) {
    const std::int64_t v = static_cast<std::int64_t>(a) - b;
    return static_cast<T>(v > 0x7fffffff ? 0x7fffffff : v < -0x80000000ll ? -0x80000000ll : v);
  }
};
template <typename T>
struct ISad {
  static T run(T a, T b, T c) {
    using U = Unsigned<T>;
    const U d = a < b ? static_cast<U>(static_cast<U>(b) - static_cast<U>(a))
                      : static_cast<U>(static_cast<U>(a) - static_cast<U>(b));
    return static_cast<T>(static_cast<U>(c) + d);
  }
};
inline std::int32_t extend24(std::uint32_t v) { return static_cast<std::int32_t>(v << 8) >> 8; }
struct Mul24S {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(extend24(a)) * extend24(b));
  }
};
struct Mul24U {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b) {
    return (a & 0xffffffu) * (b & 0xffffffu);
  }
};
struct Mul24HiS {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>((static_cast<std::int64_t>(extend24(a)) * extend24(b)) >> 16);
  }
};
struct Mul24HiU {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>(
        (static_cast<std::uint64_t>(a & 0xffffffu) * (b & 0xffffffu)) >> 16);
  }
};
struct Mad24S {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return Mul24S::run(a, b) + c;
  }
};
struct Mad24U {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return Mul24U::run(a, b) + c;
  }
};

template <typename T>
struct Popc {
  static std::uint32_t run(T a) { return static_cast<std::uint32_t>(__builtin_popcountll(a)); }
};
template <typename T>
struct Clz {
  static std::uint32_t run(T a) {
    return a == 0 ? sizeof(T) * 8
                  : static_cast<std::uint32_t>(__builtin_clzll(a)) - (64 - sizeof(T) * 8);
  }
};
struct Brev32 {
  static std::uint32_t run(std::uint32_t v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
  }
};
struct Brev64 {
  static std::uint64_t run(std::uint64_t v) {
    return static_cast<std::uint64_t>(Brev32::run(static_cast<std::uint32_t>(v))) << 32 |
           Brev32::run(static_cast<std::uint32_t>(v >> 32));
  }
};
/// Position of the highest bit that differs from the sign (signed) or is 1; ~0 when there is none.
template <typename T, bool ShiftAmount>
struct Bfind {
  static std::uint32_t run(T a) {
    using U = Unsigned<T>;
    U v = static_cast<U>(a);
    if constexpr (std::is_signed_v<T>) {
      if (a < 0) v = static_cast<U>(~v);
    }
    if (v == 0) return 0xffffffffu;
    const std::uint32_t position = 63u - static_cast<std::uint32_t>(__builtin_clzll(v));
    return ShiftAmount ? static_cast<std::uint32_t>(sizeof(T) * 8 - 1) - position : position;
  }
};
/// The n-th set bit from base, both directions.
struct Fns {
  static std::uint32_t run(std::uint32_t mask, std::uint32_t base, std::uint32_t offset_bits) {
    const std::int32_t offset = static_cast<std::int32_t>(offset_bits);
    if (offset == 0) return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
    const std::int32_t step = offset > 0 ? 1 : -1;
    std::int32_t left = offset * step;
    for (std::int32_t at = static_cast<std::int32_t>(base); at >= 0 && at < 32; at += step) {
      if (mask >> at & 1) {
        if (--left == 0) return static_cast<std::uint32_t>(at);
      }
    }
    return 0xffffffffu;
  }
};
template <typename T>
struct Bfe {
  static T run(T a, std::uint32_t b, std::uint32_t c) {
    using U = Unsigned<T>;
    constexpr std::uint32_t top = sizeof(T) * 8 - 1;
    const std::uint32_t position = b & 0xff, length = c & 0xff;
    U v = position > top ? U(0) : static_cast<U>(static_cast<U>(a) >> position);
    const U keep = length > top ? ~U(0) : static_cast<U>((U(1) << length) - 1);
    v &= keep;
    if constexpr (std::is_signed_v<T>) {
      std::uint32_t sign_at = position + length - 1;
      sign_at = sign_at > top ? top : sign_at;
      const bool sign = length != 0 && (static_cast<U>(a) >> sign_at & 1);
      if (sign) v |= static_cast<U>(~keep);
      if (sign && position + length > top + 1) {  // bits beyond the top are sign bits too
        const std::uint32_t have = position > top ? 0 : top + 1 - position;
        if (have <= top) v |= static_cast<U>(~U(0) << have);
      }
    }
    return static_cast<T>(v);
  }
};
template <typename T>
struct Bfi {
  static T run(T a, T b, std::uint32_t c, std::uint32_t d) {
    constexpr std::uint32_t width = sizeof(T) * 8;
    const std::uint32_t position = c & 0xff, length = d & 0xff;
    if (position >= width) return b;
    const T keep = static_cast<T>((length >= width ? ~T(0) : static_cast<T>((T(1) << length) - 1))
                                  << position);
    return static_cast<T>((b & ~keep) | ((a << position) & keep));
  }
};
template <bool Clamp>
struct Bmsk {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b) {
    if (Clamp) {
      if (a >= 32 || b == 0) return 0;
      const std::uint32_t length = b > 32 - a ? 32 - a : b;
      return (length >= 32 ? 0xffffffffu : (1u << length) - 1) << a;
    }
    a &= 31;
    b &= 31;
    return ((1u << b) - 1) << a;
  }
};
template <typename T, bool Wrap>
struct Szext {
  static T run(T a, std::uint32_t b) {
    const std::uint32_t n = Wrap ? b & 31 : b;
    if (n >= 32) return a;
    if (n == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(static_cast<std::uint32_t>(a) << (32 - n)) >> (32 - n);
    return static_cast<T>(static_cast<std::uint32_t>(a) << (32 - n) >> (32 - n));
  }
};
template <bool Left, bool Wrap>
struct Shf {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t n = Wrap ? c & 31 : (c > 32 ? 32 : c);
    const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
    return Left ? static_cast<std::uint32_t>((both << n) >> 32)
                : static_cast<std::uint32_t>(both >> n);
  }
};
struct Prmt {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
    std::uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint32_t selector = c >> (4 * i);
      std::uint32_t byte = static_cast<std::uint32_t>(both >> (8 * (selector & 7))) & 0xff;
      byte = selector & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte;
      result |= byte << (8 * i);
    }
    return result;
  }
};
// prmt's named modes: byte indices for each value of c & 3.
template <int Mode>
struct PrmtMode {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    constexpr std::uint16_t table[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543},   // f4e
                                           {0x5670, 0x6701, 0x7012, 0x0123},   // b4e
                                           {0x0000, 0x1111, 0x2222, 0x3333},   // rc8
                                           {0x3210, 0x3211, 0x3222, 0x3333},   // ecl
                                           {0x0000, 0x1110, 0x2210, 0x3210},   // ecr
                                           {0x1010, 0x3232, 0x1010, 0x3232}};  // rc16
    return Prmt::run(a, b, table[Mode][c & 3]);
  }
};
template <bool Sa, bool Sb>
struct Dp4a {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (unsigned i = 0; i < 32; i += 8) {
      const std::int32_t x =
          Sa ? static_cast<std::int8_t>(a >> i) : static_cast<std::int32_t>(a >> i & 0xff);
      const std::int32_t y =
          Sb ? static_cast<std::int8_t>(b >> i) : static_cast<std::int32_t>(b >> i & 0xff);
      c += static_cast<std::uint32_t>(x * y);
    }
    return c;
  }
};
template <bool Sa, bool Sb, bool High>
struct Dp2a {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (unsigned i = 0; i < 2; ++i) {
      const std::uint32_t x16 = a >> (16 * i) & 0xffff, y8 = b >> (8 * i + (High ? 16 : 0)) & 0xff;
      const std::int32_t x = Sa ? static_cast<std::int16_t>(x16) : static_cast<std::int32_t>(x16);
      const std::int32_t y = Sb ? static_cast<std::int8_t>(y8) : static_cast<std::int32_t>(y8);
      c += static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y);
    }
    return c;
  }
};
// lop3: the table is op.imm.
inline void lop3(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  std::uint32_t* d = reg<std::uint32_t>(r, op.r[0]);
  const std::uint32_t* a = reg<std::uint32_t>(r, op.r[1]);
  const std::uint32_t* b = reg<std::uint32_t>(r, op.r[2]);
  const std::uint32_t* c = reg<std::uint32_t>(r, op.r[3]);
  std::uint32_t t[8];
  for (unsigned k = 0; k < 8; ++k) t[k] = op.imm >> k & 1 ? 0xffffffffu : 0u;
#pragma GCC ivdep
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const std::uint32_t x = a[i], y = b[i], z = c[i];
    const std::uint32_t v = (~x & ~y & ~z & t[0]) | (~x & ~y & z & t[1]) | (~x & y & ~z & t[2]) |
                            (~x & y & z & t[3]) | (x & ~y & ~z & t[4]) | (x & ~y & z & t[5]) |
                            (x & y & ~z & t[6]) | (x & y & z & t[7]);
    d[i] = (mask >> i & 1) ? v : d[i];
  }
}

// Extended precision: the carry flag is the predicate at kCarry. imm: 1 reads it, 2 writes it.
constexpr std::int32_t kCarry = 4;
template <typename T, bool Subtract>
void add_carry(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  T* d = reg<T>(r, op.r[0]);
  const T* a = reg<T>(r, op.r[1]);
  const T* b = reg<T>(r, op.r[2]);
  const std::uint32_t carry = pred(r, kCarry);
  std::uint32_t carries = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const T x = a[i], y = b[i];
    const T in_bit = op.imm & 1 ? static_cast<T>(carry >> i & 1) : T(0);
    T v, t;
    bool over;
    if (Subtract) {
      over = __builtin_sub_overflow(x, y, &t);
      over |= __builtin_sub_overflow(t, in_bit, &v);
    } else {
      over = __builtin_add_overflow(x, y, &t);
      over |= __builtin_add_overflow(t, in_bit, &v);
    }
    carries |= (over ? 1u : 0u) << i;
    if (mask >> i & 1) d[i] = v;
  }
  if (op.imm & 2) pred(r, kCarry) = (carry & ~mask) | (carries & mask);
}
template <typename T, bool High>
void mad_carry(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  using U = Unsigned<T>;
  T* d = reg<T>(r, op.r[0]);
  const T* a = reg<T>(r, op.r[1]);
  const T* b = reg<T>(r, op.r[2]);
  const T* c = reg<T>(r, op.r[3]);
  const std::uint32_t carry = pred(r, kCarry);
  std::uint32_t carries = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const U product =
        High ? static_cast<U>(IMulHi<T>::run(a[i], b[i]))
             : static_cast<U>(IMul<U>::run(static_cast<U>(a[i]), static_cast<U>(b[i])));
    const U in_bit = op.imm & 1 ? static_cast<U>(carry >> i & 1) : U(0);
    U t, v;
    bool over = __builtin_add_overflow(product, static_cast<U>(c[i]), &t);
    over |= __builtin_add_overflow(t, in_bit, &v);
    carries |= (over ? 1u : 0u) << i;
    if (mask >> i & 1) d[i] = static_cast<T>(v);
  }
  if (op.imm & 2) pred(r, kCarry) = (carry & ~mask) | (carries & mask);
}

// Video SIMD: absolute differences of bytes or halves; imm bit 0: sum into c, bit 1: signed a, bit
// 2: signed b.
template <unsigned Bits>
void vabsdiff(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  std::uint32_t* d = reg<std::uint32_t>(r, op.r[0]);
  const std::uint32_t* a = reg<std::uint32_t>(r, op.r[1]);
  const std::uint32_t* b = reg<std::uint32_t>(r, op.r[2]);
  const std::uint32_t* c = reg<std::uint32_t>(r, op.r[3]);
  constexpr std::uint32_t ones = (1u << Bits) - 1;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    std::uint32_t v = op.imm & 1 ? c[i] : 0;
    for (unsigned s = 0; s < 32; s += Bits) {
      std::int32_t x = static_cast<std::int32_t>(a[i] >> s & ones),
                   y = static_cast<std::int32_t>(b[i] >> s & ones);
      if (op.imm & 2)
        x = static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << (32 - Bits)) >> (32 - Bits);
      if (op.imm & 4)
        y = static_cast<std::int32_t>(static_cast<std::uint32_t>(y) << (32 - Bits)) >> (32 - Bits);
      const std::uint32_t difference = static_cast<std::uint32_t>(x > y ? x - y : y - x);
      if (op.imm & 1)
        v += difference;
      else
        v |= (difference & ones) << s;
    }
    if (mask >> i & 1) d[i] = v;
  }
}

// Predicates are whole masks.
template <char O>
void predicate_op(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  const std::uint32_t a = pred(r, op.r[1]), b = pred(r, op.r[2]);
  std::uint32_t v = 0;
  if (O == '&') v = a & b;
  if (O == '|') v = a | b;
  if (O == '^') v = a ^ b;
  if (O == '~') v = ~a;
  if (O == '=') v = a;
  std::uint32_t& d = pred(r, op.r[0]);
  d = (d & ~mask) | (v & mask);
}

// setp: r0 = p, r1 = q or 0, r2 = a, r3 = b, r4 = c or 0; aux: 0 none, 1 and, 2 or, 3 xor; imm: !c.
inline void finish_setp(std::uint8_t* r, const Op& op, std::uint32_t mask, std::uint32_t v) {
  std::uint32_t w = ~v;
  if (op.aux != 0) {
    const std::uint32_t c = pred(r, op.r[4]) ^ static_cast<std::uint32_t>(op.imm);
    v = op.aux == 1 ? v & c : op.aux == 2 ? v | c : v ^ c;
    w = op.aux == 1 ? w & c : op.aux == 2 ? w | c : w ^ c;
  }
  std::uint32_t& p = pred(r, op.r[0]);
  p = (p & ~mask) | (v & mask);
  if (op.r[1] != 0) {
    std::uint32_t& q = pred(r, op.r[1]);
    q = (q & ~mask) | (w & mask);
  }
}
template <typename T, typename F>
void set_predicate(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  finish_setp(r, op, mask, compare_lanes<T, F>(reg<T>(r, op.r[2]), reg<T>(r, op.r[3])));
}
// setp.f16x2: p from the low halves, q from the high ones.
template <typename F>
void set_predicate_pair(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  const std::uint32_t* a = reg<std::uint32_t>(r, op.r[2]);
  const std::uint32_t* b = reg<std::uint32_t>(r, op.r[3]);
  std::uint32_t low = 0, high = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    low |= (F::run(static_cast<std::uint16_t>(a[i]), static_cast<std::uint16_t>(b[i])) ? 1u : 0u)
           << i;
    high |= (F::run(static_cast<std::uint16_t>(a[i] >> 16), static_cast<std::uint16_t>(b[i] >> 16))
                 ? 1u
                 : 0u)
            << i;
  }
  if (op.aux != 0) {
    const std::uint32_t c = pred(r, op.r[4]) ^ static_cast<std::uint32_t>(op.imm);
    low = op.aux == 1 ? low & c : op.aux == 2 ? low | c : low ^ c;
    high = op.aux == 1 ? high & c : op.aux == 2 ? high | c : high ^ c;
  }
  std::uint32_t& p = pred(r, op.r[0]);
  p = (p & ~mask) | (low & mask);
  std::uint32_t& q = pred(r, op.r[1]);
  q = (q & ~mask) | (high & mask);
}
// set: r0 = d, r2 = a, r3 = b, r4 = c; the result is 1.0 / 0 (float d) or ~0 / 0.
template <typename D, typename T, typename F>
void set_value(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  std::uint32_t v = compare_lanes<T, F>(reg<T>(r, op.r[2]), reg<T>(r, op.r[3]));
  if (op.aux != 0) {
    const std::uint32_t c = pred(r, op.r[4]) ^ static_cast<std::uint32_t>(op.imm);
    v = op.aux == 1 ? v & c : op.aux == 2 ? v | c : v ^ c;
  }
  D* d = reg<D>(r, op.r[0]);
  const D yes = static_cast<D>(op.target);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    if (mask >> i & 1) d[i] = v >> i & 1 ? yes : D(0);
  }
}
template <typename F>
void set_value_pair(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  const std::uint32_t* a = reg<std::uint32_t>(r, op.r[2]);
  const std::uint32_t* b = reg<std::uint32_t>(r, op.r[3]);
  std::uint32_t* d = reg<std::uint32_t>(r, op.r[0]);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    bool low = F::run(static_cast<std::uint16_t>(a[i]), static_cast<std::uint16_t>(b[i]));
    bool high =
        F::run(static_cast<std::uint16_t>(a[i] >> 16), static_cast<std::uint16_t>(b[i] >> 16));
    if (op.aux != 0) {
      const bool c = (pred(r, op.r[4]) ^ static_cast<std::uint32_t>(op.imm)) >> i & 1;
      low = op.aux == 1 ? low && c : op.aux == 2 ? low || c : low != c;
      high = op.aux == 1 ? high && c : op.aux == 2 ? high || c : high != c;
    }
    if (mask >> i & 1) d[i] = (low ? op.target & 0xffffu : 0u) | (high ? op.target << 16 : 0u);
  }
}
// selp: r3 = predicate, imm: flipped.
template <typename T>
void select(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp&) {
  T* d = reg<T>(r, op.r[0]);
  const T* a = reg<T>(r, op.r[1]);
  const T* b = reg<T>(r, op.r[2]);
  const std::uint32_t p = pred(r, op.r[3]) ^ static_cast<std::uint32_t>(op.imm);
  if (mask == kFullMask) [[likely]] {
#pragma GCC ivdep
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const T x = a[i], y = b[i];
      d[i] = p >> i & 1 ? x : y;
    }
  } else {
#pragma GCC ivdep
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const T x = a[i], y = b[i];
      const T v = p >> i & 1 ? x : y;
      d[i] = (mask >> i & 1) ? v : d[i];
    }
  }
}
template <typename T, typename C>
struct Slct {
  static T run(T a, T b, C c) { return c >= 0 ? a : b; }
};
template <typename T>
struct SlctFtz {
  static T run(T a, T b, float c) { return flush(c) >= 0.0f ? a : b; }
};

// Comparisons. Suffix u: true when a NaN is there.
template <typename T>
struct Eq {
  static bool run(T a, T b) { return a == b; }
};
template <typename T>
struct Ne {
  static bool run(T a, T b) { return a != b; }
};
template <typename T>
struct Lt {
  static bool run(T a, T b) { return a < b; }
};
template <typename T>
struct Le {
  static bool run(T a, T b) { return a <= b; }
};
template <typename T>
struct Gt {
  static bool run(T a, T b) { return a > b; }
};
template <typename T>
struct Ge {
  static bool run(T a, T b) { return a >= b; }
};
template <typename T>
struct NeOrdered {
  static bool run(T a, T b) { return (a < b) | (a > b); }
};
template <typename T>
struct Equ {
  static bool run(T a, T b) { return !((a < b) | (a > b)); }
};
template <typename T>
struct Ltu {
  static bool run(T a, T b) { return !(a >= b); }
};
template <typename T>
struct Leu {
  static bool run(T a, T b) { return !(a > b); }
};
template <typename T>
struct Gtu {
  static bool run(T a, T b) { return !(a <= b); }
};
template <typename T>
struct Geu {
  static bool run(T a, T b) { return !(a < b); }
};
template <typename T>
struct Num {
  static bool run(T a, T b) { return (a == a) & (b == b); }
};
template <typename T>
struct NanCompare {
  static bool run(T a, T b) { return (a != a) | (b != b); }
};
template <typename F>
struct FlushedCompare {
  static bool run(float a, float b) { return F::run(flush(a), flush(b)); }
};
template <typename S, typename F>
struct SmallCompare {
  static bool run(std::uint16_t a, std::uint16_t b) {
    return F::run(S::to_float(a), S::to_float(b));
  }
};
template <typename S, typename F>
struct SmallFlushedCompare {
  static bool run(std::uint16_t a, std::uint16_t b) {
    return F::run(S::to_float(flush_small<S, true>(a)), S::to_float(flush_small<S, true>(b)));
  }
};
