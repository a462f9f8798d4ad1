// Scalar float operations as PTX defines them; loops over them vectorise.

inline float canonical(float v) { return v == v ? v : bits<float>(0x7fffffffu); }
inline double canonical(double v) { return v; }
inline float flush(float v) {
  const std::uint32_t u = bits<std::uint32_t>(v);
  return bits<float>((u & 0x7f800000u) == 0 ? u & 0x80000000u : u);
}
inline double flush(double v) { return v; }
template <bool Ftz, typename T>
inline T in(T v) {
  if constexpr (Ftz) return flush(v);
  return v;
}
inline float saturate(float v) { return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f; }  // NaN: 0
inline double saturate(double v) { return v > 0.0 ? (v < 1.0 ? v : 1.0) : 0.0; }
template <bool Ftz, bool Sat, typename T>
inline T out(T v) {
  v = in<Ftz>(v);
  if constexpr (Sat) return saturate(v);
  return canonical(v);
}

inline float fma_of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma_of(double a, double b, double c) { return __builtin_fma(a, b, c); }

template <typename T, bool Ftz, bool Sat>
struct FAdd {
  static T run(T a, T b) { return out<Ftz, Sat, T>(in<Ftz>(a) + in<Ftz>(b)); }
};
template <typename T, bool Ftz, bool Sat>
struct FSub {
  static T run(T a, T b) { return out<Ftz, Sat, T>(in<Ftz>(a) - in<Ftz>(b)); }
};
template <typename T, bool Ftz, bool Sat>
struct FMul {
  static T run(T a, T b) { return out<Ftz, Sat, T>(in<Ftz>(a) * in<Ftz>(b)); }
};
template <typename T, bool Ftz, bool Sat>
struct FFma {
  static T run(T a, T b, T c) {
    return out<Ftz, Sat, T>(fma_of(in<Ftz>(a), in<Ftz>(b), in<Ftz>(c)));
  }
};
template <typename T, bool Ftz, bool Sat>
struct FDiv {
  static T run(T a, T b) { return out<Ftz, Sat, T>(in<Ftz>(a) / in<Ftz>(b)); }
};
template <typename T, bool Ftz, bool Sat>
struct FRcp {
  static T run(T a) { return out<Ftz, Sat, T>(T(1) / in<Ftz>(a)); }
};
template <typename T, bool Ftz, bool Sat>
struct FSqrt {
  static T run(T a) {
    if constexpr (sizeof(T) == 4)
      return out<Ftz, Sat, T>(__builtin_sqrtf(in<Ftz>(a)));
    else
      return out<Ftz, Sat, T>(__builtin_sqrt(in<Ftz>(a)));
  }
};

// Directed rounding: the same loops between two writes of the control register. Operands come from
// memory after the first and results reach memory before the second, so nothing moves across.
class Rounding {
 public:
  explicit Rounding(std::uint32_t mode) : saved_(_mm_getcsr()) { set((saved_ & ~0x6000u) | mode); }
  ~Rounding() { set(saved_); }

