#include <gtest/gtest.h>

#include <cmath>

#include "oracle/operation.hpp"

// The Thrust reference against loops that follow op.h word by word, in long double.

using namespace hone::oracle;

namespace {

TEST(LayerNorm, ReferenceFollowsTheDefinition) {
  const Operation operation = hone_operation();
  for (const Family family : operation.families) {
    Inputs inputs(3, family);
    const std::int64_t rows = 3, cols = 37;
    const Problem problem = operation.make(shapes_2d({{rows, cols}})[0], inputs);
    const std::vector<Expected> expected = operation.reference(problem);
    ASSERT_EQ(expected.size(), 1u);
    ASSERT_EQ(expected[0].value.size(), static_cast<std::size_t>(rows * cols));
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto x = problem.floats(0).subspan(static_cast<std::size_t>(r * cols), cols);
      long double mean = 0, variance = 0;
      for (const float v : x) mean += v;
      mean /= cols;
      for (const float v : x) variance += (v - mean) * (v - mean);
      variance /= cols;
      for (std::int64_t c = 0; c < cols; ++c) {
        const auto column = static_cast<std::size_t>(c);
        const auto i = static_cast<std::size_t>(r * cols + c);
        const long double z =
            (x[column] - mean) / std::sqrt(variance + problem.real(6)) * problem.floats(1)[column] +
            problem.floats(2)[column];
        const long double want = z;
        EXPECT_NEAR(expected[0].value[i], static_cast<double>(want), 1e-9);
        EXPECT_GT(expected[0].allowed[i], 0);
        EXPECT_LT(expected[0].allowed[i], 0.05) << name_of(family);
      }
    }
  }
}

}  // namespace
