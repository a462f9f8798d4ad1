// cvt: every pair of types, rounding modes, saturation, NaN; 8-bit floats by exhaustive tables.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "cudasim/exec/kernel_fixture.hpp"

namespace cudasim {
namespace {

class ConvertTest : public KernelFixture {
 protected:
  template <typename D, typename A, typename Expected>
  void each(const std::string& text, const std::vector<A>& in, Expected&& expected) {
    check<D>(
        text + " d, a;", in, in, in, [&](A a, A, A) { return expected(a); },
        [](D x, D y) { return std::memcmp(&x, &y, sizeof x) == 0; });
  }
};

struct Mode {
  const char* name;
  int host;
};
const Mode kModes[] = {
    {"n", FE_TONEAREST}, {"z", FE_TOWARDZERO}, {"m", FE_DOWNWARD}, {"p", FE_UPWARD}};

template <typename D, typename S>
D in_mode(int mode, S v) {
  volatile S source = v;
  std::fesetround(mode);
  volatile D result = static_cast<D>(source);
  std::fesetround(FE_TONEAREST);
  return result;
}
template <typename F>
F integral(int mode, F v) {
  volatile F source = v;
  std::fesetround(mode);
  volatile F result = std::nearbyint(source);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <typename T>
std::vector<T> some_integers() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           2,
                           L::max(),
                           L::min(),
                           static_cast<T>(L::max() - 1),
                           static_cast<T>(-1),
                           static_cast<T>(0x7f),
                           static_cast<T>(0x80),
                           static_cast<T>(0x8000),
                           static_cast<T>(0x01000001)};
  const auto random = Combinations<T>({}, 1).random(200);
  values.insert(values.end(), random.a.begin(), random.a.end());
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(T)); ++shift)
    values.push_back(static_cast<T>(T(1) << shift));
  return values;
}
const std::vector<float> kFloats = {
    0.0f,        -0.0f,         0.5f,           1.5f,          2.5f,   -0.5f,   -1.5f,   -2.5f,
    0.49999997f, 126.5f,        127.5f,         128.0f,        255.5f, -128.5f, -129.0f, 32767.5f,
    65535.5f,    2147483648.0f, -2147483904.0f, 4294967296.0f, 1e10f,  -1e10f,  9.3e18f, 1.9e19f,
    -1e19f,      0x1p-140f,     INFINITY,       -INFINITY,     NAN};
std::vector<double> doubles() {
  std::vector<double> values(kFloats.begin(), kFloats.end());
  for (const double v : {2147483647.5, -2147483648.5, 4294967295.5, 0.1, 1.0 / 3, 1e300, 1e-300,
                         65504.0 + 16, 3.4028235677973366e38})
    values.push_back(v);
  return values;
}

/// The ISA's clamp of an integral float; NaN is 0, or the sign bit alone where a 64-bit type takes
/// part.
template <typename D, typename F>
D clamped(F v, bool wide_source) {
  using L = std::numeric_limits<D>;
  if (std::isnan(v))
    return wide_source || sizeof(D) == 8 ? static_cast<D>(std::uint64_t{1} << (8 * sizeof(D) - 1))
                                         : D(0);
  if (v <= static_cast<F>(L::min())) return L::min();
  if (v >= std::ldexp(F(1), static_cast<int>(8 * sizeof(D)) - (std::is_signed_v<D> ? 1 : 0)))
    return L::max();
  return static_cast<D>(v);
}

template <typename D>
void integer_targets(const std::string& name, auto&& single, auto&& twice) {
  for (const Mode& m : kModes) {
    const std::string text = std::string("cvt.r") + m.name + "i." + name;
    single(text, [&](float v) { return clamped<D>(integral(m.host, v), false); });
    twice(text, [&](double v) { return clamped<D>(integral(m.host, v), true); });
  }
}

