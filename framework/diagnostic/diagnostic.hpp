#pragma once
#include <stdexcept>
#include <string>
#include <vector>

namespace hone {

/// Process exit codes: part of the interface, one per class of failure.
enum class Exit : int {
  good = 0,
  judged_bad = 1,       ///< a gate failed, or a candidate is not correct
  usage = 2,            ///< the command line is off
  bad_input = 3,        ///< a file of the user's is off
  infrastructure = 4,   ///< no server, no compiler, full disk: nothing was judged
  inconclusive = 77,    ///< skipped or not decidable; CTest's SKIP_RETURN_CODE
  interrupted = 130,
};

/// A place in a file; line and column count from 1, 0 means unknown.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
  /// "file:line:column", leaving out what is unknown.
  std::string str() const;
};

/// One thing that is wrong: where, what, and what would be right.
struct Diagnostic {
  Location where;
  std::string message;
  std::string hint;       ///< what would be right; may be empty
  bool warning = false;   ///< reported, but nothing is refused
  /// "file:line:column: error: message (hint)".
  std::string str() const;
};

/// Line and column (from 1) of byte `offset` in `text`.
Location locate(const std::string& file, std::string_view text, size_t offset);

/// The known name nearest to `wrong` by edit distance, or "" when none is near.
std::string nearest(std::string_view wrong, const std::vector<std::string>& known);

/// An error that ends a command; carries its exit code and every diagnostic found.
class Error : public std::runtime_error {
 public:
  Error(Exit code, std::string message);
  Error(Exit code, std::vector<Diagnostic> diagnostics);
  Exit code() const { return code_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  Exit code_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace hone
