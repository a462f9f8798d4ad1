// Work of different streams that touches the same memory.
#include "corpus.hpp"

struct Streams {
  Streams() {
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  }
  ~Streams() {
    cudaDeviceSynchronize();
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaEventDestroy(event);
  }
  void b_after_a() {
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
  }
  cudaStream_t a, b;
  cudaEvent_t event;
};

__global__ void stream_producer(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void stream_consumer_wrong(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];  // streams_wrong: race
}
__global__ void stream_consumer_right(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}
CASE(streams_wrong) {
  Array<float> x(256), y(256);
  Streams s;
  cudaDeviceSynchronize();
  stream_producer<<<4, 64, 0, s.a>>>(x);
  stream_consumer_wrong<<<4, 64, 0, s.b>>>(x, y);
}
CASE(streams_right) {
  Array<float> x(512), y(512);
  Streams s;
  cudaDeviceSynchronize();
  stream_producer<<<4, 64, 0, s.a>>>(x);
  stream_producer<<<4, 64, 0, s.b>>>(x + 256);  // halves of one allocation
  s.b_after_a();
  stream_consumer_right<<<4, 64, 0, s.b>>>(x, y);
  cudaStreamSynchronize(s.b);
  stream_consumer_right<<<4, 64, 0, s.a>>>(y, x);
  cudaStreamSynchronize(s.a);
  stream_producer<<<4, 64>>>(x);
}

// A copy that overtakes the kernel.
__global__ void stream_fill_wrong(float* x) {
  x[threadIdx.x] = 3;  // stream_copy_wrong: race
}
__global__ void stream_fill_right(float* x) { x[threadIdx.x] = 3; }
CASE(stream_copy_wrong) {
  Array<float> x(64);
  Streams s;
  float* host;
  cudaMallocHost(&host, 64 * sizeof(float));
  cudaDeviceSynchronize();
  stream_fill_wrong<<<1, 64, 0, s.a>>>(x);
  cudaMemcpyAsync(host, x, 64 * sizeof(float), cudaMemcpyDeviceToHost, s.b);
  cudaDeviceSynchronize();
  cudaFreeHost(host);
}
CASE(stream_copy_right) {
  Array<float> x(64);
  Streams s;
  float* host;
  cudaMallocHost(&host, 64 * sizeof(float));
  cudaDeviceSynchronize();
  stream_fill_right<<<1, 64, 0, s.a>>>(x);
  s.b_after_a();
  cudaMemcpyAsync(host, x, 64 * sizeof(float), cudaMemcpyDeviceToHost, s.b);
  cudaStreamSynchronize(s.b);
  cudaMemset(x, 0, 64 * sizeof(float));
  cudaDeviceSynchronize();
  cudaFreeHost(host);
}

// A fill that the kernel doesn't wait for: the default stream orders nothing with a non-blocking
// one.
__global__ void stream_add_wrong(int* x) {
  x[threadIdx.x] += 1;  // stream_fill_wrong: race
}
__global__ void stream_add_right(int* x) { x[threadIdx.x] += 1; }
CASE(stream_fill_wrong) {
  Array<int> x(64);
  Streams s;
  cudaDeviceSynchronize();
  cudaMemsetAsync(x, 0, 64 * sizeof(int));
  stream_add_wrong<<<1, 64, 0, s.a>>>(x);
}
CASE(stream_fill_right) {
  Array<int> x(64);
  cudaStream_t blocking;
  cudaStreamCreate(&blocking);
  cudaMemsetAsync(x, 0, 64 * sizeof(int));
  stream_add_right<<<1, 64, 0, blocking>>>(x);
  stream_add_right<<<1, 64>>>(x);
  cudaStreamDestroy(blocking);
  stream_add_right<<<1, 64>>>(x);
}
