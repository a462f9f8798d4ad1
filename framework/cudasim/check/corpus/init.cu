#include "corpus.hpp"

__global__ void shared_init_wrong(int* y, int n) {
  __shared__ int s[64];
  if (threadIdx.x < n) s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];  // shared_init_wrong: uninitialized
}
__global__ void shared_init_right(int* y, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x < n ? threadIdx.x : 0;
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(shared_init_wrong) { shared_init_wrong<<<1, 64>>>(Array<int>(64), 50); }
CASE(shared_init_right) { shared_init_right<<<1, 64>>>(Array<int>(64), 50); }

/// Sums in an array of the thread that nobody cleared.
__global__ void sums_wrong(const int* index, const int* x, int* y) {
  int sums[8];
  for (int k = 0; k < 16; ++k) sums[index[k] & 7] += x[k];
  y[threadIdx.x] = sums[index[threadIdx.x & 15] & 7];  // sums_wrong: uninitialized
}
__global__ void sums_right(const int* index, const int* x, int* y) {
  int sums[8] = {};
  for (int k = 0; k < 16; ++k) sums[index[k] & 7] += x[k];
  y[threadIdx.x] = sums[index[threadIdx.x & 15] & 7];
}
CASE(sums_wrong) {
  Array<int> index(16), x(16), y(32);
  sums_wrong<<<1, 32>>>(index, x, y);
}
CASE(sums_right) {
  Array<int> index(16), x(16), y(32);
  sums_right<<<1, 32>>>(index, x, y);
}

__global__ void fresh_wrong(const float* x, float* y) {
  y[threadIdx.x] = 2 * x[threadIdx.x];  // fresh_wrong: uninitialized
}
__global__ void fresh_right(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
CASE(fresh_wrong) {
  Array<float> x(64, false), y(64, false);
  fresh_wrong<<<1, 64>>>(x, y);
}
CASE(fresh_right) {
  Array<float> x(64), y(64, false);
  fresh_right<<<1, 64>>>(x, y);
}

__global__ void half_copied_wrong(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x] + 1;  // half_copied_wrong: uninitialized
}
__global__ void half_copied_right(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x] + 1;
}
CASE(half_copied_wrong) {
  Array<float> x(64, false), y(64, false);
  const std::vector<float> values(64);
  cudaMemcpy(x, values.data(), 64, cudaMemcpyHostToDevice);  // bytes, not elements
  half_copied_wrong<<<1, 64>>>(x, y);
}
CASE(half_copied_right) {
  Array<float> x(64, false), y(64, false);
  const std::vector<float> values(64);
  cudaMemcpy(x, values.data(), 256, cudaMemcpyHostToDevice);
  half_copied_right<<<1, 64>>>(x, y);
}

/// Points of three floats in four: the fourth is copied along, and never used.
__global__ void points(float4* p) {
  float* f = reinterpret_cast<float*>(p + threadIdx.x);
  f[0] = f[1] = f[2] = threadIdx.x;
}
__global__ void padding_wrong(const float4* p, float* y) {
  const float4 v = p[threadIdx.x];
  y[threadIdx.x] = v.x + v.w;  // padding_wrong: uninitialized
}
__global__ void padding_right(const float4* p, float4* q, float* y) {
  const float4 v = p[threadIdx.x];
  q[threadIdx.x] = v;
  y[threadIdx.x] = v.x + v.z;
}
CASE(padding_wrong) {
  Array<float4> p(64, false);
  Array<float> y(64, false);
  points<<<1, 64>>>(p);
  padding_wrong<<<1, 64>>>(p, y);
}
CASE(padding_right) {
  Array<float4> p(64, false), q(64, false);
  Array<float> y(64, false);
  points<<<1, 64>>>(p);
  padding_right<<<1, 64>>>(p, q, y);
}

/// Structures with holes.
struct Tagged {
  char tag;
  int value;
};
__global__ void tag(Tagged* t) {
  t[threadIdx.x].tag = 1;
  t[threadIdx.x].value = threadIdx.x;
}
__global__ void holes_right(const Tagged* t, Tagged* u) { u[threadIdx.x] = t[threadIdx.x]; }
CASE(holes_right) {
  Array<Tagged> t(64, false), u(64, false);
  tag<<<1, 64>>>(t);
  holes_right<<<1, 64>>>(t, u);
}

