#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "cudasim/api/graph.hpp"
#include "cudasim/api/ipc.hpp"
#include "cudasim/api/process_checks.hpp"
#include "cudasim/api/runtime.hpp"

/// A memory pool; memory is given back to the device at once, so it only counts.
struct CUmemPoolHandle_st {
  std::uint64_t used = 0, used_high = 0;
  std::uint64_t release_threshold = 0;
  int follow_event = 1, opportunistic = 1, internal = 1;
  std::uint64_t most = 0;
};

namespace cudasim {
namespace {

constexpr std::size_t kPitchUnit = 512;

CUmemPoolHandle_st& default_pool() {
  static auto* const pool = new CUmemPoolHandle_st;
  return *pool;
}
cudaMemPool_t& current_pool() {
  static cudaMemPool_t pool = &default_pool();
  return pool;
}
std::map<cudaMemPool_t, std::unique_ptr<CUmemPoolHandle_st>>& pools() {
  static auto* const all = new std::map<cudaMemPool_t, std::unique_ptr<CUmemPoolHandle_st>>;
  return *all;
}
bool known(cudaMemPool_t pool) { return pool == &default_pool() || pools().contains(pool); }

struct Pooled {
  CUmemPoolHandle_st* pool;
  std::size_t size;
};
std::map<const void*, Pooled>& pooled() {
  static auto* const all = new std::map<const void*, Pooled>;
  return *all;
}
std::map<const void*, unsigned>& host_flags() {
  static auto* const all = new std::map<const void*, unsigned>;
  return *all;
}

cudaError_t allocate(Runtime& runtime, void** out, std::size_t size, RegionKind kind,
                     const char* note) {
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = nullptr;
  if (size == 0) return cudaSuccess;
  const std::uint64_t address =
      runtime.memory.allocate(size, kind, ProcessChecks::get().note(note));
  if (address == 0) return cudaErrorMemoryAllocation;
  *out = reinterpret_cast<void*>(address);
  return cudaSuccess;
}

cudaError_t release(Runtime& runtime, void* pointer, const char* function,
                    std::initializer_list<RegionKind> kinds) {
  if (pointer == nullptr) return cudaSuccess;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (graph_owns(address)) return cudaSuccess;
  const Region* region = runtime.memory.find(address);
  const bool right_kind =
      region == nullptr || std::ranges::find(kinds, region->kind) != kinds.end();
  if (opened_from_elsewhere(address)) return cudaErrorInvalidValue;
  if (right_kind) {
    ProcessChecks::get().freeing(region);
    end_sharing(address);
  }
  const FreeStatus status = right_kind ? runtime.memory.free(address) : FreeStatus::wrong_kind;
  if (status == FreeStatus::freed) {
    if (const auto at = pooled().find(pointer); at != pooled().end()) {
      at->second.pool->used -= at->second.size;
      pooled().erase(at);
    }
    host_flags().erase(pointer);
    return cudaSuccess;
  }
  const char* kind = status == FreeStatus::double_free ? "double-free" : "invalid-free";
  const char* what = status == FreeStatus::double_free  ? "was freed before"
                     : status == FreeStatus::wrong_kind ? "is not what this function frees"
                                                        : "is not the start of an allocation";
  std::fprintf(stderr, "========= cudasim: %s(%p): the address %s: %s\n", function, pointer, what,
               runtime.memory.locate(address).text().c_str());
  ProcessChecks::get().host_error(kind, std::string(function) + " of an address that " + what,
                                  address, runtime.memory.locate(address).text());
  return cudaErrorInvalidValue;
}

cudaError_t allocate_pooled(void** out, std::size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    CUstream_st* on = runtime.streams.find(stream);
    if (on == nullptr) return cudaErrorInvalidResourceHandle;
    if (pool != nullptr && !known(pool)) return cudaErrorInvalidValue;
    CUmemPoolHandle_st* from = pool == nullptr ? current_pool() : pool;
    if (from->most != 0 && from->used + size > from->most) return cudaErrorMemoryAllocation;
    const cudaError_t error = allocate(runtime, out, size, RegionKind::device, "cudaMallocAsync");
    if (error != cudaSuccess || *out == nullptr) return error;
    if (on->capture != nullptr) {
      auto work = std::make_unique<AllocWork>();
      work->asked.bytesize = size;
      work->asked.dptr = *out;
      on->capture->graph->memory.push_back(graph_memory(*out));
      return runtime.streams.submit(runtime, stream, std::move(work));
    }
    from->used += size;
    from->used_high = std::max(from->used_high, from->used);
    pooled()[*out] = {from, size};
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace cudasim

using cudasim::call;
using cudasim::DeviceMemory;
using cudasim::FreeStatus;
using cudasim::query;
using cudasim::Region;
using cudasim::RegionKind;
using cudasim::Runtime;

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  return call([&](Runtime& runtime) {
    return cudasim::allocate(runtime, pointer, size, RegionKind::device, "cudaMalloc");
  });
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t size, unsigned flags) {
  return call([&](Runtime& runtime) {
    if (size == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) {
      return cudaErrorInvalidValue;
    }
    return cudasim::allocate(runtime, pointer, size, RegionKind::managed, "cudaMallocManaged");
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t size) {
  return call([&](Runtime& runtime) {
    return cudasim::allocate(runtime, pointer, size, RegionKind::pinned_host, "cudaMallocHost");
  });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  return call([&](Runtime& runtime) {
    constexpr unsigned kKnown =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if ((flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    const cudaError_t error =
        cudasim::allocate(runtime, pointer, size, RegionKind::pinned_host, "cudaHostAlloc");
    if (error == cudaSuccess && *pointer != nullptr) cudasim::host_flags()[*pointer] = flags;
    return error;
  });
}

cudaError_t cudaFree(void* pointer) {
  return call([&](Runtime& runtime) {
    runtime.streams.finish(runtime);
    return cudasim::release(runtime, pointer, "cudaFree",
                            {RegionKind::device, RegionKind::managed});
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return call([&](Runtime& runtime) {
    runtime.streams.finish(runtime);
    return cudasim::release(runtime, pointer, "cudaFreeHost", {RegionKind::pinned_host});
  });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned) {
  return call([&](Runtime& runtime) {
    if (pointer == nullptr || size == 0) return cudaErrorInvalidValue;
    return runtime.memory.add_host_range(pointer, size, "cudaHostRegister")
               ? cudaSuccess
               : cudaErrorHostMemoryAlreadyRegistered;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call([&](Runtime& runtime) {
    runtime.streams.finish(runtime);
    return runtime.memory.remove_host_range(pointer) == FreeStatus::freed
               ? cudaSuccess
               : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call([&](Runtime& runtime) {
    if (device == nullptr || flags != 0) return cudaErrorInvalidValue;
    const Region* region = runtime.memory.find(reinterpret_cast<std::uint64_t>(host));
    if (region == nullptr || region->kind == RegionKind::device) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&](Runtime& runtime) {
    const Region* region = runtime.memory.find(reinterpret_cast<std::uint64_t>(host));
    if (flags == nullptr || region == nullptr || region->kind != RegionKind::pinned_host) {
      return cudaErrorInvalidValue;
    }
    const auto at = cudasim::host_flags().find(host);
    *flags = (at == cudasim::host_flags().end() ? 0 : at->second) | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return call([&](Runtime& runtime) {
    if (pitch == nullptr) return cudaErrorInvalidValue;
    *pitch = (width + cudasim::kPitchUnit - 1) / cudasim::kPitchUnit * cudasim::kPitchUnit;
    if (height != 0 && *pitch > SIZE_MAX / height) return cudaErrorMemoryAllocation;
    return cudasim::allocate(runtime, pointer, *pitch * height, RegionKind::device,
                             "cudaMallocPitch");
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  return call([&](Runtime& runtime) {
    if (pitched == nullptr) return cudaErrorInvalidValue;
    const std::size_t rows = extent.height * extent.depth;
    pitched->pitch =
        (extent.width + cudasim::kPitchUnit - 1) / cudasim::kPitchUnit * cudasim::kPitchUnit;
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    if (rows != 0 && pitched->pitch > SIZE_MAX / rows) return cudaErrorMemoryAllocation;
    return cudasim::allocate(runtime, &pitched->ptr, pitched->pitch * rows, RegionKind::device,
                             "cudaMalloc3D");
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&](Runtime& runtime) {
    constexpr std::uint64_t kContext = 600ULL << 20;  // what a context takes of the device
    const std::uint64_t used = runtime.memory.live_bytes() + kContext;
    if (free != nullptr) *free = DeviceMemory::kReportedBytes - used;
    if (total != nullptr) *total = DeviceMemory::kReportedBytes;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call([&](Runtime& runtime) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = cudaInvalidDeviceId;
    attributes->hostPointer = const_cast<void*>(pointer);
    const Region* region = runtime.memory.find(reinterpret_cast<std::uint64_t>(pointer));
    if (region == nullptr) return cudaSuccess;
    attributes->device = 0;
    attributes->devicePointer = const_cast<void*>(pointer);
    switch (region->kind) {
      case RegionKind::managed:
        attributes->type = cudaMemoryTypeManaged;
        break;
      case RegionKind::pinned_host:
        attributes->type = cudaMemoryTypeHost;
        break;
      default:
        attributes->type = cudaMemoryTypeDevice;
        attributes->hostPointer = nullptr;
        break;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream) {
  return cudasim::allocate_pooled(pointer, size, nullptr, stream);
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return cudasim::allocate_pooled(pointer, size, pool, stream);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    CUstream_st* on = runtime.streams.find(stream);
    if (on == nullptr) return cudaErrorInvalidResourceHandle;
    if (on->capture != nullptr) {
      auto work = std::make_unique<cudasim::FreeWork>();
      work->pointer = pointer;
      return runtime.streams.submit(runtime, stream, std::move(work));
    }
    if (pointer == nullptr) return cudaErrorInvalidValue;
    runtime.streams.finish(runtime, *on);
    return cudasim::release(runtime, pointer, "cudaFreeAsync", {RegionKind::device});
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return query([&](Runtime&) {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *pool = &cudasim::default_pool();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return query([&](Runtime&) {
    if (pool == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *pool = cudasim::current_pool();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return query([&](Runtime&) {
    if (device != 0) return cudaErrorInvalidDevice;
    if (!cudasim::known(pool)) return cudaErrorInvalidValue;
    cudasim::current_pool() = pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  return call([&](Runtime&) {
    if (pool == nullptr || props == nullptr) return cudaErrorInvalidValue;
    if (props->handleTypes != cudaMemHandleTypeNone) return cudaErrorNotSupported;
    auto made = std::make_unique<CUmemPoolHandle_st>();
    made->most = props->maxSize;
    *pool = made.get();
    cudasim::pools()[*pool] = std::move(made);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call([&](Runtime&) {
    if (!cudasim::pools().contains(pool)) return cudaErrorInvalidValue;
    if (cudasim::current_pool() == pool) cudasim::current_pool() = &cudasim::default_pool();
    for (auto& [pointer, item] : cudasim::pooled()) {
      if (item.pool == pool) item.pool = &cudasim::default_pool();
    }
    cudasim::pools().erase(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return call([&](Runtime&) { return cudasim::known(pool) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr name, void* value) {
  return call([&](Runtime&) {
    if (!cudasim::known(pool) || value == nullptr) return cudaErrorInvalidValue;
    switch (name) {
      case cudaMemPoolReuseFollowEventDependencies:
        pool->follow_event = *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolReuseAllowOpportunistic:
        pool->opportunistic = *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolReuseAllowInternalDependencies:
        pool->internal = *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        pool->release_threshold = *static_cast<std::uint64_t*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        if (*static_cast<std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
        pool->used_high = pool->used;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr name, void* value) {
  return call([&](Runtime&) {
    if (!cudasim::known(pool) || value == nullptr) return cudaErrorInvalidValue;
    switch (name) {
      case cudaMemPoolReuseFollowEventDependencies:
        *static_cast<int*>(value) = pool->follow_event;
        return cudaSuccess;
      case cudaMemPoolReuseAllowOpportunistic:
        *static_cast<int*>(value) = pool->opportunistic;
        return cudaSuccess;
      case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int*>(value) = pool->internal;
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        *static_cast<std::uint64_t*>(value) = pool->release_threshold;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemCurrent:
      case cudaMemPoolAttrUsedMemCurrent:
        *static_cast<std::uint64_t*>(value) = pool->used;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        *static_cast<std::uint64_t*>(value) = pool->used_high;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list,
                                 std::size_t count) {
  return call([&](Runtime&) {
    if (!cudasim::known(pool) || (list == nullptr && count != 0)) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      if (list[i].location.type != cudaMemLocationTypeDevice || list[i].location.id != 0) {
        return cudaErrorInvalidDevice;
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return call([&](Runtime&) {
    if (flags == nullptr || location == nullptr || !cudasim::known(pool)) {
      return cudaErrorInvalidValue;
    }
    *flags = location->type == cudaMemLocationTypeDevice && location->id == 0
                 ? cudaMemAccessFlagsProtReadWrite
                 : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

// Managed memory is one memory here: advice and prefetches change nothing but are checked.
namespace {

cudaError_t check_managed(Runtime& runtime, const void* pointer, std::size_t count) {
  const Region* region = runtime.memory.find(reinterpret_cast<std::uint64_t>(pointer));
  const bool good = region != nullptr && region->kind == RegionKind::managed && count != 0 &&
                    region->contains(reinterpret_cast<std::uint64_t>(pointer), count);
  return good ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

cudaError_t cudaMemAdvise(const void* pointer, std::size_t count, cudaMemoryAdvise,
                          cudaMemLocation location) {
  return call([&](Runtime& runtime) {
    if (location.type == cudaMemLocationTypeDevice && location.id > 0) {
      return cudaErrorInvalidDevice;
    }
    return check_managed(runtime, pointer, count);
  });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t count, cudaMemLocation location,
                                 unsigned, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    if (location.type == cudaMemLocationTypeDevice && location.id != 0) {
      return cudaErrorInvalidDevice;
    }
    if (const cudaError_t error = check_managed(runtime, pointer, count); error != cudaSuccess) {
      return error;
    }
    return runtime.streams.submit(runtime, stream, std::make_unique<cudasim::EmptyWork>());
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t size, cudaMemRangeAttribute name,
                                     const void* pointer, std::size_t count) {
  return call([&](Runtime& runtime) {
    if (const cudaError_t error = check_managed(runtime, pointer, count); error != cudaSuccess) {
      return error;
    }
    if (data == nullptr || size < sizeof(int)) return cudaErrorInvalidValue;
    std::fill_n(static_cast<int*>(data), size / sizeof(int), cudaInvalidDeviceId);
    if (name == cudaMemRangeAttributeReadMostly) *static_cast<int*>(data) = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t, unsigned) {
  return call([&](Runtime& runtime) {
    if (runtime.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return runtime.memory.find(reinterpret_cast<std::uint64_t>(pointer)) == nullptr
               ? cudaErrorInvalidValue
               : cudaSuccess;
  });
}
