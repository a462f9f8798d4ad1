#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "cudasim/api/registry.hpp"
#include "cudasim/api/work.hpp"
#include "cudasim/exec/device_runtime.hpp"

namespace cudasim {

/// The runtime as one grid's kernels see it: dynamic parallelism and graph conditions. What a grid
/// launches runs after its last block in the order of the calls, each child with its own children,
/// then what went to the tail stream: an order that CUDA allows, where a parent's blocks wait for
/// no child. A kernel's `function` is the address that PTX takes of it.
class DeviceLaunches final : public DeviceRuntime {
 public:
  DeviceLaunches(Runtime& runtime, const KernelEntry& parent, unsigned depth)
      : runtime_(runtime), parent_(parent), depth_(depth) {}
  ~DeviceLaunches() override;

  bool call(DeviceCall& call) override;
  /// Runs the children; adds their model bounds to `seconds`, one after the other.
  cudaError_t run(CUstream_st& stream, double& seconds);

 private:
  struct Buffer {
    KernelEntry* entry = nullptr;
    dim3 grid, block;
    std::size_t shared = 0;
  };
  using Handler = cudaError_t (DeviceLaunches::*)(DeviceCall&);
  static const std::map<std::string_view, Handler>& handlers();

  cudaError_t parameter_buffer(DeviceCall& call);
  cudaError_t launch_buffer(DeviceCall& call);
  cudaError_t launch_function(DeviceCall& call);
  cudaError_t last_error(DeviceCall& call);
  cudaError_t new_handle(DeviceCall& call);
  cudaError_t in_order(DeviceCall&) { return cudaSuccess; }
  cudaError_t copy(DeviceCall& call);
  cudaError_t fill(DeviceCall& call);
  cudaError_t allocate(DeviceCall& call);
  cudaError_t free(DeviceCall& call);
  cudaError_t attribute(DeviceCall& call);
  cudaError_t device(DeviceCall& call);
  cudaError_t device_count(DeviceCall& call);

  KernelEntry* kernel(std::uint64_t function);
  std::uint64_t place(const Buffer& buffer, std::uint64_t bytes);
  cudaError_t launch(const Buffer& buffer, std::uint64_t address, std::uint64_t stream);
  /// Writes a value where a pointer argument says.
  template <typename T>
  cudaError_t put(DeviceCall& call, std::size_t argument, const T& value);

  static std::mutex mutex_;  ///< the registry is one for all
  Runtime& runtime_;
  const KernelEntry& parent_;
  unsigned depth_;  ///< 0 when the host launched the parent
  std::map<std::uint64_t, Buffer> buffers_;
  std::deque<std::unique_ptr<Work>> children_, tail_;
  std::map<std::uint64_t, cudaError_t> errors_;  ///< last error by thread
  std::uint64_t next_handle_ = 16;
};

}  // namespace cudasim
