// Float arithmetic against the host's, bit by bit, and the approximate functions against the error
// bounds that the PTX ISA documents.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "cudasim/exec/kernel_fixture.hpp"

namespace cudasim {
namespace {

class FloatTest : public KernelFixture {
 protected:
  /// Equal bits; a NaN of f32 is the canonical one, one of f64 is any.
  template <typename T>
  static bool same(T got, T wanted) {
    if (std::isnan(wanted))
      return sizeof(T) == 4 ? hex(got) == "0x7fffffff" : static_cast<bool>(std::isnan(got));
    return std::memcmp(&got, &wanted, sizeof got) == 0;
  }
  template <typename T, typename Expected>
  void each(const std::string& text, const Combinations<T>& in, Expected&& expected) {
    check<T>(text, in.a, in.b, in.c, expected, same<T>);
  }
};

const std::vector<float> kFloats = {0.0f,
                                    -0.0f,
                                    1.0f,
                                    -1.0f,
                                    0.1f,
                                    -3.75f,
                                    1.0f + 0x1p-23f,
                                    0x1p-126f,
                                    -0x1p-126f,
                                    0x1.fffffep-127f,
                                    0x1p-149f,
                                    -0x1p-149f,
                                    0x1.8p-130f,
                                    0x1p-75f,
                                    0x1.fffffep127f,
                                    -0x1.fffffep127f,
                                    0x1p100f,
                                    3.14159265f,
                                    16777217.0f,
                                    std::numeric_limits<float>::infinity(),
                                    -std::numeric_limits<float>::infinity(),
                                    std::numeric_limits<float>::quiet_NaN(),
                                    -std::numeric_limits<float>::quiet_NaN()};
const std::vector<double> kDoubles = {0.0,
                                      -0.0,
                                      1.0,
                                      -1.0,
                                      0.1,
                                      -3.75,
                                      0x1p-1022,
                                      -0x1p-1074,
                                      0x1.fffffffffffffp1023,
                                      -0x1p1000,
                                      0x1p-600,
                                      1e17,
                                      std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};

struct Rounding {
  const char* name;
  int mode;
};
const Rounding kRoundings[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

float flushed(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; }

/// Evaluates with the host's rounding mode set; operands are volatile so that nothing is folded.
template <typename T>
T rounded(int mode, T (*f)(T, T, T), T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T v = f(x, y, z);
  std::fesetround(FE_TONEAREST);
  return v;
}
template <typename T>
struct Operation {
  const char* name;
  unsigned operands;
  T (*f)(T, T, T);
};
template <typename T>
std::vector<Operation<T>> rounding_operations() {
  return {{"add", 2, [](T a, T b, T) { return a + b; }},
          {"sub", 2, [](T a, T b, T) { return a - b; }},
          {"mul", 2, [](T a, T b, T) { return a * b; }},
          {"div", 2, [](T a, T b, T) { return a / b; }},
          {"fma", 3, [](T a, T b, T c) { return std::fma(a, b, c); }},
          {"rcp", 1, [](T a, T, T) { return T(1) / a; }},
          {"sqrt", 1, [](T a, T, T) { return std::sqrt(a); }}};
}
std::string operands(unsigned n) {
  return n == 1 ? " d, a;" : n == 2 ? " d, a, b;" : " d, a, b, c;";
}

TEST_F(FloatTest, SinglePrecisionRoundsAsIeeeWithFtzAndSat) {
  for (const auto& op : rounding_operations<float>()) {
    const auto in = Combinations<float>(kFloats, op.operands).random(2000);
    const bool saturates = op.name != std::string("div") && op.operands != 1;
    for (const Rounding& r : kRoundings) {
      for (const bool ftz : {false, true}) {
        for (const bool sat : {false, true}) {
          if (sat && !saturates) continue;
          const std::string text = std::string(op.name) + "." + r.name + (ftz ? ".ftz" : "") +
                                   (sat ? ".sat" : "") + ".f32" + operands(op.operands);
          each(text, in, [&](float a, float b, float c) {
            if (ftz) a = flushed(a), b = flushed(b), c = flushed(c);
            float v = rounded(r.mode, op.f, a, b, c);
            if (ftz) v = flushed(v);
            if (sat) v = v > 0 ? std::min(v, 1.0f) : 0.0f;  // NaN gives 0
            return v;
          });
        }
      }
    }
  }
}

TEST_F(FloatTest, DoublePrecisionRoundsAsIeee) {
  for (const auto& op : rounding_operations<double>()) {
    const auto in = Combinations<double>(kDoubles, op.operands).random(2000);
    for (const Rounding& r : kRoundings) {
      each(std::string(op.name) + "." + r.name + ".f64" + operands(op.operands), in,
           [&](double a, double b, double c) { return rounded(r.mode, op.f, a, b, c); });
    }
  }
}

/// The ISA's rule: -0 is below +0; a NaN loses against a number, or wins with .NaN.
template <typename T>
T least(T a, T b, bool max, bool nan) {
  if (std::isnan(a) || std::isnan(b)) {
    if (nan || (std::isnan(a) && std::isnan(b))) return std::numeric_limits<T>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) != max ? a : b;
  return (a < b) != max ? a : b;
}

TEST_F(FloatTest, MinAndMaxOrderZerosAndNans) {
  const auto in = Combinations<float>(kFloats, 2).random(1000);
  const auto wide = Combinations<double>(kDoubles, 2).random(1000);
  for (const bool max : {false, true}) {
    const std::string name = max ? "max" : "min";
    each(name + ".f64 d, a, b;", wide,
         [&](double a, double b, double) { return least(a, b, max, false); });
    for (const bool nan : {false, true}) {
      const std::string suffix = nan ? ".NaN" : "";
      each(name + suffix + ".f32 d, a, b;", in,
           [&](float a, float b, float) { return least(a, b, max, nan); });
      each(name + ".ftz" + suffix + ".f32 d, a, b;", in,
           [&](float a, float b, float) { return least(flushed(a), flushed(b), max, nan); });
    }
    each(name + ".xorsign.abs.f32 d, a, b;", in, [&](float a, float b, float) {
      const float v = least(std::fabs(a), std::fabs(b), max, false);
      return std::isnan(v) ? v
                           : std::copysign(v, std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f);
    });
  }
}

TEST_F(FloatTest, SignOperations) {
  const auto in = Combinations<float>({0.0f, -0.0f, 1.5f, -2.0f, 0x1p-140f}, 2);
  each("neg.f32 d, a;", in, [](float a, float, float) { return -a; });
  each("neg.ftz.f32 d, a;", in, [](float a, float, float) { return -flushed(a); });
  each("abs.f32 d, a;", in, [](float a, float, float) { return std::fabs(a); });
  each("copysign.f32 d, a, b;", in, [](float a, float b, float) { return std::copysign(b, a); });
}

TEST_F(FloatTest, ComparisonsWithNan) {
  struct Compare {
    const char* name;
    bool (*f)(float, float);
  };
  const Compare compares[] = {
      {"eq", [](float a, float b) { return a == b; }},
      {"ne", [](float a, float b) { return a < b || a > b; }},
      {"lt", [](float a, float b) { return a < b; }},
      {"le", [](float a, float b) { return a <= b; }},
      {"gt", [](float a, float b) { return a > b; }},
      {"ge", [](float a, float b) { return a >= b; }},
      {"equ", [](float a, float b) { return !(a < b || a > b); }},
      {"neu", [](float a, float b) { return !(a == b); }},
      {"ltu", [](float a, float b) { return !(a >= b); }},
      {"leu", [](float a, float b) { return !(a > b); }},
      {"gtu", [](float a, float b) { return !(a <= b); }},
      {"geu", [](float a, float b) { return !(a < b); }},
      {"num", [](float a, float b) { return !std::isnan(a) && !std::isnan(b); }},
      {"nan", [](float a, float b) { return std::isnan(a) || std::isnan(b); }}};
  const Combinations<float> in(kFloats, 2);
  const std::vector<float>& a = in.a;
  const auto equal = [](std::uint32_t x, std::uint32_t y) { return x == y; };
  for (const Compare& c : compares) {
    const std::string name(c.name);
    check<std::uint32_t>(
        "setp." + name +
            ".f32 p|q, a, b; selp.u32 t, 1, 0, p; "
            "selp.u32 u, 2, 0, q; or.b32 d, t, u;",
        a, in.b, in.c, [&](float x, float y, float) { return c.f(x, y) ? 1u : 2u; }, equal);
    check<std::uint32_t>(
        "set." + name + ".ftz.u32.f32 d, a, b;", a, in.b, in.c,
        [&](float x, float y, float) { return c.f(flushed(x), flushed(y)) ? 0xffffffffu : 0u; },
        equal);
    check<float>(
        "set." + name + ".f32.f32 d, a, b;", a, in.b, in.c,
        [&](float x, float y, float) { return c.f(x, y) ? 1.0f : 0.0f; }, same<float>);
  }
}

TEST_F(FloatTest, TestpClasses) {
  struct Class {
    const char* name;
    bool (*f)(float);
  };
  const Class classes[] = {
      {"finite", [](float v) { return std::isfinite(v); }},
      {"infinite", [](float v) { return std::isinf(v); }},
      {"number", [](float v) { return !std::isnan(v); }},
      {"notanumber", [](float v) { return std::isnan(v); }},
      {"normal", [](float v) { return std::isnormal(v); }},
      {"subnormal", [](float v) { return std::fpclassify(v) == FP_SUBNORMAL; }}};
  const Combinations<float> in(kFloats, 1);
  std::vector<double> wide(in.a.begin(), in.a.end());
  const auto equal = [](std::uint32_t x, std::uint32_t y) { return x == y; };
  for (const Class& c : classes) {
    const std::string text = std::string("testp.") + c.name;
    check<std::uint32_t>(
        text + ".f32 p, a; selp.u32 d, 1, 0, p;", in.a, in.b, in.c,
        [&](float v, float, float) { return c.f(v) ? 1u : 0u; }, equal);
    check<std::uint32_t>(
        text + ".f64 p, a; selp.u32 d, 1, 0, p;", wide, in.b, in.c,
        [&](double v, float, float) {
          // What is subnormal as a float is normal as a double.
          const auto f = static_cast<float>(v);
          const bool tiny = std::fpclassify(f) == FP_SUBNORMAL;
          return c.f(tiny ? 1.0f : f) ? 1u : 0u;
        },
        equal);
  }
}

// Error bounds: PTX ISA 9.0, section "Floating Point Instructions".
struct Bound {
  const char* text;
  double (*exact)(double);
  double relative, absolute, low, high;
};
const Bound kBounds[] = {
    {"rcp.approx.f32", [](double x) { return 1 / x; }, 0x1p-23, 0, 0x1p-120, 0x1p120},
    {"rcp.approx.ftz.f32", [](double x) { return 1 / x; }, 0x1p-23, 0, 0x1p-120, 0x1p120},
    {"sqrt.approx.f32", [](double x) { return std::sqrt(x); }, 0x1p-23, 0, 0x1p-126, 0x1p127},
    {"rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }, 0x1.12p-23, 0, 0x1p-126,
     0x1p127},
    {"ex2.approx.f32", [](double x) { return std::exp2(x); }, 0x1p-22, 0, 0x1p-20, 127},
    {"ex2.approx.f32", [](double x) { return std::exp2(x); }, 0x1p-22, 0, -126, -0x1p-20},
    {"lg2.approx.f32", [](double x) { return std::log2(x); }, 0, 0x1p-22, 0.5, 2},
    {"lg2.approx.f32", [](double x) { return std::log2(x); }, 0x1p-22, 0, 2, 0x1p127},
    {"lg2.approx.ftz.f32", [](double x) { return std::log2(x); }, 0x1p-22, 0, 0x1p-126, 0.5},
    {"sin.approx.f32", [](double x) { return std::sin(x); }, 0, 0x1.6ap-21, -6.28318, 6.28318},
    {"cos.approx.f32", [](double x) { return std::cos(x); }, 0, 0x1.6ap-21, -6.28318, 6.28318},
    {"sin.approx.f32", [](double x) { return std::sin(x); }, 0, 0x1.3p-15, -314.159, 314.159},
    {"cos.approx.f32", [](double x) { return std::cos(x); }, 0, 0x1.3p-15, -314.159, 314.159},
    {"tanh.approx.f32", [](double x) { return std::tanh(x); }, 0x1p-11, 0, 0x1p-60, 100},
    {"tanh.approx.f32", [](double x) { return std::tanh(x); }, 0x1p-11, 0, -100, -0x1p-60},
};

TEST_F(FloatTest, ApproximateFunctionsKeepTheirBounds) {
  std::mt19937_64 random(7);
  for (const Bound& bound : kBounds) {
    std::vector<float> in;
    // Even over the exponents when both ends have one sign, even over the range too.
    std::uniform_real_distribution<double> linear(bound.low, bound.high);
    for (int i = 0; i < 20000; ++i) {
      double v = linear(random);
      if (bound.low * bound.high > 0 && i % 2 == 0) {
        const double sign = bound.low < 0 ? -1 : 1;
        std::uniform_real_distribution<double> exponent(std::log2(bound.low * sign),
                                                        std::log2(bound.high * sign));
        v = sign * std::exp2(exponent(random));
      }
      in.push_back(static_cast<float>(v));
    }
    const std::vector<float> got = apply<float>(std::string(bound.text) + " d, a;", in, in, in);
    double worst = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double exact = bound.exact(in[i]);
      const double error = std::fabs(got[i] - exact) / (bound.absolute != 0 ? 1 : std::fabs(exact));
      worst = std::max(worst, error);
    }
    EXPECT_LE(worst, bound.absolute != 0 ? bound.absolute : bound.relative) << bound.text;
  }
}

TEST_F(FloatTest, ApproximateFunctionsAtSpecialValues) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    const char* text;
    std::vector<float> in, out;
  };
  const float tiny = 0x1p-130f;
  const Case cases[] = {
      {"rcp.approx.f32", {0.0f, -0.0f, inf, -inf, nan}, {inf, -inf, 0.0f, -0.0f, nan}},
      {"rcp.approx.ftz.f32", {tiny, -tiny}, {inf, -inf}},
      {"sqrt.approx.f32", {0.0f, -0.0f, inf, -1.0f, nan}, {0.0f, -0.0f, inf, nan, nan}},
      {"sqrt.approx.ftz.f32", {tiny, -tiny}, {0.0f, -0.0f}},
      {"rsqrt.approx.f32", {0.0f, -0.0f, inf, -1.0f, nan}, {inf, -inf, 0.0f, nan, nan}},
      {"ex2.approx.f32",
       {0.0f, -0.0f, inf, -inf, nan, 200.0f, -200.0f},
       {1, 1, inf, 0, nan, inf, 0}},
      {"ex2.approx.ftz.f32", {-127.0f, -126.0f}, {0.0f, 0x1p-126f}},
      {"ex2.approx.f32", {-127.0f, -149.0f}, {0x1p-127f, 0x1p-149f}},
      {"lg2.approx.f32", {0.0f, -0.0f, inf, -1.0f, nan, 1.0f}, {-inf, -inf, inf, nan, nan, 0.0f}},
      {"lg2.approx.f32", {0x1p-140f}, {-140.0f}},
      {"lg2.approx.ftz.f32", {tiny}, {-inf}},
      {"sin.approx.f32", {0.0f, -0.0f, inf, -inf, nan}, {0.0f, -0.0f, nan, nan, nan}},
      {"cos.approx.f32", {0.0f, -0.0f, inf, nan}, {1, 1, nan, nan}},
      {"sin.approx.ftz.f32", {tiny, -tiny}, {0.0f, -0.0f}},
      {"tanh.approx.f32", {0.0f, -0.0f, inf, -inf, nan}, {0.0f, -0.0f, 1, -1, nan}},
  };
  for (const Case& c : cases) {
    std::size_t i = 0;
    check<float>(
        std::string(c.text) + " d, a;", c.in, c.in, c.in,
        [&](float, float, float) { return c.out[i++]; }, same<float>);
  }
}