TEST_F(ConvertTest, FloatsToIntegersRoundAndClamp) {
  const auto all = [&]<typename D>(const std::string& name, D) {
    integer_targets<D>(
        name, [&](const std::string& t, auto f) { each<D>(t + ".f32", kFloats, f); },
        [&](const std::string& t, auto f) { each<D>(t + ".f64", doubles(), f); });
  };
  all("s16", std::int16_t{});
  all("u16", std::uint16_t{});
  all("s32", std::int32_t{});
  all("u32", std::uint32_t{});
  all("s64", std::int64_t{});
  all("u64", std::uint64_t{});
  // 8-bit results lie in 16-bit registers, extended by their sign.
  each<std::int16_t>("cvt.rzi.s8.f32", kFloats, [](float v) {
    return static_cast<std::int16_t>(clamped<std::int8_t>(std::trunc(v), false));
  });
  each<std::uint16_t>("cvt.rni.u8.f32", kFloats, [](float v) {
    return static_cast<std::uint16_t>(clamped<std::uint8_t>(std::nearbyint(v), false));
  });
  each<std::int32_t>("cvt.rpi.ftz.s32.f32", kFloats, [](float v) {
    return clamped<std::int32_t>(std::fpclassify(v) == FP_SUBNORMAL ? 0.0f : std::ceil(v), false);
  });
}

TEST_F(ConvertTest, IntegersToFloatsRound) {
  const auto all = [&]<typename S>(const std::string& name, S) {
    for (const Mode& m : kModes) {
      const std::string text = std::string("cvt.r") + m.name;
      each<float>(text + ".f32." + name, some_integers<S>(),
                  [&](S v) { return in_mode<float>(m.host, v); });
      each<double>(text + ".f64." + name, some_integers<S>(),
                   [&](S v) { return in_mode<double>(m.host, v); });
    }
  };
  all("s16", std::int16_t{});
  all("u16", std::uint16_t{});
  all("s32", std::int32_t{});
  all("u32", std::uint32_t{});
  all("s64", std::int64_t{});
  all("u64", std::uint64_t{});
}

TEST_F(ConvertTest, IntegersToIntegersExtendTruncateAndSaturate) {
  const auto pair = [&]<typename D, typename S>(const std::string& d, D, const std::string& s, S) {
    each<D>("cvt." + d + "." + s, some_integers<S>(), [](S v) { return static_cast<D>(v); });
    each<D>("cvt.sat." + d + "." + s, some_integers<S>(), [](S v) {
      using L = std::numeric_limits<D>;
      if (std::cmp_less(v, L::min())) return L::min();
      return std::cmp_greater(v, L::max()) ? L::max() : static_cast<D>(v);
    });
  };
  const auto from = [&]<typename S>(const std::string& s, S zero) {
    pair("s16", std::int16_t{}, s, zero);
    pair("u16", std::uint16_t{}, s, zero);
    pair("s32", std::int32_t{}, s, zero);
    pair("u32", std::uint32_t{}, s, zero);
    pair("s64", std::int64_t{}, s, zero);
    pair("u64", std::uint64_t{}, s, zero);
    each<std::int16_t>("cvt.sat.s8." + s, some_integers<S>(), [](S v) {
      return static_cast<std::int16_t>(std::cmp_less(v, -128)     ? -128
                                       : std::cmp_greater(v, 127) ? 127
                                                                  : v);
    });
  };
  from("s16", std::int16_t{});
  from("u16", std::uint16_t{});
  from("s32", std::int32_t{});
  from("u32", std::uint32_t{});
  from("s64", std::int64_t{});
  from("u64", std::uint64_t{});
  // The low byte alone counts.
  each<std::int32_t>("cvt.s32.s8", some_integers<std::int16_t>(),
                     [](std::int16_t v) { return std::int32_t{static_cast<std::int8_t>(v)}; });
  each<std::uint32_t>("cvt.u32.u8", some_integers<std::uint16_t>(),
                      [](std::uint16_t v) { return v & 0xffu; });
}

