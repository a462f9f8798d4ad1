#include "cudasim/check/clock.hpp"

#include <gtest/gtest.h>

namespace cudasim {
namespace {

TEST(Clock, AFloorCoversWhatIsBeforeIt) {
  Clock c;
  EXPECT_TRUE(c.empty());
  c.see_floor(7, 5);
  EXPECT_TRUE(c.covers(7, 0, 1u << 3, 4));
  EXPECT_FALSE(c.covers(7, 0, 1u << 3, 5));
  EXPECT_FALSE(c.covers(8, 0, 1u << 3, 1));
  // Asynchronous copies aren't ordered by the barriers of the block.
  EXPECT_FALSE(c.covers(7, 32, 1u << 3, 1));
}

TEST(Clock, LanesAreKnownOneByOne) {
  Clock c;
  c.see(1, 2, 31, 9);
  c.see(1, 2, 31, 4);
  EXPECT_TRUE(c.covers(1, 2, 1u << 31, 9));
  EXPECT_FALSE(c.covers(1, 2, 1u << 31, 10));
  EXPECT_FALSE(c.covers(1, 2, 1u << 30, 1));
  EXPECT_FALSE(c.covers(1, 3, 1u << 31, 1));
}

TEST(Clock, JoiningKnowsBoth) {
  Clock a, b;
  a.see(1, 0, 0, 3);
  a.see_floor(1, 2);
  b.see(1, 0, 0, 2);
  b.see(1, 0, 1, 8);
  b.see_floor(4, 6);
  a.join(b);
  a.join(a);
  EXPECT_TRUE(a.covers(1, 0, 1u << 0, 3));
  EXPECT_TRUE(a.covers(1, 0, 1u << 1, 8));
  EXPECT_TRUE(a.covers(4, 9, 1u << 9, 5));
  EXPECT_FALSE(b.covers(1, 0, 1u << 0, 3));
}

}  // namespace
}  // namespace cudasim
