// Speed of the interpreter: lane instructions a second, against plain C++ that does the same.
// The rows of cudasim_bench_uncounted, which counts nothing, tell what the counters cost.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
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

const Module& compiled() {
  static const std::unique_ptr<Module> module = [] {
    std::ifstream file(CUDASIM_BENCH_PTX);
    std::ostringstream text;
    text << file.rdbuf();
    return parse(text.str());
  }();
  return *module;
}

/// A module's kernel, its parameters and memory; state.range(0) is the number of host threads.
class Launcher {
 public:
  Launcher(benchmark::State& state, const Module& module, const char* kernel, Dim3 grid, Dim3 block)
      : state_(state), module_(module), kernel_(*module.find_kernel(kernel)) {
    config_.grid = grid;
    config_.block = block;
    config_.threads = static_cast<unsigned>(state.range(0));
    params_.resize(kernel_.param_bytes);
  }
  std::uint64_t array(std::size_t floats) {
    const std::uint64_t a = memory_.allocate(floats * 4, RegionKind::device);
    std::memset(reinterpret_cast<void*>(a), 0, floats * 4);
    return a;
  }
  template <typename... Args>
  void measure(Args... args) {
    std::size_t i = 0;
    const auto put = [&](const auto& v) {
      std::memcpy(params_.data() + kernel_.params.at(i++).offset, &v, sizeof v);
    };
    (put(args), ...);
    (void)put;
    std::uint64_t lanes = 0;
    for (auto _ : state_) {
      const LaunchResult result = launch(module_, kernel_, config_, params_, memory_);
      if (result.fault) state_.SkipWithError(result.fault.text().c_str());
      lanes += result.counters.thread_instructions;
    }
    state_.counters["lane_instructions"] =
        benchmark::Counter(static_cast<double>(lanes), benchmark::Counter::kIsRate);
  }

 private:
  benchmark::State& state_;
  const Module& module_;
  const Kernel& kernel_;
  DeviceMemory memory_;
  LaunchConfig config_;
  std::vector<std::byte> params_;
};

void run(benchmark::State& state, const std::string& ptx) {
  const auto module = parse(ptx);
  Launcher launcher(state, *module, "k", {8}, {256});
  launcher.measure(launcher.array(1 << 14), 1000u);
}
void BM_Arithmetic(benchmark::State& state) { run(state, arithmetic()); }
void BM_Loads(benchmark::State& state) { run(state, loads()); }

void BM_Divergent(benchmark::State& state) {
  Launcher launcher(state, compiled(), "divergent", {64}, {256});
  launcher.measure(launcher.array(64 + 64 * 256));
}
void BM_EmptyLaunch(benchmark::State& state) {
  Launcher launcher(state, compiled(), "nothing", {4}, {256});
  launcher.measure();
}
void BM_EmptyBlocks(benchmark::State& state) {
  Launcher launcher(state, compiled(), "nothing", {100'000}, {32});
  launcher.measure();
}

constexpr int kSaxpy = 1 << 20, kRows = 512, kColumns = 1024, kMatrix = 256;

void BM_Saxpy(benchmark::State& state) {
  Launcher launcher(state, compiled(), "saxpy", {kSaxpy / 256}, {256});
  const auto y = launcher.array(kSaxpy), x = launcher.array(kSaxpy);
  launcher.measure(y, x, 2.0f, kSaxpy);
}
void BM_Softmax(benchmark::State& state) {
  Launcher launcher(state, compiled(), "softmax", {kRows}, {256});
  const auto out = launcher.array(kRows * kColumns), in = launcher.array(kRows * kColumns);
  launcher.measure(out, in, kColumns);
}
void BM_Matmul(benchmark::State& state) {
  Launcher launcher(state, compiled(), "matmul", {kMatrix / 32, kMatrix / 32}, {32, 32});
  const auto c = launcher.array(kMatrix * kMatrix), a = launcher.array(kMatrix * kMatrix),
             b = launcher.array(kMatrix * kMatrix);
  launcher.measure(c, a, b, kMatrix);
}

/// Parses the module of the kernels above: what a cache on disk could save.
void BM_Parse(benchmark::State& state) {
  std::ifstream file(CUDASIM_BENCH_PTX);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string ptx = text.str();
  for (auto _ : state) benchmark::DoNotOptimize(parse(ptx));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * ptx.size()));
}

// One thread by its CPU time, which other work on the machine disturbs less; two by the clock.
#define ONE_AND_TWO_THREADS(name, unit)           \
  BENCHMARK(name)->Arg(1)->Unit(benchmark::unit); \
  BENCHMARK(name)->Arg(2)->UseRealTime()->Unit(benchmark::unit)

BENCHMARK(BM_Parse)->Unit(benchmark::kMicrosecond);
ONE_AND_TWO_THREADS(BM_Arithmetic, kMillisecond);
ONE_AND_TWO_THREADS(BM_Loads, kMillisecond);
ONE_AND_TWO_THREADS(BM_Divergent, kMillisecond);
ONE_AND_TWO_THREADS(BM_EmptyLaunch, kMicrosecond);
ONE_AND_TWO_THREADS(BM_EmptyBlocks, kMillisecond);
ONE_AND_TWO_THREADS(BM_Saxpy, kMillisecond);
ONE_AND_TWO_THREADS(BM_Softmax, kMillisecond);
ONE_AND_TWO_THREADS(BM_Matmul, kMillisecond);

}  // namespace
}  // namespace cudasim

/// The kernels as a C++ programmer writes them; bench_host.cpp, compiled twice.
namespace scalar {
void saxpy(float* y, const float* x, float a, int n);
void softmax(float* out, const float* in, int rows, int columns);
void matmul(float* c, const float* a, const float* b, int n);
}  // namespace scalar
namespace openmp {
void saxpy(float* y, const float* x, float a, int n);
void softmax(float* out, const float* in, int rows, int columns);
void matmul(float* c, const float* a, const float* b, int n);
}  // namespace openmp

namespace cudasim {
namespace {

using Array = std::vector<float>;

void host_saxpy(benchmark::State& state, void (*f)(float*, const float*, float, int)) {
  Array y(kSaxpy), x(kSaxpy);
  for (auto _ : state) {
    f(y.data(), x.data(), 2.0f, kSaxpy);
    benchmark::ClobberMemory();
  }
}
void host_softmax(benchmark::State& state, void (*f)(float*, const float*, int, int)) {
  Array out(kRows * kColumns), in(kRows * kColumns);
  for (auto _ : state) {
    f(out.data(), in.data(), kRows, kColumns);
    benchmark::ClobberMemory();
  }
}
void host_matmul(benchmark::State& state, void (*f)(float*, const float*, const float*, int)) {
  Array c(kMatrix * kMatrix), a(kMatrix * kMatrix), b(kMatrix * kMatrix);
  for (auto _ : state) {
    f(c.data(), a.data(), b.data(), kMatrix);
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(host_saxpy, scalar, scalar::saxpy)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(host_saxpy, openmp, openmp::saxpy)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(host_softmax, scalar, scalar::softmax)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(host_softmax, openmp, openmp::softmax)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(host_matmul, scalar, scalar::matmul)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(host_matmul, openmp, openmp::matmul)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cudasim

BENCHMARK_MAIN();
