#include "cudasim/api/stream.hpp"

#include <algorithm>

#include "cudasim/api/runtime.hpp"

namespace cudasim {

Streams::Streams()
    : legacy_(std::make_unique<CUstream_st>()), per_thread_(std::make_unique<CUstream_st>()) {
  legacy_->id = 1;
  per_thread_->id = 2;
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

bool Streams::destroy(cudaStream_t handle) { return streams_.erase(handle) != 0; }

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

void Streams::host_waits(const CUstream_st& stream) {
  host_clock_ = std::max(host_clock_, now(stream));
}

void Streams::host_waits_for_all() {
  host_clock_ = std::max({host_clock_, legacy_->clock, per_thread_->clock});
  for (const auto& [handle, stream] : streams_) host_clock_ = std::max(host_clock_, stream->clock);
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
  double seconds = 0;
  const cudaError_t error = work->run(runtime, *stream, seconds);
  advance(*stream, seconds, work->engine());
  return error;
}

}  // namespace cudasim
