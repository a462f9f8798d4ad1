#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include <cmath>

#include "op.h"
#include "oracle/operation.hpp"

using namespace hone::oracle;

namespace {

/// Parameters of the entry, in order.
namespace at {
enum { n, alpha, x, y };
}

Problem make(const Shape& shape, Inputs& inputs) {
  const std::int64_t count = shape["n"];
  const auto factor = static_cast<double>(static_cast<float>(inputs.uniform(-3, 3)));
  return {{Scalar(count), Scalar(factor), inputs.floats(count), inputs.floats(count)}};
}

std::vector<Expected> reference(const Problem& problem) {
  const auto u = problem.floats(at::x), v = problem.floats(at::y);
  const double factor = problem.real(at::alpha);
  Expected sum{std::vector<double>(u.size()), std::vector<double>(u.size())};
  thrust::transform(thrust::host, u.begin(), u.end(), v.begin(), sum.value.begin(),
                    [=](double p, double q) { return factor * p + q; });
  // A product and a sum, contracted to an fma or not.
  thrust::transform(
      thrust::host, u.begin(), u.end(), v.begin(), sum.allowed.begin(),
      [=](double p, double q) { return elementwise(std::abs(factor * p) + std::abs(q), 1.5); });
  return {sum};
}

}  // namespace

Operation hone_operation() {
  return {
      .name = "saxpy",
      .signature =
          Signature::of<decltype(saxpy)>("saxpy", {"n", "alpha", "x", "y", "stream"}).updating("y"),
      .shapes = shapes_1d({1, 2, 7, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000, 1023, 1024,
                           1025, 4099, 65537, 300007}),
      .bench_shapes = shapes_1d({4096, 65536, 1 << 20}),
      .families = {Family::normal, Family::large, Family::tiny, Family::zeros, Family::ones,
                   Family::structured, Family::mixed, Family::subnormal, Family::special},
      .make = make,
      .reference = reference,
      .cost =
          [](const Shape& s) {
            return Cost{12.0 * double(s["n"]), 2.0 * double(s["n"])};
          },
  };
}
