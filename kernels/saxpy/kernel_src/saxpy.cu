// y = alpha * x + y: memory-bound, so each thread moves 16 bytes a load where the pointers allow
// it.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int block_size = 256;

template <int width>
__global__ void axpy(int n, float alpha, const float* __restrict__ x, float* __restrict__ y) {
  const int i = (blockIdx.x * block_size + threadIdx.x) * width;
  if (width == 4 && i <= n - 4) {
    const float4 u = *reinterpret_cast<const float4*>(x + i);
    float4 v = *reinterpret_cast<const float4*>(y + i);
    v.x = fmaf(alpha, u.x, v.x);
    v.y = fmaf(alpha, u.y, v.y);
    v.z = fmaf(alpha, u.z, v.z);
    v.w = fmaf(alpha, u.w, v.w);
    *reinterpret_cast<float4*>(y + i) = v;
    return;
  }
  for (int k = i; k < min(i + width, n); ++k) y[k] = fmaf(alpha, x[k], y[k]);
}

bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

}  // namespace

extern "C" cudaError_t saxpy(int n, float alpha, const float* x, float* y, cudaStream_t stream) {
  if (n <= 0) return n < 0 ? cudaErrorInvalidValue : cudaSuccess;
  const int width = aligned(x) && aligned(y) ? 4 : 1;
  const auto blocks =
      static_cast<unsigned>((std::int64_t{n} + block_size * width - 1) / (block_size * width));
  if (width == 4) {
    axpy<4><<<blocks, block_size, 0, stream>>>(n, alpha, x, y);
  } else {
    axpy<1><<<blocks, block_size, 0, stream>>>(n, alpha, x, y);
  }
  return cudaGetLastError();
}
