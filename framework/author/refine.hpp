#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "author/draft.hpp"
#include "author/student.hpp"
#include "storage/storage.hpp"

namespace hone::author {

/// Which cases feed refinement and which only judge it.
struct Split {
  std::set<std::string> train, held_out;
};

/// About a third is held out, chosen by the ids' digests, so that a case stays on its side whatever
/// else is added; both sides have one at least. Throws Error(bad_input) for fewer than two cases.
Split split_of(const std::vector<std::string>& ids);

struct RefineOptions {
  int max_attempts = 3;       ///< rewrites after the first version
  int plateau = 2;            ///< attempts in a row without a better version that end it
  double target = 1.0;        ///< rate on both sides that ends it
  std::filesystem::path dir;  ///< of the versions: <dir>/v1/<name>/SKILL.md, <dir>/v1/scores.json
  std::function<void(const std::string&)> progress;
};

/// A version of the skill and how the student did with it.
struct Version {
  int number = 0;
  std::filesystem::path skill_dir;
  Draft draft;
  double train = 0, held_out = 0;
  Measurement measurement;
};

struct Refined {
  std::vector<Version> versions;  ///< at least one
  size_t best = 0;                ///< by held-out rate, then train rate, then the earlier one
  std::string stopped;            ///< why it ended
  std::vector<std::string> failed_attempts;  ///< rewrites that gave no valid skill, and why
};

/// Improves a skill until the student reaches the target, two attempts bring nothing, the attempts
/// or the budget are used up. The author sees the whole skill and what went wrong in train cases,
/// never a held-out one. The first version is refined whatever its score. Versions that are on
/// record in `dir` are used again, so an interrupted run goes on where it was.
Refined refine(Writer& writer, Student& student, Spending& spending, const Draft& first,
               const Material& material, const Split& split, const RefineOptions& options);

/// Mean rate of the cases with these ids.
double rate_on(const Measurement& measurement, const std::set<std::string>& ids);

/// What went wrong in train cases, as the author is told.
std::string evidence_of(const Measurement& measurement, const Split& split, size_t max_bytes);

/// The draft of a version that is on record below `dir`.
std::optional<Draft> version_on_record(const std::filesystem::path& dir, int number);

/// Copies everything of a skill but SKILL.md, so that a new version keeps its references.
void copy_references(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace hone::author
