#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "oracle/operation.hpp"
#include "oracle/outcome.hpp"
#include "oracle/protocol.hpp"

namespace hone::oracle {

/// How one call is made.
struct CallPlan {
  std::uint8_t poison = 0xFF;  ///< outputs hold this before the call
  bool fresh_buffers = false;  ///< other addresses than before
  bool shifted = false;        ///< buffers begin no better aligned than the operation promises
  std::uint32_t guard_bytes = 0;
  std::uint64_t flush_bytes = 0;
};

inline constexpr std::uint8_t guard_byte = 0xA5;

/// The message for a problem. Expected values are no part of it.
protocol::Call make_call(const Operation& operation, const Problem& problem, const CallPlan& plan);

struct Judgement {
  Finding finding;
  double max_error = 0;    ///< largest |got - expected| of finite values
  double error_ratio = 0;  ///< largest error as a fraction of what is allowed
  std::map<std::string, std::uint64_t> kernels = {};  ///< launches by kernel, where counted
};

/// Judges raw bytes: errors of the device, faults, guard bands, inputs unchanged, a kernel
/// launched, and every output value against `expected`.
Judgement judge(const Operation& operation, const Problem& problem,
                const std::vector<Expected>& expected, const CallPlan& plan,
                const protocol::Returned& returned);

/// Compares one output; the evidence names the first index that is off, as `name[index]`. A value
/// that is still `poison` is told.
Judgement compare(const std::string& name, const Tensor& got, const Expected& expected,
                  std::uint8_t poison);

}  // namespace hone::oracle
