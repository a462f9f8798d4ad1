#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>

#include <cmath>

#include "op.h"
#include "oracle/operation.hpp"

using namespace hone::oracle;

namespace {

/// Parameters of the entry, in order.
namespace at {
enum { x, y, rows, cols };
}

Problem make(const Shape& shape, Inputs& inputs) {
  const std::int64_t count = shape.elements();
  return {{inputs.floats(count, shape["cols"]),
           Tensor(Element::float32, static_cast<std::size_t>(count)), Scalar(shape["rows"]),
           Scalar(shape["cols"])}};
}

std::vector<Expected> reference(const Problem& problem) {
  const auto all = problem.floats(at::x);
  const std::int64_t columns = problem.integer(at::cols);
  Expected result{std::vector<double>(all.size()), std::vector<double>(all.size())};
  // Rows in parallel; within a row in order.
  thrust::for_each(
      thrust::host, thrust::counting_iterator<std::int64_t>(0),
      thrust::counting_iterator<std::int64_t>(problem.integer(at::rows)), [&](std::int64_t r) {
        const float* row = all.data() + r * columns;
        double* value = result.value.data() + r * columns;
        double* allowed = result.allowed.data() + r * columns;
        const double top = static_cast<double>(
            thrust::reduce(thrust::seq, row, row + columns, row[0], thrust::maximum<float>()));
        thrust::transform(thrust::seq, row, row + columns, value,
                          [=](double v) { return std::exp(v - top); });
        const double sum = thrust::reduce(thrust::seq, value, value + columns, 0.0);
        thrust::transform(thrust::seq, value, value + columns, value,
                          [=](double v) { return v / sum; });
        // The sum's error is relative to itself. exp(x - m) as 2^((x - m) log2 e), the fast way,
        // loses relatively what x - m loses absolutely: u * |x - m|.
        thrust::transform(thrust::seq, row, row + columns, value, allowed, [=](double v, double p) {
          return reduction(double(columns), p, 2) + elementwise(p, 8 + 2 * std::abs(v - top));
        });
      });
  return {result};
}

}  // namespace

Operation hone_operation() {
  return {
      .name = "row_softmax",
      .signature =
          Signature::of<decltype(row_softmax)>("row_softmax", {"x", "y", "rows", "cols", "stream"}),
      .shapes =
          shapes_2d({{1, 1},    {1, 7},   {3, 31},  {2, 32},   {5, 33},   {4, 127},  {2, 128},
                     {3, 129},  {2, 255}, {4, 256}, {3, 257},  {1, 1000}, {2, 1023}, {3, 1024},
                     {2, 1025}, {257, 5}, {33, 64}, {1, 4099}, {2, 5000}, {64, 768}, {1031, 17}}),
      .bench_shapes = shapes_2d({{16, 128}, {128, 512}, {128, 1024}}),
      .families = {Family::normal, Family::large, Family::offset, Family::tiny, Family::zeros,
                   Family::constant, Family::structured, Family::mixed, Family::cancelling, Family::subnormal},
      .make = make,
      .reference = reference,
      // Each value: compare, subtract, exponentiate (2), add, divide.
      .cost =
          [](const Shape& s) {
            return Cost{8.0 * double(s.elements()), 6.0 * double(s.elements())};
          },
  };
}
