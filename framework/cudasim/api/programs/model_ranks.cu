// Textbook pairs and ladders of kernels: the time that events give (cudasim: the model bound) must
// order them as they are known to be ordered. Results are checked too.
#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "check.hpp"

namespace {

double microseconds(const std::function<void()>& launch) {
  cudaEvent_t start, stop;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&stop));
  OK(cudaEventRecord(start));
  launch();
  OK(cudaGetLastError());
  OK(cudaEventRecord(stop));
  OK(cudaEventSynchronize(stop));
  float ms = 0;
  OK(cudaEventElapsedTime(&ms, start, stop));
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(stop));
  return 1e3 * ms;
}

bool right = true;

/// Names from slowest to fastest: each takes more than `factor` times as long as the next.
struct Ladder {
  explicit Ladder(const char* title) { std::printf("%s\n", title); }
  void rung(const char* name, double us, double factor = 1.0, bool may_tie = false) {
    const bool good = last < 0 || last > factor * us || (may_tie && last == us);
    std::printf("  %-34s %9.3f us%s\n", name, us, good ? "" : "   NOT FASTER");
    right = right && good;
    last = us;
  }
  double last = -1;
};

template <typename T>
T* device(std::size_t n) {
  void* p = nullptr;
  OK(cudaMalloc(&p, n * sizeof(T)));
  OK(cudaMemset(p, 0, n * sizeof(T)));
  return static_cast<T*>(p);
}
template <typename T>
T* device(const std::vector<T>& values) {
  T* p = device<T>(values.size());
  OK(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

// ---- global memory: coalescing, width of loads

__global__ void copy_strided(float* out, const float* in, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * stride];
}
template <typename T>
__global__ void copy_as(T* out, const T* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

void coalescing() {
  constexpr int n = 1 << 20;
  float* out = device<float>(n);
  float* in = device<float>(std::size_t{8} * n);
  Ladder ladder("strided copy");
  for (int stride : {8, 4, 2, 1}) {
    ladder.rung(("stride " + std::to_string(stride)).c_str(),
                microseconds([&] { copy_strided<<<n / 256, 256>>>(out, in, stride); }), 1.2);
  }
  OK(cudaFree(out));
  OK(cudaFree(in));
}

void vector_loads() {
  constexpr int n = 1 << 20;
  auto* out = device<float4>(n / 4);
  auto* in = device<float4>(n / 4);
  // Eight warps an SM: too few bytes in flight with four bytes a lane.
  constexpr int shared = 100 * 1024;
  OK(cudaFuncSetAttribute(copy_as<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  OK(cudaFuncSetAttribute(copy_as<float2>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  OK(cudaFuncSetAttribute(copy_as<float4>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  Ladder ladder("copy at low occupancy");
  ladder.rung("float", microseconds([&] {
                copy_as<<<n / 128, 128, shared>>>(reinterpret_cast<float*>(out),
                                                  reinterpret_cast<const float*>(in));
              }));
  ladder.rung("float2", microseconds([&] {
                copy_as<<<n / 256, 128, shared>>>(reinterpret_cast<float2*>(out),
                                                  reinterpret_cast<const float2*>(in));
              }));
  ladder.rung("float4", microseconds([&] { copy_as<<<n / 512, 128, shared>>>(out, in); }));
  OK(cudaFree(out));
  OK(cudaFree(in));
}

// ---- shared memory: transpose

constexpr int kTile = 32, kRows = 8;

__global__ void transpose_naive(float* out, const float* in, int n) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) out[x * n + y + j] = in[(y + j) * n + x];
}
template <int Pad>
__global__ void transpose_tiled(float* out, const float* in, int n) {
  __shared__ float tile[kTile][kTile + Pad];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

void transposes() {
  constexpr int n = 1024;
  std::vector<float> values(n * n);
  for (int i = 0; i < n * n; ++i) values[i] = float(i);
  float* in = device(values);
  float* out = device<float>(n * n);
  const dim3 grid(n / kTile, n / kTile), block(kTile, kRows);
  const auto check = [&] {
    std::vector<float> got(n * n);
    OK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i += 7)
      for (int j = 0; j < n; j += 5) CHECK(got[j * n + i] == values[i * n + j]);
    OK(cudaMemset(out, 0, got.size() * 4));
  };
  Ladder ladder("transpose");
  ladder.rung("no shared memory",
              microseconds([&] { transpose_naive<<<grid, block>>>(out, in, n); }));
  check();
  ladder.rung("32x32 tile", microseconds([&] { transpose_tiled<0><<<grid, block>>>(out, in, n); }),
              1.2);
  check();
  ladder.rung("32x33 tile", microseconds([&] { transpose_tiled<1><<<grid, block>>>(out, in, n); }),
              1.2);
  check();
  OK(cudaFree(in));
  OK(cudaFree(out));
}

// ---- divergence

template <bool Divergent>
__global__ void branches(float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int kind = Divergent ? threadIdx.x & 1 : threadIdx.x >> 5 & 1;
  float v = float(i);
  if (kind) {
#pragma unroll 1
    for (int k = 0; k < 64; ++k) v = v * 1.0001f + 0.5f;
  } else {
#pragma unroll 1
    for (int k = 0; k < 64; ++k) v = v * 0.9999f - 0.5f;
  }
  out[i] = v;
}

void divergence() {
  constexpr int n = 1 << 19;
  float* out = device<float>(n);
  Ladder ladder("branch");
  ladder.rung("within warps", microseconds([&] { branches<true><<<n / 256, 256>>>(out); }));
  ladder.rung("between warps", microseconds([&] { branches<false><<<n / 256, 256>>>(out); }), 1.5);
  OK(cudaFree(out));
}

// ---- matrix product

/// Neighbouring threads go down a column of c: each lane reads a row of a of its own.
__global__ void product_uncoalesced(float* c, const float* a, const float* b, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
__global__ void product_naive(float* c, const float* a, const float* b, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
__global__ void product_tiled(float* c, const float* a, const float* b, int n) {
  __shared__ __align__(16) float as[kTile][kTile], bs[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * kTile + y,
            column = blockIdx.x * kTile + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += kTile) {
    as[y][x] = a[row * n + k0 + x];
    bs[y][x] = b[(k0 + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
std::vector<float> small_numbers(std::size_t n, std::uint32_t seed) {
  std::vector<float> v(n);
  for (float& x : v) x = float(int((seed = seed * 1664525u + 1013904223u) >> 28) - 8);
  return v;
}
/// Spot checks of c = a b; all sums are whole and exact.
void check_product(float* c, const std::vector<float>& a, const std::vector<float>& b, int m, int n,
                   int k) {
  std::vector<float> got(std::size_t(m) * n);
  OK(cudaMemcpy(got.data(), c, got.size() * 4, cudaMemcpyDeviceToHost));
  for (int s = 0; s < 257; ++s) {
    const int i = s * 131 % m, j = s * 197 % n;
    float sum = 0;
    for (int x = 0; x < k; ++x) sum += a[i * k + x] * b[x * n + j];
    CHECK(got[i * n + j] == sum);
  }
  OK(cudaMemset(c, 0, got.size() * 4));
}

void products() {
  constexpr int n = 256;
  const auto a = small_numbers(n * n, 1), b = small_numbers(n * n, 2);
  float *da = device(a), *db = device(b), *c = device<float>(n * n);
  Ladder ladder("FP32 matrix product");
  ladder.rung("a row of a for each lane",
              microseconds([&] { product_uncoalesced<<<dim3(n / 128, n), 128>>>(c, da, db, n); }));
  check_product(c, a, b, n, n, n);
  ladder.rung("coalesced", microseconds([&] {
                product_naive<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(c, da, db, n);
              }));
  check_product(c, a, b, n, n, n);
  ladder.rung("32x32 tiles in shared memory", microseconds([&] {
                product_tiled<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(c, da, db, n);
              }));
  check_product(c, a, b, n, n, n);
  OK(cudaFree(da));
  OK(cudaFree(db));
  OK(cudaFree(c));
}

// ---- reductions: the steps of NVIDIA's well-known tutorial, each block sums its part

constexpr int kThreads = 128;

__global__ void reduce0(int* out, const int* in) {  // interleaved, a remainder decides
  __shared__ int s[kThreads];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void reduce1(int* out, const int* in) {  // interleaved, neighbouring threads work
  __shared__ int s[kThreads];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    const unsigned i = 2 * d * t;
    if (i < blockDim.x) s[i] += s[i + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void reduce2(int* out, const int* in) {  // sequential addresses
  __shared__ int s[kThreads];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void reduce3(int* out, const int* in) {  // the first addition while loading
  __shared__ int s[kThreads];
  const unsigned t = threadIdx.x, i = blockIdx.x * 2 * kThreads + t;
  s[t] = in[i] + in[i + kThreads];
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__device__ int last_warp(int* s, unsigned t) {
  int v = s[t] + s[t + 32];
  for (int d = 16; d > 0; d /= 2) {
    s[t] = v;
    __syncwarp();
    v += s[t + d];
    __syncwarp();
  }
  return v;
}
__global__ void reduce4(int* out, const int* in) {  // the last warp without barriers
  __shared__ int s[kThreads + 32];
  const unsigned t = threadIdx.x, i = blockIdx.x * 2 * kThreads + t;
  s[t] = in[i] + in[i + kThreads];
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 32; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) {
    const int v = last_warp(s, t);
    if (t == 0) out[blockIdx.x] = v;
  }
}
template <int Threads>
__device__ void finish(int* out, int* s, unsigned t) {
  if (Threads >= 256) {
    if (t < 128) s[t] += s[t + 128];
    __syncthreads();
  }
  if (Threads >= 128) {
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
  }
  if (t < 32) {
    const int v = last_warp(s, t);
    if (t == 0) out[blockIdx.x] = v;
  }
}
template <int Threads>
__global__ void reduce5(int* out, const int* in) {  // all unrolled
  __shared__ int s[Threads + 32];
  const unsigned t = threadIdx.x, i = blockIdx.x * 2 * Threads + t;
  s[t] = in[i] + in[i + Threads];
  __syncthreads();
  finish<Threads>(out, s, t);
}
template <int Threads>
__global__ void reduce6(int* out, const int* in, int n) {  // many elements a thread
  __shared__ int s[Threads + 32];
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (int i = blockIdx.x * 2 * Threads + t; i < n; i += 2 * Threads * gridDim.x)
    sum += in[i] + in[i + Threads];
  s[t] = sum;
  __syncthreads();
  finish<Threads>(out, s, t);
}

void reductions() {
  constexpr int n = 1 << 21;
  std::vector<int> values(n);
  long long expected = 0;
  for (int i = 0; i < n; ++i) expected += values[i] = i % 1000 - 300;
  int *in = device(values), *out = device<int>(n / kThreads);
  Ladder ladder("reduction");
  // The last ones are all at DRAM's roof: they may tie.
  const auto step = [&](const char* name, int blocks, const std::function<void(int)>& launch) {
    ladder.rung(name, microseconds([&] { launch(blocks); }), 1.0, *name >= '4');
    std::vector<int> got(blocks);
    OK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
    long long sum = 0;
    for (int v : got) sum += v;
    CHECK(sum == expected);
  };
  const int whole = n / kThreads, half = whole / 2;
  step("0 interleaved, remainder", whole, [&](int b) { reduce0<<<b, kThreads>>>(out, in); });
  step("1 interleaved, bank conflicts", whole, [&](int b) { reduce1<<<b, kThreads>>>(out, in); });
  step("2 sequential addresses", whole, [&](int b) { reduce2<<<b, kThreads>>>(out, in); });
  step("3 add while loading", half, [&](int b) { reduce3<<<b, kThreads>>>(out, in); });
  step("4 last warp unrolled", half, [&](int b) { reduce4<<<b, kThreads>>>(out, in); });
  step("5 all unrolled", half, [&](int b) { reduce5<kThreads><<<b, kThreads>>>(out, in); });
  step("6 many elements a thread", 132 * 4,
       [&](int b) { reduce6<kThreads><<<b, kThreads>>>(out, in, n); });
  OK(cudaFree(in));
  OK(cudaFree(out));
}

// ---- TF32 matrix product: the public ladder is naive FP32, mma.sync from global memory, shared
// memory by cp.async in slabs of 8, then of 32

__device__ void mma(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void put(float* c, int n, int row, int column, const float (&d)[4]) {
  const int group = threadIdx.x % 32 / 4, pair = threadIdx.x % 4 * 2;
  float* p = c + (row + group) * n + column + pair;
  p[0] = d[0];
  p[1] = d[1];
  p[8 * n] = d[2];
  p[8 * n + 1] = d[3];
}

__global__ void product_fp32(float* c, const float* a, const float* b, int n, int k) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  float sum = 0;
  for (int x = 0; x < k; ++x) sum += a[row * k + x] * b[x * n + column];
  c[row * n + column] = sum;
}
/// A warp computes 16 x 8 of c.
__global__ void product_mma(float* c, const float* a, const float* b, int n, int k) {
  const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, in_group = threadIdx.x % 4;
  const int row = blockIdx.y * 64 + warp / 2 * 16, column = blockIdx.x * 16 + warp % 2 * 8;
  const std::uint32_t* au = reinterpret_cast<const std::uint32_t*>(a);
  const std::uint32_t* bu = reinterpret_cast<const std::uint32_t*>(b);
  float d[4] = {};
  for (int x = 0; x < k; x += 8) {
    const std::uint32_t* ap = au + (row + group) * k + x + in_group;
    const std::uint32_t* bp = bu + (x + in_group) * n + column + group;
    const std::uint32_t fa[4] = {ap[0], ap[8 * k], ap[4], ap[8 * k + 4]},
                        fb[2] = {bp[0], bp[4 * n]};
    mma(d, fa, fb);
  }
  put(c, n, row, column, d);
}
__device__ void copy16(float* to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from));
}
/// A block of 8 warps computes 64 x 64 of c, a warp 16 x 32, by slabs of K.
template <int K>
__global__ void product_slabs(float* c, const float* a, const float* b, int n, int k) {
  __shared__ __align__(16) float as[64][K + 4], bs[K][64 + 8];
  const int t = threadIdx.x, warp = t / 32, group = t % 32 / 4, in_group = t % 4;
  const int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64, row = warp / 2 * 16,
            column = warp % 2 * 32;
  float d[4][4] = {};
  for (int x = 0; x < k; x += K) {
    for (int i = t; i < 64 * K / 4; i += 256)
      copy16(&as[i / (K / 4)][i % (K / 4) * 4], a + (row0 + i / (K / 4)) * k + x + i % (K / 4) * 4);
    for (int i = t; i < K * 16; i += 256)
      copy16(&bs[i / 16][i % 16 * 4], b + (x + i / 16) * n + column0 + i % 16 * 4);
    asm volatile("cp.async.wait_all;");
    __syncthreads();
#pragma unroll
    for (int s = 0; s < K; s += 8) {
      std::uint32_t fa[4];
      for (int i = 0; i < 4; ++i)
        fa[i] = __float_as_uint(as[row + group + i % 2 * 8][s + in_group + i / 2 * 4]);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const std::uint32_t fb[2] = {__float_as_uint(bs[s + in_group][column + 8 * j + group]),
                                     __float_as_uint(bs[s + in_group + 4][column + 8 * j + group])};
        mma(d[j], fa, fb);
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) put(c, n, row0 + row, column0 + column + 8 * j, d[j]);
}

void tf32_ladder() {
  constexpr int m = 512, n = 1024, k = 128;
  const auto a = small_numbers(std::size_t(m) * k, 3), b = small_numbers(std::size_t(k) * n, 4);
  float *da = device(a), *db = device(b), *c = device<float>(std::size_t(m) * n);
  Ladder ladder("TF32 matrix product");
  ladder.rung("naive FP32", microseconds([&] {
                product_fp32<<<dim3(n / 32, m / 8), dim3(32, 8)>>>(c, da, db, n, k);
              }));
  check_product(c, a, b, m, n, k);
  ladder.rung("mma.sync from global memory",
              microseconds([&] { product_mma<<<dim3(n / 16, m / 64), 256>>>(c, da, db, n, k); }));
  check_product(c, a, b, m, n, k);
  ladder.rung("cp.async, slabs of 8", microseconds([&] {
                product_slabs<8><<<dim3(n / 64, m / 64), 256>>>(c, da, db, n, k);
              }));
  check_product(c, a, b, m, n, k);
  ladder.rung("cp.async, slabs of 32", microseconds([&] {
                product_slabs<32><<<dim3(n / 64, m / 64), 256>>>(c, da, db, n, k);
              }));
  check_product(c, a, b, m, n, k);
  OK(cudaFree(da));
  OK(cudaFree(db));
  OK(cudaFree(c));
}

}  // namespace

int main() {
  coalescing();
  vector_loads();
  transposes();
  divergence();
  products();
  reductions();
  tf32_ladder();
  CHECK(right);
  std::printf("passed\n");
}
