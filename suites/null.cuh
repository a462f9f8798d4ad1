// Candidates that do no honest work and must never be judged correct. A suite's null.cu makes one
// entry of each kind, named <entry>_<kind>.
#pragma once
#include <cuda_runtime.h>

enum class Null {
  noop,  // launches a kernel that leaves the output as it was
  zeros,
  constant,  // 0.5 everywhere
  copy,      // the first input as it is
  half,      // right, but cut to half precision's 11 bits
  mean,      // the mean of the right output everywhere
  replay,    // right at the first call of a size; later calls repeat that output
  pointer,   // … of a size and pointers
  content,   // … of a size and a first element
  stream,    // right, but in a stream of its own that nobody waits for
  nothing,   // zeros by cudaMemset: no kernel at all
};
#define HONE_EACH_NULL(X)                                                               \
  X(noop) X(zeros) X(constant) X(copy) X(half) X(mean) X(replay) X(pointer) X(content) \
  X(stream) X(nothing)

template <Null kind>
__global__ void null_kernel(const float* source, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  if (kind == Null::zeros) out[i] = 0;
  if (kind == Null::constant) out[i] = 0.5f;
  if (kind == Null::half) out[i] = __int_as_float(__float_as_int(out[i]) & ~0x1fff);
  if (kind == Null::copy || kind == Null::replay || kind == Null::pointer ||
      kind == Null::content) {
    out[i] = source[i];
  }
}

/// Fills `out` with its mean; one block, so that nobody reads what another has written.
static __global__ void null_mean(float* out, int count) {
  __shared__ double sums[256];
  double sum = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += out[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < blockDim.x; ++i) sum += sums[i];
  for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = float(sum / count);
}

/// What an entry returns: `right` calls the reference kernel with the entry's own arguments in the
/// stream it is given.
template <Null kind, class Right>
cudaError_t null_candidate(const float* source, float* out, int count, cudaStream_t stream,
                           Right right) {
  if (kind == Null::nothing) return cudaMemsetAsync(out, 0, sizeof(float) * count, stream);
  if (kind == Null::stream) {
    static cudaStream_t own = nullptr;
    if (own == nullptr) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    return right(own);
  }
  const auto launch = [=](const float* from, float* to) {
    null_kernel<kind><<<(count + 255) / 256, 256, 0, stream>>>(from, to, count);
    return cudaGetLastError();
  };
  if (kind == Null::half) right(stream);
  if (kind == Null::mean) {
    right(stream);
    null_mean<<<1, 256, 0, stream>>>(out, count);
    return cudaGetLastError();
  }
  if (kind == Null::replay || kind == Null::pointer || kind == Null::content) {
    static float* kept = nullptr;
    static int kept_count = 0;
    static const float* kept_source = nullptr;
    static float kept_first = 0;
    float first = 0;
    if (kind == Null::content) {
      cudaMemcpyAsync(&first, source, sizeof first, cudaMemcpyDeviceToHost, stream);
      cudaStreamSynchronize(stream);
    }
    if (kept_count == count && (kind != Null::pointer || kept_source == source) &&
        (kind != Null::content || kept_first == first)) {
      return launch(kept, out);
    }
    const cudaError_t error = right(stream);
    cudaFree(kept);
    cudaMalloc(&kept, sizeof(float) * count);
    kept_count = count;
    kept_source = source;
    kept_first = first;
    return error == cudaSuccess ? launch(out, kept) : error;
  }
  return launch(source, out);
}
