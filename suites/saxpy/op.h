// saxpy: y[i] = alpha * x[i] + y[i] for 0 <= i < n; y is updated in place.
//
// x, y: device memory, n contiguous floats each, not overlapping. n >= 1, any value.
// The work is queued on `stream`; returns cudaSuccess or the error of the launch.
#pragma once
#include <cuda_runtime.h>

extern "C" cudaError_t saxpy(int n, float alpha, const float* x, float* y, cudaStream_t stream);