TEST_F(ConvertTest, BetweenFloats) {
  for (const Mode& m : kModes) {
    each<float>(std::string("cvt.r") + m.name + ".f32.f64", doubles(), [&](double v) {
      return std::isnan(v) ? std::bit_cast<float>(0x7fffffffu) : in_mode<float>(m.host, v);
    });
    each<float>(std::string("cvt.r") + m.name + "i.f32.f32", kFloats, [&](float v) {
      return std::isnan(v) ? std::bit_cast<float>(0x7fffffffu) : integral(m.host, v);
    });
  }
  each<float>("cvt.sat.f32.f32", kFloats, [](float v) { return v > 0 ? std::min(v, 1.0f) : 0.0f; });
  each<float>("cvt.ftz.f32.f32", std::vector{0x1p-140f, -0x1p-140f, 1.0f},
              [](float v) { return v == 1.0f ? v : std::copysign(0.0f, v); });
}

float half(std::uint16_t h) {
  const int e = h >> 10 & 31, m = h & 1023;
  const double v = e == 31 ? (m != 0 ? NAN : INFINITY)
                           : std::ldexp(e == 0 ? m : m + 1024, (e == 0 ? 1 : e) - 25);
  return static_cast<float>(h & 0x8000 ? -v : v);
}
float brain(std::uint16_t h) { return std::bit_cast<float>(std::uint32_t{h} << 16); }
/// 8-bit floats: e4m3 has no infinity, e5m2 is a short half.
float e4m3(std::uint16_t b) {
  const int e = b >> 3 & 15, m = b & 7;
  if ((b & 0x7f) == 0x7f) return NAN;
  const double v = std::ldexp(e == 0 ? m : m + 8, (e == 0 ? 1 : e) - 10);
  return static_cast<float>(b & 0x80 ? -v : v);
}
float e5m2(std::uint16_t b) { return half(static_cast<std::uint16_t>(b << 8)); }

/// Code of the value in a format with `sign` as its sign bit; codes up to `largest` are finite,
/// larger magnitudes give `overflow`; `mode` is one of n z m p and a (ties away from zero).
struct Format {
  float (*decode)(std::uint16_t);
  std::uint16_t sign, largest, overflow, nan;
};
const Format kHalf{half, 0x8000, 0x7bff, 0x7c00, 0x7fff},
    kBrain{brain, 0x8000, 0x7f7f, 0x7f80, 0x7fff}, kE4m3{e4m3, 0x80, 0x7e, 0x7e, 0x7f},
    kE5m2{e5m2, 0x80, 0x7b, 0x7b, 0x7f};
std::uint16_t encode(const Format& f, double v, char mode) {
  if (std::isnan(v)) return f.nan;
  const bool negative = std::signbit(v);
  const auto sign = static_cast<std::uint16_t>(negative ? f.sign : 0);
  const double x = std::fabs(v);
  std::uint16_t low = 0, high = static_cast<std::uint16_t>(f.largest + 1);
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (f.decode(middle) <= x ? low : high) = middle;
  }
  const double a = f.decode(low);
  if (a == x) return low | sign;
  const bool top = low == f.largest;
  const double b = top ? a + (a - f.decode(static_cast<std::uint16_t>(low - 1))) : f.decode(high);
  bool up = false;
  switch (mode) {
    case 'n':
      up = b - x < x - a || (b - x == x - a && (low & 1));
      break;
    case 'a':
      up = b - x <= x - a;
      break;
    case 'm':
      up = negative;
      break;
    case 'p':
      up = !negative;
      break;
    default:
      break;
  }
  if (std::isinf(x)) up = true;
  return static_cast<std::uint16_t>((up ? (top ? f.overflow : high) : low) | sign);
}

std::vector<float> dense_floats() {
  std::vector<float> values = kFloats;
  for (unsigned code = 0; code < 0x7c00; code += 7) {  // beside and between halves
    const float a = half(static_cast<std::uint16_t>(code)),
                b = half(static_cast<std::uint16_t>(code + 1));
    for (const float v : {a, (a + b) / 2, std::nextafter((a + b) / 2, 1e9f), -(a + b) / 2})
      values.push_back(v);
  }
  const auto random = Combinations<float>({}, 1).random(3000);
  values.insert(values.end(), random.a.begin(), random.a.end());
  for (const float v : {65519.0f, 65520.0f, 448.0f, 464.0f, 465.0f, 480.0f, 57344.0f, 61440.0f,
                        61441.0f, 0x1p-10f, 0x1.8p-10f, 0x1p-17f, 0x1p-25f, 0x1.000002p-25f})
    values.push_back(v);
  return values;
}

