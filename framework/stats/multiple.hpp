#pragma once
#include <span>
#include <vector>

namespace hone::stats {

/// Holm's step-down adjusted p values, in the order given: for claims about several models.
std::vector<double> holm(std::span<const double> p);

/// Benjamini-Hochberg adjusted p values, in the order given: for exploring.
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace hone::stats
