#pragma once
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "cudasim/api/record.hpp"
#include "cudasim/api/registry.hpp"
#include "cudasim/api/stream.hpp"
#include "cudasim/exec/launch.hpp"
#include "cudasim/memory/memory.hpp"

namespace cudasim {

/// The process's one device and what hangs on it. Never destroyed: programs call the runtime from
/// destructors and exit handlers.
class Runtime {
 public:
  static Runtime& get();

  DeviceMemory memory;
  Registry registry{memory};
  Streams streams;
  Record record;
  /// Held during every call; kernels run under it, in the order of the calls.
  std::recursive_mutex mutex;

  /// The error that ends the context, cudaSuccess while all is well.
  cudaError_t sticky() const { return sticky_; }
  void set_sticky(cudaError_t error) {
    if (sticky_ == cudaSuccess) sticky_ = error;
  }
  void clear_sticky() { sticky_ = cudaSuccess; }

 private:
  Runtime() = default;
  cudaError_t sticky_ = cudaSuccess;
};

/// This thread's last error, as cudaGetLastError sees it.
extern thread_local cudaError_t last_error;

inline cudaError_t remember(cudaError_t error) {
  // "Not ready" is an answer and not an error.
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

/// Body of an API function that needs no healthy context: takes the lock, turns exceptions into
/// codes, remembers the error.
template <typename Body>
cudaError_t query(Body&& body) noexcept {
  try {
    Runtime& runtime = Runtime::get();
    const std::lock_guard lock(runtime.mutex);
    return remember(body(runtime));
  } catch (const std::bad_alloc&) {
    return remember(cudaErrorMemoryAllocation);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cudasim: internal error: %s\n", error.what());
    return remember(cudaErrorUnknown);
  }
}

/// The same, after the check that no earlier fault has ended the context.
template <typename Body>
cudaError_t call(Body&& body) noexcept {
  return query([&](Runtime& runtime) {
    return runtime.sticky() != cudaSuccess ? runtime.sticky() : body(runtime);
  });
}

}  // namespace cudasim
