#include <algorithm>
#include <memory>

#include "cudasim/api/graph.hpp"
#include "cudasim/api/runtime.hpp"

using cudasim::call;
using cudasim::Capture;
using cudasim::Runtime;

namespace {

std::uint64_t next_capture = 1;

cudaError_t begin(cudaStream_t handle, std::shared_ptr<CUgraph_st> graph,
                  std::vector<CUgraphNode_st*> frontier, cudaStreamCaptureMode mode,
                  bool borrowed) {
  return call([&](Runtime& runtime) {
    CUstream_st* stream = runtime.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream == runtime.streams.legacy()) return cudaErrorStreamCaptureUnsupported;
    if (stream->capture != nullptr) return cudaErrorIllegalState;
    stream->capture = std::make_shared<Capture>();
    stream->capture->id = next_capture++;
    stream->capture->graph = std::move(graph);
    stream->capture->origin = stream;
    stream->capture->mode = mode;
    stream->capture->borrowed = borrowed;
    stream->frontier = std::move(frontier);
    return cudaSuccess;
  });
}

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return begin(stream, std::make_shared<CUgraph_st>(), {}, mode, false);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData*, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  if (graph == nullptr) return cudasim::remember(cudaErrorInvalidValue);
  // The program owns the graph: the capture only borrows it.
  return begin(stream, std::shared_ptr<CUgraph_st>(graph, [](CUgraph_st*) {}),
               {dependencies, dependencies + count}, mode, true);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return call([&](Runtime& runtime) {
    CUstream_st* stream = runtime.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (graph != nullptr) *graph = nullptr;
    if (stream->capture == nullptr) return cudaErrorIllegalState;
    const auto capture = stream->capture;
    if (capture->origin != stream) return cudaErrorStreamCaptureUnmatched;
    // All work of the streams that joined must lead back to this one.
    bool unjoined = false;
    for (CUstream_st* other : runtime.streams.capturing(*capture)) {
      if (other == stream) continue;
      for (CUgraphNode_st* node : other->frontier) {
        const auto reaches = [&](CUgraphNode_st* end) {
          std::vector<CUgraphNode_st*> todo{end};
          std::set<CUgraphNode_st*> seen;
          while (!todo.empty()) {
            CUgraphNode_st* at = todo.back();
            todo.pop_back();
            if (at == node) return true;
            if (seen.insert(at).second) {
              todo.insert(todo.end(), at->dependencies.begin(), at->dependencies.end());
            }
          }
          return false;
        };
        if (std::ranges::none_of(stream->frontier, reaches)) unjoined = true;
      }
      other->capture = nullptr;
      other->frontier.clear();
    }
    stream->capture = nullptr;
    stream->frontier.clear();
    if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
    capture->invalid = true;  // events that were recorded in it join nothing any more
    if (unjoined) return cudaErrorStreamCaptureUnjoined;
    if (graph != nullptr) {
      *graph = capture->borrowed ? capture->graph.get() : cudasim::publish_graph(capture->graph);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(handle, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, std::size_t* count) {
  return call([&](Runtime& runtime) {
    const CUstream_st* stream = runtime.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (status == nullptr) return cudaErrorInvalidValue;
    if (edges != nullptr) *edges = nullptr;
    if (stream->capture == nullptr) {
      *status = cudaStreamCaptureStatusNone;
      return cudaSuccess;
    }
    *status = stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
    if (id != nullptr) *id = stream->capture->id;
    if (graph != nullptr) *graph = stream->capture->graph.get();
    if (dependencies != nullptr) *dependencies = stream->frontier.data();
    if (count != nullptr) *count = stream->frontier.size();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, std::size_t count,
                                                unsigned flags) {
  return call([&](Runtime& runtime) {
    CUstream_st* stream = runtime.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->capture == nullptr) return cudaErrorIllegalState;
    if (count != 0 && dependencies == nullptr) return cudaErrorInvalidValue;
    if (flags == cudaStreamSetCaptureDependencies) stream->frontier.clear();
    stream->frontier.insert(stream->frontier.end(), dependencies, dependencies + count);
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&](Runtime&) {
    static thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (mode == nullptr) return cudaErrorInvalidValue;
    std::swap(*mode, current);
    return cudaSuccess;
  });
}
