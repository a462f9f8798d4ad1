#include "oracle/tolerance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace hone::oracle {
namespace {

TEST(Tolerance, ScalesWithTheValue) {
  EXPECT_DOUBLE_EQ(elementwise(1, 2), 2 * 0x1p-23);
  EXPECT_DOUBLE_EQ(elementwise(-1000, 2), 1000 * elementwise(1, 2));
  EXPECT_DOUBLE_EQ(reduction(100, 1, 4), 40 * 0x1p-23);
  EXPECT_EQ(elementwise(0, 2), 0x1p-126) << "a flushed subnormal passes";
  EXPECT_EQ(reduction(1000, 0), 1000 * 0x1p-126) << "and so do 1000 partial sums";
}

struct Sum {
  double exact = 0, size = 0;
  float one_by_one = 0, half = 0;
};

/// Sums in float32 in the worst order in use (one accumulator), and in 11 bits.
Sum sums(int n, double mean) {
  std::mt19937 engine(static_cast<unsigned>(n));
  std::normal_distribution<float> normal(static_cast<float>(mean), 1);
  Sum sum;
  for (int i = 0; i < n; ++i) {
    const float x = normal(engine);
    sum.exact += double(x);
    sum.size += std::abs(double(x));
    sum.one_by_one += x;
    const float wide = sum.half + x;
    int exponent = 0;
    std::frexp(wide, &exponent);
    const float unit = std::ldexp(1.0f, exponent - 11);
    sum.half = std::round(wide / unit) * unit;
  }
  return sum;
}

TEST(Tolerance, AcceptsAPlainFloat32SumAndRejectsHalfPrecision) {
  for (const int n : {100, 1023, 5000, 100000}) {
    for (const double mean : {0.0, 1.0, 300.0}) {
      const Sum sum = sums(n, mean);
      const double allowed = reduction(n, sum.size / std::sqrt(n) + std::abs(sum.exact));
      EXPECT_LT(std::abs(double(sum.one_by_one) - sum.exact), allowed) << n << " " << mean;
      EXPECT_GT(std::abs(double(sum.half) - sum.exact), allowed) << n << " " << mean;
      EXPECT_GT(std::abs(sum.exact), allowed) << "zeros must fail: " << n << " " << mean;
    }
  }
}

}  // namespace
}  // namespace hone::oracle
