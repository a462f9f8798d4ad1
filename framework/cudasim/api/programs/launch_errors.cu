#include "check.hpp"

__global__ void nothing() {}
__global__ void dynamic(int* out) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) *out = shared[blockDim.x - 1];
}
__global__ void __launch_bounds__(64) small() {}

int main() {
  nothing<<<1, 1025>>>();
  CHECK_CODE(cudaErrorInvalidConfiguration, cudaGetLastError());
  CHECK_CODE(cudaSuccess, cudaGetLastError());
  nothing<<<0, 32>>>();
  CHECK_CODE(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
  CHECK_CODE(cudaErrorInvalidConfiguration, cudaGetLastError());
  nothing<<<dim3(1, 65536), 32>>>();
  CHECK_CODE(cudaErrorInvalidConfiguration, cudaGetLastError());
  nothing<<<1, dim3(1, 1, 65)>>>();
  CHECK_CODE(cudaErrorInvalidConfiguration, cudaGetLastError());
  small<<<1, 128>>>();
  CHECK(cudaGetLastError() != cudaSuccess);

  // Shared memory: 48 KiB at once, 227 KiB after opting in.
  int* out;
  OK(cudaMalloc(&out, 4));
  dynamic<<<1, 64, 48 * 1024>>>(out);
  OK(cudaGetLastError());
  dynamic<<<1, 64, 48 * 1024 + 4>>>(out);
  CHECK_CODE(cudaErrorInvalidValue, cudaGetLastError());
  OK(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  dynamic<<<1, 64, 227 * 1024>>>(out);
  OK(cudaGetLastError());
  int last = 0;
  OK(cudaMemcpy(&last, out, 4, cudaMemcpyDeviceToHost));
  CHECK(last == 63);
  CHECK_CODE(cudaErrorInvalidValue,
             cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024));

  CHECK_CODE(cudaErrorInvalidDevice, cudaSetDevice(1));
  CHECK_CODE(cudaErrorMemoryAllocation, cudaMalloc(&out, 1ull << 50));
  CHECK_CODE(cudaErrorInvalidValue, cudaMemcpy(nullptr, &last, 4, cudaMemcpyHostToDevice));
  CHECK_CODE(cudaErrorInvalidMemcpyDirection,
             cudaMemcpy(out, &last, 4, static_cast<cudaMemcpyKind>(9)));
  CHECK_CODE(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&last, 1, 1, nullptr, 0, nullptr));
  (void)cudaGetLastError();
  OK(cudaDeviceSynchronize());
  std::puts("passed");
}
