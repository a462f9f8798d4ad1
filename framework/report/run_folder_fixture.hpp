#pragma once
#include <filesystem>
#include <string>

#include "report/results.hpp"

namespace hone::report {

/// A run folder in the test's temporary folder, and the input that reads it. One model "local".
class RunFolder {
 public:
  RunFolder();
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  ReportInput input;

  void add_text_case(const std::string& id);
  void add_kernel_case(const std::string& id, const std::string& suite);

  std::filesystem::path trial(const std::string& id, stats::Arm arm, int run) const;

  /// request.json and response.json; usage differs by arm. `outcome` is the response's.
  void respond(const std::string& id, stats::Arm arm, int run,
               const std::string& outcome = "answered");
  /// A judged text trial.
  void judge(const std::string& id, stats::Arm arm, int run, const std::string& outcome,
             const std::string& evidence = "");
  /// A kernel trial up to `outcome`: build.json, and verify.json and bench.json as far as it goes.
  void build(const std::string& id, stats::Arm arm, int run, const std::string& outcome,
             const std::string& evidence = "");
  /// A wrong answer before the one that is there.
  void put_turn_before(const std::string& id, stats::Arm arm, int run);
  /// Runs 0…n-1 of a text case: the first `passes` correct, the others wrong.
  void judge_runs(const std::string& id, stats::Arm arm, int passes);

  std::filesystem::path path() const { return dir_; }

 private:
  std::filesystem::path dir_;
};

/// Results with every outcome, hostile evidence, gates of all kinds and fixed environment: what
/// the writers' checked-in baselines are made from.
Results showcase(RunFolder& folder);

/// Compares with baselines/<name>. HONE_UPDATE_BASELINES=1 in the environment writes it anew
/// instead; look at the diff before you commit it.
void expect_baseline(const std::string& name, const std::string& text);

/// A Python that has the module, Debian's own first; "" when there is none.
std::string python_with(const std::string& module);

}  // namespace hone::report
