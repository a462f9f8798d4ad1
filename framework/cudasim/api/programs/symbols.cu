#include "check.hpp"

struct Pair {
  int a;
  double b;
};
__constant__ float weights[16] = {1, 2, 3};
__device__ int counter;
__device__ int table[4] = {10, 20, 30, 40};
__device__ Pair pair = {1, 2.5};
__device__ int* pointer = table + 2;
__managed__ int shared_value = 7;

using Operation = int (*)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Operation operations[] = {plus, times};

__global__ void work(float* out, int which) {
  atomicAdd(&counter, 1);
  if (threadIdx.x < 16) out[threadIdx.x] = weights[threadIdx.x];
  if (threadIdx.x == 0) {
    shared_value += *pointer;
    pair.a = operations[which](6, 7);
  }
}

int main() {
  CHECK(shared_value == 7);
  float* out;
  OK(cudaMalloc(&out, 16 * 4));
  const float more[2] = {5, 6};
  OK(cudaMemcpyToSymbol(weights, more, sizeof more, 3 * sizeof(float)));
  work<<<2, 64>>>(out, 0);
  int count = 0;
  OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  CHECK(count == 128);
  float host[16];
  OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 1 && host[2] == 3 && host[3] == 5 && host[4] == 6 && host[5] == 0);
  OK(cudaDeviceSynchronize());
  CHECK(shared_value == 7 + 60);
  Pair p;
  OK(cudaMemcpyFromSymbol(&p, pair, sizeof p));
  CHECK(p.a == 13 && p.b == 2.5);
  work<<<1, 32>>>(out, 1);
  OK(cudaMemcpyFromSymbol(&p, pair, sizeof p));
  CHECK(p.a == 42);

  void* address = nullptr;
  std::size_t size = 0;
  OK(cudaGetSymbolAddress(&address, table));
  OK(cudaGetSymbolSize(&size, table));
  CHECK(address != nullptr && size == 16);
  int third = 0;
  OK(cudaMemcpy(&third, static_cast<int*>(address) + 2, 4, cudaMemcpyDeviceToHost));
  CHECK(third == 30);
  CHECK_CODE(cudaErrorInvalidSymbol, cudaMemcpyFromSymbol(&count, host, 4));
  CHECK_CODE(cudaErrorInvalidValue, cudaMemcpyToSymbol(weights, more, sizeof more, 15 * 4));
  std::puts("passed");
}
