#include <gtest/gtest.h>

#include "cudasim/check/init_shadow.hpp"
#include "cudasim/check/race_shadow.hpp"

namespace cudasim {
namespace {

TEST(InitShadow, CountsWrittenBytes) {
  InitShadow s(1000, 300, false);
  EXPECT_EQ(s.count(1000, 300), 0u);
  s.set(1060, 70, true);
  EXPECT_EQ(s.count(1000, 300), 70u);
  EXPECT_TRUE(s.written(1060));
  EXPECT_TRUE(s.written(1129));
  EXPECT_FALSE(s.written(1130));
  s.set(1064, 1, false);
  EXPECT_EQ(s.count(1060, 8), 7u);
  s.set(1290, 1000, true);  // ends with the memory
  EXPECT_EQ(s.count(1280, 100), 10u);
  EXPECT_EQ(InitShadow(0, 64, true).count(8, 16), 16u);
}

TEST(RaceShadow, ACoarseSegmentIsSpreadOverItsCells) {
  RaceShadow shadow(4096, 256);
  Segment& s = *shadow.at(4096 + 64);
  s.slots[0] = {3, 2, 0xffff0000u, Trace::pack(1, Touch::write, 77)};
  s.shapes[0] = 2u << 5 | 16;  // four bytes a lane, from lane 16
  shadow.refine(s, 4);
  EXPECT_EQ(s.cells[5].slots[0].lanes, 1u << 21);
  EXPECT_EQ(s.cells[5].slots[0].pc(), 77u);
  EXPECT_EQ(s.cells[5].slots[0].warp(), 1u);
  EXPECT_EQ(s.slots[0].where, 0u);
  shadow.refine(s, 1);
  EXPECT_EQ(s.cells[23].slots[0].lanes, 1u << 21);
  EXPECT_EQ(s.cells[63].slots[0].lanes, 1u << 31);
  EXPECT_EQ(shadow.at(4096)->slots[0].where, 0u);
}

TEST(RaceShadow, ALaunchForgetsTheOneBefore) {
  RaceShadow shadow(64, 64);
  shadow.enter(1);
  shadow.at(64)->slots[0].where = 5;
  shadow.enter(1);
  EXPECT_EQ(shadow.at(64)->slots[0].where, 5u);
  shadow.enter(2);
  EXPECT_EQ(shadow.at(64)->slots[0].where, 0u);
}

}  // namespace
}  // namespace cudasim
