// clamped_add: out[i] = a[i] + b[i], cut to the range from -limit to limit, for 0 <= i < n.
//
// a, b, out: device memory, n contiguous floats each, not overlapping. n >= 1, any value.
// limit > 0.
// The work is queued on `stream`; returns cudaSuccess or the error of the launch.
#pragma once
#include <cuda_runtime.h>

extern "C" cudaError_t clamped_add(const float* a, const float* b, float* out, float limit, int n,
                                   cudaStream_t stream);
