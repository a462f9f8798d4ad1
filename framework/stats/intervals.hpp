#pragma once
#include "stats/tally.hpp"

namespace hone::stats {

struct Interval {
  double low = 0;
  double high = 0;
};

/// Wilson score interval of one proportion: for reporting a single case's rate.
/// [0, 1] when n is 0. Throws std::invalid_argument unless 0 <= passes <= n.
Interval wilson(Tally tally, double confidence = 0.95);

/// Clopper-Pearson ("exact") interval of one proportion: for guarantees. [0, 1] when n is 0.
Interval clopper_pearson(Tally tally, double confidence = 0.95);

/// Newcombe's hybrid score interval of rate(a) - rate(b) for independent samples.
Interval newcombe(Tally a, Tally b, double confidence = 0.95);

/// The standard normal quantile of probability p.
double normal_quantile(double p);

}  // namespace hone::stats
