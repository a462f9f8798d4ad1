#include <cooperative_groups.h>

#include "corpus.hpp"

namespace cg = cooperative_groups;

__global__ void reduce_wrong(const int* x, int* y) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = x[t];  // reduce_wrong: race
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];  // reduce_wrong: race
  }
  __syncthreads();
  if (t == 0) y[0] = s[0];
}
__global__ void reduce_right(const int* x, int* y) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = x[t];
  for (int d = 64; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) s[t] += s[t + d];
  }
  __syncthreads();
  if (t == 0) y[0] = s[0];
}
CASE(reduce_wrong) {
  Array<int> x(128), y(1);
  reduce_wrong<<<1, 128>>>(x, y);
}
CASE(reduce_right) {
  Array<int> x(128), y(1);
  reduce_right<<<1, 128>>>(x, y);
}

__global__ void transpose_wrong(const float* x, float* y) {
  __shared__ float tile[32][33];
  for (int k = 0; k < 32; k += 8)
    tile[threadIdx.y + k][threadIdx.x] = x[(threadIdx.y + k) * 32 + threadIdx.x];  // transpose_wrong: race
  for (int k = 0; k < 32; k += 8)
    y[(threadIdx.y + k) * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + k];  // transpose_wrong: race
}
__global__ void transpose_right(const float* x, float* y) {
  __shared__ float tile[32][33];
  for (int k = 0; k < 32; k += 8)
    tile[threadIdx.y + k][threadIdx.x] = x[(threadIdx.y + k) * 32 + threadIdx.x];
  __syncthreads();
  for (int k = 0; k < 32; k += 8)
    y[(threadIdx.y + k) * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + k];
}
CASE(transpose_wrong) {
  Array<float> x(1024), y(1024);
  transpose_wrong<<<1, dim3(32, 8)>>>(x, y);
}
CASE(transpose_right) {
  Array<float> x(1024), y(1024);
  transpose_right<<<1, dim3(32, 8)>>>(x, y);
}

__global__ void warp_reduce_wrong(const int* x, int* y) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  volatile int* v = s;
  v[t] = x[t];
  __syncthreads();
  if (t < 32) {
    v[t] += v[t + 32];  // warp_reduce_wrong: race
    v[t] += v[t + 16];  // warp_reduce_wrong: race
    v[t] += v[t + 8];   // warp_reduce_wrong: race
    if (t == 0) y[0] = v[0];
  }
}
__global__ void warp_reduce_right(const int* x, int* y) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 32) {
    int sum = s[t];
    for (int d = 32; d >= 1; d /= 2) {
      sum += s[t + d < 64 ? t + d : t];
      __syncwarp();
      s[t] = sum;
      __syncwarp();
    }
    if (t == 0) y[0] = s[0];
  }
}
CASE(warp_reduce_wrong) {
  Array<int> x(64), y(1);
  warp_reduce_wrong<<<1, 64>>>(x, y);
}
CASE(warp_reduce_right) {
  Array<int> x(64), y(1);
  warp_reduce_right<<<1, 64>>>(x, y);
}

__global__ void buffer_wrong(const int* x, int* y, int n) {
  __shared__ int s[64];
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    s[threadIdx.x] = x[k * 64 + threadIdx.x];  // buffer_wrong: race
    __syncthreads();
    sum += s[63 - threadIdx.x];  // buffer_wrong: race
  }
  y[threadIdx.x] = sum;
}
__global__ void buffer_right(const int* x, int* y, int n) {
  __shared__ int s[64];
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    s[threadIdx.x] = x[k * 64 + threadIdx.x];
    __syncthreads();
    sum += s[63 - threadIdx.x];
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}
/// Two buffers need one barrier an iteration.
__global__ void two_buffers_right(const int* x, int* y, int n) {
  __shared__ int s[2][64];
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    s[k & 1][threadIdx.x] = x[k * 64 + threadIdx.x];
    __syncthreads();
    sum += s[k & 1][63 - threadIdx.x];
  }
  y[threadIdx.x] = sum;
}
CASE(buffer_wrong) {
  Array<int> x(256), y(64);
  buffer_wrong<<<1, 64>>>(x, y, 4);
}
CASE(buffer_right) {
  Array<int> x(256), y(64);
  buffer_right<<<1, 64>>>(x, y, 4);
}
CASE(two_buffers_right) {
  Array<int> x(256), y(64);
  two_buffers_right<<<1, 64>>>(x, y, 4);
}

