#include <vector>

#include "check.hpp"

__global__ void scale(float* x, int n, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
__global__ void nothing() {}

int main() {
  const int n = 1 << 16;
  cudaStream_t a, b;
  OK(cudaStreamCreate(&a));
  OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  cudaEvent_t start, middle, stop;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreateWithFlags(&middle, cudaEventDisableTiming));
  OK(cudaEventCreate(&stop));
  float *host, *x;
  OK(cudaMallocHost(&host, n * 4));
  OK(cudaMallocAsync(&x, n * 4, a));
  for (int i = 0; i < n; ++i) host[i] = 1;

  OK(cudaEventRecord(start, a));
  OK(cudaMemcpyAsync(x, host, n * 4, cudaMemcpyHostToDevice, a));
  scale<<<n / 256, 256, 0, a>>>(x, n, 3);
  OK(cudaEventRecord(middle, a));
  OK(cudaStreamWaitEvent(b, middle, 0));
  scale<<<n / 256, 256, 0, b>>>(x, n, 2);
  OK(cudaMemcpyAsync(host, x, n * 4, cudaMemcpyDeviceToHost, b));
  OK(cudaEventRecord(stop, b));
  OK(cudaEventSynchronize(stop));
  for (int i = 0; i < n; ++i) CHECK(host[i] == 6);

  float ms = -1;
  OK(cudaEventElapsedTime(&ms, start, stop));
  CHECK(ms > 0.004f && ms < 1000);
  CHECK_CODE(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, middle));
  OK(cudaStreamQuery(a));
  OK(cudaEventQuery(stop));

  // Twice the work takes longer; the time between two records without work is none.
  float one = 0, many = 0;
  for (const int times : {1, 20}) {
    OK(cudaEventRecord(start));
    for (int i = 0; i < times; ++i) scale<<<n / 256, 256>>>(x, n, 1);
    OK(cudaEventRecord(stop));
    OK(cudaEventSynchronize(stop));
    OK(cudaEventElapsedTime(times == 1 ? &one : &many, start, stop));
  }
  CHECK(one > 0 && many > 10 * one && many < 30 * one);

  // Copies in one direction share the link, whatever their streams.
  for (cudaStream_t second : {a, b}) {
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(start, a));
    OK(cudaMemcpyAsync(x, host, n * 4, cudaMemcpyHostToDevice, a));
    OK(cudaMemcpyAsync(x, host, n * 4, cudaMemcpyHostToDevice, second));
    OK(cudaEventRecord(stop, second));
    OK(cudaEventSynchronize(stop));
    OK(cudaEventElapsedTime(second == a ? &one : &many, start, stop));
  }
  CHECK(many > 0.99f * one);

  int called = 0;
  OK(cudaLaunchHostFunc(a, [](void* p) { ++*static_cast<int*>(p); }, &called));
  OK(cudaStreamAddCallback(
      a, [](cudaStream_t, cudaError_t, void* p) { ++*static_cast<int*>(p); }, &called, 0));
  OK(cudaStreamSynchronize(a));
  CHECK(called == 2);

  int low = -1, high = -1;
  OK(cudaDeviceGetStreamPriorityRange(&low, &high));
  CHECK(low == 0 && high < 0);
  OK(cudaFreeAsync(x, a));
  OK(cudaStreamDestroy(a));
  CHECK_CODE(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(a));
  nothing<<<1, 1, 0, a>>>();
  CHECK_CODE(cudaErrorInvalidResourceHandle, cudaGetLastError());
  OK(cudaStreamDestroy(b));
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(middle));
  OK(cudaEventDestroy(stop));
  OK(cudaFreeHost(host));
  std::puts("passed");
}
