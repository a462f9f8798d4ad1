#include "stats/multiple.hpp"

#include <algorithm>
#include <numeric>

namespace hone::stats {
namespace {

std::vector<size_t> ascending(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p) {
  const auto order = ascending(p);
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, static_cast<double>(p.size() - i) * p[order[i]]);
    adjusted[order[i]] = std::min(1.0, largest);
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  const auto order = ascending(p);
  std::vector<double> adjusted(p.size());
  double smallest = 1;
  for (size_t i = order.size(); i-- > 0;) {
    smallest = std::min(smallest,
                        static_cast<double>(p.size()) / static_cast<double>(i + 1) * p[order[i]]);
    adjusted[order[i]] = smallest;
  }
  return adjusted;
}

}  // namespace hone::stats
