#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.hpp"

namespace hone::cases {

struct ContextFile {
  std::string name;
  std::string text;
};

struct ExpectedNumber {
  double value = 0;
  double tolerance = 0;
};

/// What an answer must be; all that is set must hold.
struct Expect {
  std::vector<std::string> contains;      ///< each, in any letter case
  std::vector<std::string> contains_any;  ///< at least one
  std::vector<std::string> not_contains;  ///< none
  std::vector<std::string> matches;       ///< each: ECMAScript; "(?i)" in front: any letter case
  std::optional<ExpectedNumber> number;   ///< some number in the answer is within tolerance
  bool kernel = false;                    ///< built, run and judged by Case::suite
  std::vector<std::string> forbid;        ///< what the code may not use: words of known_forbids
};

struct Case {
  std::string id;  ///< unique within a CaseSet; safe as a folder name
  std::string title;
  std::string prompt;
  std::vector<ContextFile> context;
  std::string suite;  ///< operation that a kernel case is judged by; "" for text cases outside one
  Expect expect;
  std::optional<int> max_tokens;
  int turns = 1;                  ///< answers a trial may take, each after the first to its faults
  std::optional<double> require;  ///< least pass rate with the skill, in [0, 1]
  Location where;                 ///< file and line of the case
  std::string digest;             ///< "sha256:…" of all that is asked and checked

  /// "kernel" or "text".
  const char* kind() const { return expect.kernel ? "kernel" : "text"; }
};

/// What a case can forbid, as `hone::kernel::find_uses` names it.
inline constexpr std::array<std::string_view, 4> known_forbids = {"libraries", "inline-ptx",
                                                                  "loading", "system"};

struct CaseSet {
  std::vector<Case> cases;              ///< the good ones, in file order
  std::vector<Diagnostic> diagnostics;  ///< everything that is wrong, with file:line:column

  bool has_errors() const;
};

struct CaseOptions {
  std::string suite;  ///< suite of cases that name none
};

/// Reads case files: Hone's own JSON (one case, an array, {"cases": […]}), upskill's tests,
/// skill_meta.json, agentskills evals.json. Never throws for what is in a file; an empty list of
/// files or cases is an error in `diagnostics`.
CaseSet load_cases(const std::vector<std::filesystem::path>& files,
                   const CaseOptions& options = {});

/// The user's message: the prompt and its context files; `extra` comes after the case's own.
std::string prompt_text(const Case& c, const std::vector<ContextFile>& extra = {});

}  // namespace hone::cases
