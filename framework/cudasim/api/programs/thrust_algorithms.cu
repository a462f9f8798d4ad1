#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include "check.hpp"

int main() {
  const int n = 5000;
  thrust::device_vector<int> x(n);
  thrust::sequence(x.begin(), x.end());
  CHECK(thrust::reduce(x.begin(), x.end()) == n * (n - 1) / 2);
  thrust::device_vector<int> sums(n);
  thrust::inclusive_scan(x.begin(), x.end(), sums.begin());
  CHECK(sums[n - 1] == n * (n - 1) / 2 && sums[10] == 55);
  thrust::host_vector<int> shuffled(n);
  for (int i = 0; i < n; ++i) shuffled[i] = static_cast<int>((i * 7919LL) % n);
  x = shuffled;
  thrust::sort(x.begin(), x.end());
  shuffled = x;
  for (int i = 0; i < n; ++i) CHECK(shuffled[i] == i);
  std::puts("passed");
}