 private:
  static void set(std::uint32_t value) { asm volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
  std::uint32_t saved_;
};
constexpr std::uint32_t kTowardZero = 0x6000, kDown = 0x2000, kUp = 0x4000;

template <std::uint32_t Mode, Handler H>
void rounded(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& warp) {
  const Rounding rounding(Mode);
  H(r, op, mask, warp);
}
// The compiler may not fold or contract these loops for the default rounding: they are kept out of
// line, and only loads, the operation and stores are in them.
template <Handler H>
inline Handler with_rounding(char mode) {
  switch (mode) {
    case 'z':
      return rounded<kTowardZero, H>;
    case 'm':
      return rounded<kDown, H>;
    case 'p':
      return rounded<kUp, H>;
    default:
      return H;
  }
}

template <typename T>
inline bool is_nan(T v) {
  return v != v;
}
// min/max: -0 < +0, NaN loses against a number unless .NaN.
template <typename T, bool Max, bool Nan>
inline T min_max(T a, T b) {
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const U ua = bits<U>(a), ub = bits<U>(b);
  T chosen;
  if (Max)
    chosen = a > b ? a : b;
  else
    chosen = a < b ? a : b;
  const T zeros = bits<T>(static_cast<U>(Max ? (ua & ub) : (ua | ub)));
  chosen = a == b ? zeros : chosen;
  const T nan = sizeof(T) == 4 ? bits<T>(static_cast<U>(0x7fffffffull))
                               : bits<T>(static_cast<U>(0x7fffffffffffffffull));
  if (Nan) {
    chosen = (a != a) | (b != b) ? nan : chosen;
  } else {
    chosen = a != a ? b : chosen;
    chosen = b != b ? a : chosen;
    chosen = (a != a) & (b != b) ? nan : chosen;
  }
  return chosen;
}
template <typename T, bool Ftz, bool Max, bool Nan>
struct FMinMax {
  static T run(T a, T b) { return min_max<T, Max, Nan>(in<Ftz>(a), in<Ftz>(b)); }
};
// .xorsign.abs: magnitude by |a|, |b|; the sign is the xor of both, but a NaN has none.
template <bool Ftz, bool Max, bool Nan>
struct FMinMaxXorSign {
  static float run(float a, float b) {
    const std::uint32_t sign = (bits<std::uint32_t>(a) ^ bits<std::uint32_t>(b)) & 0x80000000u;
    const float m =
        min_max<float, Max, Nan>(__builtin_fabsf(in<Ftz>(a)), __builtin_fabsf(in<Ftz>(b)));
    return m == m ? bits<float>((bits<std::uint32_t>(m) & 0x7fffffffu) | sign) : m;
  }
};
template <typename T, bool Ftz>
struct FNeg {
  static T run(T a) {
    using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return bits<T>(static_cast<U>(bits<U>(in<Ftz>(a)) ^ (U(1) << (sizeof(T) * 8 - 1))));
  }
};
template <typename T, bool Ftz>
struct FAbs {
  static T run(T a) {
    using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return bits<T>(static_cast<U>(bits<U>(in<Ftz>(a)) & ~(U(1) << (sizeof(T) * 8 - 1))));
  }
};
template <typename T>
struct FCopysign {  // PTX: sign of a, magnitude of b
  static T run(T a, T b) {
    using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const U sign = U(1) << (sizeof(T) * 8 - 1);
    return bits<T>(static_cast<U>((bits<U>(a) & sign) | (bits<U>(b) & ~sign)));
  }
};

// Approximate functions. Each is within PTX's documented bound; vectorised where noted.
// ex2: 2^x = 2^round(x) * p(x - round(x)), p of degree 7 in double-free float: < 1 ulp.
inline float ex2_core(float x) {
  // Range of a normal or subnormal result; the clamps give 0 and inf through the two-step scaling.
  float c = x < -160.0f ? -160.0f : x;
  c = c > 130.0f ? 130.0f : c;
  const float k = c + 12582912.0f;  // round to nearest by 1.5 * 2^23
  const std::int32_t n = static_cast<std::int32_t>(bits<std::uint32_t>(k) - 0x4b400000u);
  const float f = c - (k - 12582912.0f);
  float p = 1.52527336e-5f;
  p = p * f + 1.54035304e-4f;
  p = p * f + 1.33335581e-3f;
  p = p * f + 9.61812911e-3f;
  p = p * f + 5.55041087e-2f;
  p = p * f + 2.40226507e-1f;
  p = p * f + 6.93147181e-1f;
  p = p * f + 1.0f;
  const std::int32_t half = n >> 1;
  const float s1 = bits<float>(static_cast<std::uint32_t>(half + 127) << 23);
  const float s2 = bits<float>(static_cast<std::uint32_t>(n - half + 127) << 23);
  const float v = p * s1 * s2;
  return x == x ? v : bits<float>(0x7fffffffu);
}
template <bool Ftz>
struct Ex2 {
  static float run(float a) { return in<Ftz>(ex2_core(in<Ftz>(a))); }
};
// lg2: exponent plus atanh series of the mantissa in [sqrt(1/2), sqrt(2)).
template <bool Ftz>
struct Lg2 {
  static float run(float a) {
    const float x0 = in<Ftz>(a);
    const std::uint32_t raw = bits<std::uint32_t>(x0);
    const bool tiny = (raw & 0x7f800000u) == 0;
    const float x = tiny ? x0 * 8388608.0f : x0;
    const std::uint32_t u = bits<std::uint32_t>(x);
    const std::int32_t e = static_cast<std::int32_t>(u - 0x3f3504f3u) >> 23;
    const float m = bits<float>(u - (static_cast<std::uint32_t>(e) << 23));
    const float s = (m - 1.0f) / (m + 1.0f);
    const float t = s * s;
    float p = 0.22222222f;
    p = p * t + 0.28571429f;
    p = p * t + 0.4f;
    p = p * t + 0.66666667f;
    const float q = 2.0f * s + s * t * p;
    float v = static_cast<float>(e - (tiny ? 23 : 0)) + q * 1.44269504f;
    v = raw == 0x7f800000u ? x0 : v;
    v = (raw << 1) == 0 ? -__builtin_inff() : v;
    v = (raw >> 31) && (raw << 1) != 0 ? bits<float>(0x7fffffffu) : v;
    return x0 == x0 ? v : bits<float>(0x7fffffffu);
  }
};
// sin, cos: double reduction by pi/2 and double polynomials; accurate on the documented range.
template <bool Cos, bool Ftz>
struct SinCos {
  static float run(float a) {
    const double x = in<Ftz>(a);
    const double n = x * 0.63661977236758134308 + 6755399441055744.0;
    const double k = n - 6755399441055744.0;
    const std::int64_t quadrant = static_cast<std::int64_t>(bits<std::uint64_t>(n)) + (Cos ? 1 : 0);
    const double f = (x - k * 1.57079632679489655800e+00) - k * 6.12323399573676603587e-17;
    const double t = f * f;
    double s = 2.7557313707070068e-06;
    s = s * t - 1.9841269841201856e-04;
    s = s * t + 8.3333333333203355e-03;
    s = s * t - 1.6666666666666607e-01;
    s = f * (1.0 + t * s);  // keeps the sign of -0
    double c = -2.7557319223985890e-07;
    c = c * t + 2.4801587301587299e-05;
    c = c * t - 1.3888888888888889e-03;
    c = c * t + 4.1666666666666664e-02;
    c = 1.0 - 0.5 * t + t * t * c;
    double v = quadrant & 1 ? c : s;
    v = quadrant & 2 ? -v : v;
    const float result = in<Ftz>(static_cast<float>(v));
    return x - x == 0.0 ? result : bits<float>(0x7fffffffu);
  }
};
template <bool Ftz>
struct RsqrtF {
  static float run(float a) {
    return out<Ftz, false, float>(
        static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(in<Ftz>(a)))));
  }
};
struct RsqrtD {
  static double run(double a) { return 1.0 / __builtin_sqrt(a); }
};
// .approx.ftz.f64 forms keep the upper 32 bits of the result only.
inline double upper_half(double v) {
  return bits<double>(bits<std::uint64_t>(v) & 0xffffffff00000000ull);
}
inline double flush64(double v) {
  const std::uint64_t u = bits<std::uint64_t>(v);
  return bits<double>((u & 0x7ff0000000000000ull) == 0 ? u & 0x8000000000000000ull : u);
}
struct RcpApproxD {
  static double run(double a) { return flush64(upper_half(1.0 / flush64(upper_half(a)))); }
};
struct RsqrtApproxD {
  static double run(double a) {
    return flush64(upper_half(1.0 / __builtin_sqrt(flush64(upper_half(a)))));
  }
};
struct Tanh {
  static float run(float a) {
    // tanh(x) = sign(x) * (1 - 2 / (2^(2x log2 e) + 1)); for small x a series, so that the relative
    // error stays small.
    const float x = __builtin_fabsf(a);
    const float e = ex2_core(x * 2.88539008f);
    const float big = 1.0f - 2.0f / (e + 1.0f);
    const float t = x * x;
    const float small =
        x + x * t * (-0.33333333f + t * (0.13333333f + t * (-0.05396825f + t * 0.02186949f)));
    const float v = x < 0.45f ? small : big;
    return a == a ? bits<float>(bits<std::uint32_t>(v) | (bits<std::uint32_t>(a) & 0x80000000u))
                  : bits<float>(0x7fffffffu);
  }
};
template <bool Ftz>
struct DivApprox {
  static float run(float a, float b) {
    const float x = in<Ftz>(a), y = in<Ftz>(b);
    // |b| in (2^126, 2^128): 0, as the hardware's a * (1/b) gives.
    const std::uint32_t e = bits<std::uint32_t>(y) & 0x7fffffffu;
    float v = x / y;
    v = e > 0x7e800000u && e < 0x7f800000u
            ? (x - x == 0.0f
                   ? bits<float>((bits<std::uint32_t>(x) ^ bits<std::uint32_t>(y)) & 0x80000000u)
                   : bits<float>(0x7fffffffu))
            : v;
    return out<Ftz, false, float>(v);
  }
};