__global__ void histogram_wrong(const unsigned char* x, int* y) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  bins[x[threadIdx.x] & 15] += 1;  // histogram_wrong: race, same-value
  __syncthreads();
  if (threadIdx.x < 16) y[threadIdx.x] = bins[threadIdx.x];
}
__global__ void histogram_right(const unsigned char* x, int* y) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(bins + (x[threadIdx.x] & 15), 1);
  __syncthreads();
  if (threadIdx.x < 16) y[threadIdx.x] = bins[threadIdx.x];
}
CASE(histogram_wrong) {
  Array<unsigned char> x(256);
  Array<int> y(16);
  histogram_wrong<<<1, 256>>>(x, y);
}
CASE(histogram_right) {
  Array<unsigned char> x(256);
  Array<int> y(16);
  histogram_right<<<1, 256>>>(x, y);
}

/// All write the same: a hazard of lower rank.
__global__ void found_right(const int* x, int* y) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (x[threadIdx.x] == 0) found = 1;  // found_right: same-value
  __syncthreads();
  if (threadIdx.x == 0) y[0] = found;
}
__global__ void found_wrong(const int* x, int* y) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (x[threadIdx.x] == 0) found = threadIdx.x;  // found_wrong: race
  __syncthreads();
  if (threadIdx.x == 0) y[0] = found;
}
CASE(found_wrong) {
  Array<int> x(64), y(1);
  found_wrong<<<1, 64>>>(x, y);
}
CASE(found_right) {
  Array<int> x(64), y(1);
  found_right<<<1, 64>>>(x, y);
}

__global__ void scan_wrong(int* x) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    const int v = t >= d ? s[t - d] : 0;  // scan_wrong: race
    s[t] += v;                            // scan_wrong: race
    __syncthreads();
  }
  x[t] = s[t];
}
__global__ void scan_right(int* x) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    const int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  x[t] = s[t];
}
CASE(scan_wrong) { scan_wrong<<<1, 128>>>(Array<int>(128)); }
CASE(scan_right) { scan_right<<<1, 128>>>(Array<int>(128)); }

__global__ void broadcast_wrong(const int* x, int* y) {
  __shared__ int value;
  if (threadIdx.x == 0) value = x[0];  // broadcast_wrong: race
  y[threadIdx.x] = value;              // broadcast_wrong: race
}
__global__ void broadcast_right(const int* x, int* y) {
  __shared__ int value;
  if (threadIdx.x == 0) value = x[0];
  __syncthreads();
  y[threadIdx.x] = value;
}
CASE(broadcast_wrong) {
  Array<int> x(1), y(64);
  broadcast_wrong<<<1, 64>>>(x, y);
}
CASE(broadcast_right) {
  Array<int> x(1), y(64);
  broadcast_right<<<1, 64>>>(x, y);
}

/// Neighbouring bytes of a word belong to different threads.
__global__ void bytes_right(const unsigned char* x, unsigned char* y) {
  __shared__ unsigned char s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void bytes_wrong(const unsigned char* x, unsigned char* y) {
  __shared__ unsigned char s[64];
  s[threadIdx.x / 2] = x[threadIdx.x] + threadIdx.x;  // bytes_wrong: race
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x / 2];
}
CASE(bytes_wrong) {
  Array<unsigned char> x(64), y(64);
  bytes_wrong<<<1, 64>>>(x, y);
}
CASE(bytes_right) {
  Array<unsigned char> x(64), y(64);
  bytes_right<<<1, 64>>>(x, y);
}

