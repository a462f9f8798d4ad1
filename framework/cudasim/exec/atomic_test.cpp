// atom and red: one lane's result and what it leaves in memory, against a definition on the host.
#include <bit>
#include <cmath>
#include <functional>

#include "cudasim/exec/kernel_fixture.hpp"

namespace cudasim {
namespace {

class AtomicTest : public KernelFixture {
 protected:
  /// Runs `instruction`, which works on [%a] and %b (and %c) and gives %d, in one lane.
  /// `where`: global, shared, or generic over shared memory.
  template <typename T>
  std::pair<T, T> run_one(const std::string& instruction, T memory, T b, T c = {},
                          const std::string& where = "global") {
    const std::string width = std::to_string(8 * sizeof(T)), type = ".b" + width;
    const bool shared = where != "global";
    compile(
        ".shared .align 16 .b8 tile[16];\n.visible .entry k(.param .u64 p)\n{ .reg " + type +
        " %d, %b, %c, %m; .reg .b64 %p, %a; ld.param.u64 %p, [p];\nld.global" + type +
        " %m, [%p]; ld.global" + type + " %b, [%p+16]; ld.global" + type + " %c, [%p+32];\n" +
        (shared ? "st.shared" + type + " [tile], %m; mov.u64 %a, tile;\n" : "mov.u64 %a, %p;\n") +
        (where == "generic" ? "cvta.shared.u64 %a, %a;\n" : "") + instruction + "\n" +
        (shared ? "ld.shared" + type + " %m, [tile]; st.global" + type + " [%p], %m;\n" : "") +
        "st.global" + type + " [%p+48], %d; ret; }");
    std::vector<std::uint8_t> bytes(64);
    std::memcpy(bytes.data(), &memory, sizeof(T));
    std::memcpy(bytes.data() + 16, &b, sizeof(T));
    std::memcpy(bytes.data() + 32, &c, sizeof(T));
    const auto p = array(bytes);
    const auto result = run({1}, {1}, p);
    EXPECT_FALSE(result.fault) << instruction << ": " << result.fault.text();
    bytes = read<std::uint8_t>(p, 64);
    std::pair<T, T> got;  // memory, %d
    std::memcpy(&got.first, bytes.data(), sizeof(T));
    std::memcpy(&got.second, bytes.data() + 48, sizeof(T));
    return got;
  }

  template <typename T>
  void integers(const std::string& type, const std::string& where) {
    using S = std::make_signed_t<T>;
    const bool sign = type[0] == 's';
    const auto less = [&](T a, T b) {
      return sign ? static_cast<S>(a) < static_cast<S>(b) : a < b;
    };
    const std::map<std::string, std::function<T(T, T)>> operations = {
        {"add", [](T a, T b) { return static_cast<T>(a + b); }},
        {"min", [&](T a, T b) { return less(a, b) ? a : b; }},
        {"max", [&](T a, T b) { return less(a, b) ? b : a; }},
        {"and", [](T a, T b) { return static_cast<T>(a & b); }},
        {"or", [](T a, T b) { return static_cast<T>(a | b); }},
        {"xor", [](T a, T b) { return static_cast<T>(a ^ b); }},
        {"exch", [](T, T b) { return b; }},
        {"inc", [](T a, T b) { return a >= b ? T{0} : static_cast<T>(a + 1); }},
        {"dec", [](T a, T b) { return a == 0 || a > b ? b : static_cast<T>(a - 1); }}};
    const std::string space = where == "generic" ? "" : "." + where;
    const bool bits = type[0] == 'b';
    for (const auto& [name, f] : operations) {
      const bool of_bits = name == "and" || name == "or" || name == "xor" || name == "exch";
      if (of_bits != bits) continue;
      if ((name == "inc" || name == "dec") && type != "u32") continue;
      for (const T a : {T{0}, T{7}, static_cast<T>(~T{0})}) {
        for (const T b : {T{5}, static_cast<T>(T{1} << (8 * sizeof(T) - 1))}) {
          const auto got = run_one<T>("atom" + space + "." + name + "." + type + " %d, [%a], %b;",
                                      a, b, T{}, where);
          EXPECT_EQ(got.first, f(a, b)) << name << type << where;
          EXPECT_EQ(got.second, a) << name << type << where;
        }
      }
    }
  }
};

TEST_F(AtomicTest, IntegersInEverySpace) {
  for (const std::string where : {"global", "shared", "generic"}) {
    for (const std::string type : {"u32", "s32", "b32"}) integers<std::uint32_t>(type, where);
    for (const std::string type : {"u64", "s64", "b64"}) integers<std::uint64_t>(type, where);
  }
}

TEST_F(AtomicTest, CompareAndSwap) {
  for (const std::string where : {"global", "shared"}) {
    const std::string text = "atom." + where + ".cas.b32 %d, [%a], %b, %c;";
    EXPECT_EQ(run_one<std::uint32_t>(text, 3, 3, 9, where), std::pair(9u, 3u));
    EXPECT_EQ(run_one<std::uint32_t>(text, 4, 3, 9, where), std::pair(4u, 4u));
    const std::string small = "atom." + where + ".cas.b16 %d, [%a], %b, %c;";
    EXPECT_EQ(run_one<std::uint16_t>(small, 3, 3, 9, where).first, 9);
  }
}

TEST_F(AtomicTest, AddsOfFloatsFlushSubnormalsInGlobalMemoryAlone) {
  const auto bits = [](float f) { return std::bit_cast<std::uint32_t>(f); };
  const std::uint32_t tiny = 0x00000003, negative_tiny = 0x80000005, least = 0x00800000;
  const auto global = [&](std::uint32_t a, std::uint32_t b) {
    return run_one<std::uint32_t>("atom.global.add.f32 %d, [%a], %b;", a, b).first;
  };
  EXPECT_EQ(global(bits(1.5f), bits(2.25f)), bits(3.75f));
  EXPECT_EQ(global(tiny, bits(1)), bits(1));
  EXPECT_EQ(global(tiny, tiny), 0u);
  EXPECT_EQ(global(negative_tiny, negative_tiny), 0x80000000u);
  EXPECT_EQ(global(least, 0x80800001u), 0x80000000u);  // the sum is subnormal
  // The old value is told as it was.
  EXPECT_EQ(run_one<std::uint32_t>("atom.global.add.f32 %d, [%a], %b;", tiny, tiny).second, tiny);
  EXPECT_EQ(run_one<std::uint32_t>("red.global.add.f32 [%a], %b; mov.b32 %d, 0;", tiny, tiny).first,
            0u);
  EXPECT_EQ(run_one<std::uint32_t>("atom.add.f32 %d, [%a], %b;", tiny, tiny).first, 0u);
  for (const std::string where : {"shared", "generic"}) {
    const std::string space = where == "shared" ? ".shared" : "";
    const auto got =
        run_one<std::uint32_t>("atom" + space + ".add.f32 %d, [%a], %b;", tiny, tiny, 0, where);
    EXPECT_EQ(got, std::pair(6u, tiny)) << where;
  }
  // The other formats keep theirs everywhere.
  EXPECT_EQ(run_one<std::uint64_t>("atom.global.add.f64 %d, [%a], %b;", 3, 4).first, 7u);
  EXPECT_EQ(run_one<std::uint16_t>("atom.global.add.noftz.f16 %d, [%a], %b;", 3, 4).first, 7);
}

}  // namespace
}  // namespace cudasim
