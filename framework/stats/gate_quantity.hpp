#pragma once
#include <string>
#include <vector>

#include "stats/gate.hpp"

namespace hone::stats {

/// What the judges of gates know of quantities; not for callers of judge().

const Quantity& quantity_of(const Gate& gate);

Arm arm_of(const Gate& gate);

/// "pass_rate(with_skill)": the quantity with its arguments.
std::string call_of(const Gate& gate);

/// A value in the quantity's unit, for people.
std::string number(double value, Quantity::Unit unit);

/// The quantity's value in a measurement; `absent` says why there is none.
double value_of(const Gate& gate, const Measured& measured, std::string* absent);

Tally total(const Measured& measured, Arm arm);

/// With-minus-without rates of the cases that are scored in both arms.
std::vector<double> differences(const Measured& measured);

/// The times that bench(name) speaks of: of the case, or of all cases of the suite.
std::vector<const BenchTimes*> times_named(const Measured& measured, const std::string& name);

}  // namespace hone::stats
