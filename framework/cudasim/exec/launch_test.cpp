#include "cudasim/exec/kernel_fixture.hpp"

namespace cudasim {
namespace {

class LaunchTest : public KernelFixture {};

const std::string kSaxpy = R"(
.visible .entry k(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{ .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
  mul.wide.s32 %rd5, %r5, 4; add.s64 %rd6, %rd3, %rd5; add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f2, [%rd6]; ld.global.f32 %f3, [%rd7];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd7], %f4;
DONE: ret; })";

TEST_F(LaunchTest, Saxpy) {
  compile(kSaxpy);
  std::vector<float> x(1000), y(1000);
  for (int i = 0; i < 1000; ++i)
    x[static_cast<std::size_t>(i)] = static_cast<float>(i), y[static_cast<std::size_t>(i)] = 1.0f;
  const auto dx = array(x), dy = array(y);
  const auto result = run({8}, {128}, dx, dy, 2.0f, 1000u);
  ASSERT_FALSE(result.fault) << result.fault.text();
  const auto out = read<float>(dy, 1000);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(out[i], 2.0f * static_cast<float>(i) + 1.0f);
  EXPECT_EQ(result.counters.warps, 32u);
  EXPECT_EQ(result.counters.flops_fp32, 2000u);
  EXPECT_EQ(result.counters.global_load_requests, 64u);
  EXPECT_EQ(result.counters.global_load_sectors, 250u);
  EXPECT_EQ(result.counters.distinct_sectors_read, 250u);
  EXPECT_EQ(result.counters.divergent_branches, 1u);
}

TEST_F(LaunchTest, OutOfBoundsNamesThreadAndLine) {
  compile(kSaxpy);
  const auto dx = array(std::vector<float>(100)), dy = array(std::vector<float>(100));
  const auto result = run({1}, {128}, dx, dy, 2.0f, 128u);
  EXPECT_EQ(result.fault.kind, FaultKind::illegal_address);
  EXPECT_EQ(result.fault.thread.x, 100u);
  EXPECT_EQ(result.fault.instruction, "ld.global.f32 %f2, [%rd6]");
}

TEST_F(LaunchTest, BlockReductionWithSharedAndShuffle) {
  compile(R"(
.visible .entry k(.param .u64 out)
{ .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<3>; .shared .align 4 .b8 tile[32];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %r1; mov.u32 %r10, tile;
  shfl.sync.bfly.b32 %r3, %r2, 16, 31, -1; add.s32 %r2, %r2, %r3;
  shfl.sync.bfly.b32 %r3, %r2, 8, 31, -1; add.s32 %r2, %r2, %r3;
  shfl.sync.bfly.b32 %r3, %r2, 4, 31, -1; add.s32 %r2, %r2, %r3;
  shfl.sync.bfly.b32 %r3, %r2, 2, 31, -1; add.s32 %r2, %r2, %r3;
  shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; add.s32 %r2, %r2, %r3;
  shr.u32 %r4, %r1, 5; shl.b32 %r5, %r4, 2; add.s32 %r6, %r10, %r5;
  and.b32 %r7, %r1, 31; setp.ne.s32 %p1, %r7, 0;
  @%p1 bra SKIP;
  st.shared.u32 [%r6], %r2;
SKIP: bar.sync 0;
  setp.ne.s32 %p2, %r1, 0;
  @%p2 bra DONE;
  ld.shared.u32 %r8, [tile]; ld.shared.u32 %r9, [tile+4]; add.s32 %r8, %r8, %r9;
  ld.shared.u32 %r9, [tile+8]; add.s32 %r8, %r8, %r9;
  ld.shared.u32 %r9, [tile+12]; add.s32 %r8, %r8, %r9;
  red.global.add.u32 [%rd1], %r8;
DONE: ret; })");
  const auto out = array(std::vector<std::uint32_t>{0});
  const auto result = run({10}, {128}, out);
  ASSERT_FALSE(result.fault) << result.fault.text();
  EXPECT_EQ(read<std::uint32_t>(out, 1)[0], 10u * (127 * 128 / 2));
  EXPECT_EQ(result.counters.barriers, 40u);
}

TEST_F(LaunchTest, UnimplementedInstructionIsNamed) {
  compile(
      ".visible .entry k() { .reg .b32 %r<3>; add.s32 %r1, %r2, 1; frobnicate.x.u32 %r1, %r2; ret; "
      "}");
  const auto result = run({1}, {32});
  EXPECT_EQ(result.fault.kind, FaultKind::illegal_instruction);
  EXPECT_NE(result.fault.message.find("frobnicate.x.u32"), std::string::npos);
}

TEST_F(LaunchTest, EndlessKernelTimesOut) {
  compile(".visible .entry k() { LOOP: bra LOOP; }");
  config_.watchdog_seconds = 0.05;
  EXPECT_EQ(run({1}, {32}).fault.kind, FaultKind::timeout);
}

TEST_F(LaunchTest, DeadlockedBarrierIsAnError) {
  compile(
      R"(.visible .entry k() { .reg .pred %p<2>; .reg .b32 %r<2>; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
  @%p1 bra A; bar.sync 1; ret; A: bar.sync 2; ret; })");
  EXPECT_EQ(run({1}, {64}).fault.kind, FaultKind::barrier_error);
}

TEST_F(LaunchTest, SpinLockInsideAWarpMakesProgress) {
  compile(R"(.visible .entry k(.param .u64 lock, .param .u64 count)
{ .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [lock]; ld.param.u64 %rd2, [count];
TRY: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra TRY;
  ld.volatile.global.u32 %r2, [%rd2]; add.s32 %r2, %r2, 1; st.volatile.global.u32 [%rd2], %r2; membar.gl;
  atom.global.exch.b32 %r3, [%rd1], 0; ret; })");
  const auto lock = array(std::vector<std::uint32_t>{0}),
             count = array(std::vector<std::uint32_t>{0});
  const auto result = run({4}, {64}, lock, count);
  ASSERT_FALSE(result.fault) << result.fault.text();
  EXPECT_EQ(read<std::uint32_t>(count, 1)[0], 256u);
}

}  // namespace
}  // namespace cudasim
