// mma.sync, wmma, ldmatrix, stmatrix and movmatrix against products formed on the host. Elements
// are small integers, so that every order of accumulation gives the same exact result.
#include <bit>
#include <functional>

#include "cudasim/exec/kernel_fixture.hpp"

namespace cudasim {
namespace {

struct Element {
  unsigned bits = 0;
  bool sign = false;
  std::uint64_t (*encode)(int) = nullptr;
};
std::uint64_t encode_float(int v) { return std::bit_cast<std::uint32_t>(static_cast<float>(v)); }
/// Small integers in a float format with E exponent and M mantissa bits.
template <int E, int M>
std::uint64_t encode_short(int v) {
  if (v == 0) return 0;
  const unsigned magnitude = static_cast<unsigned>(v < 0 ? -v : v);
  const int top = std::bit_width(magnitude) - 1;
  const unsigned mantissa = M >= top ? (magnitude << (M - top)) & ((1u << M) - 1)
                                     : (magnitude >> (top - M)) & ((1u << M) - 1);
  const unsigned exponent = static_cast<unsigned>(top + (1 << (E - 1)) - 1);
  return (v < 0 ? 1u << (E + M) : 0u) | exponent << M | mantissa;
}
const std::map<std::string, Element> kElements = {
    {"f16", {16, true, encode_short<5, 10>}},
    {"bf16", {16, true, encode_short<8, 7>}},
    {"e4m3", {8, true, encode_short<4, 3>}},
    {"e5m2", {8, true, encode_short<5, 2>}},
    {"tf32", {32, true, encode_float}},
    {"f32", {32, true, encode_float}},
    {"f64", {64, true, [](int v) { return std::bit_cast<std::uint64_t>(static_cast<double>(v)); }}},
    {"s32", {32, true, [](int v) { return std::uint64_t{static_cast<std::uint32_t>(v)}; }}},
    {"s8", {8, true, [](int v) { return std::uint64_t{static_cast<std::uint8_t>(v)}; }}},
    {"u8", {8, false, [](int v) { return std::uint64_t{static_cast<std::uint8_t>(v)}; }}},
    {"s4", {4, true, [](int v) { return static_cast<std::uint64_t>(v) & 15; }}},
    {"u4", {4, false, [](int v) { return static_cast<std::uint64_t>(v) & 15; }}},
    {"b1", {1, false, [](int v) { return static_cast<std::uint64_t>(v) & 1; }}},
};

struct Shape {
  unsigned m, n, k;
};

/// Deterministic small values: in [-3, 3] or [0, 3]; bits for b1.
int value(const Element& e, unsigned row, unsigned column) {
  const unsigned h = (row * 131 + column * 37 + 11) * 2654435761u >> 13;
  if (e.bits == 1) return static_cast<int>(h & 1);
  return e.sign ? static_cast<int>(h % 7) - 3 : static_cast<int>(h % 4);
}

using Matrix = std::vector<int>;
Matrix make(const Element& e, unsigned rows, unsigned columns, unsigned seed) {
  Matrix m;
  for (unsigned r = 0; r < rows; ++r) {
    for (unsigned c = 0; c < columns; ++c) m.push_back(value(e, r + seed, c));
  }
  return m;
}
Matrix multiply(const Shape& s, const Matrix& a, const Matrix& b, const Matrix& c,
                const std::string& bit_operation = "") {
  Matrix d = c;
  for (unsigned i = 0; i < s.m; ++i) {
    for (unsigned j = 0; j < s.n; ++j) {
      for (unsigned k = 0; k < s.k; ++k) {
        const int x = a[i * s.k + k], y = b[k * s.n + j];
        d[i * s.n + j] += bit_operation == "xor" ? x ^ y : x * y;
      }
    }
  }
  return d;
}

/// Element i of a lane's fragment, as the ISA's figures place it: rows of four lanes that hold
/// 32 bits each (one double); A has the lower eight rows, then the next k half.
struct Place {
  unsigned row, column;
};
Place place(char which, const Shape& s, unsigned bits, unsigned lane, unsigned i) {
  const unsigned group = lane / 4, in_group = lane % 4;
  if (which == 'c') return {group + 8 * (i / 2), 2 * in_group + i % 2};
  const unsigned packed = bits >= 32 ? 1 : 32 / bits;  // elements of a 32-bit register
  const unsigned reg = i / packed, in_register = i % packed;
  if (which == 'b') return {4 * packed * reg + in_group * packed + in_register, group};
  const unsigned halves = s.m == 16 ? 2 : 1;
  return {group + 8 * (reg % halves),
          4 * packed * (reg / halves) + in_group * packed + in_register};
}

class MatrixTest : public KernelFixture {
 protected:
  /// The lane's registers of a fragment, 32 bits each (64 for f64), for all lanes.
  static std::vector<std::uint64_t> fragment(char which, const Shape& s, const Element& e,
                                             const Matrix& m) {
    const unsigned columns = which == 'a' ? s.k : s.n;
    const unsigned elements = static_cast<unsigned>(m.size()) / 32;
    const unsigned packed = e.bits == 64 ? 1 : 32 / e.bits;
    std::vector<std::uint64_t> registers;
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < elements; ++i) {
        const Place p = place(which, s, e.bits, lane, i);
        if (i % packed == 0) registers.push_back(0);
        registers.back() |= e.encode(m[p.row * columns + p.column]) << (i % packed * e.bits);
      }
    }
    return registers;
  }
  /// Loads or stores of n registers of 64 bits a lane between array `p` and names x0 ….
  static std::string list(const std::string& x, std::size_t n) {
    std::string text = "{";
    for (std::size_t i = 0; i < n; ++i) text += (i == 0 ? "" : ", ") + x + std::to_string(i);
    return text + "}";
  }
  static std::string declare(const std::string& x, std::size_t n, bool wide) {
    return ".reg .b" + std::string(wide ? "64 " : "32 ") + x + "<" + std::to_string(n) + ">;\n";
  }
  static std::string transfer(const std::string& x, std::size_t n, bool wide, bool store) {
    std::string text =
        "ld.param.u64 x, [p" + x + "]; mad.wide.u32 x, lane, " + std::to_string(8 * n) + ", x;\n";
    for (std::size_t i = 0; i < n; ++i) {
      const std::string at = "[x+" + std::to_string(8 * i) + "]", r = x + std::to_string(i);
      const std::string type = wide ? "b64 " : "b32 ";
      text += store ? "st.global." + type + at + ", " + r + ";\n"
                    : "ld.global." + type + r + ", " + at + ";\n";
    }
    return text;
  }

