#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cudasim/check/checker.hpp"
#include "cudasim/check/finding.hpp"
#include "cudasim/memory/memory.hpp"

namespace cudasim {

/// The checks of this process, as the environment asks for them (CUDASIM_CHECK, CUDASIM_FINDINGS,
/// CUDASIM_SCHEDULE; see cudasim.h). A word there that isn't understood ends the process with code
/// 2: a run that was to be checked isn't run unchecked.
class ProcessChecks {
 public:
  static ProcessChecks& get();

  bool any() const { return checks_.any(); }
  bool has(Check check) const { return checks_.has(check); }
  /// Puts checks and schedule into a launch.
  void prepare(LaunchConfig& config);
  /// Writes the findings that are new.
  void flush();
  /// Looks for leaks, unless a fault has ended the context and nothing could be freed.
  void at_exit(const DeviceMemory& memory, bool faulted);
  std::uint64_t errors() const { return findings_.errors(); }
  std::string findings_json() const;  ///< an array

  /// What an allocation is noted as: the function, and under checks where it was called.
  std::string note(const char* function) const;
  void wrote(const DeviceMemory& memory, const void* to, std::uint64_t bytes) {
    if (checks_.has(Check::initcheck)) Checker::host_wrote(memory, to, bytes);
  }
  void copied(const DeviceMemory& memory, const void* to, const void* from, std::uint64_t bytes) {
    if (checks_.has(Check::initcheck)) Checker::host_copied(memory, to, from, bytes);
  }
  /// Where the work that is done from now on stands in the order of streams.
  void set_order(const StreamOrder& order) {
    if (checks_.has(Check::racecheck)) checker_->set_order(order);
  }
  /// Work of a stream reads or writes device memory.
  void touched(const DeviceMemory& memory, const void* at, std::uint64_t bytes, bool write) {
    if (checks_.has(Check::racecheck)) checker_->host_touched(memory, at, bytes, write);
  }
  void freeing(const Region* region);
  /// A call of the host that memcheck finds wrong.
  void host_error(const char* kind, const std::string& message, std::uint64_t address,
                  const std::string& allocation);

 private:
  ProcessChecks();
  void write(const std::string& text, const std::string& json);

  Checks checks_;
  BlockOrder order_ = BlockOrder::ascending;
  std::uint64_t seed_ = 0;
  Findings findings_;
  std::unique_ptr<Checker> checker_;
  int json_fd_ = -1;
};

}  // namespace cudasim
