#pragma once
#include <filesystem>
#include <string>

namespace hone::attacks {

/// An answer of the corpus and what must become of it.
struct Answer {
  std::string name, suite;
  std::string outcome;        ///< of the trial: "correct", "wrong", "compile-error" …
  std::string other;          ///< another one that is as good, or ""
  std::string in_medium;      ///< the outcome in the tier medium, where it is another
  std::string says;           ///< part of the evidence, or ""
  bool compile_time = false;  ///< the attack is on the compiler: no build is used again
  std::string text;           ///< as a model would send it
};

/// Reads a file that starts with lines "key: value" between two lines "---": suite, outcome, and
/// optionally or, medium, says and stage (compile or run); the answer follows. Throws
/// Error(bad_input).
Answer read_answer(const std::filesystem::path& file);

}  // namespace hone::attacks
