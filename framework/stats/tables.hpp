#pragma once
#include <span>
#include <utility>

#include "stats/tally.hpp"

namespace hone::stats {

/// McNemar's test for one run a case: b and c count the cases that changed either way.
struct McNemar {
  double exact = 1;  ///< two-sided binomial p
  double mid_p = 1;
  double chi2 = 0;  ///< with continuity correction
  double chi2_p = 1;
};
McNemar mcnemar(int b, int c);

/// Fisher's exact test, one-sided: probability that `after` passes as few or fewer when both
/// share one rate, given the totals.
double fisher_drop_p(Tally before, Tally after);

/// The same, stratified by case (before, after): every case may have its own rate, which is shared
/// by before and after. Exact, by convolution of the hypergeometrics; equals fisher_drop_p for one.
double stratified_drop_p(std::span<const std::pair<Tally, Tally>> cases);

}  // namespace hone::stats
