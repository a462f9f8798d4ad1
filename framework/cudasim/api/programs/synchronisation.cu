// Cooperative groups, clusters, cuda::barrier, cuda::pipeline and cuda::atomic.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>

#include "check.hpp"

namespace cg = cooperative_groups;

#pragma nv_diag_suppress static_var_with_dynamic_init  // barriers are set up by init

__global__ void groups(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto tile = cg::tiled_partition<8>(warp);
  const int i = block.thread_rank();
  int* row = out + 8 * i;
  row[0] = cg::reduce(tile, i, cg::plus<int>());
  row[1] = cg::reduce(warp, i, cg::greater<int>());
  row[2] = cg::inclusive_scan(tile, 1);
  row[3] = tile.shfl_xor(i, 3);
  row[4] = static_cast<int>(tile.ballot(i % 2));
  if (i % 3 == 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    row[5] = static_cast<int>(active.size());
    row[6] = static_cast<int>(active.thread_rank());
  }
  const auto labels = cg::labeled_partition(warp, i % 5);
  row[7] = static_cast<int>(labels.size());
}

__global__ void __cluster_dims__(4, 1, 1) neighbours(int* out) {
  __shared__ int cell;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) cell = 100 * blockIdx.x;
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  if (threadIdx.x == 0) {
    out[blockIdx.x] = *cluster.map_shared_rank(&cell, next);
    atomicAdd(cluster.map_shared_rank(&cell, 0), 1);
  }
  cluster.sync();
  if (threadIdx.x == 0 && cluster.block_rank() == 0) out[gridDim.x + blockIdx.x / 4] = cell;
}

// Tiles are copied two stages ahead of the sum over them.
__global__ void pipelined_sum(const int* in, int* out, int tiles) {
  constexpr int stages = 2;
  __shared__ int tile[stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int fetched = 0, used = 0; used < tiles; ++used) {
    for (; fetched < tiles && fetched < used + stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, tile[fetched % stages], in + 128 * fetched,
                         cuda::aligned_size_t<16>(sizeof tile[0]), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += tile[used % stages][(threadIdx.x + 1) % 128];
    pipeline.consumer_release();
  }
  atomicAdd(out, sum);
}

__global__ void barrier_copy(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ alignas(16) int tile[256];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  // One thread starts the bulk copy, all wait for its bytes.
  cuda::memcpy_async(cg::this_thread_block(), tile, in, cuda::aligned_size_t<16>(sizeof tile),
                     barrier);
  auto token = barrier.arrive();
  barrier.wait(std::move(token));
  out[threadIdx.x] = tile[255 - threadIdx.x];
  barrier.arrive_and_wait();
  // Phases go on: split arrive and wait three times.
  for (int phase = 0; phase < 3; ++phase) {
    tile[threadIdx.x] = phase + threadIdx.x;
    barrier.arrive_and_wait();
    out[threadIdx.x] += tile[(threadIdx.x + 1) % 256];
    barrier.arrive_and_wait();
  }
}

// Block 1 waits for what block 0 publishes; every thread counts once.
__global__ void atomics(cuda::atomic<int, cuda::thread_scope_device>* flag, int* data,
                        int* counts) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) {
      data[0] = 42;
      flag->store(1, cuda::memory_order_release);
    } else {
      while (flag->load(cuda::memory_order_acquire) == 0) {
      }
      data[1] = data[0] + 1;
    }
  }
  cuda::atomic_ref<int, cuda::thread_scope_device> total(counts[0]);
  total.fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device>(counts[1]).fetch_max(
      static_cast<int>(threadIdx.x));
  int seen = counts[2];
  cuda::atomic_ref<int, cuda::thread_scope_device> product(counts[2]);
  while (!product.compare_exchange_weak(seen, seen + 2)) {
  }
}

int main() {
  int* out = nullptr;
  OK(cudaMallocManaged(&out, 4096 * sizeof(int)));
  groups<<<1, 64>>>(out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) {
    const int *row = out + 8 * i, tile = i / 8 * 8;
    CHECK(row[0] == 8 * tile + 28 && row[1] == i / 32 * 32 + 31 && row[2] == i % 8 + 1);
    CHECK(row[3] == (i ^ 3) && row[4] == 0xaa);
    int active = 0, rank = 0, same = 0;
    for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
      active += k % 3 == 0;
      rank += k % 3 == 0 && k < i;
      same += k % 5 == i % 5;
    }
    if (i % 3 == 0) CHECK(row[5] == active && row[6] == rank);
    CHECK(row[7] == same);
  }

  neighbours<<<8, 32>>>(out);
  OK(cudaDeviceSynchronize());
  for (int b = 0; b < 8; ++b) CHECK(out[b] == 100 * (b / 4 * 4 + (b + 1) % 4) || b % 4 == 3);
  CHECK(out[8] == 4 && out[9] == 404);

  const int tiles = 9;
  std::vector<int> values(128 * tiles);
  int sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] = static_cast<int>(i % 23);
  int* in = nullptr;
  OK(cudaMalloc(&in, values.size() * 4));
  OK(cudaMemcpy(in, values.data(), values.size() * 4, cudaMemcpyHostToDevice));
  out[0] = 0;
  pipelined_sum<<<1, 128>>>(in, out, tiles);
  OK(cudaDeviceSynchronize());
  CHECK(out[0] == sum);

  barrier_copy<<<1, 256>>>(in, out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) CHECK(out[i] == values[255 - i] + 3 + 3 * ((i + 1) % 256));

  cuda::atomic<int, cuda::thread_scope_device>* flag = nullptr;
  OK(cudaMalloc(&flag, sizeof *flag));
  OK(cudaMemset(flag, 0, sizeof *flag));
  for (int i = 0; i < 5; ++i) out[i] = 0;
  atomics<<<2, 96>>>(flag, out, out + 2);
  OK(cudaDeviceSynchronize());
  CHECK(out[1] == 43 && out[2] == 192 && out[3] == 95 && out[4] == 384);
  std::puts("passed");
}
