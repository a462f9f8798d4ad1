// Counters of small kernels against values computed by hand.
#include "cudasim/exec/counters.hpp"

#include <fstream>
#include <utility>

#include "cudasim/exec/kernel_fixture.hpp"

namespace cudasim {
namespace {

class CountersTest : public KernelFixture {
 protected:
  template <typename... Args>
  Counters count(Dim3 grid, Dim3 block, Args... args) {
    const LaunchResult result = run(grid, block, args...);
    EXPECT_FALSE(result.fault) << result.fault.text();
    return result.counters;
  }
  /// One warp runs the body, which may use p, q, %r1-9, %f1-9, %d1-4, %rd1-9, %h1-4; %r1 is %tid.x
  /// and %rd1 the array `x`.
  Counters count_body(const std::string& body, unsigned threads = 32, unsigned blocks = 1) {
    compile(
        ".visible .entry k(.param .u64 x) { .reg .pred p, q; .reg .b16 %h<5>; .reg .b32 %r<10>; "
        ".reg .f32 %f<10>; .reg .f64 %d<5>; .reg .b64 %rd<10>; .shared .align 16 .b8 tile[8192]; "
        ".local .align 16 .b8 mine[64]; ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x;\n" +
        body + "\nret; }");
    if (HasFatalFailure()) return {};
    const auto x = array(std::vector<std::uint32_t>(16384));
    return count({blocks}, {threads}, x);
  }
};

/// out[i] = in[i * stride]
const std::string kStridedCopy = R"(
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 stride)
{ .reg .f32 %f<2>; .reg .b32 %r<7>; .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r1, [stride];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4; mul.lo.s32 %r6, %r5, %r1;
  mul.wide.s32 %rd3, %r6, 4; mul.wide.s32 %rd4, %r5, 4;
  add.s64 %rd5, %rd2, %rd3; add.s64 %rd6, %rd1, %rd4;
  ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd6], %f1; ret; })";

TEST_F(CountersTest, ClassesOfInstructions) {
  compile(kStridedCopy);
  const auto out = array(std::vector<float>(1024)), in = array(std::vector<float>(1024));
  const Counters c = count({4}, {256}, out, in, 1u);
  EXPECT_EQ(c.blocks, 4u);
  EXPECT_EQ(c.warps, 32u);
  EXPECT_EQ(c.threads, 1024u);
  EXPECT_EQ(c.warp_instructions, 32u * 15);
  EXPECT_EQ(c.thread_instructions, 1024u * 15);
  EXPECT_EQ(c.warp_move, 32u * 6);
  EXPECT_EQ(c.warp_int, 32u * 6);
  EXPECT_EQ(c.warp_load, 32u);
  EXPECT_EQ(c.warp_store, 32u);
  EXPECT_EQ(c.warp_control, 32u);
  EXPECT_EQ(c.thread_int, 1024u * 6);
}

TEST_F(CountersTest, SectorsTellCoalescing) {
  compile(kStridedCopy);
  const auto out = array(std::vector<float>(1024)), in = array(std::vector<float>(32 * 1024));
  const std::pair<unsigned, unsigned> strides[] = {{1, 4}, {2, 8}, {3, 12}, {8, 32}, {32, 32}};
  for (const auto& [stride, sectors] : strides) {
    const Counters c = count({4}, {256}, out, in, stride);
    EXPECT_EQ(c.global_load_requests, 32u);
    EXPECT_EQ(c.global_load_sectors, 32u * sectors) << stride;
    EXPECT_EQ(c.global_load_bytes, 4096u);
    EXPECT_EQ(c.global_store_requests, 32u);
    EXPECT_EQ(c.global_store_sectors, 32u * 4);
    EXPECT_EQ(c.global_store_bytes, 4096u);
    EXPECT_EQ(c.distinct_sectors_read, 32u * sectors) << stride;
    EXPECT_EQ(c.distinct_sectors_written, 128u);
    EXPECT_EQ(c.l1_hit_sectors, 0u) << stride;
    EXPECT_EQ(c.l2_sectors(), 32u * (sectors + 4));
    EXPECT_EQ(c.dram_bytes(), 32u * 32 * (sectors + 4));
  }
  // All lanes read one word: one sector a request, that seven of a block's eight warps find in L1.
  const Counters c = count({4}, {256}, out, in, 0u);
  EXPECT_EQ(c.global_load_sectors, 32u);
  EXPECT_EQ(c.l1_hit_sectors, 28u);
  EXPECT_EQ(c.distinct_sectors_read, 1u);
}

