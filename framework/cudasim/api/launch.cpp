#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "cudasim/api/kernel_launch.hpp"
#include "cudasim/api/runtime.hpp"
#include "cudasim/model/h100.hpp"

namespace cudasim {
namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

constexpr unsigned kMaxGridX = 2147483647, kMaxGridYZ = 65535, kMaxBlockZ = 64;

Dim3 convert(dim3 d) { return {d.x, d.y, d.z}; }

cudaError_t check_shape(const LaunchRequest& request) {
  const dim3 g = request.grid, b = request.block;
  if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0 || g.x > kMaxGridX ||
      g.y > kMaxGridYZ || g.z > kMaxGridYZ || b.x > h100::kMaxThreadsPerBlock ||
      b.y > h100::kMaxThreadsPerBlock || b.z > kMaxBlockZ ||
      convert(b).count() > h100::kMaxThreadsPerBlock) {
    return cudaErrorInvalidConfiguration;
  }
  return cudaSuccess;
}

cudaError_t check_cluster(const KernelEntry& entry, const LaunchRequest& request, dim3& cluster) {
  const auto& required = entry.required_cluster;
  if (required[0] != 0) {
    const dim3 wanted(required[0], std::max(required[1], 1u), std::max(required[2], 1u));
    if (request.cluster_given &&
        (cluster.x != wanted.x || cluster.y != wanted.y || cluster.z != wanted.z)) {
      return cudaErrorInvalidClusterSize;
    }
    cluster = wanted;
  } else if (entry.cluster_must_be_set && !request.cluster_given) {
    return cudaErrorInvalidClusterSize;
  }
  const std::uint64_t size = convert(cluster).count();
  const std::uint64_t most =
      entry.nonportable_cluster ? h100::kMaxCluster : h100::kMaxClusterPortable;
  if (size == 0 || size > most) return cudaErrorInvalidClusterSize;
  if (request.grid.x % cluster.x != 0 || request.grid.y % cluster.y != 0 ||
      request.grid.z % cluster.z != 0) {
    return cudaErrorInvalidConfiguration;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t prepare(Runtime& runtime, const LaunchRequest& request,
                    std::unique_ptr<KernelWork>& out) {
  if (const cudaError_t error = check_shape(request); error != cudaSuccess) return error;
  KernelEntry* entry = nullptr;
  if (const cudaError_t error = runtime.registry.resolve(request.function, entry);
      error != cudaSuccess) {
    return error;
  }
  const std::uint64_t threads = convert(request.block).count();
  if (threads > max_threads_for_registers(entry->registers)) {
    return cudaErrorLaunchOutOfResources;
  }
  if (threads > entry->max_threads) return cudaErrorInvalidValue;  // __launch_bounds__
  const std::uint64_t shared = entry->static_shared + std::uint64_t{request.shared};
  if (request.shared > entry->dynamic_limit || shared > h100::kSharedPerBlockOptin) {
    return cudaErrorInvalidValue;
  }
  dim3 cluster = request.cluster;
  if (const cudaError_t error = check_cluster(*entry, request, cluster); error != cudaSuccess) {
    return error;
  }
  if (request.cooperative) {
    const Occupancy fit = occupancy({static_cast<std::uint32_t>(threads), entry->registers,
                                     static_cast<std::uint32_t>(shared)});
    if (convert(request.grid).count() > std::uint64_t{fit.blocks_per_sm} * h100::kSms) {
      return cudaErrorCooperativeLaunchTooLarge;
    }
  }
  auto work = std::make_unique<KernelWork>();
  work->entry = entry;
  work->host_function = request.function;
  work->config.grid = convert(request.grid);
  work->config.block = convert(request.block);
  work->config.cluster = convert(cluster);
  work->config.dynamic_shared_bytes = static_cast<std::uint32_t>(request.shared);
  work->config.cooperative = request.cooperative;
  const auto& params = entry->kernel->params;
  work->params.resize(entry->kernel->param_bytes);
  if (!params.empty() && request.arguments == nullptr) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (request.arguments[i] == nullptr) return cudaErrorInvalidValue;
    std::byte* place = work->params.data() + params[i].offset;
    std::memcpy(place, request.arguments[i], params[i].size);
    work->argument_pointers.push_back(place);
  }
  out = std::move(work);
  return cudaSuccess;
}

cudaError_t launch_kernel(Runtime& runtime, const LaunchRequest& request) {
  std::unique_ptr<KernelWork> work;
  if (const cudaError_t error = prepare(runtime, request, work); error != cudaSuccess) {
    return error;
  }
  return runtime.streams.submit(runtime, request.stream, std::move(work));
}

namespace {

cudaError_t launch_plain(const void* function, dim3 grid, dim3 block, void** arguments,
                         std::size_t shared, cudaStream_t stream, bool cooperative) {
  return call([&](Runtime& runtime) {
    LaunchRequest request;
    request.function = function;
    request.grid = grid;
    request.block = block;
    request.arguments = arguments;
    request.shared = shared;
    request.stream = stream;
    request.cooperative = cooperative;
    return launch_kernel(runtime, request);
  });
}

}  // namespace
}  // namespace cudasim

