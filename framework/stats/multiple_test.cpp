#include "stats/multiple.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::stats {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(MultipleTesting, AgreesWithTheReferences) {
  const std::vector<double> p = {.01, .04, .03, .005};
  EXPECT_THAT(holm(p), ElementsAre(DoubleNear(.03, 1e-12), DoubleNear(.06, 1e-12),
                                   DoubleNear(.06, 1e-12), DoubleNear(.02, 1e-12)));
  EXPECT_THAT(benjamini_hochberg(p), ElementsAre(DoubleNear(.02, 1e-12), DoubleNear(.04, 1e-12),
                                                 DoubleNear(.04, 1e-12), DoubleNear(.02, 1e-12)));
}

TEST(MultipleTesting, StaysWithinOne) {
  EXPECT_THAT(holm(std::vector{.9, .8}), ElementsAre(1, 1));
  EXPECT_TRUE(holm({}).empty());
  EXPECT_TRUE(benjamini_hochberg({}).empty());
}

}  // namespace
}  // namespace hone::stats
