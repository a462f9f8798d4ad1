// One fault after another, the context reset between them.
#include <cassert>

#include "check.hpp"

__global__ void assertion(int x) { assert(x == 1); }
__global__ void trap() { __trap(); }
__global__ void host_read(const int* p, int* out) { *out = *p; }
__global__ void misaligned(char* p) { *reinterpret_cast<int*>(p + 1) = 7; }
__global__ void shared_overrun(int* out, int i) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + i];
}
__global__ void use(int* p) { *p = 1; }

int main() {
  int* out;
  const auto fresh = [&] {
    OK(cudaDeviceReset());
    OK(cudaMalloc(&out, 256));
  };
  fresh();
  assertion<<<1, 32>>>(1);
  OK(cudaDeviceSynchronize());
  assertion<<<1, 32>>>(2);
  CHECK_CODE(cudaErrorAssert, cudaDeviceSynchronize());
  fresh();
  trap<<<1, 32>>>();
  CHECK_CODE(cudaErrorLaunchFailure, cudaDeviceSynchronize());
  fresh();
  int host = 5;
  host_read<<<1, 1>>>(&host, out);
  CHECK_CODE(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  fresh();
  host_read<<<1, 1>>>(nullptr, out);
  CHECK_CODE(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  fresh();
  misaligned<<<1, 1>>>(reinterpret_cast<char*>(out));
  CHECK_CODE(cudaErrorMisalignedAddress, cudaDeviceSynchronize());
  fresh();
  shared_overrun<<<1, 32>>>(out, 1 << 20);
  CHECK_CODE(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  fresh();
  int* gone;
  OK(cudaMalloc(&gone, 64));
  OK(cudaFree(gone));
  use<<<1, 1>>>(gone);
  CHECK_CODE(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  CHECK(cudasim_text("cudasimLastFault").find("already freed") != std::string::npos);
  fresh();
  use<<<1, 1>>>(out);
  OK(cudaDeviceSynchronize());
  std::puts("passed");
}