// Small floats. Values are exact in double; a result is rounded once, from double made sticky.
inline double half_to_double(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t magnitude = h & 0x7fffu;
  const float normal = bits<float>(magnitude << 13) * bits<float>(0x77800000u);  // * 2^112
  const std::uint32_t special = (magnitude << 13) | 0x7f800000u;
  const std::uint32_t u = magnitude >= 0x7c00u ? special : bits<std::uint32_t>(normal);
  return static_cast<double>(bits<float>(u | sign));
}
inline float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t magnitude = h & 0x7fffu;
  const float normal = bits<float>(magnitude << 13) * bits<float>(0x77800000u);
  const std::uint32_t special = (magnitude << 13) | 0x7f800000u;
  const std::uint32_t u = magnitude >= 0x7c00u ? special : bits<std::uint32_t>(normal);
  return bits<float>(u | sign);
}
inline std::uint16_t float_to_half(float f) {
  const std::uint32_t u = bits<std::uint32_t>(f);
  const std::uint32_t sign = u >> 16 & 0x8000u;
  const std::uint32_t x = u & 0x7fffffffu;
  // Normal results: add half an ulp minus one plus the odd bit; subnormal ones: through a float
  // add.
  const std::uint32_t normal = (x - 0x38000000u + 0xfffu + (x >> 13 & 1u)) >> 13;
  const std::uint32_t subnormal = bits<std::uint32_t>(bits<float>(x) + 0.5f) - 0x3f000000u;
  std::uint32_t h = x < 0x38800000u ? subnormal : normal;
  h = x >= 0x477ff000u ? 0x7c00u : h;
  h = x > 0x7f800000u ? 0x7fffu : h;
  return static_cast<std::uint16_t>(x > 0x7f800000u ? h : h | sign);
}
inline float brain_to_float(std::uint16_t h) {
  return bits<float>(static_cast<std::uint32_t>(h) << 16);
}
inline std::uint16_t float_to_brain(float f) {
  const std::uint32_t u = bits<std::uint32_t>(f);
  const std::uint32_t rounded_up = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
  return static_cast<std::uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded_up);
}
/// Rounds to float with the last bit sticky (round to odd): rounding that once more to a shorter
/// format gives the correctly rounded result.
inline float odd_float(double v) {
  float f = static_cast<float>(v);
  const double back = f;
  std::uint32_t u = bits<std::uint32_t>(f);
  const bool inexact = back != v && v - v == 0.0;
  // Step back towards zero when rounding went away from it, then set the last bit.
  const bool away = inexact && (__builtin_fabs(back) > __builtin_fabs(v));
  u -= away ? 1u : 0u;
  u |= inexact ? 1u : 0u;
  return bits<float>(u);
}
/// a * b + c with double operands whose product is exact, made sticky.
inline double odd_fma(double a, double b, double c) {
  const double p = a * b;
  const double s = p + c;
  const double bb = s - p;
  const double error = (p - (s - bb)) + (c - bb);
  std::uint64_t u = bits<std::uint64_t>(s);
  const bool inexact = error != 0.0 && s - s == 0.0;
  const bool away = inexact && ((error < 0.0) != (s < 0.0));
  u -= away ? 1u : 0u;
  u |= inexact ? 1u : 0u;
  return bits<double>(u);
}
struct F16 {
  static float to_float(std::uint16_t h) { return half_to_float(h); }
  static std::uint16_t from_float(float f) { return float_to_half(f); }
  static constexpr std::uint16_t nan = 0x7fff, one = 0x3c00;
  static constexpr std::uint16_t exponent = 0x7c00;
};
struct BF16 {
  static float to_float(std::uint16_t h) { return brain_to_float(h); }
  static std::uint16_t from_float(float f) { return float_to_brain(f); }
  static constexpr std::uint16_t nan = 0x7fff, one = 0x3f80;
  static constexpr std::uint16_t exponent = 0x7f80;
};
template <typename S, bool Ftz>
inline std::uint16_t flush_small(std::uint16_t h) {
  if (Ftz) return (h & S::exponent) == 0 ? h & 0x8000u : h;
  return h;
}
template <typename S, bool Ftz, bool Sat, bool Relu>
inline std::uint16_t out_small(std::uint16_t h) {
  h = flush_small<S, Ftz>(h);
  const bool nan = (h & 0x7fffu) > S::exponent;
  if (Sat) {
    h = (h & 0x8000u) || nan ? 0 : h;
    h = h > S::one ? S::one : h;
  }
  if (Relu) h = nan ? S::nan : (h & 0x8000u) ? 0 : h;
  return h;
}
template <typename S, bool Ftz, bool Sat, bool Relu>
struct HFma {
  static std::uint16_t run(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    const double v =
        odd_fma(S::to_float(flush_small<S, Ftz>(a)), S::to_float(flush_small<S, Ftz>(b)),
                S::to_float(flush_small<S, Ftz>(c)));
    return out_small<S, Ftz, Sat, Relu>(S::from_float(odd_float(v)));
  }
};
template <typename S, bool Ftz, bool Sat>
struct HAdd {
  static std::uint16_t run(std::uint16_t a, std::uint16_t b) {
    return out_small<S, Ftz, Sat, false>(
        S::from_float(S::to_float(flush_small<S, Ftz>(a)) + S::to_float(flush_small<S, Ftz>(b))));
  }
};
template <typename S, bool Ftz, bool Sat>
struct HSub {
  static std::uint16_t run(std::uint16_t a, std::uint16_t b) {
    return out_small<S, Ftz, Sat, false>(
        S::from_float(S::to_float(flush_small<S, Ftz>(a)) - S::to_float(flush_small<S, Ftz>(b))));
  }
};
template <typename S, bool Ftz, bool Sat>
struct HMul {
  static std::uint16_t run(std::uint16_t a, std::uint16_t b) {
    const double v = static_cast<double>(S::to_float(flush_small<S, Ftz>(a))) *
                     static_cast<double>(S::to_float(flush_small<S, Ftz>(b)));
    return out_small<S, Ftz, Sat, false>(S::from_float(odd_float(v)));
  }
};
template <typename S, bool Ftz, bool Max, bool Nan>
struct HMinMax {
  static std::uint16_t run(std::uint16_t a, std::uint16_t b) {
    const std::uint16_t x = flush_small<S, Ftz>(a), y = flush_small<S, Ftz>(b);
    const float v = min_max<float, Max, Nan>(S::to_float(x), S::to_float(y));
    return v == v ? S::from_float(v) : S::nan;
  }
};
template <typename S, bool Max, bool Nan>
struct HMinMaxXorSign {
  static std::uint16_t run(std::uint16_t a, std::uint16_t b) {
    const float v = min_max<float, Max, Nan>(S::to_float(a & 0x7fffu), S::to_float(b & 0x7fffu));
    return v == v ? static_cast<std::uint16_t>(S::from_float(v) | ((a ^ b) & 0x8000u)) : S::nan;
  }
};
template <typename S, bool Ftz>
struct HNeg {
  static std::uint16_t run(std::uint16_t a) { return flush_small<S, Ftz>(a) ^ 0x8000u; }
};
template <typename S, bool Ftz>
struct HAbs {
  static std::uint16_t run(std::uint16_t a) { return flush_small<S, Ftz>(a) & 0x7fffu; }
};
template <typename S, bool Ftz>
struct HEx2 {
  static std::uint16_t run(std::uint16_t a) {
    return flush_small<S, Ftz>(S::from_float(ex2_core(S::to_float(flush_small<S, Ftz>(a)))));
  }
};
template <typename S>
struct HTanh {
  static std::uint16_t run(std::uint16_t a) { return S::from_float(Tanh::run(S::to_float(a))); }
};

// Both halves of a 32-bit register.
template <typename F>
struct Pair {
  static std::uint32_t run(std::uint32_t a) {
    return F::run(static_cast<std::uint16_t>(a)) |
           static_cast<std::uint32_t>(F::run(static_cast<std::uint16_t>(a >> 16))) << 16;
  }
  static std::uint32_t run(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>(
               F::run(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b))) |
           static_cast<std::uint32_t>(
               F::run(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16)))
               << 16;
  }
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return static_cast<std::uint32_t>(F::run(static_cast<std::uint16_t>(a),
                                             static_cast<std::uint16_t>(b),
                                             static_cast<std::uint16_t>(c))) |
           static_cast<std::uint32_t>(F::run(static_cast<std::uint16_t>(a >> 16),
                                             static_cast<std::uint16_t>(b >> 16),
                                             static_cast<std::uint16_t>(c >> 16)))
               << 16;
  }
};