TEST_F(FloatTest, ApproximateDivision) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  std::mt19937 random(3);
  std::uniform_real_distribution<float> values(0x1p-10f, 0x1p10f);
  std::vector<float> a, b;
  for (int i = 0; i < 10000; ++i) a.push_back(values(random)), b.push_back(values(random));
  for (const char* text :
       {"div.approx.f32", "div.full.f32", "div.approx.ftz.f32", "div.full.ftz.f32"}) {
    const auto got = apply<float>(std::string(text) + " d, a, b;", a, b, a);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double exact = double{a[i]} / b[i];
      ASSERT_LE(std::fabs(got[i] - exact), 2 * 0x1p-23 * exact) << text;
    }
  }
  // Beyond 2^126 the approximate quotient is 0, or NaN for an infinite dividend.
  const std::vector<float> x = {1.0f, -1.0f, inf}, y = {0x1p127f, 0x1p127f, 0x1p127f};
  std::size_t i = 0;
  const std::vector<float> wanted = {0.0f, -0.0f, std::numeric_limits<float>::quiet_NaN()};
  check<float>(
      "div.approx.f32 d, a, b;", x, y, x, [&](float, float, float) { return wanted[i++]; },
      same<float>);
}

// Half precision: every operand is exact in double, so one rounding of the exact result is right.
float half(std::uint16_t h) {
  const int e = h >> 10 & 31, m = h & 1023;
  const double v = e == 31 ? (m != 0 ? NAN : INFINITY)
                           : std::ldexp(e == 0 ? m : m + 1024, (e == 0 ? 1 : e) - 25);
  return static_cast<float>(h & 0x8000 ? -v : v);
}
float brain(std::uint16_t h) { return std::bit_cast<float>(std::uint32_t{h} << 16); }

