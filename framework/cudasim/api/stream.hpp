#pragma once
#include <driver_types.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "cudasim/api/work.hpp"

/// A stream; execution is eager, so a stream is a model clock and, perhaps, a capture.
struct CUstream_st {
  std::uint64_t id = 0;
  unsigned flags = 0;
  int priority = 0;
  double clock = 0;  ///< model time at which its work ends, seconds
  std::shared_ptr<cudasim::Capture> capture;
  std::vector<CUgraphNode_st*> frontier;  ///< what the next captured node depends on
  bool blocking() const { return (flags & cudaStreamNonBlocking) == 0; }
};

struct CUevent_st {
  unsigned flags = 0;
  bool recorded = false;
  double time = 0;                            ///< model time, seconds
  std::shared_ptr<cudasim::Capture> capture;  ///< recorded in a stream that was capturing
  std::vector<CUgraphNode_st*> frontier;
};

namespace cudasim {

class Runtime;

/// All streams and events, and the model's clocks.
class Streams {
 public:
  Streams();

  /// The stream of a handle (null, legacy and per-thread handles too); null when it isn't one.
  CUstream_st* find(cudaStream_t handle);
  CUstream_st* create(unsigned flags, int priority);
  bool destroy(cudaStream_t handle);
  CUstream_st* legacy() { return legacy_.get(); }

  CUevent_st* create_event(unsigned flags);
  bool known(cudaEvent_t event) const { return events_.contains(event); }
  bool destroy_event(cudaEvent_t event);

  /// Model time at which new work of the stream could begin.
  double now(const CUstream_st& stream) const;
  /// Accounts for work of that length in the stream; an engine does one thing at a time.
  void advance(CUstream_st& stream, double seconds, Engine engine = Engine::none);
  /// The host waits for the stream, or for all of them: later work starts no earlier.
  void host_waits(const CUstream_st& stream);
  void host_waits_for_all();
  void host_waits_until(double time) { host_clock_ = std::max(host_clock_, time); }

  /// Runs work now, or adds it to the graph that the stream captures.
  cudaError_t submit(Runtime& runtime, cudaStream_t handle, std::unique_ptr<Work> work);
  bool any_capture() const;
  /// The streams that take part in a capture.
  std::vector<CUstream_st*> capturing(const Capture& capture);

 private:
  std::unique_ptr<CUstream_st> legacy_, per_thread_;
  std::map<cudaStream_t, std::unique_ptr<CUstream_st>> streams_;
  std::map<cudaEvent_t, std::unique_ptr<CUevent_st>> events_;
  std::uint64_t next_id_ = 3;
  double host_clock_ = 0;
  double engine_clock_[3] = {};
};

}  // namespace cudasim
