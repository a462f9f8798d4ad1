#include <cstring>

#include "check.hpp"

__global__ void plain(float* x) { x[threadIdx.x] *= 2; }
__global__ void shared_hungry(float* x) {
  __shared__ float s[12 * 1024];  // 48 KiB
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

int main() {
  cudaDeviceProp prop;
  OK(cudaGetDeviceProperties(&prop, 0));
  CHECK(std::strstr(prop.name, "H100") != nullptr);
  CHECK(prop.major == 9 && prop.minor == 0 && prop.multiProcessorCount == 132);
  CHECK(prop.warpSize == 32 && prop.sharedMemPerBlockOptin == 232448);
  CHECK(prop.maxThreadsPerMultiProcessor == 2048 && prop.l2CacheSize == 50 << 20);
  int value = 0;
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
  CHECK(value == 233472);
  CHECK_CODE(cudaErrorInvalidDevice, cudaGetDeviceProperties(&prop, 1));

  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 0));
  CHECK(blocks == 8);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 0));
  CHECK(blocks == 32);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared_hungry, 256, 0));
  CHECK(blocks == 4);  // 49 KiB each of 228
  int grid = 0, size = 0;
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, plain));
  CHECK(size == 1024 && grid == 2 * 132);
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, shared_hungry));
  CHECK(attributes.sharedSizeBytes == 48 * 1024);
  CHECK(attributes.numRegs > 0 && attributes.numRegs <= 64);
  CHECK(attributes.maxThreadsPerBlock == 1024);
  int version = 0;
  OK(cudaRuntimeGetVersion(&version));
  CHECK(version >= 13000 && version < 14000);
  std::puts("passed");
}
