#pragma once
#include <optional>
#include <string>
#include <vector>

#include "history/snapshot.hpp"
#include "report/writers.hpp"
#include "stats/paired.hpp"

namespace hone::history {

enum class Change { better, worse, unclear, same, added, gone };
const char* change_name(Change change);

/// One case with the skill, before (A) and after (B).
struct CaseChange {
  std::string name;
  Change change = Change::unclear;
  stats::Tally before, after;
  stats::Interval difference;  ///< Newcombe 95 %, after - before
  double p = 1;                ///< Fisher's exact test, two-sided
  double p_adjusted = 1;       ///< Benjamini-Hochberg over the compared cases
  bool edited = false;         ///< the case itself differs: its rates are not compared
  std::optional<double> tokens_before, tokens_after;
  std::optional<double> time_before, time_after;  ///< median ns, where of one kind
  double p_slower = 1;                            ///< Mann-Whitney, one-sided
};

/// One model's measurement A against B.
struct ModelChange {
  Snapshot before, after;
  Change change = Change::unclear;
  std::string why;  ///< the tests behind `change`, in one sentence
  std::vector<CaseChange> cases;
  int compared = 0;                       ///< cases of both, unedited, scored
  std::optional<stats::PairedT> mean;     ///< of the cases' differences
  double exact_drop = 1, exact_rise = 1;  ///< stratified by case, one-sided
  std::optional<double> mcnemar_p;        ///< exact, when every case has one run a side
  std::optional<double> tokens_before, tokens_after, cost_before, cost_after;
  std::optional<double> time_ratio;  ///< after / before, geometric mean over cases
  std::string time_kind;
  std::vector<std::string> differs;  ///< what else is not the same
};

struct Comparison {
  std::string a, b;  ///< how the two sides are called
  std::vector<ModelChange> models;
  std::vector<std::string> only_in_a, only_in_b;  ///< evaluation/model
};

/// Pairs measurements by evaluation and model, by model alone where the evaluations have no name in
/// common (two skills), and compares them.
///
/// A model is worse when the drop is significant, one-sided at 5 %, by both the exact test
/// stratified by case and the paired t test over cases, as the no-regression gate has it; better
/// likewise; else unclear. A case alone is better or worse when Fisher's p, adjusted over the
/// cases, is at most 5 %; fewer than 4 runs a side can never show that.
Comparison compare(const std::string& a, const std::vector<Snapshot>& before, const std::string& b,
                   const std::vector<Snapshot>& after);

/// Table for people.
std::string comparison_text(const Comparison& comparison, const report::TerminalStyle& style = {});
/// GitHub-flavoured Markdown.
std::string comparison_markdown(const Comparison& comparison);
/// {"schema": "hone.comparison/1", …}.
std::string comparison_json(const Comparison& comparison);

}  // namespace hone::history
