#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "author/case_writer.hpp"
#include "author/refine.hpp"

namespace hone::author {

/// What to make, from what.
struct GenerateSettings {
  std::string task;
  std::vector<std::string> examples;
  std::filesystem::path from;  ///< a trace, or the folder of a skill to improve; may be empty
  std::string name;            ///< "": of the skill to improve, else made from the task
  std::filesystem::path out;   ///< becomes the skill's folder; its name is the skill's
  size_t target_tokens = 500;  ///< of the body
  size_t cases_wanted = 8;     ///< to have written; 0: none
  std::vector<std::filesystem::path> case_files;  ///< given ones, copied
  std::vector<std::string> suites;                ///< whose cases count, too
  std::vector<std::string> eval_models;           ///< declared names, for CMakeLists.txt
  int runs = 3;
  bool evaluate = true;
  int max_attempts = 3;
  double target = 1.0;
  bool fresh = false;  ///< begin anew where something is on record
  std::function<void(const std::string&)> progress;
};

struct Generated {
  std::filesystem::path dir;
  int version = 1, versions = 1;
  std::string stopped;
  std::vector<Rejected> rejected;
  size_t cases = 0;  ///< that were asked
  struct Side {
    size_t cases = 0;
    double without = 0, first = 0, best = 0;  ///< rates
  };
  std::optional<Side> train, held_out;  ///< none when nothing was evaluated
  /// Better than no skill on cases that nobody worked on.
  bool passed() const { return held_out && held_out->best > held_out->without; }
};

/// The models that take part; the student asks the case files of <out>/.hone/cases/*.json.
struct Cast {
  Writer& author;
  Writer& case_author;
  Student& student;
  Spending& spending;
};

/// The folder of case files that the student has to ask.
std::filesystem::path cases_of(const std::filesystem::path& out);

/// The whole way from a task to a skill: notes of the trace, a first version, cases, the student
/// without and with it, refinement, and the best version with its cases, skill_meta.json and
/// CMakeLists.txt in `out`. Work in progress is kept in <out>/.hone; the same call goes on where an
/// earlier one ended. Throws Error(usage) when `out` holds something else, or another request's
/// work; Error(judged_bad) when the author writes no valid skill or not enough usable cases.
Generated generate(const GenerateSettings& settings, const Cast& cast);

}  // namespace hone::author
