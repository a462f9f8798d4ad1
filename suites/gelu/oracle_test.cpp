#include <gtest/gtest.h>

#include "oracle/operation.hpp"

using namespace hone::oracle;

namespace {

double gelu(float x) {
  const Operation operation = hone_operation();
  Inputs inputs(1, Family::normal);
  Problem problem = operation.make(shapes_1d({1})[0], inputs);
  std::get<Tensor>(problem.arguments[0]).floats()[0] = x;
  return operation.reference(problem)[0].value[0];
}

// Phi(1) = 0.841344746068543, Phi(3) = 0.998650101968370 (tables of the normal distribution).
TEST(Gelu, HasTheTabulatedValues) {
  EXPECT_EQ(gelu(0), 0);
  EXPECT_NEAR(gelu(1), 0.841344746068543, 1e-14);
  EXPECT_NEAR(gelu(-1), 0.841344746068543 - 1, 1e-14);
  EXPECT_NEAR(gelu(3), 3 * 0.998650101968370, 1e-13);
  EXPECT_EQ(gelu(1e4f), 1e4);
  EXPECT_EQ(gelu(-1e4f), 0);
}

}  // namespace
