#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "history/database.hpp"
#include "history/snapshot.hpp"

namespace hone::history {

/// Which runs are wanted. Empty fields admit all.
struct Filter {
  std::string evaluation, source;
  std::vector<std::string> skills, models;  ///< any of them
  std::string commit;                       ///< a prefix
  std::string device;                       ///< a part of its name
  std::string since, until;                 ///< ISO UTC or a prefix of it, both inclusive
  int last = 0;                             ///< only the newest so many; 0: all
};

/// What a listing shows of one run; the cases are left in the database.
struct RunRow {
  long long id = 0;
  Provenance from;
  std::string case_digest;
  int runs = 0, cases = 0, infrastructure_errors = 0;
  stats::Tally with_skill, without_skill;
  std::optional<double> rate_with, rate_without;  ///< means over cases
  std::optional<double> lift, lift_low, lift_high;
  std::optional<double> tokens_with, tokens_without;  ///< a trial
  std::optional<double> cost_with, cost_without;      ///< a trial
};

/// The history of measurements: one SQLite file, a row for each evaluation and model measured, and
/// for each of its cases. Several processes may use it at once.
class Store {
 public:
  explicit Store(const std::filesystem::path& file);

  /// Adds a measurement; one that is there already keeps its commit and only gets the new verdict.
  /// Returns whether it was new.
  bool add(const Snapshot& snapshot);

  /// Newest first.
  std::vector<RunRow> list(const Filter& filter = {});

  /// One run with its cases. Throws Error(usage) for an unknown id.
  Snapshot load(long long id);

  /// The newest run that fits, if any.
  std::optional<Snapshot> newest(const Filter& filter);

 private:
  Database db_;
};

}  // namespace hone::history
