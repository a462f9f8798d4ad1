// Integer and bit instructions against definitions written bit by bit.
#include <array>
#include <bit>
#include <limits>

#include "cudasim/exec/kernel_fixture.hpp"

namespace cudasim {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
__extension__ using S128 = __int128;
__extension__ using U128 = unsigned __int128;

const std::vector<U32> kWords = {
    0,    1,      2,      31,         32,         33,         63,         0x7f,       0x80,
    0xff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x12345678, 0xdeadbeef};
const std::vector<U64> kLongs = {0,
                                 1,
                                 31,
                                 32,
                                 63,
                                 64,
                                 0xffff,
                                 1u << 31,
                                 0xffffffffull,
                                 1ull << 63,
                                 ~0ull,
                                 0x7fffffffffffffff,
                                 0x123456789abcdef0,
                                 0xfedcba9876543210};

class IntegerTest : public KernelFixture {
 protected:
  template <typename D, typename T, typename Expected>
  void each(const std::string& text, const Combinations<T>& in, Expected&& expected) {
    check<D>(text, in.a, in.b, in.c, expected, [](D x, D y) { return x == y; });
  }
  /// Two and three operand words.
  template <typename Expected>
  void two(const std::string& text, Expected&& expected) {
    each<U32>(text + " d, a, b;", Combinations<U32>(kWords, 2).random(1000),
              [&](U32 a, U32 b, U32) { return static_cast<U32>(expected(a, b)); });
  }
  template <typename Expected>
  void three(const std::string& text, Expected&& expected) {
    each<U32>(text + " d, a, b, c;", Combinations<U32>(kWords, 3).random(2000),
              [&](U32 a, U32 b, U32 c) { return static_cast<U32>(expected(a, b, c)); });
  }
};

/// The instruction's definition for a type T of 16, 32 or 64 bits, evaluated in 128 bits.
template <typename T>
void arithmetic(const std::string& type, const std::vector<std::make_unsigned_t<T>>& values,
                auto&& each) {
  using U = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<std::is_signed_v<T>, S128, U128>;
  constexpr int bits = 8 * sizeof(T);
  const auto in = Combinations<U>(values, 2).random(1000);
  const auto wide = [](U v) { return static_cast<Wide>(static_cast<T>(v)); };
  const auto binary = [&](const std::string& op, auto f) {
    each(op + "." + type + " d, a, b;", in,
         [&](U a, U b, U) { return static_cast<U>(f(wide(a), wide(b))); });
  };
  binary("add", [](Wide a, Wide b) { return a + b; });
  binary("sub", [](Wide a, Wide b) { return a - b; });
  binary("mul.lo", [](Wide a, Wide b) { return a * b; });
  binary("mul.hi", [](Wide a, Wide b) { return (a * b) >> bits; });
  binary("min", [](Wide a, Wide b) { return a < b ? a : b; });
  binary("max", [](Wide a, Wide b) { return a > b ? a : b; });
  binary("div", [](Wide a, Wide b) { return b == 0 ? Wide(-1) : a / b; });
  binary("rem", [](Wide a, Wide b) { return b == 0 ? a : a % b; });
  const auto in3 = Combinations<U>(values, 3).random(1000);
  each("mad.lo." + type + " d, a, b, c;", in3,
       [&](U a, U b, U c) { return static_cast<U>(wide(a) * wide(b) + wide(c)); });
  each("mad.hi." + type + " d, a, b, c;", in3,
       [&](U a, U b, U c) { return static_cast<U>(((wide(a) * wide(b)) >> bits) + wide(c)); });
  each("sad." + type + " d, a, b, c;", in3, [&](U a, U b, U c) {
    const Wide d = wide(a) < wide(b) ? wide(b) - wide(a) : wide(a) - wide(b);
    return static_cast<U>(wide(c) + d);
  });
}

TEST_F(IntegerTest, ArithmeticOfEveryWidth) {
  const auto run = [&]<typename T>(const std::string& type, T, const auto& values) {
    using U = std::make_unsigned_t<T>;
    arithmetic<T>(type, values, [&](const std::string& text, const Combinations<U>& in, auto f) {
      each<U>(text, in, f);
    });
  };
  const std::vector<std::uint16_t> shorts = {0, 1, 2, 15, 16, 0x7fff, 0x8000, 0xffff, 0x1234};
  run("u16", std::uint16_t{}, shorts);
  run("s16", std::int16_t{}, shorts);
  run("u32", std::uint32_t{}, kWords);
  run("s32", std::int32_t{}, kWords);
  run("u64", std::uint64_t{}, kLongs);
  run("s64", std::int64_t{}, kLongs);
}

TEST_F(IntegerTest, WideProducts) {
  const auto in = Combinations<U32>(kWords, 2).random(1000);
  check<U64>(
      "mul.wide.u32 d, a, b;", in.a, in.b, in.c, [](U32 a, U32 b, U32) { return U64{a} * b; },
      std::equal_to<>());
  check<U64>(
      "mul.wide.s32 d, a, b;", in.a, in.b, in.c,
      [](U32 a, U32 b, U32) {
        return static_cast<U64>(std::int64_t{static_cast<std::int32_t>(a)} *
                                static_cast<std::int32_t>(b));
      },
      std::equal_to<>());
  std::vector<U64> c;
  for (std::size_t i = 0; i < in.a.size(); ++i) c.push_back(kLongs[i % kLongs.size()]);
  check<U64>(
      "mad.wide.s32 d, a, b, c;", in.a, in.b, c,
      [](U32 a, U32 b, U64 x) {
        return x + static_cast<U64>(std::int64_t{static_cast<std::int32_t>(a)} *
                                    static_cast<std::int32_t>(b));
      },
      std::equal_to<>());
}

TEST_F(IntegerTest, SaturationAndShortMultiplication) {
  const auto clamp = [](std::int64_t v) {
    return static_cast<U32>(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
  };
  const auto s = [](U32 v) { return std::int64_t{static_cast<std::int32_t>(v)}; };
  two("add.sat.s32", [&](U32 a, U32 b) { return clamp(s(a) + s(b)); });
  two("sub.sat.s32", [&](U32 a, U32 b) { return clamp(s(a) - s(b)); });
  const auto s24 = [](U32 v) { return std::int64_t{static_cast<std::int32_t>(v << 8) >> 8}; };
  two("mul24.lo.u32", [](U32 a, U32 b) { return U64{a & 0xffffff} * (b & 0xffffff); });
  two("mul24.hi.u32", [](U32 a, U32 b) { return U64{a & 0xffffff} * (b & 0xffffff) >> 16; });
  two("mul24.lo.s32", [&](U32 a, U32 b) { return s24(a) * s24(b); });
  two("mul24.hi.s32", [&](U32 a, U32 b) { return (s24(a) * s24(b)) >> 16; });
  three("mad24.lo.s32", [&](U32 a, U32 b, U32 c) { return s24(a) * s24(b) + c; });
}

TEST_F(IntegerTest, CarryChains) {
  const auto in = Combinations<U64>(kLongs, 3).random(2000);
  const std::string split =
      "{ .reg .b32 al, ah, bl, bh, cl, ch, dl, dh; mov.b64 {al, ah}, a; mov.b64 {bl, bh}, b; "
      "mov.b64 {cl, ch}, c; ";
  const std::string join = " mov.b64 d, {dl, dh}; }";
  each<U64>(split + "add.cc.u32 dl, al, bl; addc.u32 dh, ah, bh;" + join, in,
            [](U64 a, U64 b, U64) { return a + b; });
  each<U64>(split + "sub.cc.u32 dl, al, bl; subc.u32 dh, ah, bh;" + join, in,
            [](U64 a, U64 b, U64) { return a - b; });
  // 64 x 64 bits, low half, plus c.
  each<U64>(
      split +
          "mad.lo.cc.u32 dl, al, bl, cl; madc.hi.u32 dh, al, bl, ch; mad.lo.u32 dh, al, bh, dh; "
          "mad.lo.u32 dh, ah, bl, dh;" +
          join,
      in, [](U64 a, U64 b, U64 c) { return a * b + c; });
  each<U64>("{ .reg .b64 x; add.cc.u64 x, a, b; addc.u64 d, 0, 0; }", in,
            [](U64 a, U64 b, U64) { return U64{a + b < a}; });
}

TEST_F(IntegerTest, ShiftsPastTheWidth) {
  const auto shift = [&]<typename T>(T, const std::string& type, const auto& values) {
    using U = std::make_unsigned_t<T>;
    std::vector<U> a, zero;
    std::vector<U32> n;
    for (const U v : values) {
      for (const U32 k : {0u, 1u, 7u, 15u, 16u, 31u, 32u, 33u, 63u, 64u, 65u, 0x80000000u, ~0u}) {
        a.push_back(v);
        n.push_back(k);
      }
    }
    constexpr U32 width = 8 * sizeof(T);
    const bool sign = std::is_signed_v<T>;
    const std::string bits = ".b" + std::to_string(width);
    check<U>(
        "shl" + bits + " d, a, b;", a, n, n,
        [&](U v, U32 k, U32) { return k >= width ? U(0) : static_cast<U>(v << k); },
        std::equal_to<>());
    check<U>(
        "shr." + type + " d, a, b;", a, n, n,
        [&](U v, U32 k, U32) {
          if (k >= width) return static_cast<U>(sign && static_cast<T>(v) < 0 ? -1 : 0);
          return static_cast<U>(static_cast<T>(v) >> k);
        },
        std::equal_to<>());
  };
  const std::vector<std::uint16_t> shorts = {0, 1, 0x7fff, 0x8000, 0xffff, 0x1234};
  shift(std::int16_t{}, "s16", shorts);
  shift(std::uint16_t{}, "u16", shorts);
  shift(std::int32_t{}, "s32", kWords);
  shift(std::uint32_t{}, "u32", kWords);
  shift(std::int64_t{}, "s64", kLongs);
  shift(std::uint64_t{}, "u64", kLongs);
}

TEST_F(IntegerTest, FunnelShifts) {
  const auto funnel = [](U32 a, U32 b, unsigned n, bool left) {
    U32 d = 0;
    for (unsigned i = 0; i < 32; ++i) {  // bit i of the result from the 64 bits {b, a}
      const unsigned from = left ? 32 + i - n : i + n;
      d |= static_cast<U32>((U64{b} << 32 | a) >> from & 1) << i;
    }
    return d;
  };
  three("shf.l.wrap.b32", [&](U32 a, U32 b, U32 c) { return funnel(a, b, c & 31, true); });
  three("shf.l.clamp.b32",
        [&](U32 a, U32 b, U32 c) { return funnel(a, b, std::min(c, 32u), true); });
  three("shf.r.wrap.b32", [&](U32 a, U32 b, U32 c) { return funnel(a, b, c & 31, false); });
  three("shf.r.clamp.b32",
        [&](U32 a, U32 b, U32 c) { return funnel(a, b, std::min(c, 32u), false); });
}

/// The ISA's loops over bits.
template <typename T>
std::make_unsigned_t<T> extracted(std::make_unsigned_t<T> a, U32 b, U32 c) {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned msb = 8 * sizeof(T) - 1;
  const unsigned pos = b & 0xff, len = c & 0xff;
  const bool sign = std::is_signed_v<T> && len != 0 && (a >> std::min(pos + len - 1, msb) & 1);
  U d = 0;
  for (unsigned i = 0; i <= msb; ++i) {
    const bool bit = i < len && pos + i <= msb ? (a >> (pos + i) & 1) != 0 : sign;
    d |= static_cast<U>(U(bit) << i);
  }
  return d;
}
template <typename U>
U inserted(U a, U b, U32 c, U32 d) {
  constexpr unsigned msb = 8 * sizeof(U) - 1;
  const unsigned pos = c & 0xff, len = d & 0xff;
  for (unsigned i = 0; i < len && pos + i <= msb; ++i) {
    b &= static_cast<U>(~(U(1) << (pos + i)));
    b |= static_cast<U>((a >> i & 1) << (pos + i));
  }
  return b;
}

TEST_F(IntegerTest, BitFields) {
  const std::vector<U32> places = {0, 1, 5, 16, 31, 32, 40, 63, 64, 255, 256, 0x101};
  std::vector<U32> words, pos, len;
  std::vector<U64> longs;
  std::mt19937_64 random(1);
  for (const U32 p : places) {
    for (const U32 l : places) {
      for (int k = 0; k < 4; ++k) {
        longs.push_back(k == 0 ? ~0ull : random());
        words.push_back(static_cast<U32>(longs.back()));
        pos.push_back(p);
        len.push_back(l);
      }
    }
  }
  check<U32>("bfe.u32 d, a, b, c;", words, pos, len, extracted<U32>, std::equal_to<>());
  check<U32>("bfe.s32 d, a, b, c;", words, pos, len, extracted<std::int32_t>, std::equal_to<>());
  check<U64>("bfe.u64 d, a, b, c;", longs, pos, len, extracted<U64>, std::equal_to<>());
  check<U64>("bfe.s64 d, a, b, c;", longs, pos, len, extracted<std::int64_t>, std::equal_to<>());
  check<U32>(
      "bfi.b32 d, a, 0x12345678, b, c;", words, pos, len,
      [](U32 a, U32 p, U32 l) { return inserted<U32>(a, 0x12345678, p, l); }, std::equal_to<>());
  check<U64>(
      "bfi.b64 d, a, 0x123456789ABCDEF0, b, c;", longs, pos, len,
      [](U64 a, U32 p, U32 l) { return inserted<U64>(a, 0x123456789abcdef0, p, l); },
      std::equal_to<>());
  two("bmsk.clamp.b32", [](U32 a, U32 b) {
    U32 d = 0;
    for (unsigned i = 0; i < 32; ++i) d |= U32{i >= a && i - a < b} << i;
    return d;
  });
  two("bmsk.wrap.b32", [](U32 a, U32 b) {
    U32 d = 0;
    for (unsigned i = 0; i < 32; ++i) d |= U32{i >= (a & 31) && i - (a & 31) < (b & 31)} << i;
    return d;
  });
}

TEST_F(IntegerTest, CountsAndSearches) {
  const auto in = Combinations<U32>(kWords, 1).random(1000);
  const auto wide = Combinations<U64>(kLongs, 1).random(1000);
  each<U32>("popc.b32 d, a;", in,
            [](U32 a, U32, U32) { return static_cast<U32>(std::popcount(a)); });
  each<U32>("popc.b64 d, a;", wide,
            [](U64 a, U64, U64) { return static_cast<U32>(std::popcount(a)); });
  each<U32>("clz.b32 d, a;", in,
            [](U32 a, U32, U32) { return static_cast<U32>(std::countl_zero(a)); });
  each<U32>("clz.b64 d, a;", wide,
            [](U64 a, U64, U64) { return static_cast<U32>(std::countl_zero(a)); });
  each<U32>("brev.b32 d, a;", in, [](U32 a, U32, U32) {
    U32 d = 0;
    for (int i = 0; i < 32; ++i) d |= (a >> i & 1) << (31 - i);
    return d;
  });
  each<U64>("brev.b64 d, a;", wide, [](U64 a, U64, U64) {
    U64 d = 0;
    for (int i = 0; i < 64; ++i) d |= (a >> i & 1) << (63 - i);
    return d;
  });
  const auto highest = [](auto v, bool sign, bool shift) {
    constexpr int msb = 8 * sizeof v - 1;
    if (sign && (v >> msb & 1)) v = static_cast<decltype(v)>(~v);
    for (int i = msb; i >= 0; --i) {
      if (v >> i & 1) return static_cast<U32>(shift ? msb - i : i);
    }
    return ~0u;
  };
  for (const bool shift : {false, true}) {
    const std::string name = shift ? "bfind.shiftamt" : "bfind";
    each<U32>(name + ".u32 d, a;", in, [&](U32 a, U32, U32) { return highest(a, false, shift); });
    each<U32>(name + ".s32 d, a;", in, [&](U32 a, U32, U32) { return highest(a, true, shift); });
    each<U32>(name + ".u64 d, a;", wide, [&](U64 a, U64, U64) { return highest(a, false, shift); });
    each<U32>(name + ".s64 d, a;", wide, [&](U64 a, U64, U64) { return highest(a, true, shift); });
  }
  std::vector<U32> mask, base, offset;
  for (const U32 m : {0u, 1u, 0x80000000u, 0xffffffffu, 0x12345678u, 0xf0f0f0f0u}) {
    for (U32 b = 0; b < 32; ++b) {
      for (int o = -33; o <= 33; ++o) {
        mask.push_back(m);
        base.push_back(b);
        offset.push_back(static_cast<U32>(o));
      }
    }
  }
  check<U32>(
      "fns.b32 d, a, b, c;", mask, base, offset,
      [](U32 m, U32 b, U32 o) {
        const auto n = static_cast<std::int32_t>(o);
        if (n == 0) return m >> b & 1 ? b : ~0u;
        int count = std::abs(n) - 1;
        for (int at = static_cast<int>(b); at >= 0 && at<32; at += n> 0 ? 1 : -1) {
          if ((m >> at & 1) && count-- == 0) return static_cast<U32>(at);
        }
        return ~0u;
      },
      std::equal_to<>());
}

TEST_F(IntegerTest, PermutationsOfBytes) {
  const auto in = Combinations<U32>({0x00112233, 0x8899aabb, 0x7f80ff01}, 2).random(500);
  const auto byte_of = [](U32 a, U32 b, unsigned i) {
    return static_cast<U32>((U64{b} << 32 | a) >> (8 * i)) & 0xff;
  };
  std::vector<U32> selectors;
  for (std::size_t i = 0; i < in.a.size(); ++i)
    selectors.push_back(static_cast<U32>(i * 0x9e3779b9u));
  check<U32>(
      "prmt.b32 d, a, b, c;", in.a, in.b, selectors,
      [&](U32 a, U32 b, U32 c) {
        U32 d = 0;
        for (unsigned i = 0; i < 4; ++i) {
          const U32 s = c >> (4 * i) & 15;
          U32 v = byte_of(a, b, s & 7);
          if (s & 8) v = v & 0x80 ? 0xff : 0;
          d |= v << (8 * i);
        }
        return d;
      },
      std::equal_to<>());
  // Byte i of the result in each named mode, from the ISA's table.
  struct Mode {
    const char* name;
    unsigned (*byte)(unsigned c, unsigned i);
  };
  const Mode modes[] = {{"f4e", [](unsigned c, unsigned i) { return c + i; }},
                        {"b4e", [](unsigned c, unsigned i) { return (c - i) & 7; }},
                        {"rc8", [](unsigned c, unsigned) { return c; }},
                        {"ecl", [](unsigned c, unsigned i) { return std::max(c, i); }},
                        {"ecr", [](unsigned c, unsigned i) { return std::min(c, i); }},
                        {"rc16", [](unsigned c, unsigned i) { return 2 * (c & 1) + (i & 1); }}};
  for (const Mode& m : modes) {
    check<U32>(
        std::string("prmt.b32.") + m.name + " d, a, b, c;", in.a, in.b, selectors,
        [&](U32 a, U32 b, U32 c) {
          U32 d = 0;
          for (unsigned i = 0; i < 4; ++i) d |= byte_of(a, b, m.byte(c & 3, i)) << (8 * i);
          return d;
        },
        std::equal_to<>());
  }
}

TEST_F(IntegerTest, EveryTruthTable) {
  const std::vector<U32> a = {0xf0f0f0f0, 0x12345678}, b = {0xcccccccc, 0x9abcdef0},
                         c = {0xaaaaaaaa, 0x0f1e2d3c};
  for (unsigned table = 0; table < 256; ++table) {
    check<U32>(
        "lop3.b32 d, a, b, c, " + std::to_string(table) + ";", a, b, c,
        [&](U32 x, U32 y, U32 z) {
          U32 d = 0;
          for (unsigned i = 0; i < 32; ++i)
            d |= U32{table >> ((x >> i & 1) * 4 + (y >> i & 1) * 2 + (z >> i & 1)) & 1} << i;
          return d;
        },
        std::equal_to<>());
  }
}

TEST_F(IntegerTest, DotProductsAndDifferencesOfBytes) {
  const auto part = [](U32 v, unsigned shift, unsigned bits, bool sign) {
    const auto x = static_cast<std::int64_t>(v >> shift & ((1u << bits) - 1));
    return sign && x >> (bits - 1) ? x - (std::int64_t{1} << bits) : x;
  };
  for (const bool sa : {false, true}) {
    for (const bool sb : {false, true}) {
      const std::string types = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      three("dp4a" + types, [&](U32 a, U32 b, U32 c) {
        std::int64_t d = c;
        for (unsigned i = 0; i < 32; i += 8) d += part(a, i, 8, sa) * part(b, i, 8, sb);
        return d;
      });
      for (const bool high : {false, true}) {
        three((high ? "dp2a.hi" : "dp2a.lo") + types, [&](U32 a, U32 b, U32 c) {
          std::int64_t d = c;
          for (unsigned i = 0; i < 2; ++i)
            d += part(a, 16 * i, 16, sa) * part(b, 8 * i + (high ? 16 : 0), 8, sb);
          return d;
        });
      }
    }
    const std::string type = sa ? ".s32" : ".u32";
    for (const unsigned bits : {8u, 16u}) {
      three((bits == 8 ? "vabsdiff4.u32" : "vabsdiff2.u32") + type + type + ".add",
            [&](U32 a, U32 b, U32 c) {
              for (unsigned i = 0; i < 32; i += bits)
                c += static_cast<U32>(std::abs(part(a, i, bits, sa) - part(b, i, bits, sa)));
              return c;
            });
    }
  }
}

TEST_F(IntegerTest, ComparisonsCombineAndSelect) {
  const auto in = Combinations<U32>(kWords, 2).random(500);
  const auto s = [](U32 v) { return static_cast<std::int32_t>(v); };
  struct Compare {
    const char* name;
    bool (*f)(std::int64_t, std::int64_t);
  };
  const Compare all[] = {{"eq", [](std::int64_t a, std::int64_t b) { return a == b; }},
                         {"ne", [](std::int64_t a, std::int64_t b) { return a != b; }},
                         {"lt", [](std::int64_t a, std::int64_t b) { return a < b; }},
                         {"le", [](std::int64_t a, std::int64_t b) { return a <= b; }},
                         {"gt", [](std::int64_t a, std::int64_t b) { return a > b; }},
                         {"ge", [](std::int64_t a, std::int64_t b) { return a >= b; }}};
  const std::string odd = "and.b32 t, a, 1; setp.ne.u32 q, t, 0; ";
  for (const Compare& c : all) {
    const std::string name(c.name);
    for (const std::string combine : {"and", "or", "xor"}) {
      for (const bool negated : {false, true}) {
        each<U32>(odd + "setp." + name + "." + combine + ".s32 p, a, b, " + (negated ? "!q" : "q") +
                      "; selp.b32 d, a, b, p;",
                  in, [&](U32 a, U32 b, U32) {
                    const bool x = c.f(s(a), s(b)), y = ((a & 1) != 0) != negated;
                    const bool v = combine == "and" ? x && y : combine == "or" ? x || y : x != y;
                    return v ? a : b;
                  });
      }
    }
    each<U32>("set." + name + ".u32.u32 d, a, b;", in,
              [&](U32 a, U32 b, U32) { return c.f(a, b) ? ~0u : 0u; });
  }
  each<U32>("setp.lo.u32 p, a, b; selp.b32 d, 1, 0, p;", in,
            [](U32 a, U32 b, U32) { return U32{a < b}; });
  each<U32>("setp.hs.u32 p, a, b; selp.b32 d, 1, 0, !p;", in,
            [](U32 a, U32 b, U32) { return U32{a < b}; });
  three("slct.u32.s32", [&](U32 a, U32 b, U32 c) { return s(c) >= 0 ? a : b; });
  // A negated guard: where b is odd the addition doesn't take place.
  each<U32>("and.b32 t, b, 1; setp.ne.u32 p, t, 0; mov.b32 d, a; @!p add.u32 d, d, b;", in,
            [](U32 a, U32 b, U32) { return b & 1 ? a : a + b; });
}

}  // namespace
}  // namespace cudasim
