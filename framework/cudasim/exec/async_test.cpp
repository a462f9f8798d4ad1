// Asynchronous copies, mbarrier and clusters with distributed shared memory.
#include "cudasim/exec/kernel_fixture.hpp"

namespace cudasim {
namespace {

using U32 = std::uint32_t;

class AsyncTest : public KernelFixture {
 protected:
  std::vector<U32> numbers(U32 n) {
    std::vector<U32> v(n);
    for (U32 i = 0; i < n; ++i) v[i] = 7 * i + 1;
    return v;
  }
  void good(const LaunchResult& result) { ASSERT_FALSE(result.fault) << result.fault.text(); }
};

TEST_F(AsyncTest, CpAsyncOfEachSizeWithZeroFill) {
  for (const U32 bytes : {4u, 8u, 16u}) {
    const std::string b = std::to_string(bytes), cache = bytes == 16 ? "cg" : "ca";
    // Lanes below 8 copy all bytes, others half of them; the rest is zero.
    compile(
        ".visible .entry k(.param .u64 out, .param .u64 in)\n{ .reg .b32 i, s, n, v; .reg .b64 x; "
        ".reg .pred p; .shared .align 16 .b8 tile[512];\nmov.u32 i, %tid.x; mov.u32 s, tile; "
        "mad.lo.u32 "
        "s, i, " +
        b + ", s; ld.param.u64 x, [in]; mad.wide.u32 x, i, " + b +
        ", x; setp.lt.u32 p, i, 8; "
        "selp.u32 n, " +
        b + ", " + std::to_string(bytes / 2) +
        ", p;\n"
        "cp.async." +
        cache + ".shared.global.L2::128B [s], [x], " + b +
        ", n;\n"
        "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
        "mov.u32 s, tile; shl.b32 v, i, 4; add.u32 s, s, v; ld.param.u64 x, [out]; mad.wide.u32 x, "
        "i, "
        "16, x; .reg .b32 r<4>; ld.shared.v4.b32 {r0,r1,r2,r3}, [s]; st.global.v4.b32 [x], "
        "{r0,r1,r2,r3}; ret; }");
    const auto in = numbers(128);
    const auto out = array(std::vector<U32>(128));
    good(run({1}, {32}, out, array(in)));
    const auto got = read<std::uint8_t>(out, 32 * bytes);
    const auto* from = reinterpret_cast<const std::uint8_t*>(in.data());
    for (U32 i = 0; i < 32 * bytes; ++i) {
      const bool copied = i / bytes < 8 || i % bytes < bytes / 2;
      EXPECT_EQ(got[i], copied ? from[i] : 0) << "byte " << i << " of copies of " << bytes;
    }
  }
}

TEST_F(AsyncTest, CpAsyncArrivesOnAnMbarrier) {
  compile(R"(.visible .entry k(.param .u64 out, .param .u64 in)
{ .reg .b32 i, s, b, v; .reg .b64 x, st; .reg .pred p; .shared .align 8 .b64 bar; .shared .align 16 .b8 tile[256];
mov.u32 i, %tid.x; mov.u32 b, bar; setp.ne.u32 p, i, 0; @p bra READY;
mbarrier.init.shared::cta.b64 [b], 64;
READY: bar.sync 0;
mov.u32 s, tile; mad.lo.u32 s, i, 4, s; ld.param.u64 x, [in]; mad.wide.u32 x, i, 4, x;
cp.async.ca.shared.global [s], [x], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [b];
WAIT: mbarrier.test_wait.parity.shared.b64 p, [b], 0; @!p bra WAIT;
xor.b32 v, i, 63; mov.u32 s, tile; mad.lo.u32 s, v, 4, s; ld.shared.b32 v, [s];
ld.param.u64 x, [out]; mad.wide.u32 x, i, 4, x; st.global.b32 [x], v; ret; })");
  const auto in = numbers(64);
  const auto out = array(std::vector<U32>(64));
  good(run({1}, {64}, out, array(in)));
  const auto got = read<U32>(out, 64);
  for (U32 i = 0; i < 64; ++i) EXPECT_EQ(got[i], in[63 - i]);
}

TEST_F(AsyncTest, MbarrierPhasesTokensAndDrops) {
  // One thread walks through three phases; what it sees goes to out.
  compile(R"(.visible .entry k(.param .u64 out)
{ .reg .b32 b, n, v; .reg .b64 x, s0, s1, s2; .reg .pred p; .shared .align 8 .b64 bar;
ld.param.u64 x, [out]; mov.u32 b, bar; mbarrier.init.shared.b64 [b], 3;
mbarrier.arrive.shared.b64 s0, [b];
mbarrier.pending_count.b64 n, s0; st.global.b32 [x], n;
mbarrier.test_wait.shared.b64 p, [b], s0; selp.u32 v, 1, 0, p; st.global.b32 [x+4], v;
mbarrier.arrive.shared.b64 s1, [b], 2;
mbarrier.pending_count.b64 n, s1; st.global.b32 [x+8], n;
mbarrier.test_wait.shared.b64 p, [b], s0; selp.u32 v, 1, 0, p; st.global.b32 [x+12], v;
mbarrier.arrive_drop.shared.b64 s2, [b]; mbarrier.arrive.shared.b64 _, [b], 2;
mbarrier.try_wait.parity.shared.b64 p, [b], 1; selp.u32 v, 1, 0, p; st.global.b32 [x+16], v;
mbarrier.arrive.shared.b64 s0, [b], 2;
mbarrier.try_wait.shared.b64 p, [b], s0, 1000; selp.u32 v, 1, 0, p; st.global.b32 [x+20], v;
mbarrier.test_wait.parity.shared.b64 p, [b], 1; selp.u32 v, 1, 0, p; st.global.b32 [x+24], v;
mbarrier.inval.shared.b64 [b]; ret; })");
  const auto out = array(std::vector<U32>(7, 99));
  good(run({1}, {1}, out));
  // Pending before each arrival: 3, then 2. The drop leaves two arrivals for the third phase.
  EXPECT_EQ(read<U32>(out, 7), (std::vector<U32>{3, 0, 2, 1, 1, 1, 0}));
}

TEST_F(AsyncTest, BulkCopyCompletesItsBytesOnAnMbarrier) {
  compile(R"(.visible .entry k(.param .u64 out, .param .u64 in)
{ .reg .b32 i, s, b, v; .reg .b64 x, y, st; .reg .pred p; .shared .align 8 .b64 bar; .shared .align 128 .b8 tile[512];
mov.u32 i, %tid.x; mov.u32 b, bar; mov.u32 s, tile; ld.param.u64 x, [in]; setp.ne.u32 p, i, 0; @p bra READY;
mbarrier.init.shared::cta.b64 [b], 1; fence.mbarrier_init.release.cluster;
mbarrier.arrive.expect_tx.shared::cta.b64 st, [b], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [x], 256, [b];
add.u32 v, s, 256; add.u64 y, x, 256;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [v], [y], 256, [b];
READY: bar.sync 0;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [b], 0; @!p bra WAIT;
mad.lo.u32 v, i, 4, s; .reg .b32 w; ld.shared.b32 w, [v]; add.u32 w, w, 5; st.shared.b32 [v], w;
fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 p, i, 0; @p bra DONE;
ld.param.u64 y, [out]; cp.async.bulk.global.shared::cta.bulk_group [y], [s], 512;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [y], [s], 16;
cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
DONE: ret; })");
  const auto in = numbers(128);
  const auto out = array(std::vector<U32>(128));
  good(run({1}, {128}, out, array(in)));
  const auto got = read<U32>(out, 128);
  for (U32 i = 0; i < 128; ++i) EXPECT_EQ(got[i], (in[i] + 5) * (i < 4 ? 2 : 1));
}

TEST_F(AsyncTest, BulkReductionsOfEachOperation) {
  struct Case {
    const char* op;
    U32 (*f)(U32, U32);
  };
  const Case cases[] = {
      {"add.u32", [](U32 a, U32 b) { return a + b; }},
      {"min.s32",
       [](U32 a, U32 b) {
         return static_cast<U32>(std::min(static_cast<int>(a), static_cast<int>(b)));
       }},
      {"max.u32", [](U32 a, U32 b) { return std::max(a, b); }},
      {"and.b32", [](U32 a, U32 b) { return a & b; }},
      {"or.b32", [](U32 a, U32 b) { return a | b; }},
      {"xor.b32", [](U32 a, U32 b) { return a ^ b; }},
      {"inc.u32", [](U32 a, U32 b) { return a >= b ? 0 : a + 1; }},
      {"dec.u32", [](U32 a, U32 b) { return a == 0 || a > b ? b : a - 1; }}};
  for (const Case& c : cases) {
    compile(std::string(R"(.visible .entry k(.param .u64 out, .param .u64 in)
{ .reg .b32 s, v; .reg .b64 x, y; .shared .align 16 .b8 tile[16]; .reg .b32 r<4>;
ld.param.u64 x, [in]; ld.global.v4.b32 {r0,r1,r2,r3}, [x]; mov.u32 s, tile; st.shared.v4.b32 [s], {r0,r1,r2,r3};
ld.param.u64 y, [out]; cp.reduce.async.bulk.global.shared::cta.bulk_group.)") +
            c.op + " [y], [s], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }");
    const std::vector<U32> a = {3, 0x80000000, 100, 0}, b = {5, 1, 0xffffffff, 9};
    const auto out = array(a);
    good(run({1}, {1}, out, array(b)));
    const auto got = read<U32>(out, 4);
    for (U32 i = 0; i < 4; ++i) EXPECT_EQ(got[i], c.f(a[i], b[i])) << c.op;
  }
}

TEST_F(AsyncTest, BulkCopyOfAnOddSizeIsAFault) {
  compile(
      R"(.visible .entry k(.param .u64 in) { .reg .b32 s, b; .reg .b64 x; .shared .align 8 .b64 bar;
.shared .align 16 .b8 tile[64]; mov.u32 s, tile; mov.u32 b, bar; ld.param.u64 x, [in];
mbarrier.init.shared.b64 [b], 1;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [x], 24, [b]; ret; })");
  EXPECT_EQ(run({1}, {1}, array(numbers(16))).fault.kind, FaultKind::misaligned_address);
}

TEST_F(AsyncTest, ClusterReadsWritesAndAddsToOtherBlocks) {
  // Each block of a cluster writes to the next one's shared memory, then reads the previous one's.
  compile(R"(.visible .entry k(.param .u64 out)
{ .reg .b32 i, c, r, n, s, to, v, w, g; .reg .b64 x, gen; .reg .pred p; .shared .align 4 .b32 cell; .shared .align 4 .b32 sum;
mov.u32 i, %tid.x; mov.u32 r, %cluster_ctarank; mov.u32 n, %cluster_nctarank; mov.u32 c, %clusterid.x;
setp.ne.u32 p, i, 0; @p bra WAIT1; mov.u32 s, sum; st.shared.b32 [s], 0;
add.u32 to, r, 1; rem.u32 to, to, n; mov.u32 s, cell; mapa.shared::cluster.u32 w, s, to;
mad.lo.u32 v, c, 100, r; st.shared::cluster.b32 [w], v;
WAIT1: barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
mov.u32 s, sum; mapa.shared::cluster.u32 w, s, 0; red.shared::cluster.add.u32 [w], 1;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
@p bra DONE;
mov.u32 s, cell; cvt.u64.u32 gen, s; cvta.shared.u64 gen, gen; mapa.u64 gen, gen, 0; ld.b32 v, [gen];
mov.u32 s, sum; mapa.shared::cluster.u32 w, s, 0; ld.shared::cluster.b32 g, [w];
mov.u32 s, cell; ld.shared.b32 w, [s];
ld.param.u64 x, [out]; mov.u32 i, %ctaid.x; mad.wide.u32 x, i, 12, x;
st.global.b32 [x], w; st.global.b32 [x+4], v; st.global.b32 [x+8], g;
DONE: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret; })");
  config_.cluster = {4};
  const auto out = array(std::vector<U32>(12 * 3));
  good(run({12}, {64}, out));
  const auto got = read<U32>(out, 36);
  for (U32 block = 0; block < 12; ++block) {
    const U32 cluster = block / 4, rank = block % 4;
    EXPECT_EQ(got[3 * block], cluster * 100 + (rank + 3) % 4);
    EXPECT_EQ(got[3 * block + 1], cluster * 100 + 3);
    EXPECT_EQ(got[3 * block + 2], 4u * 64);
  }
}

TEST_F(AsyncTest, RemoteMbarrierArrivals) {
  // Block 1 arrives on block 0's barrier and sends its bytes there.
  compile(R"(.visible .entry k(.param .u64 out, .param .u64 in)
{ .reg .b32 r, s, b, rs, rb, v; .reg .b64 x, st; .reg .pred p, q; .shared .align 8 .b64 bar; .shared .align 16 .b8 tile[64];
mov.u32 r, %cluster_ctarank; mov.u32 b, bar; mov.u32 s, tile; setp.eq.u32 p, r, 0;
@p mbarrier.init.shared.b64 [b], 2;
barrier.cluster.arrive; barrier.cluster.wait;
@p bra FIRST;
mapa.shared::cluster.u32 rb, b, 0; mapa.shared::cluster.u32 rs, s, 0; ld.param.u64 x, [in];
mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [rb], 64;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [rs], [x], 64, [rb];
bra DONE;
FIRST: mbarrier.arrive.shared.b64 st, [b];
WAIT: mbarrier.try_wait.acquire.cluster.shared::cta.b64 q, [b], st; @!q bra WAIT;
ld.shared.b32 v, [s+60]; ld.param.u64 x, [out]; st.global.b32 [x], v;
DONE: barrier.cluster.arrive; barrier.cluster.wait; ret; })");
  config_.cluster = {2};
  const auto in = numbers(16);
  const auto out = array(std::vector<U32>(1));
  good(run({2}, {1}, out, array(in)));
  EXPECT_EQ(read<U32>(out, 1)[0], in[15]);
}

TEST_F(AsyncTest, MulticastReachesTheNamedBlocks) {
  // Block 0 sends 16 bytes to blocks 0 and 2 of three; each waits on its own barrier.
  compile(R"(.visible .entry k(.param .u64 out, .param .u64 in)
{ .reg .b32 r, s, b, v; .reg .b16 ranks; .reg .b64 x, y; .reg .pred p, q; .shared .align 8 .b64 bar; .shared .align 16 .b8 tile[16];
mov.u32 r, %cluster_ctarank; mov.u32 b, bar; mov.u32 s, tile; mov.u32 v, 7; st.shared.b32 [s+12], v; mov.b16 ranks, 5;
setp.ne.u32 q, r, 1; mbarrier.init.shared.b64 [b], 1; @q mbarrier.arrive.expect_tx.shared.b64 _, [b], 16;
barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 p, r, 0; ld.param.u64 x, [in];
@p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], [x], 16, [b], ranks;
@!q bra READY;
WAIT: mbarrier.try_wait.parity.shared.b64 p, [b], 0; @!p bra WAIT;
READY: barrier.cluster.arrive; barrier.cluster.wait;
ld.shared.b32 v, [s+12]; ld.param.u64 y, [out]; mad.wide.u32 y, r, 4, y; st.global.b32 [y], v; ret; })");
  config_.cluster = {3};
  const auto in = numbers(4);
  const auto out = array(std::vector<U32>(3));
  good(run({3}, {1}, out, array(in)));
  EXPECT_EQ(read<U32>(out, 3), (std::vector<U32>{in[3], 7, in[3]}));
}

TEST_F(AsyncTest, SharedAccessBeyondTheClusterIsAFault) {
  compile(R"(.visible .entry k() { .reg .b32 s, w; .shared .align 4 .b32 cell; mov.u32 s, cell;
mapa.shared::cluster.u32 w, s, 5; st.shared::cluster.b32 [w], 1; ret; })");
  config_.cluster = {2};
  EXPECT_EQ(run({2}, {1}).fault.kind, FaultKind::illegal_address);
}

TEST_F(AsyncTest, GridDependencyControlIsAccepted) {
  compile(".visible .entry k() { griddepcontrol.launch_dependents; griddepcontrol.wait; ret; }");
  good(run({4}, {32}));
}

}  // namespace
}  // namespace cudasim