TEST_F(ConvertTest, FloatToHalfAndBrain) {
  const auto in = dense_floats();
  for (const char mode : {'n', 'z', 'm', 'p'}) {
    const std::string text = std::string("cvt.r") + mode;
    each<std::uint16_t>(text + ".f16.f32", in, [&](float v) { return encode(kHalf, v, mode); });
    each<std::uint16_t>(text + ".bf16.f32", in, [&](float v) { return encode(kBrain, v, mode); });
    each<std::uint16_t>(text + ".f16.f64", doubles(),
                        [&](double v) { return encode(kHalf, v, mode); });
  }
  each<std::uint16_t>("cvt.rn.relu.f16.f32", in, [](float v) {
    return std::isnan(v) ? kHalf.nan : encode(kHalf, v > 0 ? v : 0.0, 'n');
  });
  each<std::uint16_t>("cvt.rn.satfinite.f16.f32", in, [](float v) {
    const std::uint16_t h = encode(kHalf, v, 'n');
    return static_cast<std::uint16_t>((h & 0x7fff) == 0x7c00 ? (h & 0x8000) | 0x7bff : h);
  });
  each<std::uint16_t>("cvt.rn.f16.s32", some_integers<std::int32_t>(),
                      [](std::int32_t v) { return encode(kHalf, v, 'n'); });
  each<std::uint16_t>("cvt.rz.f16.u16", some_integers<std::uint16_t>(),
                      [](std::uint16_t v) { return encode(kHalf, v, 'z'); });
  each<std::uint16_t>("cvt.rn.bf16.s32", some_integers<std::int32_t>(),
                      [](std::int32_t v) { return encode(kBrain, v, 'n'); });
}

TEST_F(ConvertTest, HalfAndBrainToOthers) {
  std::vector<std::uint16_t> all;
  for (unsigned v = 0; v < 65536; ++v) all.push_back(static_cast<std::uint16_t>(v));
  const auto widened = [](float v) {
    return std::isnan(v) ? std::bit_cast<float>(0x7fffffffu) : v;
  };
  each<float>("cvt.f32.f16", all, [&](std::uint16_t h) { return widened(half(h)); });
  each<float>("cvt.f32.bf16", all, [&](std::uint16_t h) { return widened(brain(h)); });
  for (const Mode& m : kModes) {
    const std::string text = std::string("cvt.r") + m.name + "i";
    each<std::int32_t>(text + ".s32.f16", all, [&](std::uint16_t h) {
      return clamped<std::int32_t>(integral(m.host, half(h)), false);
    });
    each<std::uint16_t>(text + ".u16.f16", all, [&](std::uint16_t h) {
      return clamped<std::uint16_t>(integral(m.host, half(h)), false);
    });
    each<std::uint16_t>(text + ".f16.f16", all, [&](std::uint16_t h) {
      return encode(kHalf, integral(m.host, half(h)), 'n');
    });
  }
}

TEST_F(ConvertTest, PackedPairsPutTheFirstSourceAbove) {
  const auto in = dense_floats();
  std::vector<float> other(in.rbegin(), in.rend());
  const auto equal = [](std::uint32_t x, std::uint32_t y) { return x == y; };
  for (const auto& [name, format] : {std::pair{"f16x2", &kHalf}, std::pair{"bf16x2", &kBrain}}) {
    for (const char mode : {'n', 'z'}) {
      check<std::uint32_t>(
          std::string("cvt.r") + mode + "." + name + ".f32 d, a, b;", in, other, in,
          [&](float a, float b, float) {
            return std::uint32_t{encode(*format, a, mode)} << 16 | encode(*format, b, mode);
          },
          equal);
    }
  }
}

