#pragma once
#include <string>
#include <vector>

#include "cases/case.hpp"

namespace hone::author {

/// Why a case cannot tell a good answer from none.
struct Weakness {
  std::string rule;  ///< "weak-case", "prompt-leak" or "duplicate-case"
  std::string reason;
};

/// Found by machine, without asking anybody: checks that hold for an empty answer or a polite "I
/// don't know", that a copy of the question passes, or that hang on fewer than three characters.
/// A case that is judged by a suite's oracle is not weak: its null candidates are tested there.
std::vector<Weakness> weaknesses_of(const cases::Case& c);

/// Indices of cases that ask what an earlier one asks: the same words in any order and letter case,
/// but for a tenth of them.
struct Duplicate {
  size_t index, of;
};
std::vector<Duplicate> duplicates_in(const std::vector<cases::Case>& cases);

}  // namespace hone::author
