#include <cooperative_groups.h>
#include <cuda/atomic>

#include "corpus.hpp"

namespace cg = cooperative_groups;

/// Block 0 hands data to block 1.
__global__ void handover_wrong(int* data, int* flag, int* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;  // handover_wrong: race
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(flag, 1);
  } else {
    if (threadIdx.x == 0) {
      while (atomicAdd(flag, 0) == 0) {
      }
    }
    __syncthreads();
    y[threadIdx.x] = data[threadIdx.x];  // handover_wrong: race
  }
}
__global__ void handover_right(int* data, int* flag, int* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(flag, 1);
  } else {
    if (threadIdx.x == 0) {
      while (atomicAdd(flag, 0) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    y[threadIdx.x] = data[threadIdx.x];
  }
}
CASE(handover_wrong) {
  Array<int> data(64), flag(1), y(64);
  handover_wrong<<<2, 64>>>(data, flag, y);
}
CASE(handover_right) {
  Array<int> data(64), flag(1), y(64);
  handover_right<<<2, 64>>>(data, flag, y);
}

/// The fence is there, the barrier that brings the other threads' data under it isn't.
__global__ void publish_wrong(int* data, int* flag, int* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;  // publish_wrong: race
    if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(flag, 1);
    }
  } else if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    int sum = 0;
    for (int i = 0; i < 64; ++i) sum += data[i];  // publish_wrong: race
    y[0] = sum;
  }
}
__global__ void publish_right(int* data, int* flag, int* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(flag, 1);
    }
  } else if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    int sum = 0;
    for (int i = 0; i < 64; ++i) sum += data[i];
    y[0] = sum;
  }
}
CASE(publish_wrong) {
  Array<int> data(64), flag(1), y(1);
  publish_wrong<<<2, 64>>>(data, flag, y);
}
CASE(publish_right) {
  Array<int> data(64), flag(1), y(1);
  publish_right<<<2, 64>>>(data, flag, y);
}

/// Each block leaves a part; the last to finish adds them up.
__global__ void last_block_wrong(int* parts, unsigned* count, int* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x;  // last_block_wrong: race
    last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += parts[i];  // last_block_wrong: race
    y[0] = sum;
  }
}
__global__ void last_block_right(int* parts, unsigned* count, int* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x;
    __threadfence();
    last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += parts[i];
    y[0] = sum;
  }
}
CASE(last_block_wrong) {
  Array<int> parts(16), y(1);
  Array<unsigned> count(1);
  last_block_wrong<<<16, 64>>>(parts, count, y);
}
CASE(last_block_right) {
  Array<int> parts(16), y(1);
  Array<unsigned> count(1);
  last_block_right<<<16, 64>>>(parts, count, y);
}

__global__ void grid_wrong(int* x, int* y) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;  // grid_wrong: race
  __syncthreads();
  y[i] = x[n - 1 - i];  // grid_wrong: race
}
__global__ void grid_right(int* x, int* y) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
  cg::this_grid().sync();
  y[i] = x[n - 1 - i];
}
template <typename Kernel>
static void cooperative(Kernel kernel) {
  Array<int> x(512), y(512);
  int *px = x, *py = y;
  void* arguments[] = {&px, &py};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(8), dim3(64), arguments);
}
CASE(grid_wrong) { cooperative(grid_wrong); }
CASE(grid_right) { cooperative(grid_right); }

/// Two kernels instead: the end of one orders it before the next.
__global__ void first_right(int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
}
__global__ void second_right(const int* x, int* y) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[n - 1 - i];
}
CASE(two_kernels_right) {
  Array<int> x(512), y(512);
  first_right<<<8, 64>>>(x);
  second_right<<<8, 64>>>(x, y);
}

__global__ void halo_wrong(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
  if (threadIdx.x == blockDim.x - 1 && i + 1 < n) x[i + 1] = 0;  // halo_wrong: race
}
__global__ void halo_right(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = threadIdx.x == 0 && i != 0 ? 0 : i;
}
CASE(halo_wrong) { halo_wrong<<<4, 64>>>(Array<float>(256), 256); }
CASE(halo_right) { halo_right<<<4, 64>>>(Array<float>(256), 256); }

