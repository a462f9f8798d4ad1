#include <algorithm>
#include <cub/cub.cuh>
#include <vector>

#include "check.hpp"

/// Calls f twice, as CUB's device algorithms ask: for the size of their memory and with it.
template <typename F>
void with_storage(F&& f) {
  std::size_t bytes = 0;
  OK(f(nullptr, bytes));
  void* storage = nullptr;
  OK(cudaMalloc(&storage, bytes));
  OK(f(storage, bytes));
  OK(cudaDeviceSynchronize());
  OK(cudaFree(storage));
}

template <typename T>
T* device(const std::vector<T>& values) {
  T* p = nullptr;
  OK(cudaMalloc(&p, values.size() * sizeof(T)));
  OK(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <typename T>
std::vector<T> host(const T* p, std::size_t n) {
  std::vector<T> values(n);
  OK(cudaMemcpy(values.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

__global__ void block_and_warp(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  using Warp = cub::WarpReduce<int>;
  __shared__ union {
    Reduce::TempStorage reduce;
    Scan::TempStorage scan;
    Warp::TempStorage warp[4];
  } memory;
  const int v = in[threadIdx.x];
  const int sum = Reduce(memory.reduce).Sum(v);
  __syncthreads();
  int before = 0;
  Scan(memory.scan).ExclusiveSum(v, before);
  __syncthreads();
  const int largest = Warp(memory.warp[threadIdx.x / 32]).Reduce(v, cuda::maximum<>());
  out[threadIdx.x] = before;
  if (threadIdx.x % 32 == 0) out[129 + threadIdx.x / 32] = largest;
  if (threadIdx.x == 0) out[128] = sum;
}

int main() {
  const int n = 20000;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = static_cast<int>((i * 7919LL) % 1009);
  int *in = device(values), *out = device(std::vector<int>(n)),
      *count = device(std::vector<int>(1));
  long long total = 0;
  for (const int v : values) total += v;
  with_storage([&](void* s, std::size_t& b) { return cub::DeviceReduce::Sum(s, b, in, out, n); });
  CHECK(host(out, 1)[0] == total);

  with_storage(
      [&](void* s, std::size_t& b) { return cub::DeviceScan::ExclusiveSum(s, b, in, out, n); });
  const auto sums = host(out, n);
  for (int i = 0, sum = 0; i < n; sum += values[i++]) CHECK(sums[i] == sum);

  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  with_storage(
      [&](void* s, std::size_t& b) { return cub::DeviceRadixSort::SortKeys(s, b, in, out, n); });
  CHECK(host(out, n) == sorted);

  // The sorted values as runs: their lengths and the values without repetition.
  int *lengths = device(std::vector<int>(n)), *unique = device(std::vector<int>(n));
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceRunLengthEncode::Encode(s, b, out, unique, lengths, count, n);
  });
  CHECK(host(count, 1)[0] == 1009);
  for (int i = 0; i < 1009; ++i) CHECK(host(unique, 1009)[i] == i);
  CHECK(host(lengths, 1)[0] == std::count(values.begin(), values.end(), 0));

  std::vector<int> bins(16);
  for (const int v : values) ++bins[v / 64];
  int* histogram = device(std::vector<int>(16));
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceHistogram::HistogramEven(s, b, in, histogram, 17, 0, 1024, n);
  });
  CHECK(host(histogram, 16) == bins);

  block_and_warp<<<1, 128>>>(in, out);
  const auto parts = host(out, 133);
  int sum = 0;
  for (int i = 0; i < 128; sum += values[i++]) CHECK(parts[i] == sum);
  CHECK(parts[128] == sum);
  for (int w = 0; w < 4; ++w)
    CHECK(parts[129 + w] == *std::max_element(&values[32 * w], &values[32 * w] + 32));
  std::puts("passed");
}
