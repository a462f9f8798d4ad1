#pragma once
#include <driver_types.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "cudasim/api/work.hpp"
#include "cudasim/check/stream_order.hpp"

struct CUstream_st;

namespace cudasim {

/// Work that waits in a stream (CUDASIM_STREAMS=deferred).
struct QueuedWork {
  std::uint64_t number = 0;  ///< order of submission over all streams
  std::unique_ptr<Work> work;
  CUstream_st* after = nullptr;  ///< must have done its work up to number after_number
  std::uint64_t after_number = 0;
  double host_clock = 0;  ///< when it was submitted
  StreamOrder order;
};

}  // namespace cudasim

/// A stream: a model clock, perhaps a capture, and what is not done yet.
struct CUstream_st {
  std::uint64_t id = 0;
  unsigned flags = 0;
  int priority = 0;
  double clock = 0;  ///< model time at which its work ends, seconds
  std::shared_ptr<cudasim::Capture> capture;
  std::vector<CUgraphNode_st*> frontier;  ///< what the next captured node depends on
  std::deque<cudasim::QueuedWork> queue;
  cudasim::StreamClock known;  ///< what its next work comes after
  std::uint64_t submitted = 0;
  bool blocking() const { return (flags & cudaStreamNonBlocking) == 0; }
};

struct CUevent_st {
  unsigned flags = 0;
  bool recorded = false;
  double time = 0;                ///< model time, seconds
  CUstream_st* stream = nullptr;  ///< its latest record is work `number` of this stream
  std::uint64_t number = 0;
  cudasim::StreamClock known;                 ///< done once its latest record is
  std::shared_ptr<cudasim::Capture> capture;  ///< recorded in a stream that was capturing
  std::vector<CUgraphNode_st*> frontier;
};

namespace cudasim {

class Runtime;

/// All streams and events, and the model's clocks. Work is done when it is submitted, or, with
/// CUDASIM_STREAMS=deferred, as late as CUDA allows: when the host waits for it. Then a program
/// that doesn't wait for all it must sees old data, as it may on a GPU.
class Streams {
 public:
  Streams();

  /// The stream of a handle (null, legacy and per-thread handles too); null when it isn't one.
  CUstream_st* find(cudaStream_t handle);
  CUstream_st* create(unsigned flags, int priority);
  cudaError_t destroy(Runtime& runtime, cudaStream_t handle);
  CUstream_st* legacy() { return legacy_.get(); }

  CUevent_st* create_event(unsigned flags);
  bool known(cudaEvent_t event) const { return events_.contains(event); }
  bool destroy_event(cudaEvent_t event);

  /// Model time at which new work of the stream could begin.
  double now(const CUstream_st& stream) const;
  /// Accounts for work of that length in the stream; an engine does one thing at a time.
  void advance(CUstream_st& stream, double seconds, Engine engine = Engine::none);
  /// The host waits for the stream, for all of them, or for an event: what is queued is done, and
  /// later work starts no earlier. Gives the first error of deferred work.
  cudaError_t host_waits(Runtime& runtime, CUstream_st& stream);
  cudaError_t host_waits_for_all(Runtime& runtime);
  cudaError_t host_waits(Runtime& runtime, CUevent_st& event);
  /// Does queued work, before memory goes away; the host's clock stays.
  void finish(Runtime& runtime);
  void finish(Runtime& runtime, CUstream_st& stream) { drain(runtime, stream); }
  /// The event's latest record is still queued.
  bool pending(const CUevent_st& event) const;

  /// Runs or queues work, or adds it to the graph that the stream captures.
  cudaError_t submit(Runtime& runtime, cudaStream_t handle, std::unique_ptr<Work> work);
  bool any_capture() const;
  /// The streams that take part in a capture.
  std::vector<CUstream_st*> capturing(const Capture& capture);

 private:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  /// Does the stream's queued work up to that number, and what it depends on.
  cudaError_t drain(Runtime& runtime, CUstream_st& stream, std::uint64_t number = kAll);
  /// Does what work of this number in the stream implicitly waits for in other streams.
  cudaError_t settle(Runtime& runtime, CUstream_st& stream, std::uint64_t number);
  void enqueue(CUstream_st& stream, std::unique_ptr<Work> work, StreamOrder order);
  cudaError_t run(Runtime& runtime, CUstream_st& stream, Work& work, const StreamOrder& order);
  /// Where new work of the stream stands; events that it records or waits for are accounted for.
  StreamOrder next_order(CUstream_st& stream, const Work& work);
  void host_knows(const CUstream_st& stream);
  /// Adds what the legacy stream's work comes after: all blocking streams' work.
  void join_blocking(StreamClock& clock) const;

  std::unique_ptr<CUstream_st> legacy_, per_thread_;
  std::map<cudaStream_t, std::unique_ptr<CUstream_st>> streams_;
  std::map<cudaEvent_t, std::unique_ptr<CUevent_st>> events_;
  std::uint64_t next_id_ = 3;
  std::uint64_t submitted_ = 0;
  bool deferred_ = false;
  double host_clock_ = 0;
  StreamClock host_known_;
  StreamClock gone_;  ///< what streams that were destroyed had been given
  double engine_clock_[3] = {};
};

}  // namespace cudasim
