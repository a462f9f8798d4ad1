#include "oracle/inputs.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace hone::oracle {

std::string_view name_of(Family family) {
  switch (family) {
    case Family::normal:
      return "normal";
    case Family::large:
      return "large";
    case Family::tiny:
      return "tiny";
    case Family::offset:
      return "offset";
    case Family::zeros:
      return "zeros";
    case Family::ones:
      return "ones";
    case Family::constant:
      return "constant";
    case Family::structured:
      return "structured";
    case Family::mixed:
      return "mixed";
    case Family::cancelling:
      return "cancelling";
    case Family::subnormal:
      return "subnormal";
    case Family::special:
      return "special";
  }
  return "?";
}

// Box-Muller by hand: the distributions of <random> differ between standard libraries.
double Inputs::gaussian() {
  const double u = uniform(0x1p-53, 1), v = uniform(0, 1);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

double Inputs::uniform(double low, double high) {
  return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
}

Tensor Inputs::floats(std::int64_t count, std::int64_t row) {
  Tensor tensor(Element::float32, static_cast<std::size_t>(count));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double shared = 0, value = 0;
  std::int64_t i = 0;
  for (float& x : tensor.floats()) {
    // Multiples of 1/4: sums of equal values then round little, in whatever order.
    if (family_ == Family::constant && (row == 0 ? i == 0 : i % row == 0)) {
      shared = static_cast<double>(engine_() % 32 + 1) / 4 * (engine_() % 2 == 0 ? 1 : -1);
    }
    switch (family_) {
      case Family::normal:
        value = gaussian();
        break;
      case Family::large:
        value = 1e4 * gaussian();
        break;
      case Family::tiny:
        value = 1e-20 * gaussian();
        break;
      case Family::offset:
        value = 300 + gaussian();
        break;
      case Family::zeros:
        value = 0;
        break;
      case Family::ones:
        value = 1;
        break;
      case Family::constant:
        value = shared;
        break;
      case Family::structured:
        value = static_cast<double>(i % 257 - 100) / 64;
        break;
      case Family::mixed:
        value = gaussian() * std::pow(10, uniform(-3, 3));
        break;
      case Family::cancelling:
        value = i % 2 == 0 ? 1000 * gaussian() : gaussian() - value;
        break;
      case Family::subnormal:
        value = 0x1p-130 * gaussian();
        break;
      case Family::special: {
        const std::uint64_t kind = engine_() % 32;
        value = kind == 0   ? std::numeric_limits<double>::quiet_NaN()
                : kind == 1 ? infinity
                : kind == 2 ? -infinity
                            : gaussian();
        break;
      }
    }
    x = static_cast<float>(value);
    ++i;
  }
  return tensor;
}

Tensor Inputs::weights(std::int64_t count, double mean, double deviation) {
  Tensor tensor(Element::float32, static_cast<std::size_t>(count));
  for (float& x : tensor.floats()) x = static_cast<float>(mean + deviation * gaussian());
  return tensor;
}

std::uint64_t draw_seed() {
  std::random_device random;
  return (std::uint64_t{random()} << 21) ^ random();
}

// SplitMix64's finaliser (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace hone::oracle
