// row_softmax: softmax of each row of a matrix.
// With m = max_j x[r][j]:  y[r][c] = exp(x[r][c] - m) / sum_j exp(x[r][j] - m)
//
// x, y: device memory, rows x cols floats, row-major and contiguous (element (r, c) is at
// r * cols + c), not overlapping. rows >= 1, cols >= 1, any values. Inputs may be large: subtract
// the row's maximum.
// The work is queued on `stream`; returns cudaSuccess or the error of the launch.
#pragma once
#include <cuda_runtime.h>

extern "C" cudaError_t row_softmax(const float* x, float* y, int rows, int cols,
                                   cudaStream_t stream);
