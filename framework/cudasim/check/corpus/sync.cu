#include "corpus.hpp"

__global__ void divergent_wrong(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x % 32 < 16) {
    __syncthreads();  // divergent_wrong: divergent-barrier
    y[threadIdx.x] = s[threadIdx.x];
  } else {
    __syncthreads();  // divergent_wrong: divergent-barrier
    y[threadIdx.x] = -s[threadIdx.x];
  }
}
__global__ void divergent_right(int* y) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = threadIdx.x % 32 < 16 ? s[threadIdx.x] : -s[threadIdx.x];
}
CASE(divergent_wrong) { divergent_wrong<<<1, 64>>>(Array<int>(64)); }
CASE(divergent_right) { divergent_right<<<1, 64>>>(Array<int>(64)); }

__global__ void early_return_wrong(int* y, int n) {
  __shared__ int s[128];
  const int i = threadIdx.x;
  if (i >= n) return;
  s[i] = i;
  __syncthreads();  // early_return_wrong: exited-threads
  y[i] = s[n - 1 - i];
}
__global__ void early_return_right(int* y, int n) {
  __shared__ int s[128];
  const int i = threadIdx.x;
  if (i < n) s[i] = i;
  __syncthreads();
  if (i < n) y[i] = s[n - 1 - i];
}
CASE(early_return_wrong) { early_return_wrong<<<1, 128>>>(Array<int>(128), 100); }
CASE(early_return_right) { early_return_right<<<1, 128>>>(Array<int>(128), 100); }

__global__ void shuffle_mask_wrong(int* y) {
  const int v = threadIdx.x;
  y[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, v, 1);  // shuffle_mask_wrong: bad-mask
}
__global__ void shuffle_mask_right(int* y) {
  const int v = threadIdx.x;
  y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, v, 1);
}
CASE(shuffle_mask_wrong) { shuffle_mask_wrong<<<1, 32>>>(Array<int>(32)); }
CASE(shuffle_mask_right) { shuffle_mask_right<<<1, 32>>>(Array<int>(32)); }

// The lanes of one mask may exchange at different places.
__global__ void shuffle_apart_right(int* y) {
  const int v = threadIdx.x;
  int got;
  if (threadIdx.x < 16) {
    asm volatile("shfl.sync.bfly.b32 %0, %1, 16, 31, 0xffffffff;" : "=r"(got) : "r"(v));
    y[threadIdx.x] = got;
  } else {
    asm volatile("shfl.sync.bfly.b32 %0, %1, 16, 31, 0xffffffff;" : "=r"(got) : "r"(v));
    y[threadIdx.x] = -got;
  }
}
CASE(shuffle_apart_right) { shuffle_apart_right<<<1, 32>>>(Array<int>(32)); }

__global__ void shuffle_exited_wrong(int* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  int v = y[i];
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_down_sync(0xffffffffu, v, d);  // shuffle_exited_wrong: bad-mask
  if (i == 0) y[0] = v;
}
__global__ void shuffle_exited_right(int* y, int n) {
  const int i = threadIdx.x;
  int v = i < n ? y[i] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (i == 0) y[0] = v;
}
CASE(shuffle_exited_wrong) { shuffle_exited_wrong<<<1, 32>>>(Array<int>(32), 20); }
CASE(shuffle_exited_right) { shuffle_exited_right<<<1, 32>>>(Array<int>(32), 20); }

__global__ void ballot_wrong(unsigned* y) {
  if (threadIdx.x >= 8)
    y[threadIdx.x] = __ballot_sync(0x000000ffu, y[threadIdx.x] != 0);  // ballot_wrong: bad-mask
}
__global__ void ballot_right(unsigned* y) {
  if (threadIdx.x >= 8) y[threadIdx.x] = __ballot_sync(0xffffff00u, y[threadIdx.x] != 0);
}
CASE(ballot_wrong) { ballot_wrong<<<1, 32>>>(Array<unsigned>(32)); }
CASE(ballot_right) { ballot_right<<<1, 32>>>(Array<unsigned>(32)); }

__global__ void syncwarp_mask_wrong(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 16) {
    __syncwarp(0xffff0000u);  // syncwarp_mask_wrong: bad-mask
    y[threadIdx.x] = s[threadIdx.x];
  }
}
__global__ void syncwarp_mask_right(int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 16) {
    __syncwarp(0x0000ffffu);
    y[threadIdx.x] = s[threadIdx.x ^ 1];
  }
}
CASE(syncwarp_mask_wrong) { syncwarp_mask_wrong<<<1, 32>>>(Array<int>(32)); }
CASE(syncwarp_mask_right) { syncwarp_mask_right<<<1, 32>>>(Array<int>(32)); }

__global__ void named_count_wrong(int* y) {
  if (threadIdx.x < 64)
    asm volatile("bar.sync 1, 128;");  // named_count_wrong: deadlock
  y[threadIdx.x] = 1;
}
__global__ void named_count_right(int* y) {
  if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;");
  y[threadIdx.x] = 1;
}
CASE(named_count_wrong) { named_count_wrong<<<1, 128>>>(Array<int>(128)); }
CASE(named_count_right) { named_count_right<<<1, 128>>>(Array<int>(128)); }

__global__ void odd_count_wrong(int* y, int n) {
  asm volatile("bar.sync 1, %0;" ::"r"(n));  // odd_count_wrong: bad-count
  y[threadIdx.x] = 1;
}
__global__ void odd_count_right(int* y, int n) {
  asm volatile("bar.sync 1, %0;" ::"r"(n));
  y[threadIdx.x] = 1;
}
CASE(odd_count_wrong) { odd_count_wrong<<<1, 64>>>(Array<int>(64), 48); }
CASE(odd_count_right) { odd_count_right<<<1, 64>>>(Array<int>(64), 64); }

__global__ void loop_barrier_wrong(int* y) {
  for (int k = 0; k <= (threadIdx.x & 1); ++k) {
    y[threadIdx.x] += k;
    __syncthreads();  // loop_barrier_wrong: exited-threads
  }
}
__global__ void loop_barrier_right(int* y) {
  for (int k = 0; k <= 1; ++k) {
    if (k <= (threadIdx.x & 1)) y[threadIdx.x] += k;
    __syncthreads();
  }
}
CASE(loop_barrier_wrong) { loop_barrier_wrong<<<1, 64>>>(Array<int>(64)); }
CASE(loop_barrier_right) { loop_barrier_right<<<1, 64>>>(Array<int>(64)); }

/// Lanes leave the loop at different times and meet again before the barrier.
__global__ void long_loop_right(int* y) {
  int v = 0;
  for (int k = 0; k < static_cast<int>(threadIdx.x) * 3000; ++k) v ^= k * v + 1;
  __syncthreads();
  y[threadIdx.x] = v;
}
CASE(long_loop_right) { long_loop_right<<<1, 64>>>(Array<int>(64)); }
