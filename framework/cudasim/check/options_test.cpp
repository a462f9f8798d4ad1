#include "cudasim/check/options.hpp"

#include <gtest/gtest.h>

namespace cudasim {
namespace {

TEST(Checks, NamesAreParsed) {
  EXPECT_TRUE(Checks::parse("racecheck,memcheck").has(Check::memcheck));
  EXPECT_FALSE(Checks::parse("racecheck,memcheck").has(Check::initcheck));
  EXPECT_TRUE(Checks::parse("all").has(Check::leakcheck));
  EXPECT_FALSE(Checks::parse("leakcheck").any_in_kernels());
  EXPECT_THROW(Checks::parse("memcheck,racechek"), std::invalid_argument);
}

TEST(Checks, SchedulesAreParsed) {
  BlockOrder order{};
  std::uint64_t seed = 0;
  parse_schedule("random:17", order, seed);
  EXPECT_EQ(order, BlockOrder::random);
  EXPECT_EQ(seed, 17u);
  parse_schedule("descending", order, seed);
  EXPECT_EQ(order, BlockOrder::descending);
  EXPECT_THROW(parse_schedule("random", order, seed), std::invalid_argument);
  EXPECT_THROW(parse_schedule("random:x", order, seed), std::invalid_argument);
}

}  // namespace
}  // namespace cudasim
