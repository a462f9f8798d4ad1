#pragma once
#include <cstdint>
#include <random>
#include <string_view>

#include "oracle/tensor.hpp"

namespace hone::oracle {

/// How inputs are distributed. Each is legal for a correct kernel, and each caught some wrong one.
enum class Family {
  normal,  ///< standard normal
  large,   ///< normal, times 1e4
  tiny,    ///< normal, times 1e-20
  offset,  ///< normal around 300: a mean that must cancel
  zeros,
  ones,
  constant,    ///< each row one value, of few bits
  structured,  ///< a slow ramp: shows transposed, shifted or skipped elements
  mixed,       ///< normal, each times a power of ten from 1e-3 to 1e3
  cancelling,  ///< pairs of about +-1000 whose sums are about 1: ill-conditioned
  subnormal,   ///< normal, times 2^-130: most are subnormal; flushing them to zero is legal
  special,     ///< normal with NaN and infinities in between
};

std::string_view name_of(Family family);

/// Draws input tensors; the same seed, family and order of calls give the same data everywhere.
class Inputs {
 public:
  Inputs(std::uint64_t seed, Family family) : engine_(seed), family_(family) {}

  Family family() const { return family_; }
  /// `count` float32 of the family; `row` elements share a value in family constant (0: all do).
  Tensor floats(std::int64_t count, std::int64_t row = 0);
  /// `count` float32, normal around `mean`, whatever the family: for weights.
  Tensor weights(std::int64_t count, double mean, double deviation);
  /// A scalar, uniform in [low, high].
  double uniform(double low, double high);

 private:
  double gaussian();
  std::mt19937_64 engine_;
  Family family_;
};

/// A run's seed, unpredictable, of 53 bits (exact in any JSON). Drawn after the candidate is built.
std::uint64_t draw_seed();

/// A seed for one problem of a run, from the run's seed: a change of either changes all bits.
std::uint64_t mix(std::uint64_t seed, std::uint64_t index);

}  // namespace hone::oracle
