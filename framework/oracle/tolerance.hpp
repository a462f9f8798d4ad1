#pragma once
#include <vector>

namespace hone::oracle {

// How far a float32 result may be from the fp64 reference. The rule follows from how rounding
// errors arise, not from what some kernel happened to give:
//   elementwise   allowed = ulps * u * scale            ulps: rounding steps of a plain float32
//   code reduction     allowed = c * sqrt(n) * u * scale     errors of n roundings add like a
//   random walk
// u = 2^-23, the spacing of float32 at 1. `scale` is the size of what was added up: |a| + |b| for a
// sum (which may cancel), |value| for a product, sum |x_i| for a reduction. A result of zeros, or
// one computed in half, bfloat16 or TF32 (u = 2^-10 or more), is outside on all but trivial inputs.
// The smallest normal float is allowed everywhere: flushing subnormals to zero is legal.

inline constexpr double float32_spacing = 1.0 / (1 << 23);
inline constexpr double float32_smallest_normal = 0x1p-126;

/// One output as it must be: `value` in fp64, and the absolute error allowed at each index.
struct Expected {
  std::vector<double> value;
  std::vector<double> allowed;
};

/// ulps * u * scale, at least the smallest normal float.
double elementwise(double scale, double ulps);

/// c * sqrt(n) * u * scale, at least n times the smallest normal float: each term or partial sum
/// may be flushed, as atomicAdd in global memory does (PTX ISA, atom).
double reduction(double n, double scale, double c = 4);

}  // namespace hone::oracle
