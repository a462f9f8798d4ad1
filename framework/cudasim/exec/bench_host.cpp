// The kernels of bench_kernels.cu for the host: scalar on one core, and with OpenMP on all cores
// with vectors. CUDASIM_HOST names the namespace.
#include <algorithm>
#include <cmath>

namespace CUDASIM_HOST {

void saxpy(float* y, const float* x, float a, int n);
void softmax(float* out, const float* in, int rows, int columns);
void matmul(float* c, const float* a, const float* b, int n);

void saxpy(float* y, const float* x, float a, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

void softmax(float* out, const float* in, int rows, int columns) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float* row = in + r * columns;
    float* to = out + r * columns;
    float most = row[0], sum = 0;
    for (int i = 1; i < columns; ++i) most = std::max(most, row[i]);
    for (int i = 0; i < columns; ++i) {
      to[i] = std::exp(row[i] - most);
      sum += to[i];
    }
    for (int i = 0; i < columns; ++i) to[i] /= sum;
  }
}

void matmul(float* c, const float* a, const float* b, int n) {
  constexpr int tile = 32;
#pragma omp parallel for collapse(2)
  for (int i0 = 0; i0 < n; i0 += tile) {
    for (int j0 = 0; j0 < n; j0 += tile) {
      for (int i = i0; i < i0 + tile; ++i) std::fill_n(c + i * n + j0, tile, 0.0f);
      for (int k0 = 0; k0 < n; k0 += tile) {
        for (int i = i0; i < i0 + tile; ++i) {
          for (int k = k0; k < k0 + tile; ++k) {
#pragma omp simd
            for (int j = j0; j < j0 + tile; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
          }
        }
      }
    }
  }
}

}  // namespace CUDASIM_HOST
