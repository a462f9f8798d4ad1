#pragma once
#include <string>
#include <vector>

#include "stats/gate.hpp"

namespace hone::stats {

/// What the judges of gates share; not for callers of judge().

/// "; 2 infrastructure errors not counted; 3 trials not run", or "".
std::string not_counted(const GateFacts& facts);

/// Largest drops first.
void sort_moves(std::vector<CaseMove>& moves);

/// "; worse: a 3/3 -> 0/3, b …" (or "; better: …") of the moves in one direction, or "".
std::string list_moves(const std::vector<CaseMove>& moves, bool down);

GateVerdict verdict(GateOutcome outcome, std::string message);

/// The rule for no-regression: see judge().
GateVerdict judge_regression(const Gate& gate, const GateFacts& facts);

}  // namespace hone::stats