  /// One mma of the instruction's types, compared element by element.
  void multiply_accumulate(const std::string& instruction, const Shape& s, const std::string& dt,
                           const std::string& at, const std::string& bt, const std::string& ct,
                           const std::string& bit_operation = "") {
    const Element &ed = kElements.at(dt), &ea = kElements.at(at), &eb = kElements.at(bt),
                  &ec = kElements.at(ct);
    const Matrix a = make(ea, s.m, s.k, 1), b = make(eb, s.k, s.n, 2), c = make(ec, s.m, s.n, 3);
    const auto fa = fragment('a', s, ea, a), fb = fragment('b', s, eb, b),
               fc = fragment('c', s, ec, c),
               wanted = fragment('c', s, ed, multiply(s, a, b, c, bit_operation));
    const std::size_t nd = wanted.size() / 32, na = fa.size() / 32, nb = fb.size() / 32,
                      nc = fc.size() / 32;
    const auto wide = [](const Element& e) { return e.bits == 64; };
    compile(
        ".visible .entry k(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{ .reg "
        ".b32 lane; .reg .b64 x;\n" +
        declare("d", nd, wide(ed)) + declare("a", na, wide(ea)) + declare("b", nb, wide(eb)) +
        declare("c", nc, wide(ec)) + "mov.u32 lane, %tid.x;\n" +
        transfer("a", na, wide(ea), false) + transfer("b", nb, wide(eb), false) +
        transfer("c", nc, wide(ec), false) + instruction + " " + list("d", nd) + ", " +
        list("a", na) + ", " + list("b", nb) + ", " + list("c", nc) + ";\n" +
        transfer("d", nd, wide(ed), true) + "ret; }");
    ASSERT_FALSE(HasFatalFailure());
    const auto out = array(std::vector<std::uint64_t>(wanted.size()));
    const auto result = run({1}, {32}, out, array(fa), array(fb), array(fc));
    ASSERT_FALSE(result.fault) << instruction << ": " << result.fault.text();
    EXPECT_EQ(read<std::uint64_t>(out, wanted.size()), wanted) << instruction;
    EXPECT_GT(result.counters.flops_tensor + result.counters.ops_tensor_int, 0u) << instruction;
  }
};

