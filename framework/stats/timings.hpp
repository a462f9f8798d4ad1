#pragma once
#include <optional>
#include <span>

namespace hone::stats {

/// Mann-Whitney U test of two samples of times (Google Benchmark's compare.py uses the same).
struct MannWhitney {
  double u = 0;         ///< pairs (a, b) with a > b, ties half
  double p = 1;         ///< two-sided
  double p_slower = 1;  ///< one-sided, alternative: b tends to be larger than a
};

/// Exact permutation distribution of the midranks, ties included, up to 40 values in all; above,
/// the normal approximation with corrections for ties and continuity. p is 1 for an empty sample.
MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b);

/// The middle value, or the mean of the two middle ones. Throws std::invalid_argument for none.
double median(std::span<const double> values);

/// fast_p of KernelBench (arXiv 2502.10517): share of the problems that are solved correctly and
/// more than p times as fast as the reference. An incorrect or untimed problem has no speedup.
/// 0 for no problems.
double fast_p(std::span<const std::optional<double>> speedups, double p);

}  // namespace hone::stats