TEST_F(CountersTest, UnalignedWarpTakesOneSectorMore) {
  const Counters c = count_body(
      "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
      "ld.global.u32 %r2, [%rd1+16]; ld.global.v4.u32 {%r3, %r4, %r5, "
      "%r6}, [%rd1+1024];",
      1);
  EXPECT_EQ(c.global_load_requests, 2u);
  EXPECT_EQ(c.global_load_sectors, 2u);  // a single lane
  const Counters w = count_body(
      "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3+16];\n"
      "mul.wide.u32 %rd2, %r1, 16; add.s64 %rd4, %rd1, %rd2;\n"
      "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd4+4096];");
  EXPECT_EQ(w.global_load_sectors, 5u + 16);
  EXPECT_EQ(w.global_load_bytes, 128u + 512);
}

TEST_F(CountersTest, BankConflicts) {
  const std::pair<unsigned, unsigned> strides[] = {{0, 1}, {1, 1}, {2, 2},   {3, 1},
                                                   {4, 4}, {8, 8}, {32, 32}, {33, 1}};
  for (const auto& [stride, passes] : strides) {
    const Counters c =
        count_body("mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, " + std::to_string(4 * stride) +
                   ", %r2; st.shared.u32 [%r3], %r1; ld.shared.u32 %r4, [%r3];");
    EXPECT_EQ(c.shared_store_requests, 1u);
    EXPECT_EQ(c.shared_load_requests, 1u);
    EXPECT_EQ(c.shared_store_wavefronts, passes) << stride;
    EXPECT_EQ(c.shared_load_wavefronts, passes) << stride;
    EXPECT_EQ(c.shared_load_bytes, 128u);
    EXPECT_EQ(c.shared_store_bytes, 128u);
  }
  // 16 bytes a lane take four passes; at a stride of 128 bytes eight lanes of a quarter collide.
  Counters c = count_body(
      "mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 16, %r2;\n"
      "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];");
  EXPECT_EQ(c.shared_load_wavefronts, 4u);
  c = count_body(
      "mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 128, %r2;\n"
      "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];");
  EXPECT_EQ(c.shared_load_wavefronts, 32u);
  // Pairs of lanes share a word of the same bank: 16 words of one bank, each broadcast.
  c = count_body(
      "mov.u32 %r2, tile; shr.u32 %r4, %r1, 1; mad.lo.u32 %r3, %r4, 128, %r2; ld.shared.u32 %r4, "
      "[%r3];");
  EXPECT_EQ(c.shared_load_wavefronts, 16u);
}

TEST_F(CountersTest, DivergenceCountsLanes) {
  const Counters c = count_body(
      "and.b32 %r2, %r1, 1; setp.ne.u32 p, %r2, 0; @p bra ODD;\n"
      "add.f32 %f1, %f2, %f3; add.f32 %f1, %f2, %f3; add.f32 %f1, %f2, %f3; bra END;\n"
      "ODD: add.f32 %f1, %f2, %f3; add.f32 %f1, %f2, %f3;\nEND: setp.lt.u32 q, %r1, 8;\n"
      "@q mul.f32 %f4, %f1, %f1;");
  EXPECT_EQ(c.branches, 2u);
  EXPECT_EQ(c.divergent_branches, 1u);
  EXPECT_EQ(c.warp_fp32, 3u + 2 + 1);
  EXPECT_EQ(c.thread_fp32, 16u * 3 + 16 * 2 + 8);
  EXPECT_EQ(c.flops_fp32, 16u * 3 + 16 * 2 + 8);
}

TEST_F(CountersTest, PartialWarpsCountTheirThreads) {
  const Counters c = count_body("add.f32 %f1, %f2, %f3;", 40, 2);
  EXPECT_EQ(c.warps, 4u);
  EXPECT_EQ(c.threads, 80u);
  EXPECT_EQ(c.warp_fp32, 4u);
  EXPECT_EQ(c.thread_fp32, 80u);
}

