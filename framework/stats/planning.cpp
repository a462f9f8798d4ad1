#include "stats/planning.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <stdexcept>

#include "stats/intervals.hpp"

namespace hone::stats {
namespace {

double z_sum(const Spread& s) {
  return normal_quantile(1 - s.alpha / 2) + normal_quantile(s.power);
}

double variance_per_case(int runs, const Spread& s) {
  return s.between_cases * s.between_cases + (s.with_variance + s.without_variance) / runs;
}

}  // namespace

int cases_needed(double delta, int runs, const Spread& spread) {
  if (delta == 0 || runs < 1) throw std::invalid_argument("needs an effect and at least one run");
  const double z = z_sum(spread);
  return static_cast<int>(
      std::ceil(z * z * variance_per_case(runs, spread) / (delta * delta) - 1e-9));
}

double smallest_detectable_effect(int cases, int runs, const Spread& spread) {
  if (cases < 1 || runs < 1) throw std::invalid_argument("needs at least one case and one run");
  return z_sum(spread) * std::sqrt(variance_per_case(runs, spread) / cases);
}

double binomial_at_most(int passes, int n, double p) {
  if (passes < 0) return 0;
  if (passes >= n) return 1;
  return boost::math::cdf(boost::math::binomial(n, p), passes);
}

double binomial_at_least(int passes, int n, double p) {
  return passes <= 0 ? 1 : 1 - binomial_at_most(passes - 1, n, p);
}

BinomialGate binomial_gate(int n, double p0, double alpha) {
  BinomialGate gate;
  for (int c = 0; c <= n; ++c) {
    const double p = binomial_at_most(c, n, p0);
    if (p > alpha) break;
    gate = {c, p};
  }
  return gate;
}

int runs_for_one_case(double alpha) {
  if (!(alpha > 0)) throw std::invalid_argument("needs a level above 0");
  double ways = 1;  // C(2n, n)
  for (int n = 1;; ++n) {
    ways *= 2.0 * (2 * n - 1) / n;
    if (2 / ways <= alpha) return n;
  }
}

}  // namespace hone::stats
