#include <gtest/gtest.h>

#include "cudasim/model/bound.hpp"
#include "cudasim/model/h100.hpp"
#include "cudasim/model/occupancy.hpp"

namespace cudasim {
namespace {

// Hand-computed with NVIDIA's rules for compute capability 9.0.
TEST(Occupancy, LimitersAreNamed) {
  // 8 warps of 32 registers: 8 blocks of 256 threads fill 2 048 threads.
  Occupancy o = occupancy({256, 32, 0});
  EXPECT_EQ(o.blocks_per_sm, 8u);
  EXPECT_EQ(o.limiter, "threads");
  EXPECT_DOUBLE_EQ(o.fraction, 1.0);
  // 64 registers: 2 048 a warp, 8 warps a partition, 32 in all, 4 blocks.
  o = occupancy({256, 64, 0});
  EXPECT_EQ(o.blocks_per_sm, 4u);
  EXPECT_EQ(o.limiter, "registers");
  EXPECT_DOUBLE_EQ(o.fraction, 0.5);
  // 33 registers round to 40: 1 280 a warp, 12 a partition, 48 warps, 6 blocks.
  EXPECT_EQ(occupancy({256, 33, 0}).blocks_per_sm, 6u);
  // 100 KiB + 1 KiB: two blocks in 228 KiB.
  o = occupancy({128, 32, 100 * 1024});
  EXPECT_EQ(o.blocks_per_sm, 2u);
  EXPECT_EQ(o.limiter, "shared memory");
  // One warp a block: 32 blocks at most.
  o = occupancy({32, 16, 0});
  EXPECT_EQ(o.blocks_per_sm, 32u);
  EXPECT_EQ(o.limiter, "blocks");
}

TEST(Occupancy, ImpossibleBlocksAreZero) {
  EXPECT_EQ(occupancy({1025, 16, 0}).blocks_per_sm, 0u);
  EXPECT_EQ(occupancy({0, 16, 0}).blocks_per_sm, 0u);
  EXPECT_EQ(occupancy({1024, 128, 0}).blocks_per_sm, 0u);
  EXPECT_EQ(occupancy({32, 16, 227 * 1024 + 1}).blocks_per_sm, 0u);
  EXPECT_EQ(occupancy({32, 16, 227 * 1024}).blocks_per_sm, 1u);
  EXPECT_EQ(max_threads_for_registers(128), 512u);
  EXPECT_EQ(max_threads_for_registers(255), 256u);
}

double term(const Bound& b, std::string_view name) {
  for (const auto& t : b.terms) {
    if (name == t.name) return t.seconds;
  }
  ADD_FAILURE() << "no term " << name;
  return 0;
}

Counters copy_of(std::uint64_t warps, std::uint64_t sectors_per_request) {
  Counters c;
  c.launches = 1;
  c.blocks = warps / 8;
  c.warps = warps;
  c.warp_instructions = warps * 10;
  c.global_load_requests = c.global_store_requests = warps;
  c.global_load_sectors = warps * sectors_per_request;
  c.global_store_sectors = warps * 4;
  c.distinct_sectors_read = c.distinct_sectors_written = warps * 4;
  return c;
}

TEST(Bound, CopyIsBoundByDram) {
  const std::uint64_t warps = 132 * 64 * 100;
  const Bound b = bound(copy_of(warps, 4), {256, 16, 0});
  EXPECT_EQ(b.limiter, "DRAM");
  // warps * 4 sectors * 32 bytes * 2 ways
  const double expected = static_cast<double>(warps) * 256 / 3.352e12;
  EXPECT_DOUBLE_EQ(term(b, "DRAM"), expected);
  EXPECT_DOUBLE_EQ(b.seconds, expected + 2e-6);
  EXPECT_DOUBLE_EQ(b.waves, 100.0);
}

TEST(Bound, StridedLoadsAreSlowerAndBoundByL2) {
  const std::uint64_t warps = 132 * 64 * 100;
  const Bound strided = bound(copy_of(warps, 32), {256, 16, 0});
  EXPECT_EQ(strided.limiter, "L2");
  EXPECT_GT(strided.seconds, 2 * bound(copy_of(warps, 4), {256, 16, 0}).seconds);
}

TEST(Bound, PipesUseTheBusiestSm) {
  Counters c;
  c.launches = 1;
  c.blocks = 133;  // one SM gets two
  c.warps = 133 * 8;
  c.warp_fp32 = 133'000'000;
  c.warp_instructions = c.warp_fp32;
  const Bound b = bound(c, {256, 32, 0});
  EXPECT_DOUBLE_EQ(term(b, "FP32"), 133e6 / 4 * (2.0 / 133) / 1.98e9);
  EXPECT_DOUBLE_EQ(term(b, "issue"), term(b, "FP32"));
}

TEST(Bound, OneWarpIsLatencyBoundAndAnEmptyKernelLaunchBound) {
  Counters c;
  c.launches = c.blocks = c.warps = 1;
  EXPECT_EQ(bound(c, {32, 16, 0}).limiter, "launch");
  c.warp_instructions = 100'000;
  EXPECT_EQ(bound(c, {32, 16, 0}).limiter, "latency");
}

TEST(Bound, TensorWorkIsTimedAtMmaSyncRate) {
  Counters c;
  c.launches = 1;
  c.blocks = 132;
  c.warps = 132 * 8;
  c.flops_tensor = 132ULL * 4096 * 1'000'000;
  const Bound b = bound(c, {256, 128, 0});
  EXPECT_EQ(b.limiter, "tensor");
  EXPECT_NEAR(term(b, "tensor"), 1e6 / 1.83e9 / 0.62, 1e-9);
}

TEST(Bound, CopiesAndFills) {
  EXPECT_DOUBLE_EQ(copy_bound(55'000'000, true), 4e-6 + 1e-3);
  EXPECT_DOUBLE_EQ(copy_bound(3'352'000'000, false), 2e-6 + 2e-3);
  EXPECT_DOUBLE_EQ(fill_bound(3'352'000'000), 2e-6 + 1e-3);
}

}  // namespace
}  // namespace cudasim
