#pragma once
#include <optional>

namespace hone::stats {

/// Probability that at least one of k draws without replacement from n runs passes, of which c
/// passed: 1 - C(n-c,k)/C(n,k). Throws std::invalid_argument unless 0 <= c <= n and 1 <= k <= n.
double pass_at_k(int n, int c, int k);

/// Probability that all k draws pass (pass^k): C(c,k)/C(n,k). Same requirements.
double pass_hat_k(int n, int c, int k);

/// Lift as a share of what was left to gain, (with - without) / (1 - without)
/// (SkillsBench, arXiv 2602.12670); 0 when nothing was left to gain.
double normalised_gain(double without_skill, double with_skill);

/// What one correct answer takes: `total` tokens or money of all scored runs over the correct ones;
/// nothing when none is correct.
std::optional<double> per_correct(double total, int correct);

}  // namespace hone::stats