TEST_F(MatrixTest, MmaOfEveryTypeAndShape) {
  struct Case {
    Shape shape;
    std::vector<std::array<std::string, 4>> types;  // d, a, b, c
    std::string suffix;
  };
  const std::vector<std::array<std::string, 4>> half = {{"f16", "f16", "f16", "f16"},
                                                        {"f32", "f16", "f16", "f32"}},
                                                brain = {{"f32", "bf16", "bf16", "f32"}},
                                                tf32 = {{"f32", "tf32", "tf32", "f32"}},
                                                f64 = {{"f64", "f64", "f64", "f64"}};
  std::vector<std::array<std::string, 4>> bytes, nibbles, eighths;
  for (const std::string a : {"s", "u"}) {
    for (const std::string b : {"s", "u"}) {
      bytes.push_back({"s32", a + "8", b + "8", "s32"});
      nibbles.push_back({"s32", a + "4", b + "4", "s32"});
    }
  }
  for (const std::string a : {"e4m3", "e5m2"}) {
    for (const std::string b : {"e4m3", "e5m2"}) eighths.push_back({"f32", a, b, "f32"});
  }
  const std::vector<Case> cases = {
      {{16, 8, 8}, half, ""},     {{16, 8, 16}, half, ""},
      {{16, 8, 8}, brain, ""},    {{16, 8, 16}, brain, ""},
      {{16, 8, 4}, tf32, ""},     {{16, 8, 8}, tf32, ""},
      {{8, 8, 4}, f64, ""},       {{16, 8, 4}, f64, ""},
      {{16, 8, 8}, f64, ""},      {{16, 8, 16}, f64, ""},
      {{8, 8, 16}, bytes, ""},    {{16, 8, 16}, bytes, ""},
      {{16, 8, 32}, bytes, ""},   {{16, 8, 32}, bytes, ".satfinite"},
      {{8, 8, 32}, nibbles, ""},  {{16, 8, 32}, nibbles, ""},
      {{16, 8, 64}, nibbles, ""}, {{16, 8, 32}, eighths, ""},
  };
  for (const Case& c : cases) {
    for (const auto& t : c.types) {
      const Shape& s = c.shape;
      std::string name = "mma.sync.aligned.m" + std::to_string(s.m) + "n" + std::to_string(s.n) +
                         "k" + std::to_string(s.k) + ".row.col" + c.suffix;
      for (const std::string& type : t) name += "." + type;
      multiply_accumulate(name, s, t[0], t[1], t[2], t[3]);
    }
  }
}

