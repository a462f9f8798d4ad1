#include "cudasim/api/work.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cudasim/api/device_launch.hpp"
#include "cudasim/api/process_checks.hpp"
#include "cudasim/api/runtime.hpp"

namespace cudasim {
namespace {

/// The code that CUDA gives for a fault, and whether it ends the context.
struct FaultCode {
  cudaError_t error;
  bool sticky;
};

FaultCode code_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::none:
      return {cudaSuccess, false};
    case FaultKind::illegal_address:
      return {cudaErrorIllegalAddress, true};
    case FaultKind::misaligned_address:
      return {cudaErrorMisalignedAddress, true};
    case FaultKind::illegal_instruction:
      return {cudaErrorIllegalInstruction, true};
    case FaultKind::invalid_program:
      return {cudaErrorInvalidPtx, false};
    case FaultKind::assertion:
      return {cudaErrorAssert, true};
    case FaultKind::trap:
      return {cudaErrorLaunchFailure, true};
    case FaultKind::timeout:
    case FaultKind::barrier_error:  // a GPU would wait for ever
      return {cudaErrorLaunchTimeout, true};
    case FaultKind::invalid_configuration:
      return {cudaErrorInvalidConfiguration, false};
    case FaultKind::out_of_memory:
      return {cudaErrorMemoryAllocation, false};
    case FaultKind::internal:
      return {cudaErrorUnknown, true};
  }
  return {cudaErrorUnknown, true};
}

}  // namespace

cudaError_t KernelWork::run(Runtime& runtime, CUstream_st& stream, double& seconds) {
  if (const cudaError_t error = runtime.registry.resolve(*entry); error != cudaSuccess) {
    return error;
  }
  const CacheShare caches =
      cache_share({static_cast<std::uint32_t>(config.block.count()), entry->registers,
                   entry->static_shared + config.dynamic_shared_bytes},
                  config.grid.count());
  config.l1_bytes_per_block = caches.l1_bytes_per_block;
  config.resident_blocks = caches.resident_blocks;
  LaunchConfig checked = config;
  ProcessChecks::get().prepare(checked);
  DeviceLaunches launches(runtime, *entry, depth);
  checked.device_runtime = &launches;
  const LaunchResult result =
      launch(*entry->binary->module, *entry->kernel, checked, params, runtime.memory);
  ProcessChecks::get().flush();
  seconds = runtime.record.add(
      {entry->name, config, entry->registers, entry->static_shared, entry->local_bytes},
      result.counters);
  if (!result.fault) return launches.run(stream, seconds);
  const FaultCode code = code_of(result.fault.kind);
  runtime.record.add_fault(result.fault, cudaGetErrorName(code.error), runtime.memory);
  if (!code.sticky) return code.error;
  // A kernel's fault shows at the next call, as it does on a GPU.
  runtime.set_sticky(code.error);
  return cudaSuccess;
}

std::unique_ptr<Work> KernelWork::clone() const {
  auto copy = std::make_unique<KernelWork>(*this);
  for (void*& pointer : copy->argument_pointers) {
    pointer = copy->params.data() + (static_cast<std::byte*>(pointer) - params.data());
  }
  return copy;
}

cudaError_t CopyWork::run(Runtime& runtime, CUstream_st&, double& seconds) {
  const std::uint64_t bytes = std::uint64_t{width} * height * depth;
  const auto touched = [&](const void* at, std::uint64_t size, bool write) {
    ProcessChecks::get().touched(runtime.memory, at, size, write);
  };
  for (std::size_t z = 0; z < depth; ++z) {
    std::uint8_t* target = to + z * to_slice;
    const std::uint8_t* source = from + z * from_slice;
    if (height == 1 || (to_pitch == width && from_pitch == width)) {
      std::memmove(target, source, width * height);
      touched(source, width * height, false);
      touched(target, width * height, true);
      ProcessChecks::get().copied(runtime.memory, target, source, width * height);
      continue;
    }
    for (std::size_t y = 0; y < height; ++y) {
      std::memmove(target + y * to_pitch, source + y * from_pitch, width);
      touched(source + y * from_pitch, width, false);
      touched(target + y * to_pitch, width, true);
      ProcessChecks::get().copied(runtime.memory, target + y * to_pitch, source + y * from_pitch,
                                  width);
    }
  }
  ProcessChecks::get().flush();
  seconds = copy_bound(bytes, link != Engine::none);
  runtime.record.add_copy(bytes, seconds);
  return cudaSuccess;
}

