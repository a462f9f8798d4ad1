// cvt. A storage type names how the lanes lie in the register file: 8-bit values lie in 16-bit
// registers.
#include "cudasim/exec/isa_parts.hpp"

namespace cudasim::CUDASIM_ISA {
namespace {
#include "cudasim/exec/lanes.inl"
#include "cudasim/exec/lanes_float.inl"
#include "cudasim/exec/lanes_integer.inl"

template <Type T>
struct StorageOf;
#define CUDASIM_STORAGE(ptx, value_t, stored_t) \
  template <>                                   \
  struct StorageOf<Type::ptx> {                 \
    using value = value_t;                      \
    using stored = stored_t;                    \
  };
CUDASIM_STORAGE(u8, std::uint8_t, std::uint16_t)
CUDASIM_STORAGE(s8, std::int8_t, std::int16_t)
CUDASIM_STORAGE(u16, std::uint16_t, std::uint16_t)
CUDASIM_STORAGE(s16, std::int16_t, std::int16_t) CUDASIM_STORAGE(u32, std::uint32_t, std::uint32_t)
    CUDASIM_STORAGE(s32, std::int32_t, std::int32_t)
        CUDASIM_STORAGE(u64, std::uint64_t, std::uint64_t)
            CUDASIM_STORAGE(s64, std::int64_t, std::int64_t) CUDASIM_STORAGE(f32, float, float)
                CUDASIM_STORAGE(f64, double, double)
#undef CUDASIM_STORAGE
                    template <Type T>
                    using Value = typename StorageOf<T>::value;
template <Type T>
using Stored = typename StorageOf<T>::stored;

template <Type D, Type S>
struct IntToInt {
  static Stored<D> run(Stored<S> a) {
    return static_cast<Stored<D>>(static_cast<Value<D>>(static_cast<Value<S>>(a)));
  }
};
template <Type D, Type S>
struct IntToIntSat {
  static Stored<D> run(Stored<S> a) {
    using L = std::numeric_limits<Value<D>>;
    const Value<S> v = static_cast<Value<S>>(a);
    if (std::cmp_less(v, L::min())) return L::min();
    if (std::cmp_greater(v, L::max())) return static_cast<Stored<D>>(L::max());
    return static_cast<Stored<D>>(static_cast<Value<D>>(v));
  }
};

template <char Mode>
inline double rounded_to_integer(double v) {
  if constexpr (Mode == 'n')
    return __builtin_rint(v);
  else if constexpr (Mode == 'z')
    return __builtin_trunc(v);
  else if constexpr (Mode == 'm')
    return __builtin_floor(v);
  else
    return __builtin_ceil(v);
}
template <char Mode>
inline float rounded_to_integer(float v) {
  if constexpr (Mode == 'n')
    return __builtin_rintf(v);
  else if constexpr (Mode == 'z')
    return __builtin_truncf(v);
  else if constexpr (Mode == 'm')
    return __builtin_floorf(v);
  else
    return __builtin_ceilf(v);
}
/// What a NaN becomes: 0, or the top bit alone where the source or the result has 64 bits.
template <typename I, typename F>
constexpr I nan_as_integer = sizeof(I) == 8 || sizeof(F) == 8
                                 ? static_cast<I>(std::uint64_t{1} << (8 * sizeof(I) - 1))
                                 : I(0);
template <typename I, typename F>
inline I clamp_to_integer(F v) {
  if constexpr (std::is_same_v<I, std::int32_t> && std::is_same_v<F, float>) {
    // cvttss2si gives 0x80000000 out of range: right below, mended above and for NaN.
    const std::int32_t raw =
        static_cast<std::int32_t>(v < 2147483648.0f && v >= -2147483648.0f ? v : 0.0f);
    std::int32_t r = v >= 2147483648.0f ? 0x7fffffff : raw;
    r = v < -2147483648.0f ? static_cast<std::int32_t>(0x80000000u) : r;
    return r;
  } else if constexpr (sizeof(I) < 8) {
    double x = v;
    constexpr double lo = std::numeric_limits<I>::min(), hi = std::numeric_limits<I>::max();
    x = x == x ? x : static_cast<double>(nan_as_integer<I, F>);
    x = x < lo ? lo : x;
    x = x > hi ? hi : x;
    if constexpr (sizeof(I) == 4 && std::is_unsigned_v<I>)
      return static_cast<I>(static_cast<std::int64_t>(x));
    else
      return static_cast<I>(static_cast<std::int32_t>(x));
  } else {
    const double x = v;
    if (!(x == x)) return nan_as_integer<I, F>;
    constexpr double top = std::is_signed_v<I> ? 9223372036854775808.0 : 18446744073709551616.0;
    if (x >= top) return std::numeric_limits<I>::max();
    if (x <= (std::is_signed_v<I> ? -9223372036854775808.0 : 0.0))
      return std::numeric_limits<I>::min();
    return static_cast<I>(x);
  }
}
template <Type D, Type S, char Mode, bool Ftz>
struct FloatToInt {
  static Stored<D> run(Stored<S> a) {
    return static_cast<Stored<D>>(clamp_to_integer<Value<D>>(rounded_to_integer<Mode>(in<Ftz>(a))));
  }
};
template <Type D, Type S, bool Sat>
struct IntToFloat {
  static Stored<D> run(Stored<S> a) {
    const Stored<D> v = static_cast<Stored<D>>(static_cast<Value<S>>(a));
    if constexpr (Sat) return saturate(v);
    return v;
  }
};
template <Type D, Type S, bool Ftz, bool Sat>
struct FloatToFloat {
  static Stored<D> run(Stored<S> a) {
    const auto v = static_cast<Stored<D>>(in<Ftz>(a));
    return out<Ftz, Sat, Stored<D>>(v);
  }
};
template <Type T, char Mode, bool Ftz, bool Sat>
struct RoundFloat {
  static Stored<T> run(Stored<T> a) {
    return out<Ftz, Sat, Stored<T>>(rounded_to_integer<Mode>(in<Ftz>(a)));
  }
};

// Float to a small float in a rounding mode.
template <typename S, char Mode>
inline std::uint16_t to_small(float v) {
  std::uint16_t h = S::from_float(v);
  if constexpr (Mode != 'n') {
    const float back = S::to_float(h);
    const bool negative = h & 0x8000u;
    if (v == v && v - v == 0.0f) {
      if constexpr (Mode == 'z') {
        if (__builtin_fabsf(back) > __builtin_fabsf(v)) --h;
      }
      if constexpr (Mode == 'm') {
        if (back > v) {
          if (negative)
            ++h;
          else if (h == 0)
            h = 0x8001;
          else
            --h;
        }
      }
      if constexpr (Mode == 'p') {
        if (back < v) {
          if (!negative)
            ++h;
          else if (h == 0x8000u)
            h = 1;
          else
            --h;
        }
      }
      if constexpr (Mode == 'a') {  // ties away from zero
        const float magnitude = __builtin_fabsf(v), m = __builtin_fabsf(back);
        const std::uint16_t up = static_cast<std::uint16_t>(h + 1);
        if (m < magnitude && __builtin_fabsf(S::to_float(up)) - magnitude == magnitude - m) h = up;
      }
    }
  }
  return h;
}
template <typename S, char Mode, bool Relu, bool SatFinite>
inline std::uint16_t convert_small(float v) {
  if (Relu) v = v != v ? v : v > 0.0f ? v : 0.0f;
  std::uint16_t h = to_small<S, Mode>(v);
  if (SatFinite && (h & 0x7fffu) == S::exponent)
    h = static_cast<std::uint16_t>((h & 0x8000u) | (S::exponent - 1));
  return h;
}
template <typename S, char Mode, bool Relu, bool SatFinite, bool Ftz>
struct FloatToSmall {
  static std::uint16_t run(float a) { return convert_small<S, Mode, Relu, SatFinite>(in<Ftz>(a)); }
};
template <typename S, bool Sat>
struct FloatToSmallSat {
  static std::uint16_t run(float a) { return to_small<S, 'n'>(saturate(a)); }
};
template <typename S, char Mode>
struct DoubleToSmall {
  static std::uint16_t run(double a) { return to_small<S, Mode>(odd_float(a)); }
};
template <typename S, bool Sat, bool Ftz>
struct SmallToFloat {
  static float run(std::uint16_t a) {
    const float v = in<Ftz>(S::to_float(a));
    return Sat ? saturate(v) : canonical(v);
  }
};
template <typename S>
struct SmallToDouble {
  static double run(std::uint16_t a) { return S::to_float(a); }
};
template <typename D, typename S>
struct SmallToSmall {
  static std::uint16_t run(std::uint16_t a) { return to_small<D, 'n'>(S::to_float(a)); }
};
template <typename S, char Mode>
struct RoundSmall {
  static std::uint16_t run(std::uint16_t a) {
    return S::from_float(rounded_to_integer<Mode>(S::to_float(a)));
  }
};
template <typename S>
struct SaturateSmall {
  static std::uint16_t run(std::uint16_t a) { return out_small<S, false, true, false>(a); }
};
template <Type D, typename S, char Mode>
struct SmallToInt {
  static Stored<D> run(std::uint16_t a) {
    return static_cast<Stored<D>>(
        clamp_to_integer<Value<D>>(rounded_to_integer<Mode>(S::to_float(a))));
  }
};
template <typename S, Type From, char Mode>
struct IntToSmall {
  static std::uint16_t run(Stored<From> a) {
    const Value<From> v = static_cast<Value<From>>(a);
    double x;
    if constexpr (sizeof(v) < 8) {
      x = v;
    } else {
      const bool negative = std::is_signed_v<Value<From>> && v < 0;
      std::uint64_t u =
          negative ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
      if (u >> 53) u = (u >> 11 | ((u & 0x7ff) != 0 ? 1u : 0u)) << 11;
      x = static_cast<double>(u);
      x = negative ? -x : x;
    }
    return to_small<S, Mode>(odd_float(x));
  }
};
// Two floats into a packed register: a becomes the upper half.
template <typename S, char Mode, bool Relu, bool SatFinite>
struct FloatsToPair {
  static std::uint32_t run(float a, float b) {
    return static_cast<std::uint32_t>(convert_small<S, Mode, Relu, SatFinite>(a)) << 16 |
           convert_small<S, Mode, Relu, SatFinite>(b);
  }
};

template <bool Away>
struct ToTf32 {
  static std::uint32_t run(std::uint32_t u) {
    const std::uint32_t magnitude = u & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fffffffu;
    if (magnitude == 0x7f800000u) return u;
    const std::uint32_t r = Away ? u + 0x1000u : u + 0xfffu + (u >> 13 & 1u);
    return r & ~0x1fffu;
  }
};
struct ToTf32Zero {
  static std::uint32_t run(std::uint32_t u) {
    return (u & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : u & ~0x1fffu;
  }
};

// 8-bit floats. E exponent bits, M mantissa bits; e4m3 has no infinity.
template <unsigned E, unsigned M>
inline std::uint8_t float_to_eight(float v, bool relu) {
  constexpr int bias = (1 << (E - 1)) - 1;
  constexpr bool ieee = E == 5;
  constexpr std::uint8_t nan = 0x7f, largest = ieee ? 0x7b : 0x7e;
  const std::uint32_t u = bits<std::uint32_t>(v);
  if ((u & 0x7fffffffu) > 0x7f800000u) return nan;
  const std::uint8_t sign = static_cast<std::uint8_t>(u >> 24 & 0x80u);
  if (relu && sign) return 0;
  const double x = __builtin_fabs(static_cast<double>(v));
  // Quantise: the step is 2^(exponent - M), never below that of subnormals.
  int exponent = static_cast<int>(bits<std::uint64_t>(x) >> 52) - 1023;
  if (exponent < 1 - bias) exponent = 1 - bias;
  if (exponent > 1000) return static_cast<std::uint8_t>(sign | largest);
  const double step =
      bits<double>(static_cast<std::uint64_t>(exponent - static_cast<int>(M) + 1023) << 52);
  const auto q = static_cast<std::uint32_t>(__builtin_rint(x / step));
  std::uint32_t code = q + (static_cast<std::uint32_t>(exponent + bias - 1) << M);
  if (code > largest) code = largest;  // satfinite
  return static_cast<std::uint8_t>(sign | code);
}
template <unsigned E, unsigned M>
inline float eight_to_float(std::uint8_t b) {
  constexpr int bias = (1 << (E - 1)) - 1;
  const std::uint32_t magnitude = b & 0x7fu;
  const float sign = b & 0x80u ? -1.0f : 1.0f;
  if (E == 5 ? magnitude > 0x7cu : magnitude == 0x7fu) return bits<float>(0x7fffffffu);
  if (E == 5 && magnitude == 0x7cu) return sign * __builtin_inff();
  const std::uint32_t e = magnitude >> M, m = magnitude & ((1u << M) - 1);
  const float step = bits<float>(static_cast<std::uint32_t>((e == 0 ? 1 : static_cast<int>(e)) -
                                                            bias - static_cast<int>(M) + 127)
                                 << 23);
  return sign * static_cast<float>(e == 0 ? m : m + (1u << M)) * step;
}
template <unsigned E, unsigned M, bool Relu>
struct FloatsToEight {
  static std::uint16_t run(float a, float b) {
    return static_cast<std::uint16_t>(float_to_eight<E, M>(a, Relu) << 8 |
                                      float_to_eight<E, M>(b, Relu));
  }
};
template <unsigned E, unsigned M, bool Relu>
struct HalvesToEight {
  static std::uint16_t run(std::uint32_t a) {
    return static_cast<std::uint16_t>(
        float_to_eight<E, M>(half_to_float(static_cast<std::uint16_t>(a >> 16)), Relu) << 8 |
        float_to_eight<E, M>(half_to_float(static_cast<std::uint16_t>(a)), Relu));
  }
};
template <unsigned E, unsigned M, bool Relu>
struct EightToHalves {
  static std::uint32_t run(std::uint16_t a) {
    const auto one = [](std::uint8_t b) {
      float v = eight_to_float<E, M>(b);
      if (Relu && v <= 0) v = 0;
      return static_cast<std::uint32_t>(float_to_half(v));
    };
    return one(static_cast<std::uint8_t>(a >> 8)) << 16 | one(static_cast<std::uint8_t>(a));
  }
};

template <Type D, Type S>
Handler int_to_int(const Key& k) {
  return k.sat ? unary<Stored<D>, Stored<S>, IntToIntSat<D, S>>
               : unary<Stored<D>, Stored<S>, IntToInt<D, S>>;
}
template <Type D, Type S>
Handler float_to_int(const Key& k) {
  if (k.ftz && S == Type::f32) {
    switch (k.rounding) {
      case 'n':
        return unary<Stored<D>, Stored<S>, FloatToInt<D, S, 'n', true>>;
      case 'z':
        return unary<Stored<D>, Stored<S>, FloatToInt<D, S, 'z', true>>;
      case 'm':
        return unary<Stored<D>, Stored<S>, FloatToInt<D, S, 'm', true>>;
      case 'p':
        return unary<Stored<D>, Stored<S>, FloatToInt<D, S, 'p', true>>;
      default:
        return nullptr;
    }
  }
  switch (k.rounding) {
    case 'n':
      return unary<Stored<D>, Stored<S>, FloatToInt<D, S, 'n', false>>;
    case 'z':
      return unary<Stored<D>, Stored<S>, FloatToInt<D, S, 'z', false>>;
    case 'm':
      return unary<Stored<D>, Stored<S>, FloatToInt<D, S, 'm', false>>;
    case 'p':
      return unary<Stored<D>, Stored<S>, FloatToInt<D, S, 'p', false>>;
    default:
      return nullptr;
  }
}
template <Type D, Type S>
Handler int_to_float(const Key& k) {
  if (k.sat) return with_rounding<unary<Stored<D>, Stored<S>, IntToFloat<D, S, true>>>(k.rounding);
  return with_rounding<unary<Stored<D>, Stored<S>, IntToFloat<D, S, false>>>(k.rounding);
}
template <Type D, typename S>
Handler small_to_int(const Key& k) {
  switch (k.rounding) {
    case 'n':
      return unary<Stored<D>, std::uint16_t, SmallToInt<D, S, 'n'>>;
    case 'z':
      return unary<Stored<D>, std::uint16_t, SmallToInt<D, S, 'z'>>;
    case 'm':
      return unary<Stored<D>, std::uint16_t, SmallToInt<D, S, 'm'>>;
    case 'p':
      return unary<Stored<D>, std::uint16_t, SmallToInt<D, S, 'p'>>;
    default:
      return nullptr;
  }
}
template <Type D>
Handler to_int(const Key& k) {
  switch (k.from) {
    case Type::u8:
    case Type::b8:
      return int_to_int<D, Type::u8>(k);
    case Type::s8:
      return int_to_int<D, Type::s8>(k);
    case Type::u16:
    case Type::b16:
      return int_to_int<D, Type::u16>(k);
    case Type::s16:
      return int_to_int<D, Type::s16>(k);
    case Type::u32:
    case Type::b32:
      return int_to_int<D, Type::u32>(k);
    case Type::s32:
      return int_to_int<D, Type::s32>(k);
    case Type::u64:
    case Type::b64:
      return int_to_int<D, Type::u64>(k);
    case Type::s64:
      return int_to_int<D, Type::s64>(k);
    case Type::f32:
      return float_to_int<D, Type::f32>(k);
    case Type::f64:
      return float_to_int<D, Type::f64>(k);
    case Type::f16:
      return small_to_int<D, F16>(k);
    case Type::bf16:
      return small_to_int<D, BF16>(k);
    default:
      return nullptr;
  }
}
template <Type D>
Handler to_float(const Key& k) {
  switch (k.from) {
    case Type::u8:
      return int_to_float<D, Type::u8>(k);
    case Type::s8:
      return int_to_float<D, Type::s8>(k);
    case Type::u16:
      return int_to_float<D, Type::u16>(k);
    case Type::s16:
      return int_to_float<D, Type::s16>(k);
    case Type::u32:
      return int_to_float<D, Type::u32>(k);
    case Type::s32:
      return int_to_float<D, Type::s32>(k);
    case Type::u64:
      return int_to_float<D, Type::u64>(k);
    case Type::s64:
      return int_to_float<D, Type::s64>(k);
    default:
      break;
  }
  constexpr Type Other = D == Type::f32 ? Type::f64 : Type::f32;
  if (k.from == Other) {
    if (k.integer_rounding) return nullptr;
    if (k.ftz && k.sat)
      return with_rounding<unary<Stored<D>, Stored<Other>, FloatToFloat<D, Other, true, true>>>(
          k.rounding);
    if (k.ftz)
      return with_rounding<unary<Stored<D>, Stored<Other>, FloatToFloat<D, Other, true, false>>>(
          k.rounding);
    if (k.sat)
      return with_rounding<unary<Stored<D>, Stored<Other>, FloatToFloat<D, Other, false, true>>>(
          k.rounding);
    return with_rounding<unary<Stored<D>, Stored<Other>, FloatToFloat<D, Other, false, false>>>(
        k.rounding);
  }
  if (k.from == D) {
#define CUDASIM_ROUND(mode)                                                                  \
  if (k.rounding == mode && k.integer_rounding) {                                            \
    if (k.ftz && k.sat) return unary<Stored<D>, Stored<D>, RoundFloat<D, mode, true, true>>; \
    if (k.ftz) return unary<Stored<D>, Stored<D>, RoundFloat<D, mode, true, false>>;         \
    if (k.sat) return unary<Stored<D>, Stored<D>, RoundFloat<D, mode, false, true>>;         \
    return unary<Stored<D>, Stored<D>, RoundFloat<D, mode, false, false>>;                   \
  }
    CUDASIM_ROUND('n')
    CUDASIM_ROUND('z')
    CUDASIM_ROUND('m')
    CUDASIM_ROUND('p')
#undef CUDASIM_ROUND
        if (k.ftz && k.sat) return unary<Stored<D>, Stored<D>, FloatToFloat<D, D, true, true>>;
    if (k.ftz) return unary<Stored<D>, Stored<D>, FloatToFloat<D, D, true, false>>;
    if (k.sat) return unary<Stored<D>, Stored<D>, FloatToFloat<D, D, false, true>>;
    return unary<Stored<D>, Stored<D>, FloatToFloat<D, D, false, false>>;
  }
  if (k.from == Type::f16 || k.from == Type::bf16) {
    const bool half = k.from == Type::f16;
    if constexpr (D == Type::f32) {
      if (k.sat)
        return half ? unary<float, std::uint16_t, SmallToFloat<F16, true, false>>
                    : unary<float, std::uint16_t, SmallToFloat<BF16, true, false>>;
      if (k.ftz)
        return half ? unary<float, std::uint16_t, SmallToFloat<F16, false, true>>
                    : unary<float, std::uint16_t, SmallToFloat<BF16, false, true>>;
      return half ? unary<float, std::uint16_t, SmallToFloat<F16, false, false>>
                  : unary<float, std::uint16_t, SmallToFloat<BF16, false, false>>;
    } else {
      if (k.sat) return nullptr;
      return half ? unary<double, std::uint16_t, SmallToDouble<F16>>
                  : unary<double, std::uint16_t, SmallToDouble<BF16>>;
    }
  }
  return nullptr;
}
template <typename S, char Mode>
Handler float_to_small(const Key& k) {
#define CUDASIM_SMALL(relu, finite, ftz) \
  unary<std::uint16_t, float, FloatToSmall<S, Mode, relu, finite, ftz>>
  if (k.relu)
    return k.satfinite ? CUDASIM_SMALL(true, true, false) : CUDASIM_SMALL(true, false, false);
  if (k.satfinite) return CUDASIM_SMALL(false, true, false);
  return k.ftz ? CUDASIM_SMALL(false, false, true) : CUDASIM_SMALL(false, false, false);
#undef CUDASIM_SMALL
}
template <typename S, Type From>
Handler int_to_small(const Key& k) {
  switch (k.rounding) {
    case 'n':
      return unary<std::uint16_t, Stored<From>, IntToSmall<S, From, 'n'>>;
    case 'z':
      return unary<std::uint16_t, Stored<From>, IntToSmall<S, From, 'z'>>;
    case 'm':
      return unary<std::uint16_t, Stored<From>, IntToSmall<S, From, 'm'>>;
    case 'p':
      return unary<std::uint16_t, Stored<From>, IntToSmall<S, From, 'p'>>;
    default:
      return nullptr;
  }
}
template <typename S>
Handler to_small_float(const Key& k) {
  switch (k.from) {
    case Type::u8:
      return int_to_small<S, Type::u8>(k);
    case Type::s8:
      return int_to_small<S, Type::s8>(k);
    case Type::u16:
      return int_to_small<S, Type::u16>(k);
    case Type::s16:
      return int_to_small<S, Type::s16>(k);
    case Type::u32:
      return int_to_small<S, Type::u32>(k);
    case Type::s32:
      return int_to_small<S, Type::s32>(k);
    case Type::u64:
      return int_to_small<S, Type::u64>(k);
    case Type::s64:
      return int_to_small<S, Type::s64>(k);
    case Type::f32:
      if (k.sat)
        return k.rounding == 'n' ? unary<std::uint16_t, float, FloatToSmallSat<S, true>> : nullptr;
      switch (k.rounding) {
        case 'n':
          return float_to_small<S, 'n'>(k);
        case 'z':
          return float_to_small<S, 'z'>(k);
        case 'm':
          return float_to_small<S, 'm'>(k);
        case 'p':
          return float_to_small<S, 'p'>(k);
        case 'a':
          return float_to_small<S, 'a'>(k);
        default:
          return nullptr;
      }
    case Type::f64:
      if (k.sat || k.relu || k.satfinite) return nullptr;
      switch (k.rounding) {
        case 'n':
          return unary<std::uint16_t, double, DoubleToSmall<S, 'n'>>;
        case 'z':
          return unary<std::uint16_t, double, DoubleToSmall<S, 'z'>>;
        case 'm':
          return unary<std::uint16_t, double, DoubleToSmall<S, 'm'>>;
        case 'p':
          return unary<std::uint16_t, double, DoubleToSmall<S, 'p'>>;
        default:
          return nullptr;
      }
    default:
      break;
  }
  constexpr bool half = std::is_same_v<S, F16>;
  using Other = std::conditional_t<half, BF16, F16>;
  if (k.from == (half ? Type::bf16 : Type::f16))
    return k.rounding == 'n' ? unary<std::uint16_t, std::uint16_t, SmallToSmall<S, Other>>
                             : nullptr;
  if (k.from == (half ? Type::f16 : Type::bf16)) {
    if (k.integer_rounding) switch (k.rounding) {
        case 'n':
          return unary<std::uint16_t, std::uint16_t, RoundSmall<S, 'n'>>;
        case 'z':
          return unary<std::uint16_t, std::uint16_t, RoundSmall<S, 'z'>>;
        case 'm':
          return unary<std::uint16_t, std::uint16_t, RoundSmall<S, 'm'>>;
        case 'p':
          return unary<std::uint16_t, std::uint16_t, RoundSmall<S, 'p'>>;
        default:
          return nullptr;
      }
    return k.sat ? unary<std::uint16_t, std::uint16_t, SaturateSmall<S>>
                 : unary<std::uint16_t, std::uint16_t, Move<std::uint16_t>>;
  }
  return nullptr;
}
template <typename S, char Mode>
Handler pair_of_floats(const Key& k) {
#define CUDASIM_PAIR(relu, finite) \
  binary<std::uint32_t, float, float, FloatsToPair<S, Mode, relu, finite>>
  if (k.relu) return k.satfinite ? CUDASIM_PAIR(true, true) : CUDASIM_PAIR(true, false);
  return k.satfinite ? CUDASIM_PAIR(false, true) : CUDASIM_PAIR(false, false);
#undef CUDASIM_PAIR
}
template <unsigned E, unsigned M>
Handler to_eight(const Key& k) {
  if (k.from == Type::f32)
    return k.relu ? binary<std::uint16_t, float, float, FloatsToEight<E, M, true>>
                  : binary<std::uint16_t, float, float, FloatsToEight<E, M, false>>;
  if (k.from == Type::f16x2)
    return k.relu ? unary<std::uint16_t, std::uint32_t, HalvesToEight<E, M, true>>
                  : unary<std::uint16_t, std::uint32_t, HalvesToEight<E, M, false>>;
  return nullptr;
}

}  // namespace

Handler convert(const Key& k) {
  switch (k.type) {
    case Type::u8:
    case Type::b8:
      return to_int<Type::u8>(k);
    case Type::s8:
      return to_int<Type::s8>(k);
    case Type::u16:
    case Type::b16:
      return to_int<Type::u16>(k);
    case Type::s16:
      return to_int<Type::s16>(k);
    case Type::u32:
    case Type::b32:
      return to_int<Type::u32>(k);
    case Type::s32:
      return to_int<Type::s32>(k);
    case Type::u64:
    case Type::b64:
      return to_int<Type::u64>(k);
    case Type::s64:
      return to_int<Type::s64>(k);
    case Type::f32:
      return to_float<Type::f32>(k);
    case Type::f64:
      return to_float<Type::f64>(k);
    case Type::f16:
      return to_small_float<F16>(k);
    case Type::bf16:
      return to_small_float<BF16>(k);
    case Type::f16x2:
      if (k.from == Type::f32)
        return k.rounding == 'z'   ? pair_of_floats<F16, 'z'>(k)
               : k.rounding == 'n' ? pair_of_floats<F16, 'n'>(k)
                                   : nullptr;
      if (k.from == Type::e4m3x2)
        return k.relu ? unary<std::uint32_t, std::uint16_t, EightToHalves<4, 3, true>>
                      : unary<std::uint32_t, std::uint16_t, EightToHalves<4, 3, false>>;
      if (k.from == Type::e5m2x2)
        return k.relu ? unary<std::uint32_t, std::uint16_t, EightToHalves<5, 2, true>>
                      : unary<std::uint32_t, std::uint16_t, EightToHalves<5, 2, false>>;
      return nullptr;
    case Type::bf16x2:
      if (k.from == Type::f32)
        return k.rounding == 'z'   ? pair_of_floats<BF16, 'z'>(k)
               : k.rounding == 'n' ? pair_of_floats<BF16, 'n'>(k)
                                   : nullptr;
      return nullptr;
    case Type::tf32:
      if (k.from != Type::f32 || k.relu || k.satfinite) return nullptr;
      if (k.rounding == 'a') return unary<std::uint32_t, std::uint32_t, ToTf32<true>>;
      if (k.rounding == 'n') return unary<std::uint32_t, std::uint32_t, ToTf32<false>>;
      if (k.rounding == 'z') return unary<std::uint32_t, std::uint32_t, ToTf32Zero>;
      return nullptr;
    case Type::e4m3x2:
      return k.rounding == 'n' && k.satfinite ? to_eight<4, 3>(k) : nullptr;
    case Type::e5m2x2:
      return k.rounding == 'n' && k.satfinite ? to_eight<5, 2>(k) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace cudasim::CUDASIM_ISA
