#include "oracle/signature.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace hone::oracle {
namespace {

extern "C" int example(const float* x, double* y, int n, long long offset, float eps,
                       CUstream_st* stream);

TEST(Signature, IsDerivedFromADeclaration) {
  const auto signature =
      Signature::of<decltype(example)>("example", {"x", "y", "n", "offset", "eps", "stream"});
  ASSERT_EQ(signature.parameters.size(), 6u);
  EXPECT_EQ(signature.entry, "example");
  EXPECT_EQ(signature.parameters[0].role, Role::input);
  EXPECT_EQ(signature.parameters[0].element, Element::float32);
  EXPECT_EQ(signature.parameters[1].role, Role::output);
  EXPECT_EQ(signature.parameters[1].element, Element::float64);
  EXPECT_EQ(signature.parameters[2].role, Role::scalar);
  EXPECT_EQ(signature.parameters[2].element, Element::int32);
  EXPECT_EQ(signature.parameters[3].element, Element::int64);
  EXPECT_EQ(signature.parameters[4].element, Element::float32);
  EXPECT_EQ(signature.parameters[4].name, "eps");
  EXPECT_EQ(signature.parameters[5].role, Role::stream);
}

TEST(Signature, AnOutputCanBeReadToo) {
  const auto signature =
      Signature::of<decltype(example)>("example", {"x", "y", "n", "offset", "eps", "stream"});
  EXPECT_EQ(signature.updating("y").parameters[1].role, Role::updated);
  EXPECT_THROW(signature.updating("x"), std::logic_error);
}

TEST(Signature, EachParameterHasAName) {
  EXPECT_THROW(Signature::of<decltype(example)>("example", {"x", "y"}), std::logic_error);
}

}  // namespace
}  // namespace hone::oracle
