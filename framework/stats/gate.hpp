#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.hpp"
#include "stats/tally.hpp"

namespace hone::stats {

/// A parsed gate. Grammar:
///   gate       := all ("or" all)*
///   all        := one ("and" one)*                "and" binds tighter
///   one        := "(" gate ")" | no-regression | comparison
///   comparison := quantity op bound               e.g. `pass_rate(with_skill) >= 0.6`
///   quantity   := name | name "(" argument ("," argument)* ")"
///   op         := ">=" | ">" | "<=" | "<" | "=="
///   bound      := number | [number "*"] "baseline" [("+" | "-") number]
///   no-regression := ("no-regression" | "no_regression") ["(" alpha ")"]
/// A number may carry "%" where the quantity is a share, and ns, us, ms or s where it is a time.
/// `baseline` is the same quantity in the baseline. Quantities: gate_quantities().
struct Gate {
  enum class Kind { comparison, no_regression, all, any };
  std::string text;  ///< as written, blanks trimmed
  Kind kind = Kind::comparison;
  std::vector<Gate> parts;  ///< of all and any
  std::string quantity;
  std::vector<std::string> arguments;
  std::string op;
  double threshold = 0;          ///< the number; with a factor, what is added to factor * baseline
  std::optional<double> factor;  ///< of the baseline's value; nothing: compared with a number
  double alpha = 0.05;           ///< one-sided

  /// The gate, or a part of it, looks at the baseline.
  bool needs_baseline() const;
};

/// Parses a gate. Throws Error(bad_input) whose diagnostic says the column in the gate's text and
/// what would be right; `where` (the declaring file and line) is named first when it is known.
Gate parse_gate(std::string_view text, const Location& where = {});

/// What a gate may name: for --help, error messages and the judge.
struct Quantity {
  enum class Unit { rate, points, tokens, count, time, money };
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

/// Times of the correct candidates of one case with the skill, one a run, in ns.
struct BenchTimes {
  std::string case_name;
  std::string suite;
  std::vector<double> ns;
  std::string kind;  ///< "model bound" | "measured": never compared with each other
  std::string device;
  std::optional<double> reference_ns;  ///< the suite's reference kernel on the same device
};

/// One measurement of one evaluation and model, now or in the baseline.
struct Measured {
  std::vector<CaseTally> cases;
  std::vector<std::string> case_digests;  ///< parallel to cases; empty strings are not compared
  ArmTokens with_skill;
  ArmTokens without_skill;
  std::optional<double> tokens_saved;             ///< a trial, without - with, mean over cases
  std::optional<double> cost_with, cost_without;  ///< of a trial, in the price table's currency
  std::vector<BenchTimes> bench;
  int infrastructure_errors = 0;
  int not_run = 0;
};

/// The earlier measurement.
struct GateBaseline : Measured {
  std::string description;           ///< e.g. "2026-01-31, skill sha256:12ab…, 3 runs"
  std::vector<std::string> differs;  ///< settings other than the skill that changed since
};

/// Everything a gate may look at, for one evaluation and model.
struct GateFacts : Measured {
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
/// Estimates (`pass_rate`, `case_rate`, `lift`) against a number: pass when the estimate meets it;
/// fail when it does not and the data rule the number out (rates: the exact binomial tail of the
/// totals, which is conservative when cases differ; lift: one-sided t bound over cases; both at
/// alpha); inconclusive between the two. With at most 10 scored runs in an arm a rate passes or
/// fails only where the exact test settles it, and a lift is inconclusive. Against the baseline,
/// itself an estimate, a miss is a failure where the paired t test over the cases' differences is
/// significant, and inconclusive otherwise.
///
/// `bench`: the median time of the correct candidates. Against the baseline the two must be of one
/// kind and device; a miss is a failure where Mann-Whitney's test over the runs says slower at
/// alpha, else inconclusive: another answer of the model is another kernel. Other quantities
/// (bounds, tokens, cost, counts) are compared as they are. What is absent is inconclusive.
///
/// `and` is as bad as its worst part, `or` as good as its best: fail < inconclusive < pass.
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

/// Whether one case's rate with the skill meets the least rate that its file asks for: pass when it
/// does, however few the runs; fail when it does not and chance (5 %, exact) does not explain it.
GateVerdict judge_require(double least, const CaseTally& c);

}  // namespace hone::stats
