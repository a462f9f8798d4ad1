#include "stats/intervals.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <stdexcept>

namespace hone::stats {
namespace {

void check(Tally tally, double confidence) {
  if (tally.passes < 0 || tally.n < 0 || tally.passes > tally.n)
    throw std::invalid_argument("a tally needs 0 <= passes <= n");
  if (!(confidence > 0 && confidence < 1))
    throw std::invalid_argument("a confidence lies between 0 and 1");
}

}  // namespace

double normal_quantile(double p) { return boost::math::quantile(boost::math::normal(), p); }

Interval wilson(Tally tally, double confidence) {
  check(tally, confidence);
  if (tally.n == 0) return {0, 1};
  const double z = normal_quantile(1 - (1 - confidence) / 2);
  const double n = tally.n;
  const double p = tally.rate();
  const double scale = 1 + z * z / n;
  const double centre = (p + z * z / (2 * n)) / scale;
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / scale;
  return {tally.passes == 0 ? 0 : std::max(0.0, centre - half),
          tally.passes == tally.n ? 1 : std::min(1.0, centre + half)};
}

Interval clopper_pearson(Tally tally, double confidence) {
  check(tally, confidence);
  if (tally.n == 0) return {0, 1};
  const double tail = (1 - confidence) / 2;
  const double x = tally.passes;
  const double n = tally.n;
  using Beta = boost::math::beta_distribution<>;
  return {x == 0 ? 0 : boost::math::quantile(Beta(x, n - x + 1), tail),
          x == n ? 1 : boost::math::quantile(Beta(x + 1, n - x), 1 - tail)};
}

Interval newcombe(Tally a, Tally b, double confidence) {
  const Interval wa = wilson(a, confidence);
  const Interval wb = wilson(b, confidence);
  if (a.n == 0 || b.n == 0) return {-1, 1};
  const double pa = a.rate();
  const double pb = b.rate();
  return {pa - pb - std::hypot(pa - wa.low, wb.high - pb),
          pa - pb + std::hypot(wa.high - pa, pb - wb.low)};
}

}  // namespace hone::stats
