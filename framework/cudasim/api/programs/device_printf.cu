#include "check.hpp"

__global__ void hello() {
  if (threadIdx.x < 2) {
    printf("thread %d of block %u: %.2f %s %c %lld %5.1e%%\n", threadIdx.x, blockIdx.x, 1.5,
           "text", 'x', 1LL << 40, 12345.678);
  }
}

int main() {
  hello<<<1, 32>>>();
  OK(cudaDeviceSynchronize());
  std::puts("passed");
}
