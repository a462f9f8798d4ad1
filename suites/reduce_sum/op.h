// reduce_sum: out[0] = x[0] + x[1] + ... + x[n-1].
//
// x: device memory, n contiguous floats that begin at any multiple of 4 bytes: check the alignment
// before vector loads. out: device memory, one float, whose old content is undefined. n >= 1, any
// value.
// The work is queued on `stream`; returns cudaSuccess or the error of the launch.
#pragma once
#include <cuda_runtime.h>

extern "C" cudaError_t reduce_sum(const float* x, float* out, int n, cudaStream_t stream);