/// A matrix with half of its elements, those without, and the metadata words of a warp.
struct Sparse {
  Matrix whole, packed;
  std::vector<std::uint64_t> metadata;
};
/// Of each chunk (4 elements; 2 of tf32; 8 of 4 bits, in pairs) a half is kept, by the ISA's
/// figures: the threads with other lane numbers hold rubbish.
Sparse halve(const Shape& s, const Element& e, const Matrix& full, unsigned selector,
             unsigned selectors) {
  Sparse sparse{Matrix(full.size()), {}, std::vector<std::uint64_t>(32, 0xdeadbeef)};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (lane % 4 / (4 / selectors) == selector) sparse.metadata[lane] = 0;
  }
  const unsigned unit = e.bits == 4 ? 2 : 1, places = e.bits == 32 ? 2 : 4;  // of a chunk
  for (unsigned row = 0; row < s.m; ++row) {
    for (unsigned chunk = 0; chunk < s.k / (unit * places); ++chunk) {
      const unsigned low = (row + chunk) % (places - 1 + (places == 2 ? 1 : 0)),
                     high = low + 1 + (row * 3 + chunk) % (places == 2 ? 1 : places - 1 - low);
      const std::vector<unsigned> kept = places == 2 ? std::vector{low} : std::vector{low, high};
      for (const unsigned place : kept) {
        for (unsigned u = 0; u < unit; ++u) {
          const unsigned at = row * s.k + (chunk * places + place) * unit + u;
          sparse.whole[at] = full[at];
          sparse.packed.push_back(full[at]);
        }
      }
      const std::uint64_t bits = places == 2 ? (low == 0 ? 0b0100 : 0b1110) : high << 2 | low;
      const unsigned group = row % 8 * 4 + selector * (4 / selectors);
      const unsigned thread = e.bits >= 16 ? chunk / 4 : row / 8 + chunk / 8 * 2;
      const unsigned shift = e.bits >= 16 ? chunk % 4 * 4 + row / 8 * 16 : chunk % 8 * 4;
      sparse.metadata[group + thread] |= bits << shift;
    }
  }
  return sparse;
}

TEST_F(MatrixTest, SparseMma) {
  struct Case {
    Shape shape;
    std::string d, ab;
    unsigned selectors;
  };
  const std::vector<Case> cases = {
      {{16, 8, 16}, "f16", "f16", 4},  {{16, 8, 16}, "f32", "bf16", 4},
      {{16, 8, 32}, "f32", "f16", 2},  {{16, 8, 8}, "f32", "tf32", 4},
      {{16, 8, 16}, "f32", "tf32", 2}, {{16, 8, 32}, "s32", "s8", 2},
      {{16, 8, 64}, "s32", "u8", 1},   {{16, 8, 64}, "s32", "s4", 2},
      {{16, 8, 128}, "s32", "u4", 1},  {{16, 8, 64}, "f32", "e4m3", 1}};
  for (const Case& c : cases) {
    for (unsigned selector = 0; selector < c.selectors; ++selector) {
      const Shape &s = c.shape, half{s.m, s.n, s.k / 2};
      const Element &ed = kElements.at(c.d), &e = kElements.at(c.ab);
      const Sparse a = halve(s, e, make(e, s.m, s.k, 1), selector, c.selectors);
      const Matrix b = make(e, s.k, s.n, 2), m = make(ed, s.m, s.n, 3);
      const auto fa = fragment('a', half, e, a.packed), fb = fragment('b', s, e, b),
                 fc = fragment('c', s, ed, m),
                 wanted = fragment('c', s, ed, multiply(s, a.whole, b, m));
      const std::size_t nd = wanted.size() / 32, na = fa.size() / 32, nb = fb.size() / 32;
      const std::string name =
          (selector % 2 == 0 ? "mma.sp.sync" : "mma.sp::ordered_metadata.sync") +
          std::string(".aligned.m16n8k") + std::to_string(s.k) + ".row.col." + c.d + "." + c.ab +
          "." + c.ab + "." + c.d;
      compile(
          ".visible .entry k(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc, "
          ".param "
          ".u64 pe)\n{ .reg .b32 lane; .reg .b64 x;\n" +
          declare("d", nd, false) + declare("a", na, false) + declare("b", nb, false) +
          declare("c", nd, false) + declare("e", 1, false) + "mov.u32 lane, %tid.x;\n" +
          transfer("a", na, false, false) + transfer("b", nb, false, false) +
          transfer("c", nd, false, false) + transfer("e", 1, false, false) + name + " " +
          list("d", nd) + ", " + list("a", na) + ", " + list("b", nb) + ", " + list("c", nd) +
          ", e0, " + std::to_string(selector) + ";\n" + transfer("d", nd, false, true) + "ret; }");
      ASSERT_FALSE(HasFatalFailure());
      const auto out = array(std::vector<std::uint64_t>(wanted.size()));
      const auto result = run({1}, {32}, out, array(fa), array(fb), array(fc), array(a.metadata));
      ASSERT_FALSE(result.fault) << name << ": " << result.fault.text();
      EXPECT_EQ(read<std::uint64_t>(out, wanted.size()), wanted) << name << " " << selector;
    }
  }
}

