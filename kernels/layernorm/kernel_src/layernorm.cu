// Layer normalisation of rows, one block a row. Rows up to 4096 values stay in registers; longer
// ones are read again, from L2. The variance is taken from x - mean, so that a large mean does not
// cancel.
#include <cuda_runtime.h>

namespace {

constexpr int max_block = 1024;
constexpr int kept = 4;  // values a thread keeps in registers

__device__ __forceinline__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

/// The sum over the block, in every thread. `partial` is not used again by a later call.
__device__ __forceinline__ float block_sum(float value, float (&partial)[max_block / 32]) {
  const int lane = threadIdx.x % 32, count = blockDim.x / 32;
  value = warp_sum(value);
  if (count == 1) return value;
  if (lane == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_sum(lane < count ? partial[lane] : 0.0f);
}

__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma,
                          const float* __restrict__ beta, float* __restrict__ y, int cols,
                          float eps) {
  __shared__ float sums[max_block / 32], squares[max_block / 32];
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float* out = y + static_cast<size_t>(blockIdx.x) * cols;
  const int first = threadIdx.x, step = blockDim.x;

  float values[kept];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kept; ++k) {
    const int c = first + k * step;
    values[k] = c < cols ? row[c] : 0.0f;
    sum += values[k];
  }
  for (int c = first + kept * step; c < cols; c += step) sum += row[c];
  const float mean = block_sum(sum, sums) / cols;

  float square = 0;
#pragma unroll
  for (int k = 0; k < kept; ++k) {
    const float centred = first + k * step < cols ? values[k] - mean : 0.0f;
    square += centred * centred;
  }
  for (int c = first + kept * step; c < cols; c += step) {
    const float centred = row[c] - mean;
    square += centred * centred;
  }
  const float inverse = rsqrtf(block_sum(square, squares) / cols + eps);

#pragma unroll
  for (int k = 0; k < kept; ++k) {
    const int c = first + k * step;
    if (c < cols) out[c] = (values[k] - mean) * inverse * gamma[c] + beta[c];
  }
  for (int c = first + kept * step; c < cols; c += step) {
    out[c] = (row[c] - mean) * inverse * gamma[c] + beta[c];
  }
}

}  // namespace

extern "C" cudaError_t layernorm_forward(const float* x, const float* gamma, const float* beta,
                                         float* y, int rows, int cols, float eps,
                                         cudaStream_t stream) {
  if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  int threads = 32;
  while (threads * kept < cols && threads < max_block) threads *= 2;
  layernorm<<<rows, threads, 0, stream>>>(x, gamma, beta, y, cols, eps);
  return cudaGetLastError();
}
