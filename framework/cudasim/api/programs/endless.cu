// Ends by the watchdog: run with CUDASIM_WATCHDOG_SECONDS=1.
#include "check.hpp"

__global__ void spin(volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  int* flag;
  OK(cudaMalloc(&flag, 4));
  OK(cudaMemset(flag, 0, 4));
  spin<<<1, 32>>>(flag);
  CHECK_CODE(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
  CHECK(cudasim_text("cudasimLastFault").find("endless.cu") != std::string::npos);
  std::puts("passed");
}
