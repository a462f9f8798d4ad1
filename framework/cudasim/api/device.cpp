#include "cudasim/api/device.hpp"
#include "cudasim/api/ipc.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "cudasim/api/runtime.hpp"
#include "cudasim/model/h100.hpp"

using cudasim::call;
using cudasim::query;
using cudasim::Runtime;
namespace h100 = cudasim::h100;

namespace {

constexpr int kVersion = CUDART_VERSION;

struct DeviceState {
  unsigned flags = 0;
  cudaFuncCache cache = cudaFuncCachePreferNone;
  std::map<cudaLimit, std::size_t> limits = {{cudaLimitStackSize, 1024},
                                             {cudaLimitPrintfFifoSize, 7340032},
                                             {cudaLimitMallocHeapSize, 8388608},
                                             {cudaLimitDevRuntimeSyncDepth, 2},
                                             {cudaLimitDevRuntimePendingLaunchCount, 2048},
                                             {cudaLimitMaxL2FetchGranularity, 64},
                                             {cudaLimitPersistingL2CacheSize, 0}};
};
DeviceState& state() {
  static auto* const instance = new DeviceState;
  return *instance;
}

/// The attributes of H100 SXM5 that are not in h100.hpp; those left out are 0.
struct Attribute {
  cudaDeviceAttr name;
  int value;
};
constexpr Attribute kAttributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, h100::kMaxThreadsPerBlock},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, 2147483647},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, h100::kSharedPerBlock},
    {cudaDevAttrTotalConstantMemory, 65536},
    {cudaDevAttrWarpSize, h100::kWarpSize},
    {cudaDevAttrMaxPitch, 2147483647},
    {cudaDevAttrMaxRegistersPerBlock, h100::kRegistersPerBlock},
    {cudaDevAttrClockRate, 1980000},
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrMultiProcessorCount, h100::kSms},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrMaxTexture1DWidth, 131072},
    {cudaDevAttrMaxTexture2DWidth, 131072},
    {cudaDevAttrMaxTexture2DHeight, 65536},
    {cudaDevAttrMaxTexture3DWidth, 16384},
    {cudaDevAttrMaxTexture3DHeight, 16384},
    {cudaDevAttrMaxTexture3DDepth, 16384},
    {cudaDevAttrMaxTexture2DLayeredWidth, 32768},
    {cudaDevAttrMaxTexture2DLayeredHeight, 32768},
    {cudaDevAttrMaxTexture2DLayeredLayers, 2048},
    {cudaDevAttrSurfaceAlignment, 512},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrEccEnabled, 1},
    {cudaDevAttrPciBusId, 1},
    {cudaDevAttrMemoryClockRate, 2619000},
    {cudaDevAttrGlobalMemoryBusWidth, 5120},
    {cudaDevAttrL2CacheSize, static_cast<int>(h100::kL2Bytes)},
    {cudaDevAttrMaxThreadsPerMultiProcessor, h100::kMaxThreadsPerSm},
    {cudaDevAttrAsyncEngineCount, 3},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrMaxTexture1DLayeredWidth, 32768},
    {cudaDevAttrMaxTexture1DLayeredLayers, 2048},
    {cudaDevAttrMaxTexture2DGatherWidth, 32768},
    {cudaDevAttrMaxTexture2DGatherHeight, 32768},
    {cudaDevAttrMaxTexture3DWidthAlt, 8192},
    {cudaDevAttrMaxTexture3DHeightAlt, 8192},
    {cudaDevAttrMaxTexture3DDepthAlt, 32768},
    {cudaDevAttrTexturePitchAlignment, 32},
    {cudaDevAttrMaxTextureCubemapWidth, 32768},
    {cudaDevAttrMaxTextureCubemapLayeredWidth, 32768},
    {cudaDevAttrMaxTextureCubemapLayeredLayers, 2046},
    {cudaDevAttrMaxSurface1DWidth, 32768},
    {cudaDevAttrMaxSurface2DWidth, 131072},
    {cudaDevAttrMaxSurface2DHeight, 65536},
    {cudaDevAttrMaxSurface3DWidth, 16384},
    {cudaDevAttrMaxSurface3DHeight, 16384},
    {cudaDevAttrMaxSurface3DDepth, 16384},
    {cudaDevAttrMaxSurface1DLayeredWidth, 32768},
    {cudaDevAttrMaxSurface1DLayeredLayers, 2048},
    {cudaDevAttrMaxSurface2DLayeredWidth, 32768},
    {cudaDevAttrMaxSurface2DLayeredHeight, 32768},
    {cudaDevAttrMaxSurface2DLayeredLayers, 2048},
    {cudaDevAttrMaxSurfaceCubemapWidth, 32768},
    {cudaDevAttrMaxSurfaceCubemapLayeredWidth, 32768},
    {cudaDevAttrMaxSurfaceCubemapLayeredLayers, 2046},
    {cudaDevAttrMaxTexture1DLinearWidth, 268435456},
    {cudaDevAttrMaxTexture2DLinearWidth, 131072},
    {cudaDevAttrMaxTexture2DLinearHeight, 65000},
    {cudaDevAttrMaxTexture2DLinearPitch, 2097120},
    {cudaDevAttrMaxTexture2DMipmappedWidth, 32768},
    {cudaDevAttrMaxTexture2DMipmappedHeight, 32768},
    {cudaDevAttrComputeCapabilityMajor, 9},
    {cudaDevAttrComputeCapabilityMinor, 0},
    {cudaDevAttrMaxTexture1DMipmappedWidth, 32768},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, h100::kSharedPerSm},
    {cudaDevAttrMaxRegistersPerMultiprocessor, h100::kRegistersPerSm},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, h100::kSharedPerBlockOptin},
    {cudaDevAttrCanFlushRemoteWrites, 1},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrMaxBlocksPerMultiprocessor, h100::kMaxBlocksPerSm},
    {cudaDevAttrMaxPersistingL2CacheSize, 32768000},
    {cudaDevAttrMaxAccessPolicyWindowSize, 134213632},
    {cudaDevAttrReservedSharedMemoryPerBlock, h100::kSharedReservedPerBlock},
    {cudaDevAttrHostRegisterReadOnlySupported, 1},
    {cudaDevAttrTimelineSemaphoreInteropSupported, 1},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrGPUDirectRDMAFlushWritesOptions, 1},
    {cudaDevAttrGPUDirectRDMAWritesOrdering, 100},
    {cudaDevAttrMemoryPoolSupportedHandleTypes, 0},
    {cudaDevAttrClusterLaunch, 1},
    {cudaDevAttrIpcEventSupport, 1},
    {cudaDevAttrMemSyncDomainCount, 4},
    {cudaDevAttrNumaId, -1},
    {cudaDevAttrHostNumaId, -1},
    {cudaDevAttrGpuPciDeviceId, 0x233010DE},
    {cudaDevAttrGpuPciSubsystemId, 0x16C110DE},
};

}  // namespace

