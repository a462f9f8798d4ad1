#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cudasim/exec/launch.hpp"

struct CUgraph_st;
struct CUgraphNode_st;

namespace cudasim {

class Runtime;
struct KernelEntry;

/// What work keeps busy besides its stream: each direction of the host link is one engine.
enum class Engine : std::uint8_t { none, to_device, to_host };

/// One thing a stream does; also the content of a graph node.
struct Work {
  virtual ~Work() = default;
  virtual cudaGraphNodeType type() const = 0;
  /// Does it now; `seconds` receives its model bound.
  virtual cudaError_t run(Runtime& runtime, struct CUstream_st& stream, double& seconds) = 0;
  virtual std::unique_ptr<Work> clone() const = 0;
  virtual Engine engine() const { return Engine::none; }
  /// False when it reads or writes what the program may change before it waits.
  virtual bool may_wait(const Runtime&) const { return true; }
};

struct KernelWork final : Work {
  KernelEntry* entry = nullptr;
  const void* host_function = nullptr;
  LaunchConfig config;
  std::vector<std::byte> params;
  /// Pointers into params, one an argument, for cudaGraphKernelNodeGetParams.
  std::vector<void*> argument_pointers;
  unsigned depth = 0;  ///< of launches by kernels: 0 for one of the host

  cudaGraphNodeType type() const override { return cudaGraphNodeTypeKernel; }
  cudaError_t run(Runtime& runtime, struct CUstream_st& stream, double& seconds) override;
  std::unique_ptr<Work> clone() const override;
};

/// A box of bytes to copy; a plain copy is a box of one row.
struct CopyWork final : Work {
  std::uint8_t* to = nullptr;
  const std::uint8_t* from = nullptr;
  std::size_t to_pitch = 0, from_pitch = 0, to_slice = 0, from_slice = 0;
  std::size_t width = 0, height = 1, depth = 1;  ///< bytes, rows, slices
  Engine link = Engine::none;                    ///< none: within the device's memory
  cudaMemcpy3DParms asked{};  ///< as the program gave it, for the graph's getters

  cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemcpy; }
  cudaError_t run(Runtime& runtime, struct CUstream_st& stream, double& seconds) override;
  std::unique_ptr<Work> clone() const override { return std::make_unique<CopyWork>(*this); }
  Engine engine() const override { return link; }
  /// CUDA copies from and to pageable memory before it returns.
  bool may_wait(const Runtime& runtime) const override;
};

struct FillWork final : Work {
  std::uint8_t* to = nullptr;
  std::size_t pitch = 0, slice = 0, width = 0, height = 1, depth = 1;  ///< width in bytes
  std::uint32_t value = 0;
  std::uint32_t element = 1;  ///< bytes of value: 1, 2 or 4

  cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemset; }
  cudaError_t run(Runtime& runtime, struct CUstream_st& stream, double& seconds) override;
  std::unique_ptr<Work> clone() const override { return std::make_unique<FillWork>(*this); }
};

struct HostWork final : Work {
  std::function<void()> body;
  cudaHostNodeParams asked{};

  cudaGraphNodeType type() const override { return cudaGraphNodeTypeHost; }
  cudaError_t run(Runtime& runtime, struct CUstream_st& stream, double& seconds) override;
  std::unique_ptr<Work> clone() const override { return std::make_unique<HostWork>(*this); }
};

struct EmptyWork final : Work {
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeEmpty; }
  cudaError_t run(Runtime&, struct CUstream_st&, double&) override { return cudaSuccess; }
  std::unique_ptr<Work> clone() const override { return std::make_unique<EmptyWork>(*this); }
};

/// Records an event, or waits for one.
struct EventWork final : Work {
  cudaEvent_t event = nullptr;
  bool wait = false;

  cudaGraphNodeType type() const override {
    return wait ? cudaGraphNodeTypeWaitEvent : cudaGraphNodeTypeEventRecord;
  }
  cudaError_t run(Runtime& runtime, struct CUstream_st& stream, double& seconds) override;
  std::unique_ptr<Work> clone() const override { return std::make_unique<EventWork>(*this); }
};

/// Memory of a graph: placed when the node is made and kept as long as the graph that owns it.
struct AllocWork final : Work {
  cudaMemAllocNodeParams asked{};
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemAlloc; }
  cudaError_t run(Runtime&, struct CUstream_st&, double&) override { return cudaSuccess; }
  std::unique_ptr<Work> clone() const override { return std::make_unique<AllocWork>(*this); }
};
struct FreeWork final : Work {
  void* pointer = nullptr;
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemFree; }
  cudaError_t run(Runtime&, struct CUstream_st&, double&) override { return cudaSuccess; }
  std::unique_ptr<Work> clone() const override { return std::make_unique<FreeWork>(*this); }
};

struct ChildWork final : Work {
  std::shared_ptr<CUgraph_st> graph;
  cudaGraphNodeType type() const override { return cudaGraphNodeTypeGraph; }
  cudaError_t run(Runtime& runtime, struct CUstream_st& stream, double& seconds) override;
  std::unique_ptr<Work> clone() const override;
};

/// A capture in progress: the graph that grows, and the streams that take part.
struct Capture {
  std::uint64_t id = 0;
  std::shared_ptr<CUgraph_st> graph;
  struct CUstream_st* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  bool borrowed = false;  ///< the graph is the program's (cudaStreamBeginCaptureToGraph)
  bool invalid = false;
};

}  // namespace cudasim

struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  std::unique_ptr<cudasim::Work> work;
  std::vector<CUgraphNode_st*> dependencies;
  std::uint64_t origin = 0;  ///< number of the node in the graph it was first made in
  bool enabled = true;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::vector<std::shared_ptr<void>> memory;  ///< of its allocation nodes; shared with clones
  std::vector<cudaGraphConditionalHandle> conditions;  ///< made for it; shared with clones
  CUgraphNode_st* add(std::unique_ptr<cudasim::Work> work,
                      std::vector<CUgraphNode_st*> dependencies);
  std::shared_ptr<CUgraph_st> clone() const;
  /// An order that respects the dependencies; empty when there is a cycle.
  std::vector<CUgraphNode_st*> order() const;
  /// Runs all nodes; the bound is that of the longest path.
  cudaError_t run(cudasim::Runtime& runtime, CUstream_st& stream, double& seconds);
};
