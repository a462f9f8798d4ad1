#pragma once
#include <map>
#include <string>
#include <vector>

#include "oracle/judge.hpp"
#include "oracle/operation.hpp"
#include "oracle/session.hpp"

namespace hone::oracle {

/// One timed call.
struct Timing {
  Finding finding;
  double seconds = 0;
  std::map<std::string, double> counters;  ///< bytes, flops, roofline, cudasim's own
  std::string label;                       ///< "model bound, DRAM" or "measured"
};

/// Times calls, each with fresh buffers and other data than the last, and verifies each output.
class Timer {
 public:
  Timer(const Operation& operation, Caller& caller, Device device, std::uint64_t seed);

  Timing time(const Shape& shape);
  /// The first call that was not correct, or correct.
  const Finding& first_failure() const { return first_failure_; }

 private:
  struct Prepared {
    Problem problem;
    std::vector<Expected> expected;
  };
  const Prepared& prepared(const Shape& shape, std::size_t index);

  const Operation& operation_;
  Caller& caller_;
  Device device_;
  std::uint64_t seed_;
  std::string shape_;
  std::vector<Prepared> prepared_;  ///< of shape_
  std::size_t calls_ = 0;
  Finding first_failure_;
};

/// Seconds below which H100 SXM5 cannot do the work: the larger of traffic over HBM's peak and
/// flops over FP32's peak.
double roofline_seconds(const Cost& cost);

/// Numbers and names from cudasim's counters that a benchmark row shows.
void add_simulated(const std::string& counters_json, Timing& timing);

}  // namespace hone::oracle