TEST_F(MatrixTest, MmaOfSingleBits) {
  for (const Shape s : {Shape{8, 8, 128}, Shape{16, 8, 128}, Shape{16, 8, 256}}) {
    const std::string shape = "m" + std::to_string(s.m) + "n8k" + std::to_string(s.k);
    for (const std::string op : {"and", "xor"}) {
      multiply_accumulate("mma.sync.aligned." + shape + ".row.col.s32.b1.b1.s32." + op + ".popc", s,
                          "s32", "b1", "b1", "s32", op);
    }
  }
}

TEST_F(MatrixTest, AccumulatorsOverflowAndRound) {
  // 8-bit products on top of the largest accumulator: wraps, or stays with .satfinite.
  const auto result_of = [&](const std::string& suffix) {
    compile(
        ".visible .entry k(.param .u64 out) { .reg .b32 d<4>, a<2>, b, c; .reg .b64 x;\n"
        "mov.b32 a0, 0x01010101; mov.b32 a1, a0; mov.b32 b, a0; mov.b32 c, 0x7FFFFFF0;\n"
        "mma.sync.aligned.m16n8k16.row.col" +
        suffix +
        ".s32.s8.s8.s32 {d0,d1,d2,d3}, {a0,a1}, {b}, {c,c,c,c};\n"
        "ld.param.u64 x, [out]; st.global.b32 [x], d0; ret; }");
    const auto out = array(std::vector<std::int32_t>(1));
    EXPECT_FALSE(run({1}, {32}, out).fault);
    return read<std::int32_t>(out, 1)[0];
  };
  EXPECT_EQ(result_of(""), INT32_MIN);
  EXPECT_EQ(result_of(".satfinite"), INT32_MAX);
}

