#include "stats/timings.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace hone::stats {
namespace {

constexpr size_t kExact = 40;

/// Twice the midrank of each value of a, then of b, and the sum of t^3 - t over groups of ties.
struct Ranks {
  std::vector<int> doubled;
  double ties = 0;
};

Ranks rank(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return all[i] < all[j]; });
  Ranks ranks{std::vector<int>(all.size()), 0};
  for (size_t first = 0; first < order.size();) {
    size_t last = first;
    while (last + 1 < order.size() && all[order[last + 1]] == all[order[first]]) ++last;
    for (size_t i = first; i <= last; ++i)
      ranks.doubled[order[i]] = static_cast<int>(first + last + 2);
    const auto t = static_cast<double>(last - first + 1);
    ranks.ties += t * t * t - t;
    first = last + 1;
  }
  return ranks;
}

/// ways[s]: number of choices of `chosen` of the values whose doubled ranks sum to s.
std::vector<double> distribution(const std::vector<int>& doubled, size_t chosen) {
  const auto most = static_cast<size_t>(std::accumulate(doubled.begin(), doubled.end(), 0));
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1, 0.0));
  ways[0][0] = 1;
  for (const int value : doubled) {
    const auto r = static_cast<size_t>(value);
    for (size_t k = chosen; k > 0; --k)
      for (size_t s = most; s >= r; --s) ways[k][s] += ways[k - 1][s - r];
  }
  return ways[chosen];
}

}  // namespace

MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return {};
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const Ranks ranks = rank(a, b);
  const int sum = std::accumulate(ranks.doubled.begin(),
                                  ranks.doubled.begin() + static_cast<long>(a.size()), 0);
  MannWhitney result;
  result.u = sum / 2.0 - n * (n + 1) / 2;
  if (ranks.doubled.size() <= kExact) {
    const auto ways = distribution(ranks.doubled, a.size());
    const double total = std::accumulate(ways.begin(), ways.end(), 0.0);
    double low = 0, high = 0;
    for (size_t s = 0; s < ways.size(); ++s) {
      if (s <= static_cast<size_t>(sum)) low += ways[s];
      if (s >= static_cast<size_t>(sum)) high += ways[s];
    }
    result.p_slower = low / total;
    result.p = std::min(1.0, 2 * std::min(low, high) / total);
    return result;
  }
  const double all = n + m;
  const double sd = std::sqrt(n * m / 12 * (all + 1 - ranks.ties / (all * (all - 1))));
  if (sd == 0) return result;
  const boost::math::normal normal;
  const double low = boost::math::cdf(normal, (result.u - n * m / 2 + 0.5) / sd);
  const double high =
      boost::math::cdf(boost::math::complement(normal, (result.u - n * m / 2 - 0.5) / sd));
  result.p_slower = low;
  result.p = std::min(1.0, 2 * std::min(low, high));
  return result;
}

double median(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("median of nothing");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double fast_p(std::span<const std::optional<double>> speedups, double p) {
  if (speedups.empty()) return 0;
  const auto fast =
      std::count_if(speedups.begin(), speedups.end(), [&](const auto& s) { return s && *s > p; });
  return static_cast<double>(fast) / static_cast<double>(speedups.size());
}

}  // namespace hone::stats
