// What the checks cost: the rows of a kernel compare with its plain one.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "cudasim/check/checker.hpp"
#include "cudasim/exec/launch.hpp"

namespace cudasim {
namespace {

const std::string kHead =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u32 "
    "n)\n";

/// Independent chains of multiplications and additions.
std::string arithmetic() {
  std::string body =
      "{ .reg .pred %p<2>; .reg .f32 %f<9>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; cvt.rn.f32.u32 %f1, "
      "%r2; mov.u32 %r3, 0;\n"
      "mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\nLOOP:\n";
  for (int i = 0; i < 32; ++i) {
    const std::string f = "%f" + std::to_string(i % 4 + 1);
    body += "fma.rn.f32 " + f + ", " + f + ", 0f3F000000, " + f + ";\n";
  }
  return kHead + body +
         "add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r1; @%p1 bra LOOP;\n"
         "add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3; add.f32 %f1, %f1, %f4;\n"
         "mov.u32 %r3, %ctaid.x; mad.lo.s32 %r2, %r3, 256, %r2; mul.wide.u32 %rd2, %r2, 4;\n"
         "add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f1; ret; }";
}

/// Coalesced loads, an addition each.
std::string loads() {
  std::string body =
      "{ .reg .pred %p<2>; .reg .f32 %f<20>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, 0; mov.f32 "
      "%f1, 0f00000000;\n"
      "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\nLOOP:\n";
  for (int i = 0; i < 8; ++i) {
    body += "ld.global.f32 %f2, [%rd3+" + std::to_string(i * 1024) + "];\nadd.f32 %f1, %f1, %f2;\n";
  }
  // Each block sums the same numbers and leaves its own.
  return kHead + body +
         "add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r1; @%p1 bra LOOP;\n"
         "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 1024; add.s64 %rd3, %rd3, %rd2;\n"
         "st.global.f32 [%rd3+32768], %f1; ret; }";
}

/// A tile in shared memory: each thread writes an element, all read a row and a column of it.
std::string tile() {
  std::string body =
      "{ .reg .pred %p<2>; .reg .f32 %f<20>; .reg .b32 %r<9>; .reg .b64 %rd<4>;\n"
      ".shared .align 64 .b8 tile[1024];\n"
      "ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, 0; mov.f32 "
      "%f1, 0f00000000;\n"
      "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f2, [%rd3];\n"
      "shl.b32 %r4, %r2, 2; mov.u32 %r5, tile; add.s32 %r6, %r5, %r4; and.b32 %r7, %r4, 127; "
      "add.s32 %r7, %r7, %r5;\nLOOP:\nst.shared.f32 [%r6], %f2; bar.sync 0;\n";
  for (int i = 0; i < 8; ++i) {
    body += "ld.shared.f32 %f3, [%r5+" + std::to_string(i * 4) + "];\nld.shared.f32 %f4, [%r7+" +
            std::to_string(i * 128) + "];\nfma.rn.f32 %f1, %f3, %f4, %f1;\n";
  }
  return kHead + body +
         "bar.sync 0; add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r1; @%p1 bra LOOP;\n"
         "mov.u32 %r8, %ctaid.x; mul.wide.u32 %rd2, %r8, 1024; add.s64 %rd3, %rd3, %rd2;\n"
         "st.global.f32 [%rd3+32768], %f1; ret; }";
}

void run(benchmark::State& state, const std::string& ptx, const char* checks) {
  const auto module = parse(ptx);
  DeviceMemory memory;
  const std::uint64_t x = memory.allocate(1 << 16, RegionKind::device);
  std::memset(reinterpret_cast<void*>(x), 0, 1 << 16);
  Checker::host_wrote(memory, reinterpret_cast<void*>(x), 1 << 16);
  std::vector<std::byte> params(16);
  const std::uint32_t n = 1000;
  std::memcpy(params.data(), &x, 8);
  std::memcpy(params.data() + 8, &n, 4);
  LaunchConfig config;
  config.grid = {8};
  config.block = {256};
  config.threads = 1;
  Findings findings;
  Checker checker(Checks::parse(checks), findings);
  if (*checks != '\0') config.observer = &checker;
  std::uint64_t lanes = 0;
  for (auto _ : state) {
    const LaunchResult result = launch(*module, *module->find_kernel("k"), config, params, memory);
    if (result.fault) state.SkipWithError(result.fault.text().c_str());
    lanes += result.counters.thread_instructions;
  }
  if (findings.errors() != 0) state.SkipWithError(findings.all()[0].text().c_str());
  state.counters["lane_instructions"] =
      benchmark::Counter(static_cast<double>(lanes), benchmark::Counter::kIsRate);
}

const bool enrolled = [] {
  const struct {
    const char* name;
    std::string ptx;
  } kernels[] = {{"arithmetic", arithmetic()}, {"loads", loads()}, {"tile", tile()}};
  for (const auto& kernel : kernels) {
    for (const char* checks : {"", "memcheck", "racecheck", "initcheck", "synccheck", "all"}) {
      benchmark::RegisterBenchmark(
          (std::string(kernel.name) + "/" + (*checks == '\0' ? "plain" : checks)).c_str(),
          [ptx = kernel.ptx, checks](benchmark::State& state) { run(state, ptx, checks); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace cudasim

BENCHMARK_MAIN();