TEST_F(CountersTest, FloatingPointOperations) {
  const Counters c = count_body(
      "fma.rn.f32 %f1, %f2, %f3, %f4; mul.f32 %f5, %f1, %f1; fma.rn.f64 %d1, %d2, %d3, %d4;\n"
      "fma.rn.f16x2 %r2, %r3, %r4, %r5; add.f16 %h1, %h2, %h3; ex2.approx.f32 %f6, %f1;\n"
      "cvt.rn.f32.s32 %f7, %r1; shfl.sync.bfly.b32 %r6, %r1, 1, 31, -1;");
  EXPECT_EQ(c.warp_fp32, 2u);
  EXPECT_EQ(c.warp_fp64, 1u);
  EXPECT_EQ(c.warp_half, 2u);
  EXPECT_EQ(c.warp_sfu, 1u);
  EXPECT_EQ(c.warp_convert, 1u);
  EXPECT_EQ(c.warp_shuffle, 1u);
  EXPECT_EQ(c.flops_fp64, 64u);
  EXPECT_EQ(c.flops_half, 32u * 4 + 32);
}

TEST_F(CountersTest, TensorWorkIsWeighedByType) {
  Counters c = count_body(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r2, %r3, %r4, "
      "%r5}, {%r6, %r7}, {%f5, %f6, %f7, %f8};");
  EXPECT_EQ(c.warp_tensor, 1u);
  EXPECT_EQ(c.flops_tensor, 2u * 16 * 8 * 8);
  EXPECT_EQ(c.tensor_work, 2u * 2048);
  c = count_body(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r2, %r3, %r4, "
      "%r5}, {%r6, %r7}, {%f5, %f6, %f7, %f8};");
  EXPECT_EQ(c.flops_tensor, 4096u);
  EXPECT_EQ(c.tensor_work, 4096u);
  c = count_body(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r2, %r3, %r4, %r5}, {%r2, %r3, %r4, %r5}, "
      "{%r6, %r7}, {%r2, %r3, %r4, %r5};");
  EXPECT_EQ(c.flops_tensor, 0u);
  EXPECT_EQ(c.ops_tensor_int, 8192u);
  EXPECT_EQ(c.tensor_work, 4096u);
  c = count_body(
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1, %d2}, {%d3}, {%d4}, {%d1, %d2};");
  EXPECT_EQ(c.flops_tensor, 512u);
  EXPECT_EQ(c.tensor_work, 8192u);
}

TEST_F(CountersTest, AtomicsAndTheirContention) {
  // Everybody adds to one word: every lane takes a turn.
  Counters c = count_body("red.global.add.u32 [%rd1], 1;", 64, 2);
  EXPECT_EQ(c.global_atomic_requests, 4u);
  EXPECT_EQ(c.global_atomic_lanes, 128u);
  EXPECT_EQ(c.global_reduction_lanes, 128u);
  EXPECT_EQ(c.global_atomic_sectors, 4u);
  EXPECT_EQ(c.global_atomic_passes, 128u);
  EXPECT_EQ(c.hottest_atomic_passes, 128u);
  EXPECT_EQ(c.distinct_sectors_written, 1u);
  // A word each: a sector's eight words go together, once a block.
  c = count_body(
      "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2; atom.global.add.u32 %r2, [%rd2], 1;\n"
      "st.global.u32 [%rd2+1024], %r2;",
      32, 3);
  EXPECT_EQ(c.global_atomic_sectors, 12u);
  EXPECT_EQ(c.global_atomic_passes, 12u);
  EXPECT_EQ(c.hottest_atomic_passes, 3u);
  EXPECT_EQ(c.global_reduction_lanes, 0u);
  EXPECT_EQ(c.l2_sectors(), 2u * 12 + 12);
  // Two lanes a word: two turns for each of two sectors.
  c = count_body(
      "shr.u32 %r2, %r1, 1; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd1, %rd2;\n"
      "red.global.add.u32 [%rd2], 1;");
  EXPECT_EQ(c.global_atomic_sectors, 2u);
  EXPECT_EQ(c.global_atomic_passes, 4u);
  EXPECT_EQ(c.hottest_atomic_passes, 2u);
  c = count_body("mov.u32 %r2, tile; atom.shared.add.u32 %r3, [%r2], 1;");
  EXPECT_EQ(c.shared_atomic_requests, 1u);
  EXPECT_EQ(c.shared_atomic_wavefronts, 32u);
}

