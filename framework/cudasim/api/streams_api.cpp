#include <memory>

#include "cudasim/api/runtime.hpp"

using cudasim::call;
using cudasim::query;
using cudasim::Runtime;

namespace {

cudaError_t with_stream(cudaStream_t handle, auto&& body) {
  return call([&](Runtime& runtime) {
    CUstream_st* stream = runtime.streams.find(handle);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : body(runtime, *stream);
  });
}

cudaError_t record(cudaEvent_t event, cudaStream_t handle) {
  return with_stream(handle, [&](Runtime& runtime, CUstream_st& stream) {
    if (!runtime.streams.known(event)) return cudaErrorInvalidResourceHandle;
    if (stream.capture != nullptr) {
      // In a capture an event marks a place in the graph.
      event->capture = stream.capture;
      event->frontier = stream.frontier;
      return cudaSuccess;
    }
    event->capture = nullptr;
    auto work = std::make_unique<cudasim::EventWork>();
    work->event = event;
    const cudaError_t error = runtime.streams.submit(runtime, handle, std::move(work));
    // Another process can't make queued work run.
    if ((event->flags & cudaEventInterprocess) != 0) runtime.streams.finish(runtime, stream);
    return error;
  });
}

}  // namespace

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&](Runtime& runtime) {
    if (stream == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) {
      return cudaErrorInvalidValue;
    }
    *stream = runtime.streams.create(flags, priority > 0 ? 0 : priority < -5 ? -5 : priority);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&](Runtime& runtime) { return runtime.streams.destroy(runtime, stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return with_stream(handle, [](Runtime& runtime, CUstream_st& stream) {
    if (stream.capture != nullptr) {
      stream.capture->invalid = true;
      return cudaErrorStreamCaptureUnsupported;
    }
    return runtime.streams.host_waits(runtime, stream);
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return with_stream(handle, [](Runtime& runtime, CUstream_st& stream) {
    if (stream.capture != nullptr) {
      stream.capture->invalid = true;
      return cudaErrorStreamCaptureUnsupported;
    }
    return runtime.streams.host_waits(runtime, stream);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  return with_stream(handle, [&](Runtime& runtime, CUstream_st& stream) {
    if (!runtime.streams.known(event)) return cudaErrorInvalidResourceHandle;
    if (event->capture != nullptr && !event->capture->invalid) {
      if (stream.capture != nullptr && stream.capture != event->capture) {
        stream.capture->invalid = event->capture->invalid = true;
        return cudaErrorStreamCaptureMerge;
      }
      // The stream joins the capture.
      if (stream.capture == nullptr) stream.frontier.clear();
      stream.capture = event->capture;
      for (CUgraphNode_st* node : event->frontier) {
        if (std::find(stream.frontier.begin(), stream.frontier.end(), node) ==
            stream.frontier.end()) {
          stream.frontier.push_back(node);
        }
      }
      return cudaSuccess;
    }
    if (stream.capture != nullptr) {
      stream.capture->invalid = true;
      return cudaErrorStreamCaptureIsolation;
    }
    auto work = std::make_unique<cudasim::EventWork>();
    work->event = event;
    work->wait = true;
    return runtime.streams.submit(runtime, handle, std::move(work));
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return with_stream(handle, [&](Runtime& runtime, CUstream_st& stream) {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (stream.capture != nullptr) return cudaErrorStreamCaptureUnsupported;
    auto work = std::make_unique<cudasim::HostWork>();
    work->body = [=] { callback(handle, cudaSuccess, data); };
    return runtime.streams.submit(runtime, handle, std::move(work));
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return with_stream(handle, [&](Runtime& runtime, CUstream_st&) {
    if (function == nullptr) return cudaErrorInvalidValue;
    auto work = std::make_unique<cudasim::HostWork>();
    work->asked = {function, data};
    work->body = [=] { function(data); };
    return runtime.streams.submit(runtime, handle, std::move(work));
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return with_stream(handle, [&](Runtime&, CUstream_st& stream) {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = stream.priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return with_stream(handle, [&](Runtime&, CUstream_st& stream) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = stream.flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return with_stream(handle, [&](Runtime&, CUstream_st& stream) {
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = stream.id;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return with_stream(handle, [&](Runtime&, CUstream_st&) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

// Attributes of streams only steer caches and scheduling.
cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID,
                                   const cudaLaunchAttributeValue*) {
  return with_stream(handle, [](Runtime&, CUstream_st&) { return cudaSuccess; });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID name,
                                   cudaLaunchAttributeValue* value) {
  return with_stream(handle, [&](Runtime&, CUstream_st& stream) {
    if (value == nullptr) return cudaErrorInvalidValue;
    *value = {};
    if (name == cudaLaunchAttributePriority) value->priority = stream.priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return with_stream(to, [&](Runtime& runtime, CUstream_st&) {
    return runtime.streams.find(from) == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&](Runtime& runtime) {
    constexpr unsigned kKnown =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (event == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    *event = runtime.streams.create_event(flags);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&](Runtime& runtime) {
    return runtime.streams.destroy_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return record(event, stream);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return record(event, stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&](Runtime& runtime) {
    if (!runtime.streams.known(event)) return cudaErrorInvalidResourceHandle;
    if (event->capture != nullptr) return cudaErrorCapturedEvent;
    return runtime.streams.host_waits(runtime, *event);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call([&](Runtime& runtime) {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    for (const cudaEvent_t event : {start, end}) {
      if (runtime.streams.known(event) && runtime.streams.pending(*event)) {
        return cudaErrorNotReady;
      }
      if (!runtime.streams.known(event) || !event->recorded ||
          (event->flags & cudaEventDisableTiming) != 0) {
        return cudaErrorInvalidResourceHandle;
      }
    }
    *milliseconds = static_cast<float>((end->time - start->time) * 1e3);
    return cudaSuccess;
  });
}
