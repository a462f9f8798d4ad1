// Candidates that do no honest work, made from one that does.
#include "op.h"
#include "null.cuh"

__global__ void right_kernel(const float* a, const float* b, float* out, float limit, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fminf(fmaxf(a[i] + b[i], -limit), limit);
}

static cudaError_t right(const float* a, const float* b, float* out, float limit, int n,
                         cudaStream_t stream) {
  right_kernel<<<(n + 255) / 256, 256, 0, stream>>>(a, b, out, limit, n);
  return cudaGetLastError();
}

#define HONE_NULL(kind)                                                                          \
  extern "C" cudaError_t clamped_add_##kind(const float* a, const float* b, float* out,          \
                                            float limit, int n, cudaStream_t stream) {           \
    return null_candidate<Null::kind>(                                                           \
        a, out, n, stream, [=](cudaStream_t on) { return right(a, b, out, limit, n, on); });     \
  }
HONE_EACH_NULL(HONE_NULL)
