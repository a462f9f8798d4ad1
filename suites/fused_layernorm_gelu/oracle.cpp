#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform_reduce.h>

#include <cmath>
#include <numbers>

#include "op.h"
#include "oracle/operation.hpp"

using namespace hone::oracle;

namespace {

/// Parameters of the entry, in order.
namespace at {
enum { x, gamma, beta, y, rows, cols, eps };
}

Problem make(const Shape& shape, Inputs& inputs) {
  const std::int64_t count = shape.elements(), columns = shape["cols"];
  Tensor values = inputs.floats(count, columns);
  Tensor scale = inputs.weights(columns, 1, 0.3), shift = inputs.weights(columns, 0, 0.5);
  return {{std::move(values), std::move(scale), std::move(shift),
           Tensor(Element::float32, static_cast<std::size_t>(count)), Scalar(shape["rows"]),
           Scalar(columns), Scalar(static_cast<double>(1e-5f))}};
}

double gelu(double z) { return 0.5 * z * std::erfc(-z / std::numbers::sqrt2); }

std::vector<Expected> reference(const Problem& problem) {
  const auto all = problem.floats(at::x), scale = problem.floats(at::gamma),
             shift = problem.floats(at::beta);
  const std::int64_t columns = problem.integer(at::cols);
  const double n = double(columns), epsilon = problem.real(at::eps);
  Expected result{std::vector<double>(all.size()), std::vector<double>(all.size())};
  // Rows in parallel; within a row in order.
  thrust::for_each(
      thrust::host, thrust::counting_iterator<std::int64_t>(0),
      thrust::counting_iterator<std::int64_t>(problem.integer(at::rows)), [&](std::int64_t r) {
        const float* row = all.data() + r * columns;
        const auto mean_of = [&](auto term) {
          return thrust::transform_reduce(thrust::seq, row, row + columns, term, 0.0,
                                          thrust::plus<double>()) /
                 n;
        };
        const double mean = mean_of([](double v) { return v; });
        const double size = mean_of([](double v) { return std::abs(v); });
        const double variance = mean_of([=](double v) { return (v - mean) * (v - mean); });
        const double inverse = 1 / std::sqrt(variance + epsilon);
        for (std::int64_t c = 0; c < columns; ++c) {
          const auto v = double(row[c]), g = double(scale[c]), b = double(shift[c]);
          const double centred = (v - mean) * inverse * g;
          // The mean is off by a reduction's error of |x|, and so is x - mean; the variance, and
          // with it the factor, relatively by a reduction's.
          const double mean_error = reduction(n, size, 2) + elementwise(std::abs(v) + size, 1);
          const double factor_error =
              reduction(n, 1, 2) + elementwise(1, 6) + mean_error * mean_error * inverse * inverse;
          const double error = mean_error * inverse * std::abs(g) +
                               std::abs(centred) * factor_error +
                               elementwise(std::abs(centred) + std::abs(b), 2);
          const double z = centred + b;
          result.value[r * columns + c] = gelu(z);
          // GELU's slope is at most 1.13; its own rounding is relative to |z|.
          result.allowed[r * columns + c] = 1.13 * error + elementwise(z, 3);
        }
      });
  return {result};
}

}  // namespace

Operation hone_operation() {
  return {
      .name = "fused_layernorm_gelu",
      .signature = Signature::of<decltype(fused_layernorm_gelu)>(
          "fused_layernorm_gelu", {"x", "gamma", "beta", "y", "rows", "cols", "eps", "stream"}),
      .shapes =
          shapes_2d({{1, 1},    {1, 7},   {3, 31},  {2, 32},   {5, 33},   {4, 127},  {2, 128},
                     {3, 129},  {2, 255}, {4, 256}, {3, 257},  {1, 1000}, {2, 1023}, {3, 1024},
                     {2, 1025}, {257, 5}, {33, 64}, {1, 4099}, {2, 5000}, {64, 768}, {1031, 17}}),
      .bench_shapes = shapes_2d({{16, 128}, {128, 512}, {128, 1024}}),
      .families = {Family::normal, Family::large, Family::offset, Family::tiny, Family::zeros,
                   Family::ones, Family::constant, Family::structured, Family::mixed, Family::cancelling, Family::subnormal},
      .make = make,
      .reference = reference,
      // LayerNorm as it is counted alone (8), GELU with erf as a polynomial (24).
      .cost =
          [](const Shape& s) {
            return Cost{8.0 * double(s.elements()) + 8.0 * double(s["cols"]),
                        32.0 * double(s.elements())};
          },
  };
}