__global__ void stencil_wrong(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float left = i > 0 ? x[i - 1] : 0, right = i + 1 < n ? x[i + 1] : 0;  // stencil_wrong: race
  __syncthreads();
  x[i] = left + right;  // stencil_wrong: race
}
__global__ void stencil_right(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float left = i > 0 ? x[i - 1] : 0, right = i + 1 < n ? x[i + 1] : 0;
  y[i] = left + right;
}
CASE(stencil_wrong) { stencil_wrong<<<4, 64>>>(Array<float>(256), 256); }
CASE(stencil_right) {
  Array<float> x(256), y(256);
  stencil_right<<<4, 64>>>(x, y, 256);
}

__global__ void counter_wrong(int* counter) {
  if (threadIdx.x == 0) *counter += 1;  // counter_wrong: race, same-value
}
__global__ void counter_right(int* counter) {
  if (threadIdx.x == 0) atomicAdd(counter, 1);
}
CASE(counter_wrong) { counter_wrong<<<8, 32>>>(Array<int>(1)); }
CASE(counter_right) { counter_right<<<8, 32>>>(Array<int>(1)); }

__global__ void scope_wrong(int* counter) {
  atomicAdd_block(counter, 1);  // scope_wrong: race
}
__global__ void scope_right(int* counter) { atomicAdd(counter, 1); }
CASE(scope_wrong) { scope_wrong<<<4, 32>>>(Array<int>(1)); }
CASE(scope_right) { scope_right<<<4, 32>>>(Array<int>(1)); }

__global__ void atomic_flag_wrong(int* data, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 5;  // atomic_flag_wrong: race
    f.store(1, cuda::memory_order_relaxed);
  } else {
    while (f.load(cuda::memory_order_relaxed) == 0) {
    }
    y[0] = data[0];  // atomic_flag_wrong: race
  }
}
__global__ void atomic_flag_right(int* data, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 5;
    f.store(1, cuda::memory_order_release);
  } else {
    while (f.load(cuda::memory_order_acquire) == 0) {
    }
    y[0] = data[0];
  }
}
CASE(atomic_flag_wrong) {
  Array<int> data(1), flag(1), y(1);
  atomic_flag_wrong<<<2, 32>>>(data, flag, y);
}
CASE(atomic_flag_right) {
  Array<int> data(1), flag(1), y(1);
  atomic_flag_right<<<2, 32>>>(data, flag, y);
}

/// A lock around a plain update.
__global__ void lock_wrong(int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  sum[0] += 1;  // lock_wrong: race
  atomicExch(lock, 0);
}
__global__ void lock_right(int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  sum[0] += 1;
  __threadfence();
  atomicExch(lock, 0);
}
CASE(lock_wrong) {
  Array<int> lock(1), sum(1);
  lock_wrong<<<8, 32>>>(lock, sum);
}
CASE(lock_right) {
  Array<int> lock(1), sum(1);
  lock_right<<<8, 32>>>(lock, sum);
}

/// Neighbouring lanes of a warp exchange through global memory.
__global__ void warp_global_wrong(int* x, int* y) {
  x[threadIdx.x] = threadIdx.x;    // warp_global_wrong: race
  y[threadIdx.x] = x[threadIdx.x ^ 1];  // warp_global_wrong: race
}
__global__ void warp_global_right(int* x, int* y) {
  x[threadIdx.x] = threadIdx.x;
  __syncwarp();
  y[threadIdx.x] = x[threadIdx.x ^ 1];
}
CASE(warp_global_wrong) {
  Array<int> x(32), y(32);
  warp_global_wrong<<<1, 32>>>(x, y);
}
CASE(warp_global_right) {
  Array<int> x(32), y(32);
  warp_global_right<<<1, 32>>>(x, y);
}