int cudasim::device_attribute(cudaDeviceAttr name) {
  const auto* at = std::ranges::find(kAttributes, name, &Attribute::name);
  return at == std::end(kAttributes) ? 0 : at->value;
}

namespace {

cudaDeviceProp properties() {
  cudaDeviceProp p;
  std::memset(&p, 0, sizeof p);
  std::strncpy(p.name, h100::kName, sizeof p.name - 1);
  std::memcpy(p.uuid.bytes, "cudasim-H100-SXM", sizeof p.uuid.bytes);
  const auto set = [](auto& field, cudaDeviceAttr name) {
    field = static_cast<std::remove_reference_t<decltype(field)>>(cudasim::device_attribute(name));
  };
  p.totalGlobalMem = cudasim::DeviceMemory::kReportedBytes;
  set(p.sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock);
  set(p.regsPerBlock, cudaDevAttrMaxRegistersPerBlock);
  set(p.warpSize, cudaDevAttrWarpSize);
  set(p.memPitch, cudaDevAttrMaxPitch);
  set(p.maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock);
  set(p.maxThreadsDim[0], cudaDevAttrMaxBlockDimX);
  set(p.maxThreadsDim[1], cudaDevAttrMaxBlockDimY);
  set(p.maxThreadsDim[2], cudaDevAttrMaxBlockDimZ);
  set(p.maxGridSize[0], cudaDevAttrMaxGridDimX);
  set(p.maxGridSize[1], cudaDevAttrMaxGridDimY);
  set(p.maxGridSize[2], cudaDevAttrMaxGridDimZ);
  set(p.totalConstMem, cudaDevAttrTotalConstantMemory);
  set(p.major, cudaDevAttrComputeCapabilityMajor);
  set(p.minor, cudaDevAttrComputeCapabilityMinor);
  set(p.textureAlignment, cudaDevAttrTextureAlignment);
  set(p.texturePitchAlignment, cudaDevAttrTexturePitchAlignment);
  set(p.multiProcessorCount, cudaDevAttrMultiProcessorCount);
  set(p.canMapHostMemory, cudaDevAttrCanMapHostMemory);
  set(p.maxTexture1D, cudaDevAttrMaxTexture1DWidth);
  set(p.maxTexture1DMipmap, cudaDevAttrMaxTexture1DMipmappedWidth);
  set(p.maxTexture2D[0], cudaDevAttrMaxTexture2DWidth);
  set(p.maxTexture2D[1], cudaDevAttrMaxTexture2DHeight);
  set(p.maxTexture2DMipmap[0], cudaDevAttrMaxTexture2DMipmappedWidth);
  set(p.maxTexture2DMipmap[1], cudaDevAttrMaxTexture2DMipmappedHeight);
  set(p.maxTexture2DLinear[0], cudaDevAttrMaxTexture2DLinearWidth);
  set(p.maxTexture2DLinear[1], cudaDevAttrMaxTexture2DLinearHeight);
  set(p.maxTexture2DLinear[2], cudaDevAttrMaxTexture2DLinearPitch);
  set(p.maxTexture2DGather[0], cudaDevAttrMaxTexture2DGatherWidth);
  set(p.maxTexture2DGather[1], cudaDevAttrMaxTexture2DGatherHeight);
  set(p.maxTexture3D[0], cudaDevAttrMaxTexture3DWidth);
  set(p.maxTexture3D[1], cudaDevAttrMaxTexture3DHeight);
  set(p.maxTexture3D[2], cudaDevAttrMaxTexture3DDepth);
  set(p.maxTexture3DAlt[0], cudaDevAttrMaxTexture3DWidthAlt);
  set(p.maxTexture3DAlt[1], cudaDevAttrMaxTexture3DHeightAlt);
  set(p.maxTexture3DAlt[2], cudaDevAttrMaxTexture3DDepthAlt);
  set(p.maxTextureCubemap, cudaDevAttrMaxTextureCubemapWidth);
  set(p.maxTexture1DLayered[0], cudaDevAttrMaxTexture1DLayeredWidth);
  set(p.maxTexture1DLayered[1], cudaDevAttrMaxTexture1DLayeredLayers);
  set(p.maxTexture2DLayered[0], cudaDevAttrMaxTexture2DLayeredWidth);
  set(p.maxTexture2DLayered[1], cudaDevAttrMaxTexture2DLayeredHeight);
  set(p.maxTexture2DLayered[2], cudaDevAttrMaxTexture2DLayeredLayers);
  set(p.maxTextureCubemapLayered[0], cudaDevAttrMaxTextureCubemapLayeredWidth);
  set(p.maxTextureCubemapLayered[1], cudaDevAttrMaxTextureCubemapLayeredLayers);
  set(p.maxSurface1D, cudaDevAttrMaxSurface1DWidth);
  set(p.maxSurface2D[0], cudaDevAttrMaxSurface2DWidth);
  set(p.maxSurface2D[1], cudaDevAttrMaxSurface2DHeight);
  set(p.maxSurface3D[0], cudaDevAttrMaxSurface3DWidth);
  set(p.maxSurface3D[1], cudaDevAttrMaxSurface3DHeight);
  set(p.maxSurface3D[2], cudaDevAttrMaxSurface3DDepth);
  set(p.maxSurface1DLayered[0], cudaDevAttrMaxSurface1DLayeredWidth);
  set(p.maxSurface1DLayered[1], cudaDevAttrMaxSurface1DLayeredLayers);
  set(p.maxSurface2DLayered[0], cudaDevAttrMaxSurface2DLayeredWidth);
  set(p.maxSurface2DLayered[1], cudaDevAttrMaxSurface2DLayeredHeight);
  set(p.maxSurface2DLayered[2], cudaDevAttrMaxSurface2DLayeredLayers);
  set(p.maxSurfaceCubemap, cudaDevAttrMaxSurfaceCubemapWidth);
  set(p.maxSurfaceCubemapLayered[0], cudaDevAttrMaxSurfaceCubemapLayeredWidth);
  set(p.maxSurfaceCubemapLayered[1], cudaDevAttrMaxSurfaceCubemapLayeredLayers);
  set(p.surfaceAlignment, cudaDevAttrSurfaceAlignment);
  set(p.concurrentKernels, cudaDevAttrConcurrentKernels);
  set(p.ECCEnabled, cudaDevAttrEccEnabled);
  set(p.pciBusID, cudaDevAttrPciBusId);
  set(p.asyncEngineCount, cudaDevAttrAsyncEngineCount);
  set(p.unifiedAddressing, cudaDevAttrUnifiedAddressing);
  set(p.memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth);
  set(p.l2CacheSize, cudaDevAttrL2CacheSize);
  set(p.persistingL2CacheMaxSize, cudaDevAttrMaxPersistingL2CacheSize);
  set(p.maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor);
  set(p.streamPrioritiesSupported, cudaDevAttrStreamPrioritiesSupported);
  set(p.globalL1CacheSupported, cudaDevAttrGlobalL1CacheSupported);
  set(p.localL1CacheSupported, cudaDevAttrLocalL1CacheSupported);
  set(p.sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  set(p.regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor);
  set(p.managedMemory, cudaDevAttrManagedMemory);
  set(p.concurrentManagedAccess, cudaDevAttrConcurrentManagedAccess);
  set(p.computePreemptionSupported, cudaDevAttrComputePreemptionSupported);
  set(p.canUseHostPointerForRegisteredMem, cudaDevAttrCanUseHostPointerForRegisteredMem);
  set(p.cooperativeLaunch, cudaDevAttrCooperativeLaunch);
  set(p.sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  set(p.maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor);
  set(p.accessPolicyMaxWindowSize, cudaDevAttrMaxAccessPolicyWindowSize);
  set(p.reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock);
  set(p.hostRegisterSupported, cudaDevAttrHostRegisterSupported);
  set(p.hostRegisterReadOnlySupported, cudaDevAttrHostRegisterReadOnlySupported);
  set(p.timelineSemaphoreInteropSupported, cudaDevAttrTimelineSemaphoreInteropSupported);
  set(p.memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported);
  set(p.gpuDirectRDMAFlushWritesOptions, cudaDevAttrGPUDirectRDMAFlushWritesOptions);
  set(p.gpuDirectRDMAWritesOrdering, cudaDevAttrGPUDirectRDMAWritesOrdering);
  set(p.clusterLaunch, cudaDevAttrClusterLaunch);
  set(p.deviceNumaId, cudaDevAttrNumaId);
  set(p.hostNumaId, cudaDevAttrHostNumaId);
  set(p.gpuPciDeviceID, cudaDevAttrGpuPciDeviceId);
  set(p.gpuPciSubsystemID, cudaDevAttrGpuPciSubsystemId);
  return p;
}

cudaError_t check(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  return query([&](Runtime&) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return query([&](Runtime&) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call([&](Runtime&) { return check(device); });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call([&](Runtime&) { return check(device); });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }
cudaError_t cudaSetValidDevices(int*, int) { return cudaSuccess; }

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return query([&](Runtime&) {
    state().flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return query([&](Runtime&) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = state().flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  return query([&](Runtime&) {
    if (prop == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *prop = properties();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int device) {
  return query([&](Runtime&) {
    if (value == nullptr || name < 1 || name >= cudaDevAttrMax) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *value = cudasim::device_attribute(name);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([](Runtime& runtime) {
    if (runtime.streams.any_capture()) return cudaErrorStreamCaptureUnsupported;
    return runtime.streams.host_waits_for_all(runtime);
  });
}

cudaError_t cudaDeviceReset() {
  return query([](Runtime& runtime) {
    runtime.streams.finish(runtime);
    cudasim::end_all_sharing();
    runtime.memory.reset();
    runtime.clear_sticky();
    cudasim::last_error = cudaSuccess;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return call([&](Runtime&) {
    const auto at = state().limits.find(limit);
    if (at == state().limits.end()) return cudaErrorInvalidValue;
    at->second = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call([&](Runtime&) {
    const auto at = state().limits.find(limit);
    if (value == nullptr || at == state().limits.end()) return cudaErrorInvalidValue;
    *value = at->second;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call([&](Runtime&) {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = state().cache;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return call([&](Runtime&) {
    state().cache = config;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return call([&](Runtime&) {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return call([](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](Runtime&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return query([&](Runtime&) {
    constexpr char kId[] = "0000:01:00.0";
    if (text == nullptr || length < static_cast<int>(sizeof kId)) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    std::memcpy(text, kId, sizeof kId);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return query([&](Runtime&) {
    if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
    if (std::strstr(text, "01:00.0") == nullptr) return cudaErrorInvalidDevice;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const cudaChannelFormatDesc*,
                                                 int device) {
  return query([&](Runtime&) {
    if (width == nullptr) return cudaErrorInvalidValue;
    *width = 268435456;
    return check(device);
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return query([&](Runtime&) {
    if (can == nullptr) return cudaErrorInvalidValue;
    *can = 0;
    return device == 0 && peer == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return call([](Runtime&) { return cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceDisablePeerAccess(int) {
  return call([](Runtime&) { return cudaErrorPeerAccessNotEnabled; });
}

cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return query([](Runtime&) { return cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget,
                                               cudaFlushGPUDirectRDMAWritesScope) {
  return call([](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return call([](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return query([&](Runtime&) {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = kVersion;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

extern "C" cudaError_t cudaProfilerStart() { return cudaSuccess; }
extern "C" cudaError_t cudaProfilerStop() { return cudaSuccess; }
