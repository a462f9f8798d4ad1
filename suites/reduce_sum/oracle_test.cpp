#include <gtest/gtest.h>

#include <cmath>

#include "oracle/operation.hpp"

// The Thrust reference against loops that follow op.h word by word, in long double.

using namespace hone::oracle;

namespace {

TEST(ReduceSum, ReferenceFollowsTheDefinition) {
  const Operation operation = hone_operation();
  for (const Family family : operation.families) {
    Inputs inputs(3, family);
    const Problem problem = operation.make(shapes_1d({100003})[0], inputs);
    long double sum = 0, size = 0;
    for (const float v : problem.floats(0)) {
      sum += v;
      size += std::abs(v);
    }
    const Expected expected = operation.reference(problem)[0];
    ASSERT_EQ(expected.value.size(), 1u);
    EXPECT_NEAR(expected.value[0], static_cast<double>(sum), 1e-12 * double(size));
    EXPECT_LE(expected.allowed[0], 2e-3 * double(size) + 1e-30) << name_of(family);
  }
}

}  // namespace
