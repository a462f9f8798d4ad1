#include "oracle/inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

namespace hone::oracle {
namespace {

TEST(Inputs, SameSeedSameData) {
  Inputs first(7, Family::normal), second(7, Family::normal), other(8, Family::normal);
  const Tensor data = first.floats(1000);
  EXPECT_EQ(data, second.floats(1000));
  EXPECT_NE(data, other.floats(1000));
  EXPECT_NE(data, first.floats(1000)) << "a second draw is other data";
}

TEST(Inputs, NormalHasMeanZeroAndDeviationOne) {
  Inputs inputs(1, Family::normal);
  const Tensor data = inputs.floats(20000);
  double sum = 0, squares = 0;
  for (const float x : data.floats()) {
    sum += double(x);
    squares += double(x) * double(x);
  }
  EXPECT_NEAR(sum / 20000, 0, 0.03);
  EXPECT_NEAR(squares / 20000, 1, 0.05);
}

TEST(Inputs, ConstantIsOneValueARow) {
  Inputs inputs(3, Family::constant);
  const Tensor data = inputs.floats(64, 16);
  std::set<float> values;
  for (int row = 0; row < 4; ++row) {
    const std::set<float> of_row(data.floats().begin() + row * 16,
                                 data.floats().begin() + (row + 1) * 16);
    EXPECT_EQ(of_row.size(), 1u);
    values.insert(of_row.begin(), of_row.end());
  }
  EXPECT_GT(values.size(), 1u);
}

TEST(Inputs, EveryFamilyIsFiniteAndNamed) {
  for (const Family family : {Family::normal, Family::large, Family::tiny, Family::offset,
                              Family::zeros, Family::ones, Family::constant, Family::structured,
                              Family::mixed, Family::cancelling, Family::subnormal}) {
    EXPECT_NE(name_of(family), "?");
    Inputs inputs(5, family);
    for (const float x : inputs.floats(300).floats()) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(Inputs, HardFamiliesAreWhatTheySay) {
  const auto count = [](Family family, auto&& holds) {
    Inputs inputs(5, family);
    int n = 0;
    const Tensor data = inputs.floats(1000);
    for (std::size_t i = 0; i < 1000; ++i) n += holds(data.floats(), i) ? 1 : 0;
    return n;
  };
  EXPECT_GT(count(Family::subnormal,
                  [](auto x, auto i) { return std::fpclassify(x[i]) == FP_SUBNORMAL; }),
            900);
  EXPECT_GT(count(Family::special, [](auto x, auto i) { return std::isnan(x[i]); }), 10);
  EXPECT_GT(count(Family::special, [](auto x, auto i) { return std::isinf(x[i]); }), 20);
  EXPECT_GT(count(Family::special, [](auto x, auto i) { return std::isfinite(x[i]); }), 800);
  EXPECT_GT(count(Family::mixed, [](auto x, auto i) { return std::abs(x[i]) < 0.01f; }), 100);
  EXPECT_GT(count(Family::mixed, [](auto x, auto i) { return std::abs(x[i]) > 100; }), 100);
  EXPECT_EQ(count(Family::cancelling,
                  [](auto x, auto i) { return i % 2 == 1 && std::abs(x[i] + x[i - 1]) > 6; }),
            0);
}

TEST(Inputs, MixSpreadsNeighbours) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t i = 0; i < 1000; ++i) seeds.insert(mix(i / 10, i % 10));
  EXPECT_EQ(seeds.size(), 1000u);
}

}  // namespace
}  // namespace hone::oracle
