#include "corpus.hpp"

__global__ void bounds_wrong(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = 1;  // bounds_wrong: out-of-bounds
}
__global__ void bounds_right(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1;
}
CASE(bounds_wrong) { bounds_wrong<<<4, 64>>>(Array<float>(200), 200); }
CASE(bounds_right) { bounds_right<<<4, 64>>>(Array<float>(200), 200); }

__global__ void bounds_2d_wrong(float* image, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width || y < height) image[y * width + x] = 1;  // bounds_2d_wrong: out-of-bounds, same-value
}
__global__ void bounds_2d_right(float* image, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) image[y * width + x] = 1;
}
CASE(bounds_2d_wrong) { bounds_2d_wrong<<<1, dim3(16, 16)>>>(Array<float>(150), 15, 10); }
CASE(bounds_2d_right) { bounds_2d_right<<<1, dim3(16, 16)>>>(Array<float>(150), 15, 10); }

__global__ void negative_wrong(const float* x, float* y) {
  const int i = threadIdx.x;
  y[i] = x[i] - x[i - 1];  // negative_wrong: out-of-bounds
}
__global__ void negative_right(const float* x, float* y) {
  const int i = threadIdx.x;
  y[i] = i == 0 ? x[i] : x[i] - x[i - 1];
}
CASE(negative_wrong) {
  Array<float> x(64), y(64);
  negative_wrong<<<1, 64>>>(x, y);
}
CASE(negative_right) {
  Array<float> x(64), y(64);
  negative_right<<<1, 64>>>(x, y);
}

// Overruns one shared array into its neighbour, which is within the block's memory.
__global__ void variable_wrong(float* x, int n) {
  __shared__ float a[64], b[64];
  a[threadIdx.x] = 0;
  b[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i <= n; ++i) sum += a[i];  // variable_wrong: out-of-bounds
  x[threadIdx.x] = sum + b[threadIdx.x];
}
__global__ void variable_right(float* x, int n) {
  __shared__ float a[64], b[64];
  a[threadIdx.x] = 0;
  b[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] + b[i];
  __syncthreads();
  // Pointers that are one or the other, and a difference of two.
  float* either = n > 32 ? a : b;
  const long between = b - a;
  either[threadIdx.x ^ 1] += static_cast<float>(between);
  __syncthreads();
  x[threadIdx.x] = sum + a[threadIdx.x] + *(a + between + threadIdx.x);
}
CASE(variable_wrong) {
  Array<float> x(64);
  variable_wrong<<<1, 64>>>(x, 64);
}
CASE(variable_right) {
  Array<float> x(64);
  variable_right<<<1, 64>>>(x, 64);
}

__global__ void misaligned_wrong(float* x) {
  float4* v = reinterpret_cast<float4*>(x + 1);
  v[threadIdx.x] = make_float4(1, 2, 3, 4);  // misaligned_wrong: misaligned
}
__global__ void misaligned_right(float* x) {
  float4* v = reinterpret_cast<float4*>(x + 4);
  v[threadIdx.x] = make_float4(1, 2, 3, 4);
}
CASE(misaligned_wrong) { misaligned_wrong<<<1, 32>>>(Array<float>(200)); }
CASE(misaligned_right) { misaligned_right<<<1, 32>>>(Array<float>(200)); }

__global__ void neighbour_wrong(int* a, long distance) {
  a[distance + threadIdx.x * 64] = 1;  // neighbour_wrong: out-of-bounds
}
__global__ void neighbour_right(int* a, long distance) { a[distance + threadIdx.x] = 1; }
CASE(neighbour_wrong) {
  Array<int> a(64), b(64);
  neighbour_wrong<<<1, 32>>>(a, b.data - a.data);
}
CASE(neighbour_right) {
  Array<int> a(64);
  neighbour_right<<<1, 32>>>(a, 32);
}

__global__ void freed_wrong(int* x) {
  x[threadIdx.x] = 3;  // freed_wrong: use-after-free
}
__global__ void freed_right(int* x) { x[threadIdx.x] = 3; }
CASE(freed_wrong) {
  int* x = nullptr;
  cudaMalloc(&x, 256);
  cudaFree(x);
  freed_wrong<<<1, 64>>>(x);
}
CASE(freed_right) {
  int* x = nullptr;
  cudaMalloc(&x, 256);
  freed_right<<<1, 64>>>(x);
  cudaFree(x);
}

__global__ void host_pointer_wrong(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // host_pointer_wrong: host-memory
}
__global__ void host_pointer_right(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }
CASE(host_pointer_wrong) {
  std::vector<int> x(64, 1);
  host_pointer_wrong<<<1, 64>>>(x.data(), Array<int>(64));
}
CASE(host_pointer_right) {
  int* x = nullptr;
  cudaMallocHost(&x, 256);
  for (int i = 0; i < 64; ++i) x[i] = i;
  host_pointer_right<<<1, 64>>>(x, Array<int>(64));
  cudaDeviceSynchronize();
  cudaFreeHost(x);
}