/// Nearest value of a 16-bit format whose codes order as their magnitudes, to v + rest with rest
/// far below v's last bit; ties to the even code.
template <typename Decode>
std::uint16_t nearest(long double v, long double rest, Decode&& decode, std::uint16_t infinity) {
  if (std::isnan(v)) return 0x7fff;
  const auto sign = static_cast<std::uint16_t>(std::signbit(v) ? 0x8000 : 0);
  const long double magnitude = std::fabs(v);
  if (std::isinf(magnitude)) return infinity | sign;
  std::uint16_t low = 0, high = infinity;  // low: the largest code that is not above
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (decode(middle) <= magnitude ? low : high) = middle;
  }
  // The step beyond the largest finite value is as wide as the one below it.
  const long double a = decode(low);
  const long double b =
      high == infinity ? a + (a - decode(static_cast<std::uint16_t>(low - 1))) : decode(high);
  const long double below = magnitude - a, above = b - magnitude;
  const bool more = rest != 0 && std::signbit(rest) == std::signbit(v);
  const bool up = above < below || (above == below && (rest != 0 ? more : (low & 1) != 0));
  return static_cast<std::uint16_t>((up ? high : low) | sign);
}

TEST_F(FloatTest, HalfAndBrainArithmeticRoundsOnce) {
  struct Format {
    const char* name;
    float (*decode)(std::uint16_t);
    std::uint16_t infinity;
    std::vector<std::uint16_t> values;
  };
  const Format formats[] = {{"f16",
                             half,
                             0x7c00,
                             {0, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x83ff, 0x0400, 0x7bff, 0xfbff,
                              0x7c00, 0xfc00, 0x7e00, 0x3555, 0x1400, 0x6400}},
                            {"bf16",
                             brain,
                             0x7f80,
                             {0, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x807f, 0x0080, 0x7f7f, 0xff7f,
                              0x7f80, 0xff80, 0x7fc0, 0x3eaa, 0x3400, 0x4b00}}};
  const auto equal = [](auto x, auto y) { return x == y; };
  for (const Format& f : formats) {
    const auto in = Combinations<std::uint16_t>(f.values, 3).random(3000);
    const std::string name(f.name);
    const auto round = [&](long double v, long double rest = 0) {
      return nearest(v, rest, f.decode, f.infinity);
    };
    const auto fma = [&](std::uint16_t a, std::uint16_t b, std::uint16_t c) {
      const long double p = static_cast<long double>(f.decode(a)) * f.decode(b), z = f.decode(c);
      const long double s = p + z, part = s - p;  // the product is exact, the sum's rest is too
      return round(s, std::isfinite(s) ? (p - (s - part)) + (z - part) : 0);
    };
    check<std::uint16_t>("fma.rn." + name + " d, a, b, c;", in.a, in.b, in.c, fma, equal);
    check<std::uint16_t>(
        "add.rn." + name + " d, a, b;", in.a, in.b, in.c,
        [&](std::uint16_t a, std::uint16_t b, std::uint16_t) {
          return round(static_cast<long double>(f.decode(a)) + f.decode(b));
        },
        equal);
    check<std::uint16_t>(
        "mul.rn." + name + " d, a, b;", in.a, in.b, in.c,
        [&](std::uint16_t a, std::uint16_t b, std::uint16_t) {
          return round(static_cast<long double>(f.decode(a)) * f.decode(b));
        },
        equal);
    check<std::uint16_t>(
        "fma.rn.relu." + name + " d, a, b, c;", in.a, in.b, in.c,
        [&](std::uint16_t a, std::uint16_t b, std::uint16_t c) {
          const std::uint16_t v = fma(a, b, c);
          return static_cast<std::uint16_t>(v & 0x8000 ? 0 : v);
        },
        equal);
    for (const bool max : {false, true}) {
      const std::string op = std::string(max ? "max." : "min.");
      for (const bool nan : {false, true}) {
        check<std::uint16_t>(
            op + (nan ? "NaN." : "") + name + " d, a, b;", in.a, in.b, in.c,
            [&](std::uint16_t a, std::uint16_t b, std::uint16_t) {
              const float v = least(f.decode(a), f.decode(b), max, nan);
              return round(v);
            },
            equal);
      }
    }
    // Packed: both halves as the scalar form.
    const auto pairs = Combinations<std::uint32_t>({0}, 1).random(2000);
    check<std::uint32_t>(
        "fma.rn." + name + "x2 d, a, b, c;", pairs.a, pairs.b, pairs.c,
        [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
          const auto part = [&](int s) {
            return std::uint32_t{fma(static_cast<std::uint16_t>(a >> s),
                                     static_cast<std::uint16_t>(b >> s),
                                     static_cast<std::uint16_t>(c >> s))};
          };
          return part(16) << 16 | part(0);
        },
        equal);
  }
}

