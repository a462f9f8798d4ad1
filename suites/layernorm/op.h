// layernorm_forward: layer normalisation of each row of a matrix.
// mean[r] = sum_c x[r][c] / cols
// var[r]  = sum_c (x[r][c] - mean[r])^2 / cols
// y[r][c] = (x[r][c] - mean[r]) / sqrt(var[r] + eps) * gamma[c] + beta[c]
//
// x, y: device memory, rows x cols floats, row-major and contiguous (element (r, c) is at
// r * cols + c), not overlapping. gamma, beta: device memory, cols floats each. rows >= 1,
// cols >= 1, any values. A row's mean may be far from zero: take the variance from x - mean.
// The work is queued on `stream`; returns cudaSuccess or the error of the launch.
#pragma once
#include <cuda_runtime.h>

extern "C" cudaError_t layernorm_forward(const float* x, const float* gamma, const float* beta,
                                         float* y, int rows, int cols, float eps,
                                         cudaStream_t stream);
