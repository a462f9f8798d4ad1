#include "stats/gate_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hone::stats {

const char* gate_outcome_name(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::pass:
      return "pass";
    case GateOutcome::fail:
      return "fail";
    case GateOutcome::inconclusive:
      return "inconclusive";
  }
  return "";
}

std::string not_counted(const GateFacts& facts) {
  std::string note;
  if (facts.infrastructure_errors > 0)
    note += fmt::format("; {} infrastructure error{} not counted", facts.infrastructure_errors,
                        facts.infrastructure_errors == 1 ? "" : "s");
  if (facts.not_run > 0) note += fmt::format("; {} trials not run", facts.not_run);
  return note;
}

void sort_moves(std::vector<CaseMove>& moves) {
  std::stable_sort(moves.begin(), moves.end(), [](const CaseMove& a, const CaseMove& b) {
    return a.after.rate() - a.before.rate() < b.after.rate() - b.before.rate();
  });
}

std::string list_moves(const std::vector<CaseMove>& moves, bool down) {
  constexpr size_t kNamed = 6;
  std::string text;
  size_t count = 0;
  for (const auto& m : moves) {
    const double change = m.after.rate() - m.before.rate();
    if (down ? change >= 0 : change <= 0) continue;
    if (++count > kNamed) continue;
    text += fmt::format("{}{} {}/{} -> {}/{}", text.empty() ? "" : ", ", m.name, m.before.passes,
                        m.before.n, m.after.passes, m.after.n);
  }
  if (count == 0) return "";
  if (count > kNamed) text += fmt::format(" and {} more", count - kNamed);
  return std::string(down ? "; worse: " : "; better: ") + text;
}

GateVerdict verdict(GateOutcome outcome, std::string message) {
  return {outcome, std::move(message), {}};
}

}  // namespace hone::stats
