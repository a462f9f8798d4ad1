#include <gtest/gtest.h>

#include "cudasim/model/bound.hpp"
#include "cudasim/model/h100.hpp"
#include "cudasim/model/occupancy.hpp"
#include "cudasim/model/table.hpp"

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

TEST(Occupancy, BlocksShareL1) {
  // No shared memory: 256 KiB for eight blocks of 256 threads; 132 SMs.
  CacheShare c = cache_share({256, 32, 0}, 100'000);
  EXPECT_EQ(c.l1_bytes_per_block, 32u * 1024);
  EXPECT_EQ(c.resident_blocks, 8u * 132);
  // Two blocks of 40 KiB and 1 KiB take the carve-out of 100 KiB: 78 KiB each are left.
  c = cache_share({1024, 32, 40 * 1024}, 100'000);
  EXPECT_EQ(c.l1_bytes_per_block, 78u * 1024);
  EXPECT_EQ(c.resident_blocks, 2u * 132);
  // A small grid has one block an SM: 64 KiB hold its 41 KiB.
  EXPECT_EQ(cache_share({1024, 32, 40 * 1024}, 100).l1_bytes_per_block, 192u * 1024);
  // The largest block leaves 28 KiB.
  EXPECT_EQ(cache_share({128, 32, 227 * 1024}, 1).l1_bytes_per_block, 28u * 1024);
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
  c.dram_read_sectors = c.dram_write_sectors = warps * 4;
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

TEST(Bound, NamesEachLimiter) {
  // A million of each on a full device, beside which the rest is small.
  const auto limiter = [](auto&& change) {
    Counters c;
    c.launches = 1;
    c.blocks = 132 * 8;
    c.warps = c.blocks * 8;
    c.warp_instructions = 1000 * c.warps;
    change(c);
    return bound(c, {256, 32, 0}).limiter;
  };
  const std::uint64_t many = 132 * 1'000'000;
  EXPECT_EQ(limiter([&](Counters& c) { c.warp_instructions = c.warp_control = 4 * many; }),
            "issue");
  EXPECT_EQ(limiter([&](Counters& c) { c.warp_fp32 = 4 * many; }), "FP32");
  EXPECT_EQ(limiter([&](Counters& c) { c.warp_fp64 = many; }), "FP64");
  EXPECT_EQ(limiter([&](Counters& c) { c.warp_half = 4 * many; }), "half");
  EXPECT_EQ(limiter([&](Counters& c) { c.warp_int = many; }), "INT");
  EXPECT_EQ(limiter([&](Counters& c) { c.warp_sfu = many; }), "SFU");
  EXPECT_EQ(limiter([&](Counters& c) { c.warp_convert = many; }), "convert");
  EXPECT_EQ(limiter([&](Counters& c) { c.warp_shuffle = many; }), "shuffle");
  EXPECT_EQ(limiter([&](Counters& c) { c.tensor_work = 4096 * many; }), "tensor");
  EXPECT_EQ(limiter([&](Counters& c) { c.shared_load_wavefronts = many; }), "shared");
  EXPECT_EQ(limiter([&](Counters& c) { c.shared_load_requests = many; }), "ld/st");
  EXPECT_EQ(limiter([&](Counters& c) {
              c.global_load_requests = many;
              c.global_load_sectors = c.l1_hit_sectors = 16 * many;
            }),
            "L1");
  EXPECT_EQ(limiter([&](Counters& c) { c.global_store_sectors = 4 * many; }), "L2");
  EXPECT_EQ(limiter([&](Counters& c) { c.dram_read_sectors = many; }), "DRAM");
  EXPECT_EQ(limiter([&](Counters& c) { c.barriers = 1000 * c.warps; }), "latency");
  EXPECT_EQ(limiter([&](Counters& c) { c.warp_instructions = c.warps; }), "launch");
}

TEST(Bound, ContendedAtomicsWaitForEachOther) {
  Counters c;
  c.launches = 1;
  c.blocks = 132;
  c.warps = 132 * 8;
  c.warp_instructions = c.warps * 10;
  c.global_atomic_requests = c.global_atomic_sectors = c.warps;
  c.global_atomic_lanes = c.global_reduction_lanes = c.warps * 32;
  c.hottest_atomic_passes = 33'000;
  const Bound b = bound(c, {256, 32, 0});
  EXPECT_EQ(b.limiter, "atomic");
  EXPECT_DOUBLE_EQ(term(b, "atomic"), 33'000 / 1.98e9);
}

TEST(Bound, OneSmReadsL2AtItsOwnRate) {
  Counters c;
  c.launches = c.blocks = 1;
  c.warps = 8;
  c.warp_instructions = 80'000;
  c.global_load_requests = 80'000;
  c.global_load_sectors = 320'000;
  const Bound b = bound(c, {256, 32, 0});
  EXPECT_DOUBLE_EQ(term(b, "L2"), 320'000 / 2.0 / 1.98e9);
  // What L1 holds doesn't go there.
  c.l1_hit_sectors = 300'000;
  EXPECT_DOUBLE_EQ(term(bound(c, {256, 32, 0}), "L2"), 20'000 / 2.0 / 1.98e9);
}

TEST(Bound, LatencyOfOneWarp) {
  Counters c;
  c.launches = c.blocks = c.warps = 1;
  c.warp_instructions = 1000;
  c.barriers = 10;
  c.global_load_requests = 8;
  c.global_load_sectors = 32;
  c.l1_hit_sectors = 16;
  c.dram_read_sectors = 8;
  // 2 clocks an instruction, two rounds of loads: half of them 38 clocks, else L2 or DRAM; 30 a
  // barrier.
  double clocks = 1000 * 2 + 2 * (0.5 * 38 + 0.5 * (0.5 * 240 + 0.5 * 560)) + 10 * 30;
  EXPECT_NEAR(term(bound(c, {32, 32, 0}), "latency"), clocks / 1.98e9, 1e-12);
  // Three waits for cp.async that leave one group each in flight: half a latency each.
  c.async_copy_requests = 8;
  c.async_waits = c.async_groups_left = 3;
  clocks = 1000 * 2 + 3 * 0.5 * (0.5 * 240 + 0.5 * 560) + 10 * 30;
  EXPECT_NEAR(term(bound(c, {32, 32, 0}), "latency"), clocks / 1.98e9, 1e-12);
}

TEST(Bound, WavesAndTail) {
  Counters c;
  c.launches = 1;
  c.blocks = 132 * 8 + 132;  // eight blocks an SM at once
  c.warps = c.blocks * 8;
  const Bound b = bound(c, {256, 32, 0});
  EXPECT_DOUBLE_EQ(b.waves, 1.125);
  EXPECT_DOUBLE_EQ(b.tail, 0.5625);
}

TEST(Bound, TensorWorkIsTimedAtMmaSyncRate) {
  Counters c;
  c.launches = 1;
  c.blocks = 132;
  c.warps = 132 * 8;
  c.tensor_work = 132ULL * 4096 * 1'000'000;
  const Bound b = bound(c, {256, 128, 0});
  EXPECT_EQ(b.limiter, "tensor");
  EXPECT_NEAR(term(b, "tensor"), 1e6 / 1.83e9 / 0.62, 1e-9);
}

KernelSummary summary() {
  KernelSummary k;
  k.name = "copy(float*, float const*)";
  k.grid = {4096};
  k.block = {256};
  k.registers = 16;
  k.counters = copy_of(132 * 64 * 100, 4);
  const Bound b = bound(k.counters, {256, 16, 0});
  k.seconds = b.seconds;
  k.terms = b.terms;
  k.limiter = b.limiter;
  k.occupancy = b.occupancy;
  k.waves = b.waves;
  k.tail = b.tail;
  return k;
}

TEST(Table, SaysWhatLimitsAndThatItIsABound) {
  const std::string text = table({summary()}, false);
  EXPECT_NE(text.find("model bounds on the model of H100 SXM5"), std::string::npos);
  EXPECT_NE(text.find("no time here was measured"), std::string::npos);
  EXPECT_NE(text.find("Model bound         66.52 us in 1 launch, limited by DRAM"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("DRAM      #############################.  97.0 %"), std::string::npos)
      << text;
  EXPECT_NE(text.find("4.00 sectors each"), std::string::npos);
  EXPECT_EQ(text.find("Shared loads"), std::string::npos);
  EXPECT_NE(table({}, false).find("no kernel was launched"), std::string::npos);
}

TEST(Table, ColoursAreOnlyForTerminals) {
  EXPECT_EQ(table({summary()}, false).find('\x1b'), std::string::npos);
  EXPECT_NE(table({summary()}, true).find("\x1b["), std::string::npos);
}

TEST(Bound, CopiesAndFills) {
  EXPECT_DOUBLE_EQ(copy_bound(55'000'000, true), 4e-6 + 1e-3);
  EXPECT_DOUBLE_EQ(copy_bound(3'352'000'000, false), 2e-6 + 2e-3);
  EXPECT_DOUBLE_EQ(fill_bound(3'352'000'000), 2e-6 + 1e-3);
}

}  // namespace
}  // namespace cudasim
