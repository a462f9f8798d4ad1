#pragma once
#include <string>

#include "trial/manifest.hpp"

namespace hone::trial {

/// A CTest script (add_test, set_tests_properties) of all evaluations of a manifest: per model
/// endpoint start and stop, per (case, arm) its stages chained by fixtures, gates, and the report
/// as fixture clean-up. A case file that is wrong becomes one failing test that says
/// file:line:column; the other cases stay.
std::string ctest_script(const Manifest& manifest);

/// A gate expression as part of a test's name: "lift >= 0" is "lift_ge_0".
std::string gate_slug(const std::string& expression);

}  // namespace hone::trial