__global__ void stack_wrong(const int* index, int* y) {
  int kept[8];
  for (int k = 0; k < 8; ++k) kept[k] = index[k] * threadIdx.x;
  y[threadIdx.x] = kept[index[9]];  // stack_wrong: out-of-bounds
}
__global__ void stack_right(const int* index, int* y) {
  int kept[8];
  for (int k = 0; k < 8; ++k) kept[k] = index[k] * threadIdx.x;
  y[threadIdx.x] = kept[index[9] & 7];
}
static void stack_case(void (*kernel)(const int*, int*)) {
  Array<int> index(16), y(64);
  const int at[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 11};
  cudaMemcpy(index, at, sizeof at, cudaMemcpyHostToDevice);
  kernel<<<1, 64>>>(index, y);
}
CASE(stack_wrong) { stack_case(stack_wrong); }
CASE(stack_right) { stack_case(stack_right); }

extern __shared__ int dynamic[];
__global__ void shared_size_wrong(int* y) {
  dynamic[threadIdx.x] = threadIdx.x;  // shared_size_wrong: out-of-bounds
  __syncthreads();
  if (threadIdx.x < 32) y[threadIdx.x] = dynamic[31 - threadIdx.x];
}
__global__ void shared_size_right(int* y) {
  dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 32) y[threadIdx.x] = dynamic[31 - threadIdx.x];
}
CASE(shared_size_wrong) { shared_size_wrong<<<1, 64, 200>>>(Array<int>(32)); }
CASE(shared_size_right) { shared_size_right<<<1, 64, 256>>>(Array<int>(32)); }

__constant__ int table[64];
__global__ void constant_wrong(int* x) {
  x[threadIdx.x] = 1;  // constant_wrong: read-only
}
__global__ void constant_right(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }
CASE(constant_wrong) {
  void* x = nullptr;
  cudaGetSymbolAddress(&x, table);
  constant_wrong<<<1, 64>>>(static_cast<int*>(x));
}
CASE(constant_right) {
  void* x = nullptr;
  cudaGetSymbolAddress(&x, table);
  constant_right<<<1, 64>>>(static_cast<int*>(x), Array<int>(64));
}

__global__ void atomic_bounds_wrong(unsigned* bins, const unsigned char* data) {
  atomicAdd(bins + data[threadIdx.x], 1u);  // atomic_bounds_wrong: out-of-bounds
}
__global__ void atomic_bounds_right(unsigned* bins, const unsigned char* data) {
  if (data[threadIdx.x] < 64) atomicAdd(bins + data[threadIdx.x], 1u);
}
static void atomic_bounds_case(void (*kernel)(unsigned*, const unsigned char*)) {
  Array<unsigned> bins(64);
  Array<unsigned char> data(128);
  unsigned char values[128];
  for (int i = 0; i < 128; ++i) values[i] = i * 2;
  cudaMemcpy(data, values, 128, cudaMemcpyHostToDevice);
  kernel<<<1, 128>>>(bins, data);
}
CASE(atomic_bounds_wrong) { atomic_bounds_case(atomic_bounds_wrong); }
CASE(atomic_bounds_right) { atomic_bounds_case(atomic_bounds_right); }

__global__ void heap_wrong(int* y) {
  int* p = static_cast<int*>(malloc(16));
  for (int k = 0; k < 5; ++k) p[k] = k;  // heap_wrong: out-of-bounds
  y[threadIdx.x] = p[threadIdx.x & 3];
  free(p);
}
__global__ void heap_right(int* y) {
  int* p = static_cast<int*>(malloc(16));
  for (int k = 0; k < 4; ++k) p[k] = k;
  y[threadIdx.x] = p[threadIdx.x & 3];
  free(p);
}
CASE(heap_wrong) { heap_wrong<<<1, 32>>>(Array<int>(32)); }
CASE(heap_right) { heap_right<<<1, 32>>>(Array<int>(32)); }

CASE(double_free_wrong) {
  int* x = nullptr;
  cudaMalloc(&x, 256);
  cudaFree(x);
  cudaFree(x);  // double_free_wrong: double-free
}
CASE(double_free_right) {
  int* x = nullptr;
  cudaMalloc(&x, 256);
  cudaFree(x);
}
CASE(invalid_free_wrong) {
  Array<int> x(64);
  cudaFree(x + 4);  // invalid_free_wrong: invalid-free
}
CASE(invalid_free_right) { Array<int> x(64); }
CASE(leak_wrong) {
  int* x = nullptr;
  cudaMalloc(&x, 256);  // leak_wrong: leak
}
CASE(leak_right) {
  int* x = nullptr;
  cudaMalloc(&x, 256);
  cudaFree(x);
}
CASE(copy_wrong) {
  Array<int> x(64);
  std::vector<int> y(100);
  cudaMemcpy(x, y.data(), 400, cudaMemcpyHostToDevice);  // copy_wrong: out-of-bounds
}
CASE(copy_right) {
  Array<int> x(64);
  std::vector<int> y(100);
  cudaMemcpy(x, y.data(), 256, cudaMemcpyHostToDevice);
}