using cudasim::Binary;
using cudasim::call;
using cudasim::query;
using cudasim::Runtime;

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  void** handle = nullptr;
  query([&](Runtime& runtime) {
    handle = reinterpret_cast<void**>(runtime.registry.add_binary(wrapper));
    return cudaSuccess;
  });
  return handle;
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  query([&](Runtime& runtime) {
    runtime.registry.remove_binary(reinterpret_cast<Binary*>(handle));
    return cudaSuccess;
  });
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  query([&](Runtime& runtime) {
    runtime.registry.add_kernel(reinterpret_cast<Binary*>(handle), host, name);
    return cudaSuccess;
  });
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t size,
                       int, int) {
  query([&](Runtime& runtime) {
    runtime.registry.add_variable(reinterpret_cast<Binary*>(handle), host, name, size);
    return cudaSuccess;
  });
}

void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int,
                              std::size_t size, int, int) {
  query([&](Runtime& runtime) {
    runtime.registry.add_managed(reinterpret_cast<Binary*>(handle), host, name, size);
    return cudaSuccess;
  });
}

void __cudaRegisterHostVar(void** handle, const char* name, char* host, std::size_t size) {
  query([&](Runtime& runtime) {
    runtime.registry.add_host_variable(reinterpret_cast<Binary*>(handle), host, name, size);
    return cudaSuccess;
  });
}

cudaError_t __cudaRegisterUnifiedTable(void**, void*) { return cudaSuccess; }

char __cudaInitModule(void** handle) {
  return query([&](Runtime& runtime) {
           return runtime.registry.load(*reinterpret_cast<Binary*>(handle));
         }) == cudaSuccess
             ? 1
             : 0;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     struct CUstream_st* stream) {
  cudasim::configurations.push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (cudasim::configurations.empty()) return cudasim::remember(cudaErrorMissingConfiguration);
  const auto top = cudasim::configurations.back();
  cudasim::configurations.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  return query([&](Runtime& runtime) {
    *kernel = reinterpret_cast<cudaKernel_t>(runtime.registry.find(host));
    return *kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
  });
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  return cudasim::launch_plain(kernel, grid, block, arguments, shared, stream, false);
}

}  // extern "C"

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return cudasim::launch_plain(function, grid, block, arguments, shared, stream, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared, cudaStream_t stream) {
  return cudasim::launch_plain(function, grid, block, arguments, shared, stream, true);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return call([&](Runtime& runtime) {
    if (config == nullptr) return cudaErrorInvalidValue;
    cudasim::LaunchRequest request;
    request.function = function;
    request.grid = config->gridDim;
    request.block = config->blockDim;
    request.arguments = arguments;
    request.shared = config->dynamicSmemBytes;
    request.stream = config->stream;
    cudaEvent_t event = nullptr;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = config->attrs[i];
      if (attribute.id == cudaLaunchAttributeCooperative) {
        request.cooperative = attribute.val.cooperative != 0;
      } else if (attribute.id == cudaLaunchAttributeClusterDimension) {
        const auto& c = attribute.val.clusterDim;
        request.cluster = dim3(c.x, c.y, c.z);
        request.cluster_given = true;
      } else if (attribute.id == cudaLaunchAttributeProgrammaticEvent) {
        event = attribute.val.programmaticEvent.event;
      } else if (attribute.id == cudaLaunchAttributeLaunchCompletionEvent) {
        event = attribute.val.launchCompletionEvent.event;
      }
      // The others only change when or where work is scheduled.
    }
    const cudaError_t error = cudasim::launch_kernel(runtime, request);
    if (error == cudaSuccess && event != nullptr) {
      auto record = std::make_unique<cudasim::EventWork>();
      record->event = event;
      return runtime.streams.submit(runtime, request.stream, std::move(record));
    }
    return error;
  });
}