__global__ void branch_wrong(const int* flag, int* y) {
  __shared__ int stop;
  if (flag[0] > 0 && threadIdx.x == 0) stop = flag[0];
  __syncthreads();
  if (stop) atomicAdd(y, 1);  // branch_wrong: uninitialized
}
__global__ void branch_right(const int* flag, int* y) {
  __shared__ int stop;
  if (threadIdx.x == 0) stop = flag[0] > 0;
  __syncthreads();
  if (stop) atomicAdd(y, 1);
}
CASE(branch_wrong) {
  Array<int> flag(1), y(1);
  branch_wrong<<<1, 64>>>(flag, y);
}
CASE(branch_right) {
  Array<int> flag(1), y(1);
  branch_right<<<1, 64>>>(flag, y);
}

__global__ void index_wrong(const int* index, const int* x, int* y) {
  y[threadIdx.x] = x[index[threadIdx.x] & 63];  // index_wrong: uninitialized
}
__global__ void index_right(const int* index, const int* x, int* y) {
  y[threadIdx.x] = x[index[threadIdx.x] & 63];
}
CASE(index_wrong) {
  Array<int> index(64, false), x(64), y(64);
  index_wrong<<<1, 64>>>(index, x, y);
}
CASE(index_right) {
  Array<int> index(64), x(64), y(64);
  index_right<<<1, 64>>>(index, x, y);
}

__global__ void count_wrong(const unsigned char* x, int* bins) {
  atomicAdd(bins + (x[threadIdx.x] & 15), 1);  // count_wrong: uninitialized
}
__global__ void count_right(const unsigned char* x, int* bins) {
  atomicAdd(bins + (x[threadIdx.x] & 15), 1);
}
CASE(count_wrong) {
  Array<unsigned char> x(64);
  Array<int> bins(16, false);
  count_wrong<<<1, 64>>>(x, bins);
}
CASE(count_right) {
  Array<unsigned char> x(64);
  Array<int> bins(16);
  count_right<<<1, 64>>>(x, bins);
}

/// A tile with a rim: the corners are read too.
__global__ void rim_wrong(const float* x, float* y) {
  __shared__ float s[66];
  s[threadIdx.x + 1] = x[threadIdx.x];
  if (threadIdx.x == 0) s[0] = 0;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 2];  // rim_wrong: uninitialized
}
__global__ void rim_right(const float* x, float* y) {
  __shared__ float s[66];
  s[threadIdx.x + 1] = x[threadIdx.x];
  if (threadIdx.x == 0) s[0] = s[65] = 0;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 2];
}
CASE(rim_wrong) {
  Array<float> x(64), y(64);
  rim_wrong<<<1, 64>>>(x, y);
}
CASE(rim_right) {
  Array<float> x(64), y(64);
  rim_right<<<1, 64>>>(x, y);
}

/// What other lanes hold; only what is used counts.
__global__ void shuffled_wrong(const int* x, int* y) {
  int v = x[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  y[threadIdx.x] = v;  // shuffled_wrong: uninitialized
}
__global__ void shuffled_right(const int* x, int* y) {
  const int v = x[threadIdx.x];
  const int first = __shfl_sync(0xffffffffu, v, threadIdx.x & 15);
  y[threadIdx.x] = first;
}
static void shuffled_case(void (*kernel)(const int*, int*)) {
  Array<int> x(32, false), y(32);
  cudaMemset(x, 0, 64);
  kernel<<<1, 32>>>(x, y);
}
CASE(shuffled_wrong) { shuffled_case(shuffled_wrong); }
CASE(shuffled_right) { shuffled_case(shuffled_right); }

/// A function that is called: arguments and results pass through memory.
__device__ __noinline__ float scaled(const float* x, int i, float by) { return x[i] * by; }
__global__ void called_wrong(const float* x, float* y) {
  y[threadIdx.x] = scaled(x, threadIdx.x, 2);  // called_wrong: uninitialized
}
__global__ void called_right(const float* x, float* y) {
  y[threadIdx.x] = scaled(x, threadIdx.x, 2);
}
CASE(called_wrong) {
  Array<float> x(64, false), y(64);
  called_wrong<<<1, 64>>>(x, y);
}
CASE(called_right) {
  Array<float> x(64), y(64);
  called_right<<<1, 64>>>(x, y);
}

/// The first kernel leaves out what the second reads.
__global__ void evens(int* x) {
  if (threadIdx.x % 2 == 0) x[threadIdx.x] = threadIdx.x;
}
__global__ void chain_wrong(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // chain_wrong: uninitialized
}
__global__ void chain_right(const int* x, int* y) {
  y[threadIdx.x] = threadIdx.x % 2 == 0 ? x[threadIdx.x] : 0;
}
CASE(chain_wrong) {
  Array<int> x(64, false), y(64);
  evens<<<1, 64>>>(x);
  chain_wrong<<<1, 64>>>(x, y);
}
CASE(chain_right) {
  Array<int> x(64, false), y(64);
  evens<<<1, 64>>>(x);
  chain_right<<<1, 64>>>(x, y);
}
