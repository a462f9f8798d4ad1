#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.hpp"
#include "stats/tally.hpp"

namespace hone::stats {

/// A parsed gate. Grammar, first form:
///   gate       := comparison | no-regression
///   comparison := quantity op number            e.g. `pass_rate(with_skill) >= 0.6`, `lift >= 10%`
///   quantity   := name | name "(" argument ("," argument)* ")"
///   op         := ">=" | ">" | "<=" | "<" | "=="
///   no-regression := ("no-regression" | "no_regression") ["(" alpha ")"]
/// Quantities: gate_quantities().
struct Gate {
  enum class Kind { comparison, no_regression };
  std::string text;  ///< as written, blanks trimmed
  Kind kind = Kind::comparison;
  std::string quantity;
  std::vector<std::string> arguments;
  std::string op;
  double threshold = 0;
  double alpha = 0.05;  ///< one-sided
};

/// Parses a gate. Throws Error(bad_input) whose diagnostic says the column in the gate's text and
/// what would be right; `where` (the declaring file and line) is named first when it is known.
Gate parse_gate(std::string_view text, const Location& where = {});

/// What a gate may name: for --help, error messages and the judge.
struct Quantity {
  enum class Unit { rate, points, tokens, count };
  std::string usage;  ///< "lift", "pass_rate(arm)", "pass_at_k(arm, k)"
  std::string meaning;
  Unit unit = Unit::rate;
  /// `usage` up to its parameters, and what stands in its parentheses.
  std::string name() const { return usage.substr(0, usage.find('(')); }
  std::string parameters() const {
    const auto open = usage.find('(');
    return open == std::string::npos ? "" : usage.substr(open + 1, usage.size() - open - 2);
  }
};
const std::vector<Quantity>& gate_quantities();

/// One arm's tokens per answered trial; absent when the server reported no usage.
struct ArmTokens {
  std::optional<double> input;
  std::optional<double> output;
  std::optional<double> per_correct;  ///< all tokens of the arm over its correct answers
};

/// The earlier measurement that no-regression compares with.
struct GateBaseline {
  struct Case {
    std::string name;
    Tally with_skill;
    std::string digest;  ///< of the case file; a case whose digest changed is not compared
  };
  std::vector<Case> cases;
  std::string description;           ///< e.g. "2026-01-31, skill sha256:12ab…, 3 runs"
  std::vector<std::string> differs;  ///< settings other than the skill that changed since
};

/// Everything a gate may look at, for one evaluation and model.
struct GateFacts {
  std::vector<CaseTally> cases;
  std::vector<std::string> case_digests;  ///< parallel to cases; empty strings are not compared
  ArmTokens with_skill;
  ArmTokens without_skill;
  std::optional<double> tokens_saved;  ///< a trial, without - with, mean over cases
  int infrastructure_errors = 0;
  int not_run = 0;
  std::optional<GateBaseline> baseline;
  std::string no_baseline;  ///< why there is none and the command that writes one
};

enum class GateOutcome { pass, fail, inconclusive };
const char* gate_outcome_name(GateOutcome outcome);

/// A case whose rate changed, as evidence.
struct CaseMove {
  std::string name;
  Tally before;
  Tally after;
};

struct GateVerdict {
  GateOutcome outcome = GateOutcome::inconclusive;
  std::string message;          ///< one paragraph with the numbers
  std::vector<CaseMove> moved;  ///< largest drops first
};

/// Judges one gate.
///
/// Estimates (`pass_rate`, `lift`): pass when the estimate meets the threshold; fail when it does
/// not and the data rule the threshold out (pass_rate: the exact binomial tail of the totals, which
/// is conservative when cases differ; lift: one-sided t bound over cases; both at alpha);
/// inconclusive between the two. With at most 10 scored runs in an arm a pass_rate passes or fails
/// only where the exact test settles it, and a lift is inconclusive. Other quantities (bounds,
/// tokens, counts) are compared as they are; an absent one is inconclusive.
///
/// no-regression: the with-skill rates of the cases that both measurements share. A drop is an
/// alarm when it is significant, one-sided at alpha, on both counts: (1) beyond resampling noise on
/// these very cases, by the exact test stratified by case, since both rates are estimates; and
/// (2) across cases, the case being the unit, by the paired t test on the cases' differences.
/// (1) alone would call any reshuffling of cases a regression, and is void when runs repeat each
/// other (temperature 0); (2) alone is unsure of itself with few, discrete differences. One count
/// alone is inconclusive. A sign-flip p is quoted as companion. With at most 10 scored runs on
/// either side: inconclusive, unless nothing passes any more and (1) is significant.
GateVerdict judge(const Gate& gate, const GateFacts& facts);

}  // namespace hone::stats
