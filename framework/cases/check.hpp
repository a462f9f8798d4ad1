#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cases/case.hpp"

namespace hone::cases {

struct CheckResult {
  std::string name;  ///< "contains: 9.0"
  bool passed = false;
  std::string evidence;  ///< short, printable; "" where the name says it all
};

/// Every check of `expect` but the kernel on the answer's text, in the order of Expect's members.
std::vector<CheckResult> check_text(const Expect& expect, std::string_view answer);

/// The numbers in a text: 1,024 is 1024; digits inside words such as sm_90 or H100 are none.
std::vector<double> numbers_in(std::string_view text);

/// "" when the pattern can be used, else what is wrong with it.
std::string regex_error(const std::string& pattern);

}  // namespace hone::cases