TEST_F(CountersTest, LocalMemoryIsInterleaved) {
  // A word of all lanes is one line; what was stored is found in L1.
  Counters c = count_body("st.local.u32 [mine+4], %r1; ld.local.u32 %r2, [mine+4];");
  EXPECT_EQ(c.local_store_requests, 1u);
  EXPECT_EQ(c.local_store_sectors, 4u);
  EXPECT_EQ(c.local_store_bytes, 128u);
  EXPECT_EQ(c.local_load_requests, 1u);
  EXPECT_EQ(c.local_load_sectors, 4u);
  EXPECT_EQ(c.local_l1_hit_sectors, 4u);
  EXPECT_EQ(c.l2_sectors(), 4u);
  EXPECT_EQ(c.global_load_requests, 0u);
  c = count_body("setp.lt.u32 p, %r1, 16; @p st.local.v2.u32 [mine], {%r1, %r1};");
  EXPECT_EQ(c.local_store_requests, 1u);
  EXPECT_EQ(c.local_store_sectors, 2u * 2);
  EXPECT_EQ(c.local_store_bytes, 16u * 8);
  // Even lanes at one word, odd lanes at the next: two lines.
  c = count_body(
      "mov.u64 %rd2, mine; and.b32 %r2, %r1, 1; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd2, %rd2, "
      "%rd3; st.local.u32 [%rd2], %r1;");
  EXPECT_EQ(c.local_store_requests, 1u);
  EXPECT_EQ(c.local_store_sectors, 8u);
}

/// Each lane of a block's one warp reads a line's start, `lines` lines (a multiple of 32) of the
/// array, `times` times.
const std::string kRereads = R"(
.visible .entry k(.param .u64 x, .param .u32 lines, .param .u32 times)
{ .reg .pred p; .reg .b32 %r<7>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [lines]; ld.param.u32 %r2, [times];
  mov.u32 %r3, %tid.x;
AGAIN: mov.u32 %r4, %r3;
NEXT: mul.wide.u32 %rd2, %r4, 128; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r5, [%rd3];
  add.u32 %r4, %r4, 32; setp.lt.u32 p, %r4, %r1; @p bra NEXT;
  sub.u32 %r2, %r2, 1; setp.ne.u32 p, %r2, 0; @p bra AGAIN; ret; })";

TEST_F(CountersTest, L1HoldsWhatFitsInTheBlocksShare) {
  compile(kRereads);
  const auto x = array(std::vector<std::uint32_t>(32 * 256));
  config_.l1_bytes_per_block = 128 * 128;  // 128 lines
  // 64 lines stay: only the first round misses.
  Counters c = count({1}, {32}, x, 64u, 5u);
  EXPECT_EQ(c.global_load_sectors, 5u * 64);
  EXPECT_EQ(c.l1_hit_sectors, 4u * 64);
  EXPECT_EQ(c.distinct_sectors_read, 64u);
  // 256 lines in a round never stay.
  c = count({1}, {32}, x, 256u, 5u);
  EXPECT_EQ(c.l1_hit_sectors, 0u);
  EXPECT_EQ(c.distinct_sectors_read, 256u);
  // Blocks don't share.
  c = count({3}, {32}, x, 64u, 1u);
  EXPECT_EQ(c.l1_hit_sectors, 0u);
  EXPECT_EQ(c.l2_sectors(), 3u * 64);
  EXPECT_EQ(c.dram_read_sectors, 64u);
}

