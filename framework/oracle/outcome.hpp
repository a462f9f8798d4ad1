#pragma once
#include <string>
#include <string_view>

namespace hone::oracle {

/// What verify may find, one a candidate. The words of verify.json.
enum class Outcome {
  correct,
  wrong,
  compile_error,  ///< the library cannot be loaded, or lacks the entry
  launch_error,
  memory_fault,
  race,
  sync_fault,
  timeout,
  crashed,
  no_kernel,
  suspicious,  ///< right, but faster than the hardware can be, or not by the means that were asked
  infrastructure_error,  ///< nothing was judged
};

std::string_view name_of(Outcome outcome);

/// An outcome and one line that a person can act on (empty when correct).
struct Finding {
  Outcome outcome = Outcome::correct;
  std::string evidence;
  bool correct() const { return outcome == Outcome::correct; }
};

}  // namespace hone::oracle