__global__ void half_warp_wrong(int* y) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (t < 16) {
    s[t] = t;  // half_warp_wrong: race
    __syncwarp(0x000000ffu << (t & 8));
    y[t] = s[15 - t];  // half_warp_wrong: race
  }
}
__global__ void half_warp_right(int* y) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  if (t < 16) {
    s[t] = t;
    __syncwarp(0x0000ffffu);
    y[t] = s[15 - t];
  }
}
CASE(half_warp_wrong) { half_warp_wrong<<<1, 32>>>(Array<int>(32)); }
CASE(half_warp_right) { half_warp_right<<<1, 32>>>(Array<int>(32)); }

__device__ void barrier_sync(int id, int count) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}
__device__ void barrier_arrive(int id, int count) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(count) : "memory");
}
__global__ void named_wrong(int* y) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    barrier_arrive(1, 64);
    s[threadIdx.x] = threadIdx.x;  // named_wrong: race
  } else {
    barrier_sync(1, 64);
    y[threadIdx.x] = s[threadIdx.x - 32];  // named_wrong: race
  }
}
__global__ void named_right(int* y) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x;
    barrier_arrive(1, 64);
  } else {
    barrier_sync(1, 64);
    y[threadIdx.x] = s[threadIdx.x - 32];
  }
}
CASE(named_wrong) { named_wrong<<<1, 64>>>(Array<int>(64)); }
CASE(named_right) { named_right<<<1, 64>>>(Array<int>(64)); }

/// Pairs of warps meet at barriers of their own.
__global__ void pairs_wrong(int* y) {
  __shared__ int s[128];
  const int t = threadIdx.x, pair = t / 64;
  s[t] = t;  // pairs_wrong: race
  barrier_sync(1 + pair, 64);
  y[t] = s[127 - t];  // pairs_wrong: race
}
__global__ void pairs_right(int* y) {
  __shared__ int s[128];
  const int t = threadIdx.x, pair = t / 64;
  s[t] = t;
  barrier_sync(1 + pair, 64);
  y[t] = s[t ^ 63];
}
CASE(pairs_wrong) { pairs_wrong<<<1, 128>>>(Array<int>(128)); }
CASE(pairs_right) { pairs_right<<<1, 128>>>(Array<int>(128)); }

__global__ void shuffle_order_wrong(const int* x, int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = x[threadIdx.x];  // shuffle_order_wrong: race
  const int other = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
  y[threadIdx.x] = other + s[threadIdx.x ^ 1];  // shuffle_order_wrong: race
}
__global__ void shuffle_order_right(const int* x, int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = x[threadIdx.x];
  const int other = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
  __syncwarp();
  y[threadIdx.x] = other + s[threadIdx.x ^ 1];
}
CASE(shuffle_order_wrong) {
  Array<int> x(32), y(32);
  shuffle_order_wrong<<<1, 32>>>(x, y);
}
CASE(shuffle_order_right) {
  Array<int> x(32), y(32);
  shuffle_order_right<<<1, 32>>>(x, y);
}

__global__ void tile_wrong(const int* x, int* y) {
  __shared__ int s[64];
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int t = threadIdx.x;
  s[t] = x[t];  // tile_wrong: race
  tile.sync();
  y[t] = s[t ^ 8];  // tile_wrong: race
}
__global__ void tile_right(const int* x, int* y) {
  __shared__ int s[64];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int t = threadIdx.x;
  s[t] = x[t];
  tile.sync();
  y[t] = s[t ^ 8];
}
CASE(tile_wrong) {
  Array<int> x(64), y(64);
  tile_wrong<<<1, 64>>>(x, y);
}
CASE(tile_right) {
  Array<int> x(64), y(64);
  tile_right<<<1, 64>>>(x, y);
}