TEST_F(CountersTest, CacheOperatorsAndVolatileBypassL1) {
  for (const char* load : {"ld.global.cg.u32", "ld.volatile.global.u32", "ld.global.cv.u32"}) {
    const std::string text = std::string(load) + " %r2, [%rd1];";
    EXPECT_EQ(count_body(text + text).l1_hit_sectors, 0u) << load;
  }
  for (const char* load : {"ld.global.u32", "ld.global.ca.u32", "ld.global.nc.u32"}) {
    const std::string text = std::string(load) + " %r2, [%rd1];";
    EXPECT_EQ(count_body(text + text).l1_hit_sectors, 1u) << load;
  }
}

/// Blocks read 32-byte sectors: each 4 MiB at start[block] MiB of x.
const std::string kChunks = R"(
.visible .entry k(.param .u64 x, .param .u64 start, .param .u32 mib)
{ .reg .pred p; .reg .b32 %r<7>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [start]; ld.param.u32 %r1, [mib]; shl.b32 %r1, %r1, 20;
  mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd3, %rd2, %rd3;
  ld.global.u32 %r3, [%rd3]; mul.wide.u32 %rd4, %r3, 1048576; add.s64 %rd4, %rd1, %rd4;
  mov.u32 %r4, %tid.x; shl.b32 %r4, %r4, 5;
NEXT: cvt.u64.u32 %rd5, %r4; add.s64 %rd6, %rd4, %rd5; ld.global.u32 %r5, [%rd6];
  add.u32 %r4, %r4, 8192; setp.lt.u32 p, %r4, %r1; @p bra NEXT; ret; })";

TEST_F(CountersTest, L2HoldsFiftyMebibytesBetweenWaves) {
  compile(kChunks);
  const std::uint64_t x = memory_.allocate(64 << 20, RegionKind::device);
  config_.resident_blocks = 1;
  const auto sectors = [&](std::vector<std::uint32_t> start, std::uint32_t mib) {
    const auto starts = array(start);
    const Counters c = count({static_cast<std::uint32_t>(start.size())}, {256}, x, starts, mib);
    memory_.free(starts);
    EXPECT_EQ(c.distinct_sectors_written, 0u);
    return c.dram_read_sectors - 1;  // the starts
  };
  constexpr std::uint64_t kMiB = (1 << 20) / 32;
  // A, B, A: A is still there after B when both fit.
  EXPECT_EQ(sectors({0, 24, 0}, 24), 48 * kMiB);
  EXPECT_EQ(sectors({0, 32, 0}, 32), 96 * kMiB);
  // Of four waves the third finds the second's.
  EXPECT_EQ(sectors({0, 32, 32, 0}, 32), 96 * kMiB);
  // All resident at once: they run together, and share.
  config_.resident_blocks = 132;
  EXPECT_EQ(sectors({0, 32, 0}, 32), 64 * kMiB);
}

TEST_F(CountersTest, HostThreadsDontMatter) {
  compile(R"(
.visible .entry k(.param .u64 x, .param .u64 y)
{ .reg .pred p; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b8 tile[512];
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 37, %r1; and.b32 %r3, %r3, 8191; mul.wide.u32 %rd3, %r3, 12;
  add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r4, [%rd4]; mov.u32 %r5, tile;
  mad.lo.u32 %r6, %r1, 4, %r5; st.shared.u32 [%r6], %r4; bar.sync 0;
  and.b32 %r7, %r2, 3; setp.lt.u32 p, %r1, %r7; @p bra SKIP;
  and.b32 %r8, %r2, 63; mul.wide.u32 %rd5, %r8, 16; add.s64 %rd6, %rd2, %rd5;
  red.global.add.u32 [%rd6], 1; ld.global.u32 %r4, [%rd4];
SKIP: ret; })");
  const auto x = array(std::vector<std::uint32_t>(32 * 1024)),
             y = array(std::vector<std::uint32_t>(1024));
  const auto big = memory_.allocate(64 << 20, RegionKind::device);  // so that phases count
  config_.resident_blocks = 64;
  std::vector<Counters> all;
  for (const unsigned threads : {1u, 2u, 3u, 2u}) {
    config_.threads = threads;
    all.push_back(count({1000}, {128}, x, y));
  }
  for (Counters& c : all) {
    std::vector<std::uint64_t> expected;
    for_each_counter(all[0], [&](const char*, std::uint64_t n) { expected.push_back(n); });
    std::size_t i = 0;
    for_each_counter(
        c, [&](const char* name, std::uint64_t n) { EXPECT_EQ(n, expected[i++]) << name; });
  }
  EXPECT_GT(all[0].hottest_atomic_passes, 0u);
  EXPECT_GT(all[0].l1_hit_sectors, 0u);
  memory_.free(big);
}

