// Speed of the interpreter: lane instructions a second of one host thread.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "cudasim/exec/launch.hpp"

namespace cudasim {
namespace {

const std::string kHead =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u32 "
    "n)\n";

/// Four independent chains of fma in a loop: arithmetic at full masks.
std::string arithmetic() {
  std::string body =
      "{ .reg .pred %p<2>; .reg .f32 %f<9>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; cvt.rn.f32.u32 %f1, "
      "%r2; mov.u32 %r3, 0;\n"
      "mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\nLOOP:\n";
  for (int i = 0; i < 8; ++i) {
    for (int c = 1; c <= 4; ++c) {
      const std::string f = "%f" + std::to_string(c);
      body += (i % 2 ? "mul.f32 " + f + ", " + f + ", 0f3F7FF000;\n"
                     : "fma.rn.f32 " + f + ", " + f + ", 0f3F000000, " + f + ";\n");
    }
  }
  return kHead + body +
         "add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r1; @%p1 bra LOOP;\n"
         "add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3; add.f32 %f1, %f1, %f4; mul.wide.u32 %rd2, "
         "%r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f1; ret; }";
}

/// Coalesced loads, an addition each: load-heavy.
std::string loads() {
  std::string body =
      "{ .reg .pred %p<2>; .reg .f32 %f<20>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, 0; mov.f32 "
      "%f1, 0f00000000;\n"
      "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\nLOOP:\n";
  for (int i = 0; i < 8; ++i) {
    const std::string f = "%f" + std::to_string(i + 2);
    body += "ld.global.f32 " + f + ", [%rd3+" + std::to_string(i * 1024) +
            "];\nadd.f32 %f1, %f1, " + f + ";\n";
  }
  return kHead + body +
         "add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r1; @%p1 bra LOOP;\nst.global.f32 [%rd3], "
         "%f1; ret; }";
}

void run(benchmark::State& state, const std::string& ptx) {
  const auto module = parse(ptx);
  DeviceMemory memory;
  const std::uint64_t x = memory.allocate(1 << 16, RegionKind::device);
  std::memset(reinterpret_cast<void*>(x), 0, 1 << 16);
  std::vector<std::byte> params(16);
  const std::uint32_t n = 1000;
  std::memcpy(params.data(), &x, 8);
  std::memcpy(params.data() + 8, &n, 4);
  LaunchConfig config;
  config.grid = {8};
  config.block = {256};
  config.threads = static_cast<unsigned>(state.range(0));
  std::uint64_t lanes = 0;
  for (auto _ : state) {
    const LaunchResult result = launch(*module, *module->find_kernel("k"), config, params, memory);
    if (result.fault) state.SkipWithError(result.fault.text().c_str());
    lanes += result.counters.thread_instructions;
  }
  state.counters["lane_instructions"] =
      benchmark::Counter(static_cast<double>(lanes), benchmark::Counter::kIsRate);
}

void BM_Arithmetic(benchmark::State& state) { run(state, arithmetic()); }
void BM_Loads(benchmark::State& state) { run(state, loads()); }
BENCHMARK(BM_Arithmetic)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(BM_Loads)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
}  // namespace cudasim

BENCHMARK_MAIN();