TEST_F(FloatTest, HalfApproximateFunctionsKeepTheirBounds) {
  struct Case {
    const char* text;
    float (*decode)(std::uint16_t);
    double (*exact)(double);
    double relative, absolute, low, high;
  };
  const auto exp2 = [](double x) { return std::exp2(x); };
  const auto tanh = [](double x) { return std::tanh(x); };
  const Case cases[] = {{"ex2.approx.f16", half, exp2, 0x1.13p-10, 0, -14, 15},
                        {"ex2.approx.ftz.bf16", brain, exp2, 0x1p-7, 0, -126, 127},
                        {"tanh.approx.f16", half, tanh, 0, 0x1.03p-11, -100, 100},
                        {"tanh.approx.bf16", brain, tanh, 0x1p-8, 0, 0x1p-60, 100}};
  std::vector<std::uint16_t> in;
  for (unsigned v = 0; v < 65536; ++v) in.push_back(static_cast<std::uint16_t>(v));
  for (const Case& c : cases) {
    const auto got = apply<std::uint16_t>(std::string(c.text) + " d, a;", in, in, in);
    double worst = 0;
    for (const std::uint16_t v : in) {
      const double x = c.decode(v);
      if (!(x >= c.low && x <= c.high)) continue;
      const double exact = c.exact(x);
      worst = std::max(
          worst, std::fabs(c.decode(got[v]) - exact) / (c.absolute != 0 ? 1 : std::fabs(exact)));
    }
    EXPECT_LE(worst, c.absolute != 0 ? c.absolute : c.relative) << c.text;
  }
}

}  // namespace
}  // namespace cudasim