bool CopyWork::may_wait(const Runtime& runtime) const {
  const void* host = link == Engine::to_host ? static_cast<const void*>(to) : from;
  return link == Engine::none ||
         runtime.memory.find(reinterpret_cast<std::uint64_t>(host)) != nullptr;
}

cudaError_t FillWork::run(Runtime& runtime, CUstream_st&, double& seconds) {
  for (std::size_t z = 0; z < depth; ++z) {
    for (std::size_t y = 0; y < height; ++y) {
      std::uint8_t* row = to + z * slice + y * pitch;
      ProcessChecks::get().wrote(runtime.memory, row, width);
      ProcessChecks::get().touched(runtime.memory, row, width, true);
      if (element == 1) {
        std::memset(row, static_cast<int>(value), width);
        continue;
      }
      for (std::size_t x = 0; x + element <= width; x += element) {
        std::memcpy(row + x, &value, element);
      }
    }
  }
  ProcessChecks::get().flush();
  seconds = fill_bound(std::uint64_t{width} * height * depth);
  return cudaSuccess;
}

cudaError_t HostWork::run(Runtime&, CUstream_st&, double&) {
  body();
  return cudaSuccess;
}

cudaError_t EventWork::run(Runtime& runtime, CUstream_st& stream, double&) {
  if (!runtime.streams.known(event)) return cudaErrorInvalidResourceHandle;
  if (wait) {
    if (event->recorded) stream.clock = std::max(stream.clock, event->time);
    return cudaSuccess;
  }
  event->recorded = true;
  event->known.join(stream.known);  // a graph's record is seen here alone
  event->time = runtime.streams.now(stream);
  return cudaSuccess;
}

cudaError_t ChildWork::run(Runtime& runtime, CUstream_st& stream, double& seconds) {
  return graph->run(runtime, stream, seconds);
}

std::unique_ptr<Work> ChildWork::clone() const {
  auto copy = std::make_unique<ChildWork>();
  copy->graph = graph->clone();
  return copy;
}

}  // namespace cudasim

CUgraphNode_st* CUgraph_st::add(std::unique_ptr<cudasim::Work> work,
                                std::vector<CUgraphNode_st*> dependencies) {
  auto& node = *nodes.emplace_back(std::make_unique<CUgraphNode_st>());
  node.graph = this;
  node.work = std::move(work);
  node.dependencies = std::move(dependencies);
  node.origin = reinterpret_cast<std::uint64_t>(&node);
  return &node;
}

std::shared_ptr<CUgraph_st> CUgraph_st::clone() const {
  auto copy = std::make_shared<CUgraph_st>();
  copy->memory = memory;
  copy->conditions = conditions;
  std::map<const CUgraphNode_st*, CUgraphNode_st*> twin;
  for (const auto& node : nodes) {
    CUgraphNode_st* made = copy->add(node->work->clone(), {});
    made->origin = node->origin;
    made->enabled = node->enabled;
    twin[node.get()] = made;
  }
  for (const auto& node : nodes) {
    for (const CUgraphNode_st* dependency : node->dependencies) {
      twin.at(node.get())->dependencies.push_back(twin.at(dependency));
    }
  }
  return copy;
}

std::vector<CUgraphNode_st*> CUgraph_st::order() const {
  std::vector<CUgraphNode_st*> result;
  std::set<const CUgraphNode_st*> done;
  while (result.size() < nodes.size()) {
    const std::size_t before = result.size();
    for (const auto& node : nodes) {
      if (done.contains(node.get())) continue;
      const bool ready =
          std::ranges::all_of(node->dependencies, [&](auto* d) { return done.contains(d); });
      if (!ready) continue;
      done.insert(node.get());
      result.push_back(node.get());
    }
    if (result.size() == before) return {};
  }
  return result;
}

cudaError_t CUgraph_st::run(cudasim::Runtime& runtime, CUstream_st& stream, double& seconds) {
  std::map<const CUgraphNode_st*, double> finish;
  const double base = runtime.streams.now(stream);
  seconds = 0;
  for (CUgraphNode_st* node : order()) {
    double start = 0;
    for (const CUgraphNode_st* dependency : node->dependencies) {
      start = std::max(start, finish[dependency]);
    }
    double taken = 0;
    if (node->enabled) {
      stream.clock = base + start;  // events in the graph see the model's time
      if (const cudaError_t error = node->work->run(runtime, stream, taken); error != cudaSuccess) {
        return error;
      }
      if (runtime.sticky() != cudaSuccess) return cudaSuccess;
    }
    finish[node] = start + taken;
    seconds = std::max(seconds, finish[node]);
  }
  stream.clock = base;
  return cudaSuccess;
}
