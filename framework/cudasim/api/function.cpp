#include <algorithm>
#include <cmath>

#include "cudasim/api/runtime.hpp"
#include "cudasim/model/h100.hpp"

namespace h100 = cudasim::h100;
using cudasim::call;
using cudasim::KernelEntry;
using cudasim::Runtime;

namespace {

cudaError_t with_kernel(const void* function, auto&& body) {
  return call([&](Runtime& runtime) {
    KernelEntry* entry = nullptr;
    const cudaError_t error = runtime.registry.resolve(function, entry);
    return error == cudaSuccess ? body(*entry) : error;
  });
}

cudaError_t set_attribute(KernelEntry& entry, cudaFuncAttribute name, int value) {
  switch (name) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 ||
          static_cast<std::uint32_t>(value) + entry.static_shared > h100::kSharedPerBlockOptin) {
        return cudaErrorInvalidValue;
      }
      entry.dynamic_limit = static_cast<std::uint32_t>(value);
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      entry.carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      entry.nonportable_cluster = value != 0;
      return cudaSuccess;
    case cudaFuncAttributeClusterDimMustBeSet:
      entry.cluster_must_be_set = value != 0;
      return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
      if (value < 0) return cudaErrorInvalidValue;
      entry.required_cluster[name - cudaFuncAttributeRequiredClusterWidth] =
          static_cast<std::uint32_t>(value);
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

cudasim::Occupancy fit(const KernelEntry& entry, int threads, std::size_t dynamic) {
  if (threads <= 0 || dynamic > h100::kSharedPerBlockOptin ||
      static_cast<std::uint32_t>(threads) > entry.max_threads) {
    return {};
  }
  return cudasim::occupancy({static_cast<std::uint32_t>(threads), entry.registers,
                             entry.static_shared + static_cast<std::uint32_t>(dynamic)});
}

}  // namespace

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return with_kernel(function, [&](KernelEntry& entry) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    attributes->sharedSizeBytes = entry.static_shared;
    attributes->localSizeBytes = entry.local_bytes;
    attributes->maxThreadsPerBlock = static_cast<int>(entry.max_threads);
    attributes->numRegs = static_cast<int>(entry.registers);
    attributes->ptxVersion = 90;
    attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(entry.dynamic_limit);
    attributes->preferredShmemCarveout = entry.carveout;
    attributes->clusterDimMustBeSet = entry.cluster_must_be_set ? 1 : 0;
    attributes->requiredClusterWidth = static_cast<int>(entry.required_cluster[0]);
    attributes->requiredClusterHeight = static_cast<int>(entry.required_cluster[1]);
    attributes->requiredClusterDepth = static_cast<int>(entry.required_cluster[2]);
    attributes->nonPortableClusterSizeAllowed = entry.nonportable_cluster ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute name, int value) {
  return with_kernel(function,
                     [&](KernelEntry& entry) { return set_attribute(entry, name, value); });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute name, int value,
                                            int device) {
  if (device != 0) return cudasim::remember(cudaErrorInvalidDevice);
  return cudaFuncSetAttribute(kernel, name, value);
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return with_kernel(function, [](KernelEntry&) { return cudaSuccess; });
}

extern "C" cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return with_kernel(function, [](KernelEntry&) { return cudaSuccess; });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return with_kernel(function, [&](KernelEntry& entry) {
    if (name == nullptr) return cudaErrorInvalidValue;
    *name = entry.name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                                 std::size_t* size) {
  return with_kernel(function, [&](KernelEntry& entry) {
    if (index >= entry.kernel->params.size() || offset == nullptr) return cudaErrorInvalidValue;
    *offset = entry.kernel->params[index].offset;
    if (size != nullptr) *size = entry.kernel->params[index].size;
    return cudaSuccess;
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return with_kernel(symbol, [&](KernelEntry& entry) {
    if (function == nullptr) return cudaErrorInvalidValue;
    *function = reinterpret_cast<cudaFunction_t>(&entry);
    return cudaSuccess;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  return with_kernel(host, [&](KernelEntry& entry) {
    if (kernel == nullptr) return cudaErrorInvalidValue;
    *kernel = reinterpret_cast<cudaKernel_t>(&entry);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function,
                                                                   int threads, std::size_t dynamic,
                                                                   unsigned flags) {
  return with_kernel(function, [&](KernelEntry& entry) {
    if (blocks == nullptr || threads <= 0 || flags > cudaOccupancyDisableCachingOverride) {
      return cudaErrorInvalidValue;
    }
    *blocks = static_cast<int>(fit(entry, threads, dynamic).blocks_per_sm);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, std::size_t dynamic) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic,
                                                                cudaOccupancyDefault);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* dynamic, const void* function,
                                                      int blocks, int threads) {
  return with_kernel(function, [&](KernelEntry& entry) {
    if (dynamic == nullptr || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    if (fit(entry, threads, 0).blocks_per_sm < static_cast<std::uint32_t>(blocks)) {
      return cudaErrorInvalidValue;
    }
    const std::uint32_t share = h100::kSharedPerSm / static_cast<std::uint32_t>(blocks) /
                                h100::kSharedUnit * h100::kSharedUnit;
    const std::uint32_t taken = h100::kSharedReservedPerBlock + entry.static_shared;
    *dynamic = std::min(share > taken ? share - taken : 0,
                        h100::kSharedPerBlockOptin - entry.static_shared);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return with_kernel(function, [&](KernelEntry& entry) {
    if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
    const dim3 b = config->blockDim;
    const auto one = fit(entry, static_cast<int>(b.x * b.y * b.z), config->dynamicSmemBytes);
    *size = one.blocks_per_sm == 0      ? 0
            : entry.nonportable_cluster ? static_cast<int>(h100::kMaxCluster)
                                        : static_cast<int>(h100::kMaxClusterPortable);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return with_kernel(function, [&](KernelEntry& entry) {
    if (clusters == nullptr || config == nullptr) return cudaErrorInvalidValue;
    std::uint32_t size = 1;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const auto& a = config->attrs[i];
      if (a.id == cudaLaunchAttributeClusterDimension) {
        size = a.val.clusterDim.x * a.val.clusterDim.y * a.val.clusterDim.z;
      }
    }
    if (size == 0) return cudaErrorInvalidValue;
    const dim3 b = config->blockDim;
    const auto one = fit(entry, static_cast<int>(b.x * b.y * b.z), config->dynamicSmemBytes);
    *clusters = static_cast<int>(one.blocks_per_sm * h100::kSms / size);
    return cudaSuccess;
  });
}
