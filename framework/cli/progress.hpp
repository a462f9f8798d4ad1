#pragma once
#include <chrono>
#include <functional>
#include <string>

#include "model/model.hpp"

namespace hone::cli {

/// How an asking goes, on stderr: one line that is written over on a terminal, a plain line every
/// ten seconds elsewhere, nothing when quiet.
class Progress {
 public:
  explicit Progress(bool quiet);
  void show(const model::AskProgress& progress);
  /// Takes the line away, so that something else can be printed.
  void clear();

 private:
  bool quiet_, terminal_, shown_ = false;
  std::chrono::steady_clock::time_point start_, last_;
  size_t done_at_start_ = 0;
};

/// "12/50 done, 4 in flight, 1.5/s, 3400 tokens, $0.0120, 1 errors, 2 retries, about 25 s left".
std::string progress_line(const model::AskProgress& progress, double seconds);

/// Makes Ctrl-C ask for a clean end; a second one ends at once.
void catch_interrupts();
bool interrupted();

}  // namespace hone::cli
