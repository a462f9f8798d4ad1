#include <cstring>

#include "check.hpp"

__global__ void fill(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = 1;  // FAULT: one too many
}

int main() {
  float* x;
  OK(cudaMalloc(&x, 1000 * 4));
  fill<<<4, 256>>>(x, 1000);
  CHECK_CODE(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  // The context is lost: every later call says so.
  float* y;
  CHECK_CODE(cudaErrorIllegalAddress, cudaMalloc(&y, 4));
  fill<<<1, 1>>>(x, 1);
  CHECK_CODE(cudaErrorIllegalAddress, cudaGetLastError());
  CHECK_CODE(cudaErrorIllegalAddress, cudaGetLastError());
  CHECK(std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress),
                    "an illegal memory access was encountered") == 0);
  const std::string fault = cudasim_text("cudasimLastFault");
  std::puts(fault.c_str());
  CHECK(fault.find("out_of_bounds.cu") != std::string::npos);
  CHECK(fault.find("\"line\": 7") != std::string::npos);
  CHECK(fault.find("0 bytes past the end of the 4000-byte device allocation") != std::string::npos);
  std::puts("passed");
}
