#include "stats/paired.hpp"

#include <algorithm>
#include <bit>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

namespace hone::stats {
namespace {

constexpr size_t kExactSignFlips = 20;
constexpr int kSampledSignFlips = 100000;
constexpr double kManyClusters = 30;

double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

double mean(std::span<const double> values) {
  return values.empty() ? 0 : sum(values) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double m = mean(values);
  double squares = 0;
  for (const double v : values) squares += (v - m) * (v - m);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<PairedT> paired_t(std::span<const double> differences, double confidence) {
  if (differences.size() < 2) return std::nullopt;
  PairedT result;
  result.cases = static_cast<int>(differences.size());
  result.mean = mean(differences);
  result.se = standard_deviation(differences) / std::sqrt(static_cast<double>(result.cases));
  // Equal differences leave rounding noise in the deviation; it must not become a huge t.
  if (result.se < 1e-12) result.se = 0;
  const boost::math::students_t t(result.cases - 1);
  const double half = boost::math::quantile(t, 1 - (1 - confidence) / 2) * result.se;
  result.interval = {result.mean - half, result.mean + half};
  if (result.se == 0) {
    result.p = result.mean == 0 ? 1 : 0;
    result.p_drop = result.mean < 0 ? 0 : 1;
    return result;
  }
  const double statistic = result.mean / result.se;
  result.p = 2 * boost::math::cdf(boost::math::complement(t, std::abs(statistic)));
  result.p_drop = boost::math::cdf(t, statistic);
  return result;
}

SignFlip sign_flip(std::span<const double> differences, uint64_t seed) {
  std::vector<double> moved;
  std::copy_if(differences.begin(), differences.end(), std::back_inserter(moved),
               [](double d) { return d != 0; });
  if (moved.empty()) return {};
  const double observed = sum(moved);
  double scale = 0;
  for (const double d : moved) scale += std::abs(d);
  const double slack = scale * 1e-12;  // sums in another order are still ties
  uint64_t as_far = 0, as_low = 0;
  const auto count = [&](double flipped) {
    as_far += std::abs(flipped) >= std::abs(observed) - slack;
    as_low += flipped <= observed + slack;
  };
  if (moved.size() <= kExactSignFlips) {
    // Gray code: each step flips one sign.
    std::vector<double> signed_values = moved;
    double flipped = observed;
    const uint64_t patterns = uint64_t{1} << moved.size();
    for (uint64_t i = 0;; ++i) {
      count(flipped);
      if (i + 1 == patterns) break;
      const auto bit = static_cast<size_t>(__builtin_ctzll(i + 1));
      flipped -= 2 * signed_values[bit];
      signed_values[bit] = -signed_values[bit];
    }
    const auto total = static_cast<double>(patterns);
    return {static_cast<double>(as_far) / total, static_cast<double>(as_low) / total};
  }
  // Differences of one size are many, as few runs give few: their signs are counted, not added.
  std::map<double, size_t> sizes;
  for (const double d : moved) ++sizes[std::abs(d)];
  SplitMix64 random(seed);
  for (int i = 0; i < kSampledSignFlips; ++i) {
    double flipped = 0;
    for (const auto& [size, times] : sizes) {
      long positive = 0;
      for (size_t left = times; left > 0; left -= std::min<size_t>(left, 64))
        positive += std::popcount(left < 64 ? random.next() >> (64 - left) : random.next());
      flipped += size * static_cast<double>(2 * positive - static_cast<long>(times));
    }
    count(flipped);
  }
  const double total = kSampledSignFlips + 1;
  return {static_cast<double>(as_far + 1) / total, static_cast<double>(as_low + 1) / total};
}

double smallest_sign_flip_p(int cases) { return cases < 1 ? 1 : std::ldexp(2.0, -cases); }

double clustered_se(std::span<const std::vector<double>> clusters) {
  double total = 0;
  size_t n = 0;
  for (const auto& cluster : clusters) {
    total += sum(cluster);
    n += cluster.size();
  }
  if (n == 0) return 0;
  const double m = total / static_cast<double>(n);
  double squares = 0;
  for (const auto& cluster : clusters) {
    const double deviation = sum(cluster) - m * static_cast<double>(cluster.size());
    squares += deviation * deviation;
  }
  return std::sqrt(squares) / static_cast<double>(n);
}

std::optional<ClusteredMean> clustered_mean(std::span<const std::vector<double>> clusters,
                                            double confidence) {
  ClusteredMean result;
  double total = 0;
  size_t n = 0;
  for (const auto& cluster : clusters) {
    result.clusters += !cluster.empty();
    total += sum(cluster);
    n += cluster.size();
  }
  if (result.clusters < 2) return std::nullopt;
  const double k = result.clusters;
  result.mean = total / static_cast<double>(n);
  result.se = clustered_se(clusters) * (k < kManyClusters ? std::sqrt(k / (k - 1)) : 1);
  const double tail = 1 - (1 - confidence) / 2;
  const double quantile = k < kManyClusters
                              ? boost::math::quantile(boost::math::students_t(k - 1), tail)
                              : normal_quantile(tail);
  result.interval = {result.mean - quantile * result.se, result.mean + quantile * result.se};
  return result;
}

double independent_se(std::span<const double> scores) {
  if (scores.empty()) return 0;
  const auto n = static_cast<double>(scores.size());
  return standard_deviation(scores) * std::sqrt((n - 1) / n) / std::sqrt(n);
}

uint64_t SplitMix64::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t SplitMix64::below(uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(next()) * n) >> 64);
}

Interval bootstrap_mean(std::span<const double> values, double confidence, int resamples,
                        uint64_t seed) {
  if (values.empty() || resamples < 1) throw std::invalid_argument("bootstrap of nothing");
  SplitMix64 random(seed);
  std::vector<double> means(static_cast<size_t>(resamples));
  for (double& m : means) {
    double total = 0;
    for (size_t i = 0; i < values.size(); ++i) total += values[random.below(values.size())];
    m = total / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  const double tail = (1 - confidence) / 2;
  const auto at = [&](double share) {
    const auto rank = std::llround(share * resamples) - 1;
    return means[static_cast<size_t>(std::clamp<long long>(rank, 0, resamples - 1))];
  };
  return {at(tail), at(1 - tail)};
}

}  // namespace hone::stats
