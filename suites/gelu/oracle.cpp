#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include <cmath>
#include <numbers>

#include "op.h"
#include "oracle/operation.hpp"

using namespace hone::oracle;

namespace {

/// Parameters of the entry, in order.
namespace at {
enum { x, y, n };
}

double gelu(double v) { return 0.5 * v * std::erfc(-v / std::numbers::sqrt2); }

Problem make(const Shape& shape, Inputs& inputs) {
  const std::int64_t count = shape["n"];
  return {{inputs.floats(count), Tensor(Element::float32, static_cast<std::size_t>(count)),
           Scalar(count)}};
}

std::vector<Expected> reference(const Problem& problem) {
  const auto u = problem.floats(at::x);
  Expected result{std::vector<double>(u.size()), std::vector<double>(u.size())};
  thrust::transform(thrust::host, u.begin(), u.end(), result.value.begin(), gelu);
  // erf is good to 2 ulp; for negative x the sum 1 + erf cancels, with an error that is relative to
  // |x|, not to the result. The tanh approximation is off by 5e-4 and fails.
  thrust::transform(thrust::host, u.begin(), u.end(), result.allowed.begin(),
                    [](double v) { return elementwise(v, 3); });
  return {result};
}

}  // namespace

Operation hone_operation() {
  return {
      .name = "gelu",
      .signature = Signature::of<decltype(gelu_forward)>("gelu_forward", {"x", "y", "n", "stream"}),
      .shapes = shapes_1d({1, 2, 7, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000, 1023, 1024,
                           1025, 4099, 65537, 150001}),
      .bench_shapes = shapes_1d({4096, 65536, 1 << 19}),
      .families = {Family::normal, Family::large, Family::tiny, Family::zeros, Family::ones,
                   Family::structured, Family::mixed, Family::subnormal},
      .make = make,
      .reference = reference,
      // x * 0.5 * (1 + erf(x * c)), erf as a polynomial of about 20 operations.
      .cost =
          [](const Shape& s) {
            return Cost{8.0 * double(s["n"]), 24.0 * double(s["n"])};
          },
  };
}
