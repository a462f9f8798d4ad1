#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trial/manifest.hpp"
#include "trial/stages.hpp"

namespace hone::author {

/// One model on one case.
struct CaseScore {
  std::string model, id;
  std::string prompt;
  int correct = 0, runs = 0;
  std::string evidence;  ///< of the first run that is not correct: outcome, what failed, where
  std::string answer;    ///< the start of that run's answer

  double rate() const { return runs == 0 ? 0 : static_cast<double>(correct) / runs; }
};

struct Measurement {
  std::vector<CaseScore> scores;
  long tokens = 0;  ///< of all answers, those on record included

  /// Mean of the rates of all models and cases; 0 without any.
  double rate() const;
};

/// Whom a skill is for.
class Student {
 public:
  virtual ~Student() = default;
  /// The cases that can be asked, by id.
  virtual std::vector<std::string> case_ids() = 0;
  /// Asks all cases with this skill. `label` names the version, for the records.
  virtual Measurement with(const std::filesystem::path& skill_dir, const std::string& label) = 0;
  /// Asks all cases without a skill.
  virtual Measurement without(const std::filesystem::path& skill_dir) = 0;
};

/// What a TrialStudent asks.
struct TrialSettings {
  std::vector<std::string> models;  ///< declared ones
  std::vector<std::string> suites;  ///< whose cases are asked, too
  std::vector<std::string> cases;   ///< globs of case files
  int runs = 3;
  std::filesystem::path run_dir;  ///< of the records
  std::string device;
  std::function<void(const std::string&)> print;  ///< a line for each record; may be empty
  std::function<void(const model::AskProgress&)> progress;
  std::function<bool()> cancelled;  ///< polled; true ends the asking
};

/// Measures through the stages of an evaluation: query, build, verify. Answers on record to the
/// same request are used again. Throws Error(infrastructure) when something could not be measured,
/// Error(bad_input) for cases that cannot be read.
class TrialStudent : public Student {
 public:
  TrialStudent(const trial::Manifest& manifest, TrialSettings settings);
  std::vector<std::string> case_ids() override;
  Measurement with(const std::filesystem::path& skill_dir, const std::string& label) override;
  Measurement without(const std::filesystem::path& skill_dir) override;

 private:
  Measurement measure(const std::filesystem::path& skill_dir, const std::string& label,
                      trial::Arm arm);
  trial::Manifest manifest_;
  TrialSettings settings_;
};

}  // namespace hone::author
