#pragma once

namespace hone::stats {

/// What varies in a comparison of two arms. The defaults reproduce typical evaluations.
struct Spread {
  double between_cases = 0.2;      ///< w: sd of the true effect from case to case
  double with_variance = 0.16;     ///< s_with^2: mean p(1-p) of one run
  double without_variance = 0.16;  ///< s_without^2
  double alpha = 0.05;             ///< two-sided
  double power = 0.8;
};

/// Cases needed to see an effect `delta` with `runs` runs a case and arm, rounded up:
/// k = (z_{alpha/2} + z_power)^2 (w^2 + s_with^2/n + s_without^2/n) / delta^2.
int cases_needed(double delta, int runs, const Spread& spread = {});

/// The smallest effect that `cases` cases with `runs` runs each are likely to show.
double smallest_detectable_effect(int cases, int runs, const Spread& spread = {});

/// The largest c with P(X <= c | n, p0) <= alpha: an alarm is raised at c or fewer passes.
struct BinomialGate {
  int critical = -1;       ///< c; -1 when no count is rare enough
  double false_alarm = 0;  ///< P(X <= c | n, p0)
};
BinomialGate binomial_gate(int n, double p0, double alpha = 0.01);

/// P(X <= passes | n, p) and P(X >= passes | n, p) of the binomial distribution.
double binomial_at_most(int passes, int n, double p);
double binomial_at_least(int passes, int n, double p);

/// Runs a side that one case needs so that a change from all to none is significant by Fisher's
/// exact test, two-sided: the smallest n with 2 / C(2n, n) <= alpha.
int runs_for_one_case(double alpha = 0.05);

/// Up to this many runs have no gating power: report them, don't gate on them.
inline constexpr int kRunsWithoutGatingPower = 10;

}  // namespace hone::stats
