#include <vector>

#include "check.hpp"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 100003;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
  float *da, *db, *dc;
  OK(cudaMalloc(&da, n * 4));
  OK(cudaMalloc(&db, n * 4));
  OK(cudaMalloc(&dc, n * 4));
  OK(cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(db, b.data(), n * 4, cudaMemcpyHostToDevice));
  add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  OK(cudaGetLastError());
  OK(cudaMemcpy(c.data(), dc, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(c[i] == 3.0f * i);

  // Managed memory is read by both sides.
  float* m;
  OK(cudaMallocManaged(&m, n * 4));
  for (int i = 0; i < n; ++i) m[i] = 1;
  add<<<(n + 127) / 128, 128>>>(m, m, m, n);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(m[i] == 2);

  for (float* p : {da, db, dc, m}) OK(cudaFree(p));
  CHECK_CODE(cudaErrorInvalidValue, cudaFree(da));

  const std::string counters = cudasim_text("cudasimCountersJson");
  if (!counters.empty()) {
    CHECK(counters.find("\"cudasim.counters/1\"") != std::string::npos);
    CHECK(counters.find("\"launches\": 2") != std::string::npos);
    CHECK(counters.find("add(float const*, float const*, float*, int)") != std::string::npos);
  }
  std::puts("passed");
}
