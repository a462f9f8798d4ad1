#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include "check.hpp"

struct Square {
  __host__ __device__ long long operator()(int v) const { return static_cast<long long>(v) * v; }
};
/// A comparison that radix sort can't serve: by the last digit, then by size.
struct LastDigit {
  __host__ __device__ bool operator()(int a, int b) const {
    return a % 10 != b % 10 ? a % 10 < b % 10 : a < b;
  }
};

int main() {
  const int n = 5000;
  thrust::device_vector<int> x(n);
  thrust::sequence(x.begin(), x.end());
  CHECK(thrust::reduce(x.begin(), x.end()) == n * (n - 1) / 2);
  CHECK(thrust::transform_reduce(x.begin(), x.end(), Square(), 0LL, thrust::plus<long long>()) ==
        static_cast<long long>(n - 1) * n * (2 * n - 1) / 6);
  thrust::device_vector<int> sums(n);
  thrust::inclusive_scan(x.begin(), x.end(), sums.begin());
  CHECK(sums[n - 1] == n * (n - 1) / 2 && sums[10] == 55);

  thrust::host_vector<int> shuffled(n), sorted(n);
  for (int i = 0; i < n; ++i) shuffled[i] = static_cast<int>((i * 7919LL) % n);
  x = shuffled;
  thrust::sort(x.begin(), x.end());  // radix
  sorted = x;
  for (int i = 0; i < n; ++i) CHECK(sorted[i] == i);
  x = shuffled;
  thrust::sort(x.begin(), x.end(), LastDigit());  // merge
  sorted = x;
  for (int i = 0; i < n; ++i) CHECK(sorted[i] == i % 500 * 10 + i / 500);

  // Runs of equal keys: key i / 7 holds seven ones, the last one fewer.
  thrust::host_vector<int> keys(n);
  for (int i = 0; i < n; ++i) keys[i] = i / 7;
  const int groups = (n + 6) / 7;
  thrust::device_vector<int> k = keys, ones(n, 1), out_keys(n), out_sums(n);
  const auto ends =
      thrust::reduce_by_key(k.begin(), k.end(), ones.begin(), out_keys.begin(), out_sums.begin());
  CHECK(ends.first - out_keys.begin() == groups);
  CHECK(out_keys[groups - 1] == groups - 1 && out_sums[0] == 7 && out_sums[groups - 1] == n % 7);
  CHECK(thrust::unique(k.begin(), k.end()) - k.begin() == groups);
  CHECK(k[123] == 123);
  std::puts("passed");
}
