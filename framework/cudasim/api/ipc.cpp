// Memory and events of other processes on this machine. An allocation moves to a memory file when
// its handle is asked for; the file is opened by way of /proc. An event needs no more than a
// handle: work is done when it is submitted, so that one that was recorded has passed.
#include "cudasim/api/ipc.hpp"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>

#include "cudasim/api/process_checks.hpp"
#include "cudasim/api/runtime.hpp"

namespace cudasim {
namespace {

constexpr std::uint64_t kMagic = 0x4350496d69736475;  // "udsimIPC"

struct Handle {
  std::uint64_t magic = kMagic;
  std::int64_t pid = 0;
  std::int64_t file = -1;   ///< memory: its descriptor there
  std::uint64_t bytes = 0;  ///< memory
  std::uint64_t event = 0;  ///< event: its address there
};
static_assert(sizeof(Handle) <= sizeof(cudaIpcMemHandle_t));
static_assert(sizeof(Handle) <= sizeof(cudaIpcEventHandle_t));

struct Opened {
  std::int64_t pid = 0, file = 0;
  unsigned uses = 0;
};
struct Sharing {
  std::map<std::uint64_t, int> given;      ///< base to file descriptor
  std::map<std::uint64_t, Opened> opened;  ///< by base
};
Sharing& sharing() {
  static auto* const all = new Sharing;
  return *all;
}

/// Replaces the pages of [base, base + bytes).
bool map(std::uint64_t base, std::uint64_t bytes, int protection, int flags, int file) {
  return mmap(reinterpret_cast<void*>(base), bytes, protection, flags | MAP_FIXED, file, 0) !=
         MAP_FAILED;
}
std::uint64_t pages(std::uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

void make_private(Runtime& runtime, std::uint64_t base) {
  const Region* region = runtime.memory.find(base);
  if (region != nullptr)
    map(base, pages(region->size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

/// Moves an allocation's bytes to a file; its descriptor, or -1.
int share(const Region& region) {
  const int file = memfd_create("cudasim shared memory", MFD_CLOEXEC);
  if (file < 0) return -1;
  const std::uint64_t bytes = pages(region.size);
  bool good = ftruncate(file, static_cast<off_t>(bytes)) == 0;
  for (std::uint64_t done = 0; good && done < region.size;) {
    const ssize_t n =
        pwrite(file, region.data() + done, region.size - done, static_cast<off_t>(done));
    good = n > 0;
    if (good) done += static_cast<std::uint64_t>(n);
  }
  if (good && map(region.base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file)) return file;
  close(file);
  return -1;
}

cudaError_t open_memory(Runtime& runtime, const Handle& handle, std::uint64_t& base) {
  const std::string path =
      "/proc/" + std::to_string(handle.pid) + "/fd/" + std::to_string(handle.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return cudaErrorInvalidValue;  // the process or the memory is gone
  struct stat facts {};
  cudaError_t error = cudaErrorInvalidValue;
  if (fstat(file, &facts) == 0 &&
      static_cast<std::uint64_t>(facts.st_size) == pages(handle.bytes)) {
    base = runtime.memory.allocate(handle.bytes, RegionKind::device, "cudaIpcOpenMemHandle");
    error = base == 0 ? cudaErrorMemoryAllocation : cudaErrorOperatingSystem;
    if (base != 0 && map(base, pages(handle.bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file))
      error = cudaSuccess;
    else if (base != 0)
      runtime.memory.free(base);
  }
  close(file);
  return error;
}

Handle unpack(const char* bytes) {
  Handle handle;
  std::memcpy(&handle, bytes, sizeof handle);
  return handle;
}

}  // namespace

void end_sharing(std::uint64_t base) {
  const auto at = sharing().given.find(base);
  if (at == sharing().given.end()) return;
  make_private(Runtime::get(), base);
  close(at->second);
  sharing().given.erase(at);
}

void end_all_sharing() {
  while (!sharing().given.empty()) end_sharing(sharing().given.begin()->first);
  for (const auto& [base, opened] : sharing().opened) make_private(Runtime::get(), base);
  sharing().opened.clear();
}

bool opened_from_elsewhere(std::uint64_t base) { return sharing().opened.contains(base); }

}  // namespace cudasim

using namespace cudasim;

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* out, void* pointer) {
  return call([&](Runtime& runtime) {
    const auto base = reinterpret_cast<std::uint64_t>(pointer);
    const Region* region = runtime.memory.find(base);
    if (out == nullptr || region == nullptr || region->base != base ||
        region->kind != RegionKind::device || opened_from_elsewhere(base))
      return cudaErrorInvalidValue;
    auto& given = sharing().given;
    if (!given.contains(base)) {
      runtime.streams.finish(runtime);
      const int file = share(*region);
      if (file < 0) return cudaErrorMapBufferObjectFailed;
      given[base] = file;
    }
    const Handle handle{kMagic, getpid(), given[base], region->size, 0};
    *out = {};
    std::memcpy(out->reserved, &handle, sizeof handle);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenMemHandle(void** out, cudaIpcMemHandle_t bytes, unsigned flags) {
  return call([&](Runtime& runtime) {
    const Handle handle = unpack(bytes.reserved);
    if (out == nullptr || flags != cudaIpcMemLazyEnablePeerAccess || handle.magic != kMagic ||
        handle.file < 0)
      return cudaErrorInvalidValue;
    if (handle.pid == getpid()) return cudaErrorDeviceUninitialized;  // as CUDA says it
    for (auto& [base, opened] : sharing().opened) {
      if (opened.pid != handle.pid || opened.file != handle.file) continue;
      ++opened.uses;
      *out = reinterpret_cast<void*>(base);
      return cudaSuccess;
    }
    std::uint64_t base = 0;
    if (const cudaError_t error = open_memory(runtime, handle, base); error != cudaSuccess)
      return error;
    *out = reinterpret_cast<void*>(base);
    ProcessChecks::get().wrote(runtime.memory, *out, handle.bytes);
    sharing().opened[base] = {handle.pid, handle.file, 1};
    return cudaSuccess;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return call([&](Runtime& runtime) {
    const auto base = reinterpret_cast<std::uint64_t>(pointer);
    const auto at = sharing().opened.find(base);
    if (at == sharing().opened.end()) return cudaErrorInvalidValue;
    runtime.streams.finish(runtime);
    if (--at->second.uses != 0) return cudaSuccess;
    sharing().opened.erase(at);
    ProcessChecks::get().freeing(runtime.memory.find(base));
    make_private(runtime, base);
    runtime.memory.free(base);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* out, cudaEvent_t event) {
  return call([&](Runtime& runtime) {
    if (out == nullptr) return cudaErrorInvalidValue;
    if (!runtime.streams.known(event) || (event->flags & cudaEventInterprocess) == 0)
      return cudaErrorInvalidResourceHandle;
    const Handle handle{kMagic, getpid(), -1, 0, reinterpret_cast<std::uint64_t>(event)};
    *out = {};
    std::memcpy(out->reserved, &handle, sizeof handle);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* out, cudaIpcEventHandle_t bytes) {
  return call([&](Runtime& runtime) {
    const Handle handle = unpack(bytes.reserved);
    if (out == nullptr || handle.magic != kMagic || handle.event == 0) return cudaErrorInvalidValue;
    if (handle.pid == getpid()) return cudaErrorDeviceUninitialized;
    *out = runtime.streams.create_event(cudaEventDisableTiming | cudaEventInterprocess);
    return cudaSuccess;
  });
}
