// The operators of cuda_fp16.h, cuda_bf16.h and cuda_fp8.h give on the device what the same headers
// compute on the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "check.hpp"

// The headers' fused operations exist on the device alone; the host rounds the exact sum once.
inline __host__ __device__ __half fused(__half a, __half b, __half c) {
#ifdef __CUDA_ARCH__
  return __hfma(a, b, c);
#else
  return __double2half(std::fma(__half2float(a), double{__half2float(b)}, __half2float(c)));
#endif
}
inline __host__ __device__ __nv_bfloat16 fused(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
#ifdef __CUDA_ARCH__
  return __hfma(a, b, c);
#else
  return __double2bfloat16(
      std::fma(__bfloat162float(a), double{__bfloat162float(b)}, __bfloat162float(c)));
#endif
}
template <typename Pair>
__host__ __device__ Pair fused_pair(Pair a, Pair b, Pair c) {
#ifdef __CUDA_ARCH__
  return __hfma2(a, b, c);
#else
  return Pair(fused(a.x, b.x, c.x), fused(a.y, b.y, c.y));
#endif
}

template <typename T>
__host__ __device__ void arithmetic(T a, T b, T c, T* out) {
  out[0] = a + b;
  out[1] = a - b;
  out[2] = a * b;
  out[3] = a / b;
  out[4] = fused(a, b, c);
  out[5] = -a;
  out[6] = __habs(a);
  out[7] = __hmin(a, b);
  out[8] = __hmax(a, b);
  out[9] = T(static_cast<float>(a) * 0.5f);
  out[10] = T(static_cast<int>(a));
  out[11] = T(a < b ? 1.0f : a == b ? 2.0f : 3.0f);
}
constexpr int kResults = 12;

template <typename Pair>
__host__ __device__ Pair pairs(Pair a, Pair b) {
  return fused_pair(a, b, __hadd2(a, __hmul2(b, b)));
}

template <typename Eight>
__host__ __device__ float eighths(float v) {
  return static_cast<float>(Eight(v));
}

template <typename T>
__global__ void arithmetic_kernel(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) arithmetic(in[i], in[(i * 7 + 3) % n], in[(i * 5 + 1) % n], out + kResults * i);
}
template <typename Pair>
__global__ void pair_kernel(const Pair* in, Pair* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = pairs(in[i], in[(i * 7 + 3) % n]);
}
__global__ void eight_kernel(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[2 * i] = eighths<__nv_fp8_e4m3>(in[i]);
  out[2 * i + 1] = eighths<__nv_fp8_e5m2>(in[i]);
}
/// Functions that exist on the device alone.
__global__ void functions(float* out) {
  out[0] = __half2float(hexp(__float2half(1.0f)));
  out[1] = __half2float(hlog(__float2half(8.0f)));
  out[2] = __half2float(hsqrt(__float2half(2.0f)));
  out[3] = __half2float(hrcp(__float2half(3.0f)));
  out[4] = __bfloat162float(hexp2(__float2bfloat16(3.0f)));
  out[5] = __half2float(htanh(__float2half(0.5f)));
  atomicAdd(reinterpret_cast<__half2*>(out + 6), __floats2half2_rn(1.5f, threadIdx.x == 0 ? 2 : 1));
}

template <typename T>
T* device(const std::vector<T>& values) {
  T* p = nullptr;
  OK(cudaMalloc(&p, values.size() * sizeof(T)));
  OK(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <typename T>
std::vector<T> host(const T* p, std::size_t n) {
  std::vector<T> values(n);
  OK(cudaMemcpy(values.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
template <typename T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <typename T, typename Pair>
void check_format() {
  std::vector<T> values;
  for (int i = 0; i < 600; ++i)
    values.push_back(T((i % 2 ? -1.0f : 1.0f) * static_cast<float>(i * i + 1) / 64.0f));
  const int n = static_cast<int>(values.size());
  T* out = device(std::vector<T>(kResults * n));
  arithmetic_kernel<<<5, 128>>>(device(values), out, n);
  const auto got = host(out, kResults * n);
  for (int i = 0; i < n; ++i) {
    T expected[kResults];
    arithmetic(values[i], values[(i * 7 + 3) % n], values[(i * 5 + 1) % n], expected);
    for (int k = 0; k < kResults; ++k) {
      if (!same(got[kResults * i + k], expected[k]))
        std::printf("value %d, operation %d: %g, not %g\n", i, k,
                    static_cast<float>(got[kResults * i + k]), static_cast<float>(expected[k]));
      CHECK(same(got[kResults * i + k], expected[k]));
    }
  }
  std::vector<Pair> both;
  for (int i = 0; i + 1 < n; ++i) both.push_back(Pair(values[i], values[i + 1]));
  const int m = static_cast<int>(both.size());
  Pair* pair_out = device(both);
  pair_kernel<<<5, 128>>>(device(both), pair_out, m);
  const auto pair_got = host(pair_out, m);
  for (int i = 0; i < m; ++i) CHECK(same(pair_got[i], pairs(both[i], both[(i * 7 + 3) % m])));
}

int main() {
  check_format<__half, __half2>();
  check_format<__nv_bfloat16, __nv_bfloat162>();

  std::vector<float> values;
  for (int i = -400; i < 400; ++i)
    values.push_back(static_cast<float>(i) * static_cast<float>(i % 37) / 29.0f);
  const int n = static_cast<int>(values.size());
  float* out = device(std::vector<float>(2 * n));
  eight_kernel<<<7, 128>>>(device(values), out, n);
  const auto got = host(out, 2 * n);
  for (int i = 0; i < n; ++i) {
    CHECK(got[2 * i] == eighths<__nv_fp8_e4m3>(values[i]));
    CHECK(got[2 * i + 1] == eighths<__nv_fp8_e5m2>(values[i]));
  }

  OK(cudaMemset(out, 0, 7 * sizeof(float)));
  functions<<<1, 4>>>(out);
  const auto f = host(out, 7);
  const float expected[] = {2.7183f, 2.0794f, 1.4142f, 0.33333f, 8.0f, 0.46212f};
  for (int i = 0; i < 6; ++i) CHECK(std::abs(f[i] - expected[i]) < 0.002f * expected[i]);
  __half2 sums;
  std::memcpy(&sums, &f[6], sizeof sums);
  CHECK(static_cast<float>(sums.x) == 6.0f && static_cast<float>(sums.y) == 5.0f);
  std::puts("passed");
}
