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

/// Times calls, each with fresh buffers and data drawn anew, and verifies each output. A time that
/// cannot be true is the outcome suspicious.
class Timer {
 public:
  Timer(const Operation& operation, Caller& caller, Device device, std::uint64_t seed);

  Timing time(const Shape& shape);
  /// The first call that was not correct, or correct.
  const Finding& first_failure() const { return first_failure_; }

 private:
  const Operation& operation_;
  Caller& caller_;
  Device device_;
  std::uint64_t seed_;
  std::uint64_t calls_ = 0;
  Finding first_failure_;
};

/// Seconds below which H100 SXM5 cannot do the work: the larger of traffic over HBM's peak and
/// flops over FP32's peak.
double roofline_seconds(const Cost& cost);

/// Why a time cannot be true: below half of the roofline (a GPU's L2 may hold writes back, which
/// saves less than that), or, where `measured`, far from what the host waited. Empty when it can.
std::string implausible(double device_seconds, double host_seconds, const Cost& cost,
                        bool measured);

/// Numbers and names from cudasim's counters that a benchmark row shows.
void add_simulated(const std::string& counters_json, Timing& timing);

}  // namespace hone::oracle
