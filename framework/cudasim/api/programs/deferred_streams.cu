// With CUDASIM_STREAMS=deferred work is done when the host waits for it, and not before.
#include "check.hpp"

__global__ void add(int* value, int amount) { *value += amount; }
__global__ void copy(int* to, const int* from) { *to = *from; }

// What a device int holds now, read without waiting for anybody else's stream.
int peek(const int* device) {
  static cudaStream_t own = nullptr;
  if (own == nullptr) OK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  int value = 0;
  OK(cudaMemcpyAsync(&value, device, sizeof value, cudaMemcpyDeviceToHost, own));
  OK(cudaStreamSynchronize(own));
  return value;
}

int main() {
  int *x, *y;
  OK(cudaMalloc(&x, sizeof(int)));
  OK(cudaMalloc(&y, sizeof(int)));
  OK(cudaMemset(x, 0, sizeof(int)));
  OK(cudaMemset(y, 0, sizeof(int)));
  OK(cudaDeviceSynchronize());
  cudaStream_t free_a, free_b, blocking;
  OK(cudaStreamCreateWithFlags(&free_a, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&free_b, cudaStreamNonBlocking));
  OK(cudaStreamCreate(&blocking));

  // Waiting for one stream says nothing about another.
  add<<<1, 1, 0, free_a>>>(x, 1);
  OK(cudaGetLastError());
  OK(cudaStreamSynchronize(free_b));
  CHECK(peek(x) == 0);
  OK(cudaStreamSynchronize(free_a));
  CHECK(peek(x) == 1);

  // The legacy stream and non-blocking ones ignore each other, a plain copy included.
  add<<<1, 1>>>(x, 1);
  add<<<1, 1, 0, free_a>>>(y, 1);
  OK(cudaStreamSynchronize(free_a));
  CHECK(peek(x) == 1 && peek(y) == 1);
  int host = 0;
  add<<<1, 1, 0, free_a>>>(y, 1);
  OK(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host == 2 && peek(y) == 1);
  OK(cudaDeviceSynchronize());
  CHECK(peek(y) == 2);

  // Blocking streams and the legacy one are in order.
  add<<<1, 1, 0, blocking>>>(x, 1);
  copy<<<1, 1>>>(y, x);
  add<<<1, 1, 0, blocking>>>(x, 10);
  OK(cudaStreamSynchronize(nullptr));
  CHECK(peek(y) == 3 && peek(x) == 13);
  copy<<<1, 1>>>(y, x);
  add<<<1, 1, 0, blocking>>>(x, 1);
  OK(cudaStreamSynchronize(blocking));
  CHECK(peek(y) == 13 && peek(x) == 14);

  // An event orders two streams; as it was recorded when the wait was asked for.
  cudaEvent_t event, later;
  OK(cudaEventCreate(&event));
  OK(cudaEventCreate(&later));
  add<<<1, 1, 0, free_a>>>(x, 1);
  OK(cudaEventRecord(event, free_a));
  OK(cudaStreamWaitEvent(free_b, event, 0));
  copy<<<1, 1, 0, free_b>>>(y, x);
  add<<<1, 1, 0, free_a>>>(x, 100);
  OK(cudaEventRecord(later, free_a));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, event, later) == cudaErrorNotReady);
  OK(cudaStreamSynchronize(free_b));
  CHECK(peek(y) == 15 && peek(x) == 15);
  OK(cudaEventSynchronize(later));
  CHECK(peek(x) == 115);
  OK(cudaEventElapsedTime(&milliseconds, event, later));
  CHECK(milliseconds > 0);

  // Pageable memory is copied at once, pinned memory when its turn comes.
  int* pinned;
  OK(cudaMallocHost(&pinned, sizeof(int)));
  *pinned = -1;
  host = -1;
  OK(cudaMemcpyAsync(pinned, x, sizeof(int), cudaMemcpyDeviceToHost, free_a));
  CHECK(*pinned == -1);
  OK(cudaMemcpyAsync(&host, x, sizeof(int), cudaMemcpyDeviceToHost, free_b));
  CHECK(host == 115);
  OK(cudaStreamSynchronize(free_a));
  CHECK(*pinned == 115);

  // A stream that is destroyed still does its work, and memory is not freed under it.
  add<<<1, 1, 0, blocking>>>(x, 1);
  OK(cudaStreamDestroy(blocking));
  OK(cudaDeviceSynchronize());
  CHECK(peek(x) == 116);
  copy<<<1, 1, 0, free_b>>>(y, x);
  OK(cudaFree(x));
  OK(cudaDeviceSynchronize());
  CHECK(peek(y) == 116);
  std::puts("passed");
}
