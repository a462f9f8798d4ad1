#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <mma.h>

#include "corpus.hpp"

// cuda::barrier in shared memory is started by init().
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void copy_wait_wrong(const int* x, int* y) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, x + threadIdx.x, 4);  // copy_wait_wrong: race
  __pipeline_commit();
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];  // copy_wait_wrong: race
}
__global__ void copy_wait_right(const int* x, int* y) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, x + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(copy_wait_wrong) {
  Array<int> x(64), y(64);
  copy_wait_wrong<<<1, 64>>>(x, y);
}
CASE(copy_wait_right) {
  Array<int> x(64), y(64);
  copy_wait_right<<<1, 64>>>(x, y);
}

/// The wait is there, the barrier that tells the others isn't.
__global__ void copy_barrier_wrong(const int* x, int* y) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, x + threadIdx.x, 4);  // copy_barrier_wrong: race
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[threadIdx.x] = s[63 - threadIdx.x];  // copy_barrier_wrong: race
}
/// What a thread copied for itself needs no barrier.
__global__ void copy_barrier_right(const int* x, int* y) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + threadIdx.x, x + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[threadIdx.x] = s[threadIdx.x];
}
CASE(copy_barrier_wrong) {
  Array<int> x(64), y(64);
  copy_barrier_wrong<<<1, 64>>>(x, y);
}
CASE(copy_barrier_right) {
  Array<int> x(64), y(64);
  copy_barrier_right<<<1, 64>>>(x, y);
}

template <int Open>
__device__ int stages(const int* x, int (*s)[64], int n) {
  int sum = 0;
  __pipeline_memcpy_async(s[0] + threadIdx.x, x + threadIdx.x, 4);  // stages_wrong: race
  __pipeline_commit();
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n)
      __pipeline_memcpy_async(s[(k + 1) & 1] + threadIdx.x, x + (k + 1) * 64 + threadIdx.x, 4);  // stages_wrong: race
    __pipeline_commit();
    __pipeline_wait_prior(Open);
    __syncthreads();
    sum += s[k & 1][63 - threadIdx.x];  // stages_wrong: race
    __syncthreads();
  }
  return sum;
}
__global__ void stages_wrong(const int* x, int* y) {
  __shared__ int s[2][64];
  y[threadIdx.x] = stages<2>(x, s, 4);
}
__global__ void stages_right(const int* x, int* y) {
  __shared__ int s[2][64];
  y[threadIdx.x] = stages<1>(x, s, 4);
}
CASE(stages_wrong) {
  Array<int> x(256), y(64);
  stages_wrong<<<1, 64>>>(x, y);
}
CASE(stages_right) {
  Array<int> x(256), y(64);
  stages_right<<<1, 64>>>(x, y);
}

