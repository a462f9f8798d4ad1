#include "stats/tables.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace hone::stats {
namespace {

/// Distribution of `after`'s passes given the totals of both: index 0 is `first` passes.
struct Conditional {
  int first = 0;
  std::vector<double> probability;
};

Conditional conditional(Tally before, Tally after) {
  const auto passes = static_cast<unsigned>(before.passes + after.passes);
  const auto drawn = static_cast<unsigned>(after.n);
  const auto total = static_cast<unsigned>(before.n + after.n);
  const boost::math::hypergeometric_distribution<> distribution(passes, drawn, total);
  Conditional result{std::max(0, after.n + before.passes + after.passes - before.n - after.n), {}};
  const int last = std::min(after.n, before.passes + after.passes);
  for (int x = result.first; x <= last; ++x)
    result.probability.push_back(boost::math::pdf(distribution, x));
  return result;
}

}  // namespace

McNemar mcnemar(int b, int c) {
  if (b < 0 || c < 0) throw std::invalid_argument("McNemar needs counts");
  const int n = b + c;
  if (n == 0) return {};
  const boost::math::binomial distribution(n, 0.5);
  const int low = std::min(b, c);
  McNemar result;
  result.exact = std::min(1.0, 2 * boost::math::cdf(distribution, low));
  result.mid_p =
      b == c ? 1.0 - boost::math::pdf(distribution, low)
             : 2 * boost::math::cdf(distribution, low) - boost::math::pdf(distribution, low);
  const double corrected = std::max(0, std::abs(b - c) - 1);
  result.chi2 = corrected * corrected / n;
  result.chi2_p =
      boost::math::cdf(boost::math::complement(boost::math::chi_squared(1), result.chi2));
  return result;
}

double fisher_drop_p(Tally before, Tally after) {
  const std::pair<Tally, Tally> one{before, after};
  return stratified_drop_p({&one, 1});
}

double stratified_drop_p(std::span<const std::pair<Tally, Tally>> cases) {
  Conditional sum{0, {1.0}};
  int observed = 0;
  for (const auto& [before, after] : cases) {
    if (before.n == 0 || after.n == 0) continue;
    const Conditional next = conditional(before, after);
    observed += after.passes;
    std::vector<double> both(sum.probability.size() + next.probability.size() - 1, 0.0);
    for (size_t i = 0; i < sum.probability.size(); ++i)
      for (size_t j = 0; j < next.probability.size(); ++j)
        both[i + j] += sum.probability[i] * next.probability[j];
    sum = {sum.first + next.first, std::move(both)};
  }
  double p = 0;
  for (int x = sum.first; x <= observed; ++x)
    p += sum.probability[static_cast<size_t>(x - sum.first)];
  return std::min(1.0, p);
}

}  // namespace hone::stats
