#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include <cmath>

#include "op.h"
#include "oracle/operation.hpp"

using namespace hone::oracle;

namespace {

/// Parameters of the entry, in order.
namespace at {
enum { a, b, out, n };
}

Problem make(const Shape& shape, Inputs& inputs) {
  const std::int64_t count = shape["n"];
  return {{inputs.floats(count), inputs.floats(count),
           Tensor(Element::float32, static_cast<std::size_t>(count)), Scalar(count)}};
}

std::vector<Expected> reference(const Problem& problem) {
  const auto x = problem.floats(at::a), y = problem.floats(at::b);
  Expected sum{std::vector<double>(x.size()), std::vector<double>(x.size())};
  thrust::transform(thrust::host, x.begin(), x.end(), y.begin(), sum.value.begin(),
                    [](double u, double v) { return u + v; });
  // One addition: half an ulp.
  thrust::transform(thrust::host, x.begin(), x.end(), y.begin(), sum.allowed.begin(),
                    [](double u, double v) { return elementwise(std::abs(u) + std::abs(v), 1); });
  return {sum};
}

}  // namespace

Operation hone_operation() {
  return {
      .name = "vector_add",
      .signature =
          Signature::of<decltype(vector_add)>("vector_add", {"a", "b", "out", "n", "stream"}),
      .shapes = shapes_1d({1, 2, 7, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000, 1023, 1024,
                           1025, 4099, 65537, 300007}),
      .bench_shapes = shapes_1d({4096, 65536, 1 << 20}),
      .families = {Family::normal, Family::large, Family::tiny, Family::zeros, Family::ones,
                   Family::structured, Family::mixed, Family::subnormal, Family::special},
      .make = make,
      .reference = reference,
      .cost =
          [](const Shape& s) {
            return Cost{12.0 * double(s["n"]), 1.0 * double(s["n"])};
          },
  };
}
