// Exchange between the lanes of a warp, in convergence and apart.
#include <bit>
#include <functional>

#include "cudasim/exec/kernel_fixture.hpp"

namespace cudasim {
namespace {

using U32 = std::uint32_t;

class WarpTest : public KernelFixture {
 protected:
  /// Runs `text` in one warp; register a holds `in` of the lane, i the lane's number; d is
  /// returned.
  std::vector<U32> lanes(const std::string& text, const std::vector<U32>& in) {
    compile(
        ".visible .entry k(.param .u64 out, .param .u64 in)\n{ .reg .b32 a, d, i, t, u; .reg .b64 "
        "x, "
        "w; .reg .pred p, q;\nmov.u32 i, %tid.x; ld.param.u64 x, [in]; mad.wide.u32 x, i, 4, x; "
        "ld.global.b32 a, [x]; mov.u32 d, 0xDDDDDDDD;\n" +
        text + "\nld.param.u64 x, [out]; mad.wide.u32 x, i, 4, x; st.global.b32 [x], d; ret; }");
    if (HasFatalFailure()) return {};
    const auto out = array(std::vector<U32>(32));
    const auto result = run({1}, {32}, out, array(in));
    EXPECT_FALSE(result.fault) << text << ": " << result.fault.text();
    return read<U32>(out, 32);
  }
  static std::vector<U32> numbers(const std::function<U32(U32)>& f) {
    std::vector<U32> v;
    for (U32 i = 0; i < 32; ++i) v.push_back(f(i));
    return v;
  }
  const std::vector<U32> hundreds_ = numbers([](U32 i) { return 100 + i; });
};

TEST_F(WarpTest, ShuffleModesSegmentsAndPredicate) {
  for (const U32 width : {32u, 16u, 8u, 4u}) {
    for (const U32 by : {0u, 1u, 3u, 7u, 16u, 31u}) {
      const U32 segment = (32 - width) << 8;
      for (const std::string mode : {"up", "down", "bfly", "idx"}) {
        const U32 c = segment | (mode == "up" ? 0 : 31);
        const auto got = lanes("shfl.sync." + mode + ".b32 d|p, a, " + std::to_string(by) + ", " +
                                   std::to_string(c) + ", -1; @p add.u32 d, d, 1000;",
                               hundreds_);
        EXPECT_EQ(got, numbers([&](U32 i) {
                    const U32 base = i / width * width;
                    int from = 0;
                    if (mode == "up") from = static_cast<int>(i) - static_cast<int>(by);
                    if (mode == "down") from = static_cast<int>(i + by);
                    if (mode == "bfly") from = static_cast<int>(i ^ by);
                    if (mode == "idx") from = static_cast<int>(base + by % width);
                    const bool inside =
                        from >= static_cast<int>(base) && from < static_cast<int>(base + width);
                    // bfly looks at the upper bound only.
                    const bool good =
                        mode == "bfly" ? from < static_cast<int>(base + width) : inside;
                    return 100 + (good ? static_cast<U32>(from) + 1000 : i);
                  }))
            << mode << " by " << by << " in segments of " << width;
      }
    }
  }
}

TEST_F(WarpTest, VotesMatchesAndReductions) {
  const auto thirds = numbers([](U32 i) { return i % 3; });
  const std::string odd = "and.b32 t, i, 1; setp.ne.u32 p, t, 0; ";
  EXPECT_EQ(lanes(odd + "vote.sync.ballot.b32 d, p, -1;", thirds)[5], 0xaaaaaaaau);
  EXPECT_EQ(lanes(odd + "vote.ballot.sync.b32 d, !p, -1;", thirds)[5], 0x55555555u);
  const auto boolean = [&](const std::string& vote) {
    return lanes(odd + vote + " selp.u32 d, 1, 0, q;", thirds)[0];
  };
  EXPECT_EQ(boolean("vote.sync.all.pred q, p, -1;"), 0u);
  EXPECT_EQ(boolean("vote.sync.any.pred q, p, -1;"), 1u);
  EXPECT_EQ(boolean("vote.sync.uni.pred q, p, -1;"), 0u);
  EXPECT_EQ(boolean("setp.ge.u32 p, i, 0; vote.sync.uni.pred q, p, -1;"), 1u);
  EXPECT_EQ(lanes("match.any.sync.b32 d, a, -1;", thirds), numbers([](U32 i) {
              U32 m = 0;
              for (U32 k = i % 3; k < 32; k += 3) m |= 1u << k;
              return m;
            }));
  EXPECT_EQ(lanes("cvt.u64.u32 w, a; match.any.sync.b64 d, w, -1;", thirds)[1], 0x92492492u);
  EXPECT_EQ(lanes("match.all.sync.b32 d|p, a, -1; @p add.u32 d, d, 7;", thirds)[3], 0u);
  EXPECT_EQ(lanes("match.all.sync.b32 d|p, 5, -1; @p add.u32 d, d, 7;", thirds)[3], 6u);
  const auto signs = numbers([](U32 i) { return i == 9 ? 0x80000000u : i * 3; });
  const auto reduced = [&](const std::string& op) {
    return lanes("redux.sync." + op + " d, a, -1;", signs)[0];
  };
  EXPECT_EQ(reduced("add.u32"), 0x80000000u + 3 * (496 - 9));
  EXPECT_EQ(reduced("min.s32"), 0x80000000u);
  EXPECT_EQ(reduced("max.s32"), 93u);
  EXPECT_EQ(reduced("min.u32"), 0u);
  EXPECT_EQ(reduced("max.u32"), 0x80000000u);
  EXPECT_EQ(reduced("and.b32"), 0u);
  EXPECT_EQ(reduced("or.b32"), 0x8000007fu);
  U32 all = 0;
  for (const U32 v : signs) all ^= v;
  EXPECT_EQ(reduced("xor.b32"), all);
  EXPECT_EQ(lanes("setp.gt.u32 p, i, 4; @!p bra OUT; elect.sync d|q, 0xFFFFFFE0; @q add.u32 d, d, "
                  "50; OUT:",
                  signs),
            numbers([](U32 i) { return i < 5    ? 0xdddddddd
                                       : i == 5 ? 55u
                                                : 5u; }));
  EXPECT_EQ(lanes("setp.lt.u32 p, i, 4; @!p bra OUT; activemask.b32 d; OUT:", signs)[2], 15u);
}

TEST_F(WarpTest, MembersOfAMaskExchangeAmongThemselves) {
  // Two halves, each with its own mask, at one place.
  const auto got =
      lanes("setp.lt.u32 p, i, 16; selp.b32 t, 0xFFFF, 0xFFFF0000, p; redux.sync.add.u32 d, a, t;",
            hundreds_);
  EXPECT_EQ(got[0], 1600u + 120);
  EXPECT_EQ(got[31], 1600u + 376);
}

TEST_F(WarpTest, OneMaskAtDifferentPlacesMeets) {
  // The two arms of a branch hold the same operation: the lanes of both take part in it.
  const auto arms = [&](const std::string& operation) {
    return lanes("setp.lt.u32 p, i, 16; @p bra LOW;\nadd.u32 a, a, 1000; " + operation +
                     " bra JOIN;\nLOW: add.u32 a, a, 2000; " + operation + "\nJOIN:",
                 hundreds_);
  };
  EXPECT_EQ(arms("shfl.sync.bfly.b32 d, a, 16, 31, -1;"),
            numbers([](U32 i) { return i < 16 ? 1100 + (i + 16) : 2100 + (i - 16); }));
  EXPECT_EQ(arms("shfl.sync.idx.b32 d|q, a, 3, 31, -1; @!q mov.b32 d, 0;"),
            numbers([](U32) { return 2103u; }));
  EXPECT_EQ(arms("and.b32 t, i, 1; setp.eq.u32 q, t, 0; vote.sync.ballot.b32 d, q, -1;")[20],
            0x55555555u);
  EXPECT_EQ(arms("redux.sync.add.u32 d, a, -1;")[7], 16u * 3000 + 3200 + 496);
  EXPECT_EQ(arms("match.any.sync.b32 d, a, -1;")[18], 1u << 18);
  EXPECT_EQ(arms("setp.lt.u32 q, i, 99; vote.sync.all.pred q, q, -1; selp.b32 d, 1, 0, q;")[31],
            1u);
  // Loops that reach it a different number of times aren't in each other's way.
  EXPECT_EQ(
      lanes("setp.lt.u32 p, i, 16; selp.b32 t, 0xFFFF, 0xFFFF0000, p; mov.u32 u, 0; mov.u32 d, "
            "0; @p bra LOW;\nHIGH: shfl.sync.bfly.b32 d, a, 1, 31, t; add.u32 u, u, 1; "
            "setp.lt.u32 q, u, 5; @q bra HIGH; bra JOIN;\nLOW: shfl.sync.bfly.b32 d, a, 2, 31, "
            "t;\nJOIN: bar.warp.sync -1;",
            hundreds_),
      numbers([](U32 i) { return 100 + (i ^ (i < 16 ? 2u : 1u)); }));
}

TEST_F(WarpTest, LanesThatNeverComeAreADeadlock) {
  // Different operations on one mask don't meet.
  compile(
      ".visible .entry k() { .reg .pred p; .reg .b32 i, d; mov.u32 i, %tid.x; setp.lt.u32 p, i, "
      "16; @p "
      "bra LOW; shfl.sync.up.b32 d, i, 1, 0, -1; ret; LOW: redux.sync.add.u32 d, i, -1; ret; }");
  EXPECT_EQ(run({1}, {32}).fault.kind, FaultKind::barrier_error);
}

TEST_F(WarpTest, ExitedLanesAreNotWaitedFor) {
  EXPECT_EQ(
      lanes("setp.lt.u32 p, i, 4; @p bra GO; ret; GO: redux.sync.add.u32 d, a, -1;", hundreds_)[3],
      406u);
}

}  // namespace
}  // namespace cudasim
