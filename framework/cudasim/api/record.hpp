#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cudasim/exec/launch.hpp"
#include "cudasim/model/bound.hpp"

namespace cudasim {

/// One launch as it is recorded.
struct LaunchFacts {
  std::string kernel;
  LaunchConfig config;
  std::uint32_t registers = 0, static_shared = 0, local_bytes = 0;
};

/// What the kernels of this process did: counters and bounds by kernel, and the last fault.
class Record {
 public:
  /// Adds a launch; returns its bound in seconds.
  double add(const LaunchFacts& facts, const Counters& counters);
  void add_copy(std::uint64_t bytes, double seconds);
  /// Keeps the fault for cudasimLastFault and prints it on stderr.
  void add_fault(const Fault& fault, const char* error_name, const DeviceMemory& memory);

  std::string counters_json() const;
  std::string report(bool colours) const;  ///< the table of CUDASIM_REPORT
  const std::string& last_fault_json() const { return fault_json_; }
  std::uint64_t faults() const { return faults_; }
  void reset();

 private:
  struct KernelRecord {
    LaunchFacts latest;
    Counters counters;
    Bound latest_bound;
    double seconds = 0;
    std::map<std::string, double> terms;     ///< seconds by resource, summed over launches
    std::map<std::string, double> limiters;  ///< bound seconds by the resource that decided
  };
  static std::string limiter_of(const KernelRecord& kernel);

  std::map<std::string, KernelRecord> kernels_;
  std::vector<std::string> order_;  ///< kernels by first launch
  std::uint64_t copies_ = 0, copied_bytes_ = 0, faults_ = 0;
  double copy_seconds_ = 0;
  std::string fault_json_;
};

}  // namespace cudasim
