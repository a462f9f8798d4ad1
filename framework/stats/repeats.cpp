#include "stats/repeats.hpp"

#include <stdexcept>

namespace hone::stats {
namespace {

void check(int n, int c, int k) {
  if (c < 0 || c > n || k < 1 || k > n)
    throw std::invalid_argument("pass@k needs 0 <= c <= n and 1 <= k <= n");
}

/// C(m,k)/C(n,k) as a product, 0 when m < k.
double ratio(int m, int n, int k) {
  double product = 1;
  for (int i = 0; i < k; ++i) {
    if (m - i <= 0) return 0;
    product *= static_cast<double>(m - i) / (n - i);
  }
  return product;
}

}  // namespace

double pass_at_k(int n, int c, int k) {
  check(n, c, k);
  return 1 - ratio(n - c, n, k);
}

double pass_hat_k(int n, int c, int k) {
  check(n, c, k);
  return ratio(c, n, k);
}

double normalised_gain(double without_skill, double with_skill) {
  return without_skill >= 1 ? 0 : (with_skill - without_skill) / (1 - without_skill);
}

std::optional<double> per_correct(double total, int correct) {
  return correct > 0 ? std::optional(total / correct) : std::nullopt;
}

}  // namespace hone::stats
