#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cmath>

#include "op.h"
#include "oracle/operation.hpp"

using namespace hone::oracle;

namespace {

/// Parameters of the entry, in order.
namespace at {
enum { a, b, out, limit, n };
}

Problem make(const Shape& shape, Inputs& inputs) {
  const std::int64_t count = shape["n"];
  const auto limit = static_cast<double>(static_cast<float>(inputs.uniform(0.5, 2)));
  return {{inputs.floats(count), inputs.floats(count),
           Tensor(Element::float32, static_cast<std::size_t>(count)), Scalar(limit),
           Scalar(count)}};
}

std::vector<Expected> reference(const Problem& problem) {
  const auto u = problem.floats(at::a), v = problem.floats(at::b);
  const double limit = problem.real(at::limit);
  Expected sum{std::vector<double>(u.size()), std::vector<double>(u.size())};
  thrust::transform(thrust::host, u.begin(), u.end(), v.begin(), sum.value.begin(),
                    [=](double p, double q) { return std::clamp(p + q, -limit, limit); });
  thrust::transform(thrust::host, u.begin(), u.end(), v.begin(), sum.allowed.begin(),
                    [](double p, double q) { return elementwise(std::abs(p + q), 1); });
  return {sum};
}

}  // namespace

Operation hone_operation() {
  return {
      .name = "clamped_add",
      .signature = Signature::of<decltype(clamped_add)>(
          "clamped_add", {"a", "b", "out", "limit", "n", "stream"}),
      .shapes = shapes_1d({1, 2, 31, 33, 127, 129, 1000, 1025, 4099, 65537}),
      .bench_shapes = shapes_1d({4096, 65536}),
      .families = {Family::normal, Family::large, Family::tiny, Family::ones, Family::mixed},
      .make = make,
      .reference = reference,
      .cost =
          [](const Shape& s) {
            return Cost{12.0 * double(s["n"]), 3.0 * double(s["n"])};
          },
  };
}