__global__ void mixed_atomic_wrong(int* y) {
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  atomicAdd(&counter, 1);       // mixed_atomic_wrong: race
  y[threadIdx.x] = counter;     // mixed_atomic_wrong: race
}
__global__ void mixed_atomic_right(int* y) {
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  atomicAdd(&counter, 1);
  __syncthreads();
  y[threadIdx.x] = counter;
}
CASE(mixed_atomic_wrong) { mixed_atomic_wrong<<<1, 64>>>(Array<int>(64)); }
CASE(mixed_atomic_right) { mixed_atomic_right<<<1, 64>>>(Array<int>(64)); }

__global__ void __cluster_dims__(2, 1, 1) cluster_wrong(int* y) {
  __shared__ int s[32];
  const auto cluster = cg::this_cluster();
  s[threadIdx.x] = cluster.block_rank() + 1;  // cluster_wrong: race
  __syncthreads();
  const int* other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  y[blockIdx.x * 32 + threadIdx.x] = other[31 - threadIdx.x];  // cluster_wrong: race
  cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) cluster_right(int* y) {
  __shared__ int s[32];
  const auto cluster = cg::this_cluster();
  s[threadIdx.x] = cluster.block_rank() + 1;
  cluster.sync();
  const int* other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  y[blockIdx.x * 32 + threadIdx.x] = other[31 - threadIdx.x];
  cluster.sync();
}
// Without its barrier the block may also read before anything is written.
CASE(cluster_wrong) { cluster_wrong<<<2, 32>>>(Array<int>(64)); }
CASE(cluster_right) { cluster_right<<<2, 32>>>(Array<int>(64)); }

/// One warp hands a value to another through a flag.
__global__ void flag_wrong(const int* x, int* y) {
  __shared__ int data[32];
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data[0] = x[0];  // flag_wrong: race
    *static_cast<volatile int*>(&flag) = 1;
  } else if (threadIdx.x == 32) {
    while (*static_cast<volatile int*>(&flag) == 0) {
    }
    y[0] = data[0];  // flag_wrong: race
  }
}
__global__ void flag_right(const int* x, int* y) {
  __shared__ int data[32];
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data[0] = x[0];
    __threadfence_block();
    *static_cast<volatile int*>(&flag) = 1;
  } else if (threadIdx.x == 32) {
    while (*static_cast<volatile int*>(&flag) == 0) {
    }
    __threadfence_block();
    y[0] = data[0];
  }
}
CASE(flag_wrong) {
  Array<int> x(1), y(1);
  flag_wrong<<<1, 64>>>(x, y);
}
CASE(flag_right) {
  Array<int> x(1), y(1);
  flag_right<<<1, 64>>>(x, y);
}

/// Tiled product: the second barrier keeps the tile until all have read it.
__global__ void product_wrong(const float* a, const float* b, float* c, int n) {
  __shared__ float sa[16][16], sb[16][16];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x,
            row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    sa[y][x] = a[row * n + k + x];       // product_wrong: race
    sb[y][x] = b[(k + y) * n + column];  // product_wrong: race
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += sa[y][i] * sb[i][x];  // product_wrong: race
  }
  c[row * n + column] = sum;
}
__global__ void product_right(const float* a, const float* b, float* c, int n) {
  __shared__ float sa[16][16], sb[16][16];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x,
            row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    sa[y][x] = a[row * n + k + x];
    sb[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += sa[y][i] * sb[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
CASE(product_wrong) {
  Array<float> a(64 * 64), b(64 * 64), c(64 * 64);
  product_wrong<<<dim3(4, 4), dim3(16, 16)>>>(a, b, c, 64);
}
CASE(product_right) {
  Array<float> a(64 * 64), b(64 * 64), c(64 * 64);
  product_right<<<dim3(4, 4), dim3(16, 16)>>>(a, b, c, 64);
}
