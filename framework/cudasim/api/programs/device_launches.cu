// Kernels that launch kernels.
#include "check.hpp"

struct Item {
  char tag;
  double weight;
  int count;
};
__device__ int order[64];
__device__ int used;

__global__ void note(int what) { order[atomicAdd(&used, 1)] = what; }
__global__ void scale(int* x, Item item) {
  if (item.tag == 'w') x[blockIdx.x * blockDim.x + threadIdx.x] *= item.count;
}
__global__ void tree(int depth) {
  if (threadIdx.x != 0) return;
  note<<<1, 1>>>(depth);
  if (depth > 0) {
    tree<<<2, 32>>>(depth - 1);
    tree<<<1, 32, 0, cudaStreamTailLaunch>>>(depth - 1);
  }
}
__global__ void sequence(int* x, int n) {
  x[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  cudaStream_t stream;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(3);
  scale<<<n / 32, 32, 0, stream>>>(x, Item{'w', 1.5, 5});
  note<<<1, 1, 0, stream>>>(1);
  cudaMemcpyAsync(x + n, x, n * sizeof(int), cudaMemcpyDeviceToDevice, stream);
  cudaMemsetAsync(x, 0, sizeof(int), stream);
  cudaStreamDestroy(stream);
  note<<<1, 1, 0, cudaStreamFireAndForget>>>(2);
}
__global__ void mistakes(int* errors) {
  note<<<1, 2048>>>(9);
  errors[0] = cudaGetLastError();
  errors[1] = cudaGetLastError();
  int device = -1, count = 0, threads = 0;
  cudaGetDevice(&device);
  cudaGetDeviceCount(&count);
  cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device);
  errors[2] = device == 0 && count == 1 && threads == 1024;
}
__global__ void deep(int depth) {
  atomicMax(&used, depth);
  deep<<<1, 1>>>(depth + 1);
}
__global__ void heap(int** out) { cudaMalloc(out, 32 * sizeof(int)); }
__global__ void use(int** in) { (*in)[threadIdx.x] = threadIdx.x; }
__global__ void release(int** in, int* sum) {
  for (int i = 0; i < 32; ++i) *sum += (*in)[i];
  *sum += 1000 * cudaFree(*in);
}

int noted() {
  int n = 0;
  OK(cudaMemcpyFromSymbol(&n, used, sizeof n));
  const int none = 0;
  OK(cudaMemcpyToSymbol(used, &none, sizeof none));
  return n;
}

int main() {
  int *x, notes[64];
  constexpr int n = 128;
  OK(cudaMallocManaged(&x, 2 * n * sizeof(int)));
  sequence<<<1, n>>>(x, n);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(x[n + i] == 5 * i && x[i] == 5 * i);
  CHECK(noted() == 3);
  OK(cudaMemcpyFromSymbol(notes, order, sizeof notes));
  CHECK(notes[2] == 3 && notes[0] + notes[1] == 3);  // the tail comes last

  // 1 + 2 + 1 grids of depth 1 below one of depth 2: each note is made, the root's first.
  tree<<<1, 32>>>(2);
  OK(cudaDeviceSynchronize());
  CHECK(noted() == 1 + 3 + 9);
  OK(cudaMemcpyFromSymbol(notes, order, sizeof notes));
  CHECK(notes[0] == 2);

  mistakes<<<1, 1>>>(x);
  OK(cudaDeviceSynchronize());
  CHECK(x[0] == cudaErrorInvalidConfiguration && x[1] == cudaSuccess && x[2] == 1);
  CHECK(noted() == 0);

  // 24 levels below the host's launch.
  deep<<<1, 1>>>(0);
  OK(cudaDeviceSynchronize());
  CHECK(noted() == 24);

  int **list, *sum;
  OK(cudaMallocManaged(&list, sizeof(int*)));
  OK(cudaMallocManaged(&sum, sizeof(int)));
  *sum = 0;
  heap<<<1, 1>>>(list);
  use<<<1, 32>>>(list);
  release<<<1, 1>>>(list, sum);
  OK(cudaDeviceSynchronize());
  CHECK(*sum == 31 * 32 / 2);
  std::puts("passed");
}
