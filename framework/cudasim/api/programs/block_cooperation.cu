#include <cooperative_groups.h>

#include <vector>

#include "check.hpp"

namespace cg = cooperative_groups;

__global__ void block_sum(const int* in, int* out, int n) {
  __shared__ int warps[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}

__global__ void two_phases(int* x, int* y, int n) {
  cg::grid_group grid = cg::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] = i;
  grid.sync();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = x[n - 1 - i];
}

int main() {
  const int n = 10000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 17 - 3;
  int expected = 0;
  for (const int v : host) expected += v;
  int *in, *out, *y;
  OK(cudaMalloc(&in, n * 4));
  OK(cudaMalloc(&y, n * 4));
  OK(cudaMalloc(&out, 4));
  OK(cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice));
  OK(cudaMemset(out, 0, 4));
  block_sum<<<5, 256>>>(in, out, n);
  int sum = 0;
  OK(cudaMemcpy(&sum, out, 4, cudaMemcpyDeviceToHost));
  CHECK(sum == expected);

  int count = n;
  void* arguments[] = {&in, &y, &count};
  OK(cudaLaunchCooperativeKernel(two_phases, 8, 128, arguments));
  OK(cudaMemcpy(host.data(), y, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(host[i] == n - 1 - i);
  CHECK_CODE(cudaErrorCooperativeLaunchTooLarge,
             cudaLaunchCooperativeKernel(two_phases, 132 * 32, 1024, arguments));
  std::puts("passed");
}
