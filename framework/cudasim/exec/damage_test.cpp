// Damaged PTX: whatever the parser lets through is decoded and launched, and never harms the host.
#include "cudasim/exec/decode.hpp"
#include "cudasim/exec/kernel_fixture.hpp"

namespace cudasim {
namespace {

const char* const kTexts[] = {
    R"(.global .align 4 .b32 g[16]; .const .align 4 .f32 c[2] = {0f3F800000, 0f40000000};
.func (.param .b32 r) twice(.param .b32 v) { .reg .b32 x; ld.param.b32 x, [v]; add.s32 x, x, x; st.param.b32 [r], x; ret; }
.visible .entry k(.param .u64 out, .param .u32 n)
{ .reg .pred %p<4>; .reg .b32 %r<12>; .reg .f32 %f<4>; .reg .b64 %rd<8>; .shared .align 16 .b8 tile[256]; .local .align 8 .b8 frame[32];
mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; ld.param.u32 %r2, [n]; setp.ge.s32 %p1, %r1, %r2; @%p1 bra DONE;
mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.v2.b32 {%r3, %r4}, [%rd1]; mov.u32 %r5, tile;
mad.lo.s32 %r6, %r1, 4, %r5; st.shared.b32 [%r6], %r3; bar.sync 0; ld.const.f32 %f1, [c+4]; cvt.rn.f32.s32 %f2, %r3;
fma.rn.f32 %f3, %f1, %f2, %f1; shfl.sync.bfly.b32 %r7|%p2, %r3, 1, 31, -1; st.local.b32 [frame+4], %r7;
{ .param .b32 a; st.param.b32 [a], %r7; .param .b32 b; call.uni (b), twice, (a); ld.param.b32 %r8, [b]; }
vote.sync.ballot.b32 %r9, %p2, -1; atom.global.add.u32 %r10, [g], 1; st.global.f32 [%rd3], %f3;
DONE: ret; })",
    R"(.visible .entry k(.param .u64 out)
{ .reg .pred p; .reg .b32 i, s, d<4>, a<4>, b<2>, t; .reg .b64 x, y; .reg .b128 q; .shared .align 8 .b64 bar; .shared .align 128 .b8 tile[512];
mov.u32 i, %tid.x; mov.u32 s, tile; mov.u32 t, bar; mbarrier.init.shared.b64 [t], 32; ld.param.u64 x, [out];
cp.async.ca.shared.global [s], [x], 16, 8; cp.async.commit_group; cp.async.wait_group 0; mbarrier.arrive.shared.b64 y, [t];
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {a0,a1,a2,a3}, [s]; mov.b32 b0, 0; mov.b32 b1, 1;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0,d1,d2,d3}, {a0,a1,a2,a3}, {b0,b1}, {d0,d1,d2,d3};
brx.idx i, TABLE; TABLE: .branchtargets ONE, TWO; ONE: bra TWO; TWO: redux.sync.add.s32 t, i, -1;
tex.2d.v4.f32.f32 {d0,d1,d2,d3}, [x, {d0, d1}]; barrier.cluster.arrive; barrier.cluster.wait; st.global.v4.b32 [x], {d0,d1,d2,d3}; exit; })"};

class DamageTest : public KernelFixture {
 protected:
  /// Parses, decodes and launches; errors and faults are what damage should lead to.
  void survive(const std::string& text) {
    try {
      module_ = parse(".version 9.0\n.target sm_90\n.address_size 64\n" + text);
    } catch (const ParseError&) {
      return;
    }
    bind();
    for (const Kernel* kernel : module_->kernels()) {
      if (kernel->param_bytes > 4096) continue;
      std::vector<std::byte> params(kernel->param_bytes);
      if (params.size() >= 8) std::memcpy(params.data(), &out_, 8);
      config_.block = {40};
      config_.threads = 1;
      config_.watchdog_warp_instructions = 3000;
      config_.watchdog_seconds = 5;
      config_.print = [](std::string_view) {};
      const LaunchResult result = launch(*module_, *kernel, config_, params, memory_);
      EXPECT_NE(result.fault.kind, FaultKind::internal) << result.fault.text() << "\n" << text;
      ++launched_;
    }
  }
  /// A page for each variable, whatever its size.
  void bind() {
    for (const Variable& v : module_->variables()) {
      if (v.space == Space::global || v.space == Space::constant)
        module_->bind(v.name, memory_.allocate(4096, RegionKind::module_global, v.name));
    }
  }
  std::uint64_t out_ = memory_.allocate(4096, RegionKind::device);
  int launched_ = 0;
};

TEST_F(DamageTest, ChangedWordsNeverCrash) {
  // Words change places with others of any of the texts, vanish or are doubled.
  std::vector<std::vector<std::string>> texts;
  std::vector<std::string> words;
  for (const std::string text : kTexts) {
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at + 1;
      const auto word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
      };
      while (word(text[at]) && end < text.size() && word(text[end])) ++end;
      pieces.push_back(text.substr(at, end - at));
      if (pieces.back() != " " && pieces.back() != "\n") words.push_back(pieces.back());
      at = end;
    }
    texts.push_back(pieces);
  }
  for (const char* extra : {"0", "-1", "4294967295", "0x7fffffffffffffff", "v4", "b128", "pred"})
    words.emplace_back(extra);
  std::mt19937 random(20);
  for (int round = 0; round < 6000; ++round) {
    auto pieces = texts[random() % texts.size()];
    for (unsigned change = 0; change < 1 + random() % 3; ++change) {
      std::string& piece = pieces[random() % pieces.size()];
      switch (random() % 4) {
        case 0:
          piece.clear();
          break;
        case 1:
          piece += " " + piece;
          break;
        default:
          piece = words[random() % words.size()];
      }
    }
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    survive(text);
    if (HasFailure()) break;
  }
  EXPECT_GT(launched_, 500);
}

TEST_F(DamageTest, TheTextsAreGood) {
  for (const char* text : kTexts) {
    compile(text);
    bind();
    EXPECT_NO_THROW(decoded_program(*module_, *kernel_));
  }
}

}  // namespace
}  // namespace cudasim
