#include "oracle/tolerance.hpp"

#include <algorithm>
#include <cmath>

namespace hone::oracle {

double elementwise(double scale, double ulps) {
  return std::max(ulps * float32_spacing * std::abs(scale), float32_smallest_normal);
}

double reduction(double n, double scale, double c) {
  return std::max(c * std::sqrt(n) * float32_spacing * std::abs(scale),
                  n * float32_smallest_normal);
}

}  // namespace hone::oracle