// The shortcuts for lanes at one address and in a row give what the general way gives.
TEST_F(CountersTest, LanesAtOneAddress) {
  compile(R"(
.visible .entry k(.param .u64 x, .param .u64 out)
{ .reg .pred p, q; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 16 .b8 tile[256];
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mov.u32 %r5, tile; mad.lo.u32 %r6, %r1, 4, %r5; setp.lt.u32 p, %r1, 10; mov.u32 %r7, 0;
AGAIN: mov.u32 %r2, %r1; mov.u32 %r3, %r1; mov.u32 %r4, %r1;
  @p ld.global.u32 %r2, [%rd1+4]; ld.global.s8 %r3, [%rd1+8];
  st.shared.u32 [%r6], %r1; @p ld.shared.u32 %r4, [tile+12]; ld.shared.u32 %r8, [%r6];
  add.u32 %r7, %r7, 1; setp.lt.u32 q, %r7, 2; @q bra AGAIN;
  mul.wide.u32 %rd3, %r1, 16; add.s64 %rd4, %rd2, %rd3;
  st.global.v4.u32 [%rd4], {%r2, %r3, %r4, %r8}; ret; })");
  const auto x = array(std::vector<std::uint32_t>{1, 77, 0xf0, 3}),
             out = array(std::vector<std::uint32_t>(128));
  const Counters c = count({1}, {32}, x, out);
  const auto got = read<std::uint32_t>(out, 128);
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(got[4 * i], i < 10 ? 77u : i);
    EXPECT_EQ(got[4 * i + 1], 0xfffffff0u);
    EXPECT_EQ(got[4 * i + 2], i < 10 ? 3u : i);
    EXPECT_EQ(got[4 * i + 3], i);
  }
  EXPECT_EQ(c.global_load_requests, 4u);
  EXPECT_EQ(c.global_load_sectors, 4u);
  EXPECT_EQ(c.l1_hit_sectors, 3u);
  EXPECT_EQ(c.global_load_bytes, 2u * (10 * 4 + 32));
  EXPECT_EQ(c.shared_load_wavefronts, 4u);
  EXPECT_EQ(c.shared_load_bytes, 2u * (10 * 4 + 128));
}

TEST_F(CountersTest, OneAddressOutsideIsAFault) {
  compile(
      ".visible .entry k(.param .u64 x) { .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred p;\n"
      "ld.param.u64 %rd1, [x]; mov.u32 %r2, 0;\nAGAIN: ld.global.u32 %r1, [%rd1]; add.s64 %rd1, "
      "%rd1, 4; add.u32 %r2, %r2, 1; setp.lt.u32 p, %r2, 5; @p bra AGAIN; ret; }");
  const auto x = array(std::vector<std::uint32_t>(4));
  const LaunchResult result = run({1}, {32}, x);
  EXPECT_EQ(result.fault.kind, FaultKind::illegal_address);
  EXPECT_EQ(result.fault.address, x + 16);
}

std::uint64_t resident_bytes() {
  std::uint64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * 4096;
}

TEST_F(CountersTest, MemoryIsBoundedByResidentBlocks) {
  compile(
      ".visible .entry k() { .reg .b32 %r<3>; .shared .align 4 .b8 tile[4096]; .local .align 4 .b8 "
      "mine[256]; mov.u32 %r1, %tid.x; st.shared.u32 [tile], %r1; st.local.u32 [mine], %r1; ret; "
      "}");
  count({1000}, {32});
  const std::uint64_t before = resident_bytes();
  const Counters c = count({1'000'000}, {32});
  EXPECT_EQ(c.blocks, 1'000'000u);
  EXPECT_LT(resident_bytes(), before + (4 << 20));
}

}  // namespace
}  // namespace cudasim
