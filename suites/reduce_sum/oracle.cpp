#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

#include <cmath>

#include "op.h"
#include "oracle/operation.hpp"

using namespace hone::oracle;

namespace {

/// Parameters of the entry, in order.
namespace at {
enum { x, out, n };
}

Problem make(const Shape& shape, Inputs& inputs) {
  const std::int64_t count = shape["n"];
  return {{inputs.floats(count), Tensor(Element::float32, 1), Scalar(count)}};
}

std::vector<Expected> reference(const Problem& problem) {
  const auto v = problem.floats(at::x);
  const double sum = thrust::reduce(thrust::host, v.begin(), v.end(), 0.0);
  const double size = thrust::transform_reduce(
      thrust::host, v.begin(), v.end(), [](double u) { return std::abs(u); }, 0.0,
      thrust::plus<double>());
  // Partial sums grow with the terms of one sign, not with sum |x|, which for random signs is
  // sqrt(n) times larger than they are: judge by the root of the sum of squares there.
  return {
      {{sum}, {reduction(double(v.size()), size / std::sqrt(double(v.size())) + std::abs(sum))}}};
}

}  // namespace

Operation hone_operation() {
  return {
      .name = "reduce_sum",
      .signature = Signature::of<decltype(reduce_sum)>("reduce_sum", {"x", "out", "n", "stream"}),
      .shapes = shapes_1d({1, 2, 7, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000, 1023, 1024,
                           1025, 4099, 65537, 500009}),
      .bench_shapes = shapes_1d({4096, 65536, 1 << 20}),
      .families = {Family::normal, Family::large, Family::tiny, Family::zeros, Family::ones,
                   Family::constant, Family::structured, Family::mixed, Family::cancelling,
                   Family::subnormal},
      .alignment = alignof(float),
      // Not offset: half a million equal-sized terms round with a bias that depends on the seed,
      // and a plain accumulator would be right for one seed and wrong for another.
      .make = make,
      .reference = reference,
      .cost =
          [](const Shape& s) {
            return Cost{4.0 * double(s["n"]) + 4, 1.0 * double(s["n"])};
          },
  };
}
