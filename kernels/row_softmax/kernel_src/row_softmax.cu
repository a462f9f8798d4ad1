// Softmax of rows, one block a row. Short rows stay in registers between the passes; longer ones
// are read again, from L2. Maximum and sum are found in one pass by rescaling a running sum.
#include <cuda_runtime.h>

namespace {

constexpr int max_block = 1024;
constexpr int kept = 4;  // values a thread keeps in registers

/// A maximum m and the sum of exp(x - m) over some values.
struct Partial {
  float top = -INFINITY, sum = 0;
};

__device__ __forceinline__ Partial join(Partial a, Partial b) {
  const float top = fmaxf(a.top, b.top);
  // An empty side has top -inf and sum 0: exp(-inf - -inf) would be NaN.
  const float left = a.sum == 0 ? 0 : a.sum * __expf(a.top - top);
  const float right = b.sum == 0 ? 0 : b.sum * __expf(b.top - top);
  return {top, left + right};
}

__device__ __forceinline__ Partial join_warp(Partial p) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const Partial other{__shfl_xor_sync(0xffffffffu, p.top, offset),
                        __shfl_xor_sync(0xffffffffu, p.sum, offset)};
    p = join(p, other);
  }
  return p;
}

__device__ Partial join_block(Partial p) {
  __shared__ Partial warps[max_block / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = blockDim.x / 32;
  p = join_warp(p);
  if (count == 1) return p;
  if (lane == 0) warps[warp] = p;
  __syncthreads();
  return join_warp(lane < count ? warps[lane] : Partial{});
}

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int cols) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float* out = y + static_cast<size_t>(blockIdx.x) * cols;
  const int step = blockDim.x;

  float values[kept];
  Partial p;
#pragma unroll
  for (int k = 0; k < kept; ++k) {
    const int c = threadIdx.x + k * step;
    values[k] = c < cols ? row[c] : -INFINITY;
    p.top = fmaxf(p.top, values[k]);
  }
#pragma unroll
  for (int k = 0; k < kept; ++k) {
    if (static_cast<int>(threadIdx.x) + k * step < cols) p.sum += __expf(values[k] - p.top);
  }
  for (int c = threadIdx.x + kept * step; c < cols; c += step) p = join(p, {row[c], 1});
  p = join_block(p);

  const float scale = 1 / p.sum;
#pragma unroll
  for (int k = 0; k < kept; ++k) {
    const int c = threadIdx.x + k * step;
    if (c < cols) out[c] = __expf(values[k] - p.top) * scale;
  }
  for (int c = threadIdx.x + kept * step; c < cols; c += step) {
    out[c] = __expf(row[c] - p.top) * scale;
  }
}

}  // namespace

extern "C" cudaError_t row_softmax(const float* x, float* y, int rows, int cols,
                                   cudaStream_t stream) {
  if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  int threads = 32;
  while (threads * kept < cols && threads < max_block) threads *= 2;
  softmax<<<rows, threads, 0, stream>>>(x, y, cols);
  return cudaGetLastError();
}
