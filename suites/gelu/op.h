// gelu_forward: y[i] = 0.5 * x[i] * (1 + erf(x[i] / sqrt(2))) for 0 <= i < n.
// This is the exact GELU, by erf; the tanh approximation is not accurate enough.
//
// x, y: device memory, n contiguous floats each, not overlapping. n >= 1, any value.
// The work is queued on `stream`; returns cudaSuccess or the error of the launch.
#pragma once
#include <cuda_runtime.h>

extern "C" cudaError_t gelu_forward(const float* x, float* y, int n, cudaStream_t stream);