TEST_F(ConvertTest, EightBitFloats) {
  const auto in = dense_floats();
  std::vector<float> other(in.rbegin(), in.rend());
  std::vector<std::uint16_t> all;
  for (unsigned v = 0; v < 256; ++v) all.push_back(static_cast<std::uint16_t>(v << 8 | (v ^ 0x5a)));
  const auto equal = [](auto x, auto y) { return x == y; };
  for (const auto& [name, format] : {std::pair{"e4m3x2", &kE4m3}, std::pair{"e5m2x2", &kE5m2}}) {
    for (const bool relu : {false, true}) {
      const std::string r = relu ? ".relu." : ".";
      const auto one = [&](float v) {
        return encode(*format, relu && !std::isnan(v) ? std::max(v, 0.0f) : v, 'n') &
               (relu && !std::isnan(v) ? 0x7f : 0xff);
      };
      check<std::uint16_t>(
          "cvt.rn.satfinite" + r + name + ".f32 d, a, b;", in, other, in,
          [&](float a, float b, float) { return static_cast<std::uint16_t>(one(a) << 8 | one(b)); },
          equal);
      each<std::uint32_t>("cvt.rn" + r + "f16x2." + name, all, [&](std::uint16_t v) {
        const auto part = [&](std::uint16_t b) {
          const float x = format->decode(b);
          if (std::isnan(x)) return std::uint32_t{0x7fff};
          return std::uint32_t{encode(kHalf, relu ? std::max(x, 0.0f) : x, 'n')} &
                 (relu ? 0x7fffu : 0xffffu);
        };
        return part(v >> 8) << 16 | part(v & 0xff);
      });
    }
    std::vector<std::uint32_t> pairs;
    for (unsigned v = 0; v < 65536; ++v) pairs.push_back(v << 16 | (v ^ 0x1234));
    each<std::uint16_t>(std::string("cvt.rn.satfinite.") + name + ".f16x2", pairs,
                        [&](std::uint32_t v) {
                          const auto part = [&](unsigned s) {
                            return encode(*format, half(static_cast<std::uint16_t>(v >> s)), 'n');
                          };
                          return static_cast<std::uint16_t>(part(16) << 8 | part(0));
                        });
  }
}

TEST_F(ConvertTest, Tf32KeepsTenMantissaBits) {
  const auto in = dense_floats();
  const auto rounded = [](float v, char mode) {
    if (std::isnan(v)) return 0x7fffffffu;
    const auto u = std::bit_cast<std::uint32_t>(v);
    const std::uint32_t low = u & 0x1fff, base = u & ~0x1fffu;
    if (std::isinf(v) || low == 0) return u;
    const bool up =
        mode == 'a' ? low >= 0x1000 : low > 0x1000 || (low == 0x1000 && (base & 0x2000));
    return up ? base + 0x2000 : base;
  };
  each<std::uint32_t>("cvt.rna.tf32.f32", in, [&](float v) { return rounded(v, 'a'); });
  each<std::uint32_t>("cvt.rn.tf32.f32", in, [&](float v) { return rounded(v, 'n'); });
}

TEST_F(ConvertTest, PackSaturates) {
  const auto in =
      Combinations<std::int32_t>({0, 1, -1, 127, 128, -129, 40000, -40000, INT32_MAX}, 2);
  const auto equal = [](std::uint32_t x, std::uint32_t y) { return x == y; };
  check<std::uint32_t>(
      "cvt.pack.sat.s16.s32 d, a, b;", in.a, in.b, in.c,
      [](std::int32_t a, std::int32_t b, std::int32_t) {
        const auto c = [](std::int32_t v) { return std::clamp(v, -32768, 32767); };
        return static_cast<std::uint32_t>(c(a)) << 16 | (c(b) & 0xffff);
      },
      equal);
  check<std::uint32_t>(
      "cvt.pack.sat.u8.s32.b32 d, a, b, 0xABCD1234;", in.a, in.b, in.c,
      [](std::int32_t a, std::int32_t b, std::int32_t) {
        const auto c = [](std::int32_t v) { return std::clamp(v, 0, 255); };
        return 0x12340000u | static_cast<std::uint32_t>(c(a) << 8 | c(b));
      },
      equal);
}

}  // namespace
}  // namespace cudasim