TEST_F(MatrixTest, WmmaOfEveryTypeAndShape) {
  struct Case {
    Shape shape;
    std::string d, ab, c;
    unsigned na, nb, nc, nd;  // registers a lane
  };
  std::vector<Case> cases = {{{16, 16, 8}, "f32", "tf32", "f32", 4, 4, 8, 8},
                             {{8, 8, 4}, "f64", "f64", "f64", 1, 1, 2, 2}};
  for (const Shape s : {Shape{16, 16, 16}, Shape{32, 8, 16}, Shape{8, 32, 16}}) {
    cases.push_back({s, "f16", "f16", "f16", 8, 8, 4, 4});
    cases.push_back({s, "f32", "f16", "f32", 8, 8, 8, 8});
    cases.push_back({s, "f32", "f16", "f16", 8, 8, 4, 8});
    const unsigned a = s.m / 4, b = s.n / 4;  // bf16: 2 elements a register
    cases.push_back({s, "f32", "bf16", "f32", a, b, 8, 8});
    for (const std::string t : {"s8", "u8"})
      cases.push_back({s, "s32", t, "s32", a / 2, b / 2, 8, 8});
  }
  for (const Case& c : cases) {
    for (const std::string la : {"row", "col"}) {
      for (const std::string lb : {"row", "col"}) {
        if (c.ab == "f64" && (la != "row" || lb != "col")) continue;
        const Shape& s = c.shape;
        const Element &ed = kElements.at(c.d), &ea = kElements.at(c.ab), &ec = kElements.at(c.c);
        const Matrix a = make(ea, s.m, s.k, 1), b = make(ea, s.k, s.n, 2),
                     m = make(ec, s.m, s.n, 3);
        const Matrix product = multiply(s, a, b, m);
        // In memory with a leading dimension that is wider than the matrix.
        const auto image = [](const Matrix& x, unsigned rows, unsigned columns, bool row_major,
                              unsigned leading, const Element& e) {
          std::vector<std::uint8_t> bytes(leading * (row_major ? rows : columns) * e.bits / 8);
          for (unsigned r = 0; r < rows; ++r) {
            for (unsigned k = 0; k < columns; ++k) {
              const std::uint64_t v = e.encode(x[r * columns + k]);
              const unsigned at = row_major ? r * leading + k : k * leading + r;
              std::memcpy(&bytes[at * e.bits / 8], &v, e.bits / 8);
            }
          }
          return bytes;
        };
        const unsigned leading = 64;
        const std::string shape =
            ".m" + std::to_string(s.m) + "n" + std::to_string(s.n) + "k" + std::to_string(s.k);
        const auto wide = [](const Element& e) { return e.bits == 64; };
        const std::string types =
            c.ab == "f16" ? "." + c.d + "." + c.c : "." + c.d + "." + c.ab + "." + c.ab + "." + c.c;
        const std::string text =
            ".visible .entry k(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{ "
            ".reg .b64 x; .reg .b32 ld;\n" +
            declare("d", c.nd, wide(ed)) + declare("a", c.na, wide(ea)) +
            declare("b", c.nb, wide(ea)) + declare("c", c.nc, wide(ec)) + "mov.u32 ld, 64;\n" +
            "ld.param.u64 x, [pa]; wmma.load.a.sync.aligned." + la + shape + ".global." + c.ab +
            " " + list("a", c.na) + ", [x], ld;\n" +
            "ld.param.u64 x, [pb]; wmma.load.b.sync.aligned." + lb + shape + ".global." + c.ab +
            " " + list("b", c.nb) + ", [x], ld;\n" +
            "ld.param.u64 x, [pc]; wmma.load.c.sync.aligned.row" + shape + ".global." + c.c + " " +
            list("c", c.nc) + ", [x], ld;\n" + "wmma.mma.sync.aligned." + la + "." + lb + shape +
            types + " " + list("d", c.nd) + ", " + list("a", c.na) + ", " + list("b", c.nb) + ", " +
            list("c", c.nc) + ";\n" + "ld.param.u64 x, [pd]; wmma.store.d.sync.aligned.col" +
            shape + ".global." + c.d + " [x], " + list("d", c.nd) + ", ld; ret; }";
        compile(text);
        ASSERT_FALSE(HasFatalFailure());
        const auto wanted = image(product, s.m, s.n, false, leading, ed);
        const auto out = array(std::vector<std::uint8_t>(wanted.size()));
        const auto result = run({1}, {32}, out, array(image(a, s.m, s.k, la == "row", leading, ea)),
                                array(image(b, s.k, s.n, lb == "row", leading, ea)),
                                array(image(m, s.m, s.n, true, leading, ec)));
        ASSERT_FALSE(result.fault) << shape << types << ": " << result.fault.text();
        EXPECT_EQ(read<std::uint8_t>(out, wanted.size()), wanted) << shape << types << la << lb;
      }
    }
  }
}

