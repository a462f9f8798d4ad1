#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/intervals.hpp"

namespace hone::stats {

double mean(std::span<const double> values);

/// Sample standard deviation (ddof 1); 0 for fewer than two values.
double standard_deviation(std::span<const double> values);

/// Mean of per-case differences with its t(k-1) interval: the primary claim about a lift.
struct PairedT {
  int cases = 0;
  double mean = 0;
  double se = 0;      ///< sd / sqrt(k)
  Interval interval;  ///< of the mean
  double p = 1;       ///< two-sided, of mean == 0
  double p_drop = 1;  ///< one-sided, alternative mean < 0
};

/// Nothing for fewer than two differences: one case has no spread to learn from.
std::optional<PairedT> paired_t(std::span<const double> differences, double confidence = 0.95);

/// Exact sign-flip (permutation) p value of mean == 0: all 2^m sign patterns of the m non-zero
/// differences; above m = 20, 100000 patterns drawn from SplitMix64(seed), counted with +1.
struct SignFlip {
  double p = 1;       ///< two-sided
  double p_drop = 1;  ///< one-sided, alternative mean < 0
};
SignFlip sign_flip(std::span<const double> differences, uint64_t seed = 42);

/// The smallest two-sided p that `cases` differences can reach: 2 / 2^k (at most 1).
double smallest_sign_flip_p(int cases);

/// Fewer cases than this can never support a claim at the 5 % level.
inline constexpr int kFewestCasesForAClaim = 6;

/// Standard error of the mean of all scores when scores come in clusters (runs of one case):
/// SE^2 = 1/N^2 * sum_c (sum_i (s_ic - mean))^2 (Miller 2024, arXiv 2411.00640).
double clustered_se(std::span<const std::vector<double>> clusters);

/// Mean of all scores in clusters, its clustered standard error and interval. Below 30 clusters the
/// error is scaled by sqrt(k/(k-1)) and the interval is Student's with k-1 degrees of freedom.
struct ClusteredMean {
  int clusters = 0;  ///< k, those that have scores
  double mean = 0;
  double se = 0;
  Interval interval;
};

/// Nothing for fewer than two clusters with scores.
std::optional<ClusteredMean> clustered_mean(std::span<const std::vector<double>> clusters,
                                            double confidence = 0.95);

/// Standard error of the mean that takes every score for independent (ddof 0): for contrast only.
double independent_se(std::span<const double> scores);

/// Steele, Lea and Flood's SplitMix64: small, the same on every machine.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next();
  /// Uniform in [0, n) as (next() * n) >> 64.
  uint64_t below(uint64_t n);

 private:
  uint64_t state_;
};

/// Percentile bootstrap interval of the mean, reproducible from the seed.
/// [value, value] for one value; throws std::invalid_argument for none.
Interval bootstrap_mean(std::span<const double> values, double confidence = 0.95,
                        int resamples = 10000, uint64_t seed = 42);

}  // namespace hone::stats