__global__ void pipeline_wrong(const int* x, int* y) {
  __shared__ int s[64];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(s + threadIdx.x, x + threadIdx.x, 4, pipe);  // pipeline_wrong: race
  pipe.producer_commit();
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];  // pipeline_wrong: race
  pipe.consumer_wait();
  pipe.consumer_release();
}
__global__ void pipeline_right(const int* x, int* y) {
  __shared__ int s[64];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(s + threadIdx.x, x + threadIdx.x, 4, pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
  pipe.consumer_release();
}
CASE(pipeline_wrong) {
  Array<int> x(64), y(64);
  pipeline_wrong<<<1, 64>>>(x, y);
}
CASE(pipeline_right) {
  Array<int> x(64), y(64);
  pipeline_right<<<1, 64>>>(x, y);
}

__global__ void arrive_wait_wrong(const int* x, int* y) {
  __shared__ Barrier barrier;
  __shared__ int s[64];
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x];  // arrive_wait_wrong: race
  auto token = barrier.arrive();
  y[threadIdx.x] = s[63 - threadIdx.x];  // arrive_wait_wrong: race
  barrier.wait(std::move(token));
}
__global__ void arrive_wait_right(const int* x, int* y) {
  __shared__ Barrier barrier;
  __shared__ int s[64];
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x];
  auto token = barrier.arrive();
  barrier.wait(std::move(token));
  y[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(arrive_wait_wrong) {
  Array<int> x(64), y(64);
  arrive_wait_wrong<<<1, 64>>>(x, y);
}
CASE(arrive_wait_right) {
  Array<int> x(64), y(64);
  arrive_wait_right<<<1, 64>>>(x, y);
}

/// Copies that complete on a barrier.
__global__ void copy_on_barrier_wrong(const int* x, int* y) {
  __shared__ Barrier barrier;
  __shared__ int s[64];
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  cuda::memcpy_async(s + threadIdx.x, x + threadIdx.x, 4, barrier);  // copy_on_barrier_wrong: race
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];  // copy_on_barrier_wrong: race
  barrier.arrive_and_wait();
}
__global__ void copy_on_barrier_right(const int* x, int* y) {
  __shared__ Barrier barrier;
  __shared__ int s[64];
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  cuda::memcpy_async(s + threadIdx.x, x + threadIdx.x, 4, barrier);
  barrier.arrive_and_wait();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(copy_on_barrier_wrong) {
  Array<int> x(64), y(64);
  copy_on_barrier_wrong<<<1, 64>>>(x, y);
}
CASE(copy_on_barrier_right) {
  Array<int> x(64), y(64);
  copy_on_barrier_right<<<1, 64>>>(x, y);
}

/// A bulk copy (TMA without a tensor) and its mbarrier.
__device__ void bulk_copy(int* to, const int* from, unsigned bytes, unsigned long long* word) {
  const auto s = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const auto w = static_cast<unsigned>(__cvta_generic_to_shared(word));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(w), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s),  // bulk_wrong: race
      "l"(from), "r"(bytes), "r"(w)
      : "memory");
}
__device__ void bulk_wait(unsigned long long* word, unsigned parity) {
  const auto w = static_cast<unsigned>(__cvta_generic_to_shared(word));
  asm volatile(
      "{ .reg .pred p;\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra WAIT; }" ::"r"(w),
      "r"(parity)
      : "memory");
}
__device__ void bulk_init(unsigned long long* word) {
  const auto w = static_cast<unsigned>(__cvta_generic_to_shared(word));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(w) : "memory");
}
__global__ void bulk_wrong(const int* x, int* y) {
  __shared__ __align__(16) int s[64];
  __shared__ unsigned long long word;
  if (threadIdx.x == 0) {
    bulk_init(&word);
    bulk_copy(s, x, 256, &word);
  }
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];  // bulk_wrong: race
  bulk_wait(&word, 0);
}
__global__ void bulk_right(const int* x, int* y) {
  __shared__ __align__(16) int s[64];
  __shared__ unsigned long long word;
  if (threadIdx.x == 0) {
    bulk_init(&word);
    bulk_copy(s, x, 256, &word);
  }
  __syncthreads();
  bulk_wait(&word, 0);
  y[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(bulk_wrong) {
  Array<int> x(64), y(64);
  bulk_wrong<<<1, 64>>>(x, y);
}
CASE(bulk_right) {
  Array<int> x(64), y(64);
  bulk_right<<<1, 64>>>(x, y);
}

/// One warp fills a buffer, another empties it.
template <bool Right>
__device__ void specialised(const int* x, int* y, int n, int* s, Barrier* full, Barrier* empty) {
  if (threadIdx.x == 0) {
    init(full, 64);
    init(empty, 64);
  }
  __syncthreads();
  const int t = threadIdx.x & 31;
  if (threadIdx.x < 32) {
    for (int k = 0; k < n; ++k) {
      if (Right) empty->arrive_and_wait();
      s[t] = x[k * 32 + t];  // specialised_wrong: race
      if (Right)
        (void)full->arrive();
      else
        full->arrive_and_wait();
    }
  } else {
    int sum = 0;
    if (Right) (void)empty->arrive();
    for (int k = 0; k < n; ++k) {
      full->arrive_and_wait();
      sum += s[31 - t];  // specialised_wrong: race
      if (Right && k + 1 < n) (void)empty->arrive();
    }
    y[t] = sum;
  }
}
__global__ void specialised_wrong(const int* x, int* y) {
  __shared__ int s[32];
  __shared__ Barrier full, empty;
  specialised<false>(x, y, 4, s, &full, &empty);
}
__global__ void specialised_right(const int* x, int* y) {
  __shared__ int s[32];
  __shared__ Barrier full, empty;
  specialised<true>(x, y, 4, s, &full, &empty);
}
CASE(specialised_wrong) {
  Array<int> x(128), y(32);
  specialised_wrong<<<1, 64>>>(x, y);
}
CASE(specialised_right) {
  Array<int> x(128), y(32);
  specialised_right<<<1, 64>>>(x, y);
}

__global__ void group_copy_wrong(const int* x, int* y) {
  __shared__ int s[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof s);  // group_copy_wrong: race
  block.sync();
  y[threadIdx.x] = s[63 - threadIdx.x];  // group_copy_wrong: race
  cg::wait(block);
}
__global__ void group_copy_right(const int* x, int* y) {
  __shared__ int s[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof s);
  cg::wait(block);
  y[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(group_copy_wrong) {
  Array<int> x(64), y(64);
  group_copy_wrong<<<1, 64>>>(x, y);
}
CASE(group_copy_right) {
  Array<int> x(64), y(64);
  group_copy_right<<<1, 64>>>(x, y);
}

/// A matrix fragment from shared memory that other warps fill.
__global__ void fragment_wrong(const half* x, float* y) {
  namespace w = nvcuda::wmma;
  __shared__ half s[256];
  for (int i = threadIdx.x; i < 256; i += 64) s[i] = x[i];  // fragment_wrong: race
  w::fragment<w::matrix_a, 16, 16, 16, half, w::row_major> a;
  w::fragment<w::matrix_b, 16, 16, 16, half, w::col_major> b;
  w::fragment<w::accumulator, 16, 16, 16, float> c;
  w::fill_fragment(c, 0.0f);
  w::load_matrix_sync(a, s, 16);  // fragment_wrong: race
  w::load_matrix_sync(b, s, 16);  // fragment_wrong: race
  w::mma_sync(c, a, b, c);
  w::store_matrix_sync(y + threadIdx.x / 32 * 256, c, 16, w::mem_row_major);
}
__global__ void fragment_right(const half* x, float* y) {
  namespace w = nvcuda::wmma;
  __shared__ half s[256];
  for (int i = threadIdx.x; i < 256; i += 64) s[i] = x[i];
  __syncthreads();
  w::fragment<w::matrix_a, 16, 16, 16, half, w::row_major> a;
  w::fragment<w::matrix_b, 16, 16, 16, half, w::col_major> b;
  w::fragment<w::accumulator, 16, 16, 16, float> c;
  w::fill_fragment(c, 0.0f);
  w::load_matrix_sync(a, s, 16);
  w::load_matrix_sync(b, s, 16);
  w::mma_sync(c, a, b, c);
  w::store_matrix_sync(y + threadIdx.x / 32 * 256, c, 16, w::mem_row_major);
}
CASE(fragment_wrong) {
  Array<half> x(256);
  Array<float> y(512);
  fragment_wrong<<<1, 64>>>(x, y);
}
CASE(fragment_right) {
  Array<half> x(256);
  Array<float> y(512);
  fragment_right<<<1, 64>>>(x, y);
}
