#include "cudasim/api/stream.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cudasim/api/process_checks.hpp"
#include "cudasim/api/runtime.hpp"

namespace cudasim {

Streams::Streams()
    : legacy_(std::make_unique<CUstream_st>()), per_thread_(std::make_unique<CUstream_st>()) {
  legacy_->id = 1;
  per_thread_->id = 2;
  if (const char* mode = std::getenv("CUDASIM_STREAMS")) {
    deferred_ = std::string_view(mode) == "deferred";
    if (!deferred_ && std::string_view(mode) != "eager") {
      std::fprintf(stderr, "cudasim: CUDASIM_STREAMS=%s is neither eager nor deferred; ignored\n",
                   mode);
    }
  }
}

CUstream_st* Streams::find(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return legacy_.get();
  if (handle == cudaStreamPerThread) return per_thread_.get();
  const auto at = streams_.find(handle);
  return at == streams_.end() ? nullptr : at->second.get();
}

CUstream_st* Streams::create(unsigned flags, int priority) {
  auto stream = std::make_unique<CUstream_st>();
  stream->id = next_id_++;
  stream->flags = flags;
  stream->priority = priority;
  auto* handle = stream.get();
  streams_[handle] = std::move(stream);
  return handle;
}

cudaError_t Streams::destroy(Runtime& runtime, cudaStream_t handle) {
  const auto at = streams_.find(handle);
  if (at == streams_.end()) return cudaErrorInvalidResourceHandle;
  // What is queued is still done; nothing may wait for it later.
  const cudaError_t error = drain(runtime, *at->second);
  const auto forget = [&](CUstream_st& stream) {
    for (QueuedWork& queued : stream.queue) {
      if (queued.after == at->second.get()) queued.after = nullptr;
    }
  };
  forget(*legacy_);
  forget(*per_thread_);
  for (auto& [other, stream] : streams_) forget(*stream);
  for (auto& [event_handle, event] : events_) {
    if (event->stream == at->second.get()) event->stream = nullptr;
  }
  gone_.join(at->second->known);
  streams_.erase(at);
  return error;
}

CUevent_st* Streams::create_event(unsigned flags) {
  auto event = std::make_unique<CUevent_st>();
  event->flags = flags;
  auto* handle = event.get();
  events_[handle] = std::move(event);
  return handle;
}

bool Streams::destroy_event(cudaEvent_t event) { return events_.erase(event) != 0; }

double Streams::now(const CUstream_st& stream) const {
  double start = std::max(stream.clock, host_clock_);
  if (&stream == legacy_.get()) {
    // The legacy stream waits for all blocking streams, and they for it.
    for (const auto& [handle, other] : streams_) {
      if (other->blocking()) start = std::max(start, other->clock);
    }
    return std::max(start, per_thread_->clock);
  }
  return stream.blocking() ? std::max(start, legacy_->clock) : start;
}

void Streams::advance(CUstream_st& stream, double seconds, Engine engine) {
  double start = now(stream);
  double& busy = engine_clock_[static_cast<std::size_t>(engine)];
  if (engine != Engine::none) start = std::max(start, busy);
  stream.clock = start + seconds;
  if (engine != Engine::none) busy = stream.clock;
}

void Streams::join_blocking(StreamClock& clock) const {
  clock.join(per_thread_->known);
  clock.join(gone_);
  for (const auto& [handle, other] : streams_) {
    if (other->blocking()) clock.join(other->known);
  }
}

void Streams::host_knows(const CUstream_st& stream) {
  host_known_.join(stream.known);
  if (&stream == legacy_.get()) join_blocking(host_known_);
}

StreamOrder Streams::next_order(CUstream_st& stream, const Work& work) {
  StreamOrder order;
  if (!ProcessChecks::get().has(Check::racecheck)) return order;
  stream.known.join(host_known_);
  if (&stream == legacy_.get()) {
    join_blocking(stream.known);
  } else if (stream.blocking()) {
    stream.known.join(legacy_->known);
  }
  const auto* mark = dynamic_cast<const EventWork*>(&work);
  if (mark != nullptr && mark->wait) stream.known.join(mark->event->known);
  // Without streams of its own a program has one order.
  if (!streams_.empty()) {
    order.stream = stream.id;
    order.number = ++stream.submitted;
    order.before = stream.known;
    order.host = host_known_;
    stream.known.done[stream.id] = order.number;
  }
  if (mark != nullptr && !mark->wait) mark->event->known = stream.known;
  // What a host function does may order the host, by means of the program's own.
  if (work.type() == cudaGraphNodeTypeHost) host_known_.join(stream.known);
  return order;
}

cudaError_t Streams::host_waits(Runtime& runtime, CUstream_st& stream) {
  cudaError_t error = drain(runtime, stream);
  host_knows(stream);
  // The legacy stream is waited for with all streams that it would wait for.
  if (&stream == legacy_.get()) {
    const cudaError_t other = settle(runtime, stream, kAll);
    if (error == cudaSuccess) error = other;
  }
  host_clock_ = std::max(host_clock_, now(stream));
  return error;
}

cudaError_t Streams::host_waits_for_all(Runtime& runtime) {
  cudaError_t first = cudaSuccess;
  const auto wait = [&](CUstream_st& stream) {
    const cudaError_t error = drain(runtime, stream);
    if (first == cudaSuccess) first = error;
    host_clock_ = std::max(host_clock_, stream.clock);
    host_known_.join(stream.known);
  };
  wait(*legacy_);
  wait(*per_thread_);
  for (const auto& [handle, stream] : streams_) wait(*stream);
  host_known_.join(gone_);
  return first;
}

cudaError_t Streams::host_waits(Runtime& runtime, CUevent_st& event) {
  cudaError_t error = cudaSuccess;
  if (event.stream != nullptr) error = drain(runtime, *event.stream, event.number);
  host_clock_ = std::max(host_clock_, event.time);
  host_known_.join(event.known);
  return error;
}

void Streams::finish(Runtime& runtime) {
  drain(runtime, *legacy_);
  drain(runtime, *per_thread_);
  for (const auto& [handle, stream] : streams_) {
    drain(runtime, *stream);
    host_known_.join(stream->known);
  }
  host_knows(*legacy_);
}

bool Streams::pending(const CUevent_st& event) const {
  return event.stream != nullptr && !event.stream->queue.empty() &&
         event.stream->queue.front().number <= event.number;
}

cudaError_t Streams::settle(Runtime& runtime, CUstream_st& stream, std::uint64_t number) {
  if (&stream != legacy_.get()) {
    return stream.blocking() ? drain(runtime, *legacy_, number) : cudaSuccess;
  }
  cudaError_t first = drain(runtime, *per_thread_, number);
  for (const auto& [handle, other] : streams_) {
    if (!other->blocking()) continue;
    const cudaError_t error = drain(runtime, *other, number);
    if (first == cudaSuccess) first = error;
  }
  return first;
}

cudaError_t Streams::drain(Runtime& runtime, CUstream_st& stream, std::uint64_t number) {
  cudaError_t first = cudaSuccess;
  while (!stream.queue.empty() && stream.queue.front().number <= number) {
    // Off the queue first: what it depends on may depend on earlier work of this stream.
    const QueuedWork queued = std::move(stream.queue.front());
    stream.queue.pop_front();
    cudaError_t error = settle(runtime, stream, queued.number);
    if (queued.after != nullptr) {
      const cudaError_t other = drain(runtime, *queued.after, queued.after_number);
      if (error == cudaSuccess) error = other;
    }
    if (runtime.sticky() == cudaSuccess) {
      const double waited = std::exchange(host_clock_, queued.host_clock);
      const cudaError_t own = run(runtime, stream, *queued.work, queued.order);
      host_clock_ = waited;
      if (error == cudaSuccess) error = own;
    }
    if (first == cudaSuccess) first = error;
  }
  return first != cudaSuccess ? first : runtime.sticky();
}

void Streams::enqueue(CUstream_st& stream, std::unique_ptr<Work> work, StreamOrder order) {
  QueuedWork queued;
  queued.number = ++submitted_;
  queued.host_clock = host_clock_;
  queued.order = std::move(order);
  if (const auto* mark = dynamic_cast<const EventWork*>(work.get())) {
    if (mark->wait) {
      queued.after = mark->event->stream;
      queued.after_number = mark->event->number;
    } else {
      mark->event->stream = &stream;
      mark->event->number = queued.number;
    }
  }
  queued.work = std::move(work);
  stream.queue.push_back(std::move(queued));
}

cudaError_t Streams::run(Runtime& runtime, CUstream_st& stream, Work& work,
                         const StreamOrder& order) {
  ProcessChecks::get().set_order(order);
  double seconds = 0;
  const cudaError_t error = work.run(runtime, stream, seconds);
  advance(stream, seconds, work.engine());
  return error;
}

bool Streams::any_capture() const {
  return std::ranges::any_of(streams_, [](const auto& s) { return s.second->capture != nullptr; });
}

std::vector<CUstream_st*> Streams::capturing(const Capture& capture) {
  std::vector<CUstream_st*> result;
  for (const auto& [handle, stream] : streams_) {
    if (stream->capture.get() == &capture) result.push_back(stream.get());
  }
  return result;
}

cudaError_t Streams::submit(Runtime& runtime, cudaStream_t handle, std::unique_ptr<Work> work) {
  CUstream_st* stream = find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr) {
    if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
    CUgraphNode_st* node = stream->capture->graph->add(std::move(work), stream->frontier);
    stream->frontier = {node};
    return cudaSuccess;
  }
  if (stream == legacy_.get()) {
    // The legacy stream would wait for a capturing blocking stream: CUDA refuses, and the capture
    // is spoilt.
    for (auto& [other_handle, other] : streams_) {
      if (other->capture != nullptr && other->blocking()) {
        other->capture->invalid = true;
        return cudaErrorStreamCaptureImplicit;
      }
    }
  }
  StreamOrder order = next_order(*stream, *work);
  if (!deferred_) return run(runtime, *stream, *work, order);
  if (work->may_wait(runtime)) {
    enqueue(*stream, std::move(work), std::move(order));
    return cudaSuccess;
  }
  cudaError_t error = drain(runtime, *stream);
  if (error == cudaSuccess) error = settle(runtime, *stream, kAll);
  return error == cudaSuccess ? run(runtime, *stream, *work, order) : error;
}

}  // namespace cudasim
