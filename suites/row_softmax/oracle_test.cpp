#include <gtest/gtest.h>

#include <cmath>

#include "oracle/operation.hpp"

// The Thrust reference against loops that follow op.h word by word, in long double.

using namespace hone::oracle;

namespace {

TEST(RowSoftmax, ReferenceFollowsTheDefinition) {
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
      long double top = -INFINITY, sum = 0;
      for (const float v : x) top = std::max(top, static_cast<long double>(v));
      for (const float v : x) sum += std::exp(v - top);
      for (std::int64_t c = 0; c < cols; ++c) {
        const long double want = std::exp(x[c] - top) / sum;
        const auto i = static_cast<std::size_t>(r * cols + c);
        EXPECT_NEAR(expected[0].value[i], static_cast<double>(want), 1e-13 * double(want) + 1e-300);
        EXPECT_GT(expected[0].allowed[i], 0);
      }
    }
  }
}

}  // namespace