TEST_F(MatrixTest, LdmatrixStmatrixAndTransposition) {
  // Four 8x8 matrices of 16-bit elements; lane i gives the address of row i.
  for (const unsigned count : {1u, 2u, 4u}) {
    for (const bool trans : {false, true}) {
      const std::string registers = list("r", count), t = trans ? ".trans" : "",
                        n = ".x" + std::to_string(count);
      std::string stores;
      for (unsigned i = 0; i < count; ++i)
        stores += "st.global.b32 [x+" + std::to_string(4 * i) + "], r" + std::to_string(i) + ";";
      compile(
          ".visible .entry k(.param .u64 out, .param .u64 back)\n{ .reg .b32 r<4>, i, s, v, w; "
          ".reg "
          ".b64 x; .reg .pred p; .shared .align 16 .b8 tile[512]; .shared .align 16 .b8 "
          "copy[512];\n"
          "mov.u32 i, %tid.x; mov.u32 s, tile; shl.b32 v, i, 4; add.u32 s, s, v; mov.u32 v, 0;\n"
          // row i holds the elements 8 i .. 8 i + 7
          "FILL: shl.b32 w, i, 3; add.u32 w, w, v; cvt.u16.u32 h, w;\n"
          ".reg .b16 h; st.shared.b16 [s], h; add.u32 s, s, 2; add.u32 v, v, 1; setp.lt.u32 p, v, "
          "8; "
          "@p bra FILL;\nsub.u32 s, s, 16; bar.warp.sync -1;\n"
          "ldmatrix.sync.aligned.m8n8" +
          n + t + ".shared.b16 " + registers +
          ", [s];\n"
          "ld.param.u64 x, [out]; mad.wide.u32 x, i, 16, x;\n" +
          stores +
          "mov.u32 s, copy; shl.b32 v, i, 4; add.u32 s, s, v;\nstmatrix.sync.aligned.m8n8" + n + t +
          ".shared.b16 [s], " + registers +
          ";\nbar.warp.sync -1; ld.shared.v4.b32 {r0, r1, r2, r3}, [s]; ld.param.u64 x, [back]; "
          "mad.wide.u32 x, i, 16, x; st.global.v4.b32 [x], {r0, r1, r2, r3}; ret; }");
      ASSERT_FALSE(HasFatalFailure());
      const auto out = array(std::vector<std::uint16_t>(256)),
                 back = array(std::vector<std::uint16_t>(256));
      const auto result = run({1}, {32}, out, back);
      ASSERT_FALSE(result.fault) << result.fault.text();
      const auto got = read<std::uint16_t>(out, 256), copy = read<std::uint16_t>(back, 256);
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned m = 0; m < count; ++m) {
          for (unsigned e = 0; e < 2; ++e) {
            const unsigned row = trans ? 2 * (lane % 4) + e : lane / 4,
                           column = trans ? lane / 4 : 2 * (lane % 4) + e;
            EXPECT_EQ(got[lane * 8 + m * 2 + e], m * 64 + row * 8 + column);
          }
        }
      }
      for (unsigned i = 0; i < 64 * count; ++i) EXPECT_EQ(copy[i], i);
    }
  }
}

TEST_F(MatrixTest, Movmatrix) {
  compile(
      ".visible .entry k(.param .u64 out)\n{ .reg .b32 i, r, d; .reg .b64 x; mov.u32 i, %tid.x;\n"
      "mad.lo.u32 r, i, 0x20002, 0x10000;\n"  // elements 2 i and 2 i + 1
      "movmatrix.sync.aligned.m8n8.trans.b16 d, r;\n"
      "ld.param.u64 x, [out]; mad.wide.u32 x, i, 4, x; st.global.b32 [x], d; ret; }");
  ASSERT_FALSE(HasFatalFailure());
  const auto out = array(std::vector<std::uint16_t>(64));
  const auto result = run({1}, {32}, out);
  ASSERT_FALSE(result.fault) << result.fault.text();
  const auto got = read<std::uint16_t>(out, 64);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(got[i], i % 8 * 8 + i / 8);
}

}  // namespace
}  // namespace cudasim
