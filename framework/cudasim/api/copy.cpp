#include "cudasim/api/copy.hpp"

#include "cudasim/api/process_checks.hpp"
#include "cudasim/api/runtime.hpp"

namespace cudasim {
namespace {

enum class Side { host, device, managed };

/// What a range of memory is: device memory must be one allocation from end to end.
cudaError_t classify(const Runtime& runtime, const void* pointer, std::size_t bytes, Side& side) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (pointer == nullptr) return cudaErrorInvalidValue;
  const Region* region = runtime.memory.find(address);
  if (region == nullptr) {
    // A pointer into the device's space that is in no live allocation is a bug of the program.
    const Location where = runtime.memory.locate(address);
    if (where.region != nullptr && where.region->kind != RegionKind::pinned_host) {
      std::fprintf(stderr, "========= cudasim: copy or fill of %zu bytes at %p: %s\n", bytes,
                   pointer, where.text().c_str());
      ProcessChecks::get().host_error(
          where.where == Location::Where::after_free ? "use-after-free" : "out-of-bounds",
          "copy or fill of " + std::to_string(bytes) + " bytes", address, where.text());
      return cudaErrorInvalidValue;
    }
    side = Side::host;
    return cudaSuccess;
  }
  if (!region->contains(address, bytes)) {
    if (region->kind == RegionKind::pinned_host) {
      side = Side::host;  // a registered range may end inside a host buffer
      return cudaSuccess;
    }
    std::fprintf(stderr,
                 "========= cudasim: copy or fill of %zu bytes at %p runs out of the %llu-byte "
                 "allocation #%llu at 0x%llx\n",
                 bytes, pointer, static_cast<unsigned long long>(region->size),
                 static_cast<unsigned long long>(region->id),
                 static_cast<unsigned long long>(region->base));
    ProcessChecks::get().host_error(
        "out-of-bounds",
        "copy or fill of " + std::to_string(bytes) + " bytes runs over the end of the allocation",
        address, runtime.memory.locate(address).text());
    return cudaErrorInvalidValue;
  }
  side = region->kind == RegionKind::pinned_host ? Side::host
         : region->kind == RegionKind::managed   ? Side::managed
                                                 : Side::device;
  return cudaSuccess;
}

/// The last byte of a box of rows, from its first.
std::size_t box_bytes(std::size_t width, std::size_t height, std::size_t depth, std::size_t pitch,
                      std::size_t slice) {
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

cudaError_t check_sides(const Runtime& runtime, CopyWork& work, cudaMemcpyKind kind) {
  Side to{}, from{};
  const std::size_t to_bytes =
      box_bytes(work.width, work.height, work.depth, work.to_pitch, work.to_slice);
  const std::size_t from_bytes =
      box_bytes(work.width, work.height, work.depth, work.from_pitch, work.from_slice);
  if (const auto error = classify(runtime, work.to, to_bytes, to); error != cudaSuccess) {
    return error;
  }
  if (const auto error = classify(runtime, work.from, from_bytes, from); error != cudaSuccess) {
    return error;
  }
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const auto registered = [&](const void* p) {
    return runtime.memory.find(reinterpret_cast<std::uint64_t>(p)) != nullptr;
  };
  if (kind != cudaMemcpyDefault) {
    // Pinned memory has a device address too; plain host memory has none.
    if (to_device && to == Side::host && !registered(work.to)) return cudaErrorInvalidValue;
    if (from_device && from == Side::host && !registered(work.from)) return cudaErrorInvalidValue;
    if (!to_device && to == Side::device) return cudaErrorInvalidValue;
    if (!from_device && from == Side::device) return cudaErrorInvalidValue;
  }
  work.link = to == Side::host     ? Engine::to_host
              : from == Side::host ? Engine::to_device
                                   : Engine::none;
  return cudaSuccess;
}

bool known_kind(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

template <typename Plan>
cudaError_t copy_in(cudaStream_t stream, bool wait, Plan&& plan) {
  return call([&](Runtime& runtime) {
    std::unique_ptr<CopyWork> work;
    if (const cudaError_t error = plan(runtime, work); error != cudaSuccess) return error;
    if (work == nullptr) {
      return runtime.streams.find(stream) == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess;
    }
    const cudaError_t error = runtime.streams.submit(runtime, stream, std::move(work));
    if (!wait || error != cudaSuccess) return error;
    return runtime.streams.host_waits(runtime, *runtime.streams.find(stream));
  });
}

cudaMemcpy3DParms pitched(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                          std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  cudaMemcpy3DParms parms{};
  parms.dstPtr = {to, to_pitch, width, height};
  parms.srcPtr = {const_cast<void*>(from), from_pitch, width, height};
  parms.extent = {width, height, 1};
  parms.kind = kind;
  return parms;
}

cudaError_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                    std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                    bool wait) {
  return copy_in(stream, wait, [&](Runtime& runtime, std::unique_ptr<CopyWork>& work) {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    return plan_copy(runtime, pitched(to, to_pitch, from, from_pitch, width, height, kind), work);
  });
}

/// A part of an array as one side of a copy; x in bytes, as these functions count.
cudaError_t side_of(const cudaArray* array, std::size_t x_bytes, std::size_t y, std::size_t z,
                    std::size_t width, std::size_t height, std::size_t depth, std::uint8_t*& at) {
  if (!known_array(array)) return cudaErrorInvalidResourceHandle;
  if (x_bytes + width > array->extent.width * array->element || y + height > array->rows() ||
      z + depth > array->slices()) {
    return cudaErrorInvalidValue;
  }
  at = reinterpret_cast<std::uint8_t*>(array->base) + z * array->slice + y * array->pitch + x_bytes;
  return cudaSuccess;
}

/// Rows between an array and memory.
cudaError_t array_copy(cudaArray_t to_array, cudaArray_const_t from_array, std::size_t x,
                       std::size_t y, void* to, const void* from, std::size_t pitch,
                       std::size_t width, std::size_t height, cudaMemcpyKind kind,
                       cudaStream_t stream, bool wait) {
  return copy_in(stream, wait, [&](Runtime& runtime, std::unique_ptr<CopyWork>& out) {
    if (!known_kind(kind)) return cudaErrorInvalidMemcpyDirection;
    if (width == 0 || height == 0) return cudaSuccess;
    if (width > pitch) return cudaErrorInvalidPitchValue;
    auto work = std::make_unique<CopyWork>();
    work->width = width;
    work->height = height;
    std::uint8_t* inside = nullptr;
    const cudaArray* array = to_array != nullptr ? to_array : from_array;
    if (const auto error = side_of(array, x, y, 0, width, height, 1, inside);
        error != cudaSuccess) {
      return error;
    }
    work->to = to_array != nullptr ? inside : static_cast<std::uint8_t*>(to);
    work->from = to_array != nullptr ? static_cast<const std::uint8_t*>(from) : inside;
    work->to_pitch = to_array != nullptr ? array->pitch : pitch;
    work->from_pitch = to_array != nullptr ? pitch : array->pitch;
    if (const auto error = check_sides(runtime, *work, kind); error != cudaSuccess) return error;
    out = std::move(work);
    return cudaSuccess;
  });
}

/// A run of bytes of an array may span rows: (x, y) and the bytes that follow.
cudaError_t array_run(cudaArray_t to_array, cudaArray_const_t from_array, std::size_t x,
                      std::size_t y, void* to, const void* from, std::size_t count,
                      cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
  const cudaArray* array = to_array != nullptr ? to_array : from_array;
  if (!known_array(array)) return remember(cudaErrorInvalidResourceHandle);
  const std::size_t row = array->extent.width * array->element;
  while (count > 0) {
    const std::size_t part = std::min(count, row - std::min(x, row));
    const std::size_t rows = x == 0 && count >= row ? count / row : 1;
    const std::size_t width = rows > 1 || part == row ? row : part;
    if (width == 0) return remember(cudaErrorInvalidValue);
    const cudaError_t error =
        array_copy(to_array, from_array, x, y, to, from, width, width, rows, kind, stream, wait);
    if (error != cudaSuccess) return error;
    count -= width * rows;
    to = static_cast<char*>(to) + (to_array != nullptr ? 0 : width * rows);
    from = static_cast<const char*>(from) + (to_array != nullptr ? width * rows : 0);
    x = 0;
    y += rows;
  }
  return cudaSuccess;
}

template <typename Plan>
cudaError_t fill_in(cudaStream_t stream, bool wait, Plan&& plan) {
  return call([&](Runtime& runtime) {
    std::unique_ptr<FillWork> work;
    if (const cudaError_t error = plan(runtime, work); error != cudaSuccess) return error;
    if (work == nullptr) {
      return runtime.streams.find(stream) == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess;
    }
    const cudaError_t error = runtime.streams.submit(runtime, stream, std::move(work));
    if (!wait || error != cudaSuccess) return error;
    return runtime.streams.host_waits(runtime, *runtime.streams.find(stream));
  });
}

cudaError_t fill_box(void* to, std::size_t pitch, std::size_t slice, int value, std::size_t width,
                     std::size_t height, std::size_t depth, cudaStream_t stream) {
  return fill_in(stream, false, [&](Runtime& runtime, std::unique_ptr<FillWork>& work) {
    if (height > 1 && width > pitch) return cudaErrorInvalidValue;
    return plan_fill(runtime, to, pitch, slice, static_cast<std::uint8_t>(value), 1, width, height,
                     depth, work);
  });
}

}  // namespace

cudaError_t plan_copy(Runtime& runtime, void* to, const void* from, std::size_t count,
                      cudaMemcpyKind kind, std::unique_ptr<CopyWork>& out) {
  if (!known_kind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (count == 0) return cudaSuccess;
  auto work = std::make_unique<CopyWork>();
  work->to = static_cast<std::uint8_t*>(to);
  work->from = static_cast<const std::uint8_t*>(from);
  work->width = work->to_pitch = work->from_pitch = count;
  work->asked = pitched(to, count, from, count, count, 1, kind);
  if (const auto error = check_sides(runtime, *work, kind); error != cudaSuccess) return error;
  out = std::move(work);
  return cudaSuccess;
}

cudaError_t plan_copy(Runtime& runtime, const cudaMemcpy3DParms& parms,
                      std::unique_ptr<CopyWork>& out) {
  if (!known_kind(parms.kind)) return cudaErrorInvalidMemcpyDirection;
  // The extent counts elements when an array takes part, else bytes.
  const cudaArray* array = parms.srcArray != nullptr ? parms.srcArray : parms.dstArray;
  if ((parms.srcArray != nullptr && !known_array(parms.srcArray)) ||
      (parms.dstArray != nullptr && !known_array(parms.dstArray))) {
    return cudaErrorInvalidResourceHandle;
  }
  const std::size_t unit = array == nullptr ? 1 : array->element;
  auto work = std::make_unique<CopyWork>();
  work->width = parms.extent.width * unit;
  work->height = parms.extent.height;
  work->depth = parms.extent.depth;
  work->asked = parms;
  if (work->width == 0 || work->height == 0 || work->depth == 0) return cudaSuccess;
  const auto place = [&](const cudaArray* in, const cudaPos& pos, const cudaPitchedPtr& pointer,
                         std::uint8_t*& at, std::size_t& pitch, std::size_t& slice) {
    if (in != nullptr) {
      pitch = in->pitch;
      slice = in->slice;
      return side_of(in, pos.x * in->element, pos.y, pos.z, work->width, work->height, work->depth,
                     at);
    }
    if (pointer.ptr == nullptr) return cudaErrorInvalidValue;
    pitch = pointer.pitch;
    slice = pointer.pitch * pointer.ysize;
    if ((work->height > 1 || work->depth > 1) && pitch < work->width) {
      return cudaErrorInvalidPitchValue;
    }
    at = static_cast<std::uint8_t*>(pointer.ptr) + pos.z * slice + pos.y * pitch + pos.x;
    return cudaSuccess;
  };
  std::uint8_t* from = nullptr;
  if (const auto error = place(parms.srcArray, parms.srcPos, parms.srcPtr, from, work->from_pitch,
                               work->from_slice);
      error != cudaSuccess) {
    return error;
  }
  work->from = from;
  if (const auto error = place(parms.dstArray, parms.dstPos, parms.dstPtr, work->to, work->to_pitch,
                               work->to_slice);
      error != cudaSuccess) {
    return error;
  }
  if (const auto error = check_sides(runtime, *work, parms.kind); error != cudaSuccess) {
    return error;
  }
  out = std::move(work);
  return cudaSuccess;
}

cudaError_t plan_symbol_copy(Runtime& runtime, const void* symbol, bool to_symbol,
                             const void* other, std::size_t count, std::size_t offset,
                             cudaMemcpyKind kind, std::unique_ptr<CopyWork>& out) {
  Symbol place;
  if (const auto error = runtime.registry.symbol(symbol, place); error != cudaSuccess) return error;
  if (offset > place.size || count > place.size - offset) return cudaErrorInvalidValue;
  const bool right = to_symbol ? kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyHostToHost
                               : kind != cudaMemcpyHostToDevice && kind != cudaMemcpyHostToHost;
  if (!right) return cudaErrorInvalidMemcpyDirection;
  auto* inside = reinterpret_cast<void*>(place.address + offset);
  return to_symbol ? plan_copy(runtime, inside, other, count, kind, out)
                   : plan_copy(runtime, const_cast<void*>(other), inside, count, kind, out);
}

cudaError_t plan_fill(Runtime& runtime, void* to, std::size_t pitch, std::size_t slice,
                      std::uint32_t value, std::uint32_t element, std::size_t width,
                      std::size_t height, std::size_t depth, std::unique_ptr<FillWork>& out) {
  if (width == 0 || height == 0 || depth == 0) return cudaSuccess;
  Side side{};
  if (const auto error = classify(runtime, to, box_bytes(width, height, depth, pitch, slice), side);
      error != cudaSuccess) {
    return error;
  }
  if (runtime.memory.find(reinterpret_cast<std::uint64_t>(to)) == nullptr) {
    return cudaErrorInvalidValue;
  }
  auto work = std::make_unique<FillWork>();
  work->to = static_cast<std::uint8_t*>(to);
  work->pitch = pitch;
  work->slice = slice;
  work->value = value;
  work->element = element;
  work->width = width;
  work->height = height;
  work->depth = depth;
  out = std::move(work);
  return cudaSuccess;
}

}  // namespace cudasim

using cudasim::call;
using cudasim::copy_in;
using cudasim::CopyWork;
using cudasim::FillWork;
using cudasim::Runtime;

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
  return copy_in(nullptr, true, [&](Runtime& runtime, std::unique_ptr<CopyWork>& work) {
    return cudasim::plan_copy(runtime, to, from, count, kind, work);
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy_in(stream, false, [&](Runtime& runtime, std::unique_ptr<CopyWork>& work) {
    return cudasim::plan_copy(runtime, to, from, count, kind, work);
  });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t count) {
  if (to_device != 0 || from_device != 0) return cudasim::remember(cudaErrorInvalidDevice);
  return cudaMemcpy(to, from, count, cudaMemcpyDeviceToDevice);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t count, cudaStream_t stream) {
  if (to_device != 0 || from_device != 0) return cudasim::remember(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* sizes,
                                 std::size_t count, cudaMemcpyAttributes*, std::size_t*,
                                 std::size_t, cudaStream_t stream) {
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto error = cudaMemcpyAsync(to[i], from[i], sizes[i], cudaMemcpyDefault, stream);
        error != cudaSuccess) {
      return error;
    }
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return cudasim::copy_2d(to, to_pitch, from, from_pitch, width, height, kind, nullptr, true);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return cudasim::copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream, false);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parms) {
  if (parms == nullptr) return cudasim::remember(cudaErrorInvalidValue);
  return copy_in(nullptr, true, [&](Runtime& runtime, std::unique_ptr<CopyWork>& work) {
    return cudasim::plan_copy(runtime, *parms, work);
  });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parms, cudaStream_t stream) {
  if (parms == nullptr) return cudasim::remember(cudaErrorInvalidValue);
  return copy_in(stream, false, [&](Runtime& runtime, std::unique_ptr<CopyWork>& work) {
    return cudasim::plan_copy(runtime, *parms, work);
  });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  if (p == nullptr) return cudasim::remember(cudaErrorInvalidValue);
  if (p->srcDevice != 0 || p->dstDevice != 0) return cudasim::remember(cudaErrorInvalidDevice);
  cudaMemcpy3DParms parms{};
  parms.srcArray = p->srcArray;
  parms.srcPos = p->srcPos;
  parms.srcPtr = p->srcPtr;
  parms.dstArray = p->dstArray;
  parms.dstPos = p->dstPos;
  parms.dstPtr = p->dstPtr;
  parms.extent = p->extent;
  parms.kind = cudaMemcpyDeviceToDevice;
  return cudaMemcpy3DAsync(&parms, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  return cudaMemcpy3DPeerAsync(p, nullptr);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t count,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_in(stream, false, [&](Runtime& runtime, std::unique_ptr<CopyWork>& work) {
    return cudasim::plan_symbol_copy(runtime, symbol, true, from, count, offset, kind, work);
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t count,
                               std::size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyToSymbolAsync(symbol, from, count, offset, kind, nullptr);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t count,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return copy_in(stream, false, [&](Runtime& runtime, std::unique_ptr<CopyWork>& work) {
    return cudasim::plan_symbol_copy(runtime, symbol, false, to, count, offset, kind, work);
  });
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t count,
                                 std::size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyFromSymbolAsync(to, symbol, count, offset, kind, nullptr);
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return call([&](Runtime& runtime) {
    cudasim::Symbol place;
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = runtime.registry.symbol(symbol, place);
    if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(place.address);
    return error;
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* size, const void* symbol) {
  return call([&](Runtime& runtime) {
    cudasim::Symbol place;
    if (size == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = runtime.registry.symbol(symbol, place);
    if (error == cudaSuccess) *size = place.size;
    return error;
  });
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t count) {
  return cudasim::fill_box(pointer, count, count, value, count, 1, 1, nullptr);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t count, cudaStream_t stream) {
  return cudasim::fill_box(pointer, count, count, value, count, 1, 1, stream);
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return cudasim::fill_box(pointer, pitch, 0, value, width, height, 1, nullptr);
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return cudasim::fill_box(pointer, pitch, 0, value, width, height, 1, stream);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream) {
  return cudasim::fill_box(p.ptr, p.pitch, p.pitch * p.ysize, value, extent.width, extent.height,
                           extent.depth, stream);
}

cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent) {
  return cudaMemset3DAsync(p, value, extent, nullptr);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return cudasim::array_copy(to, nullptr, x, y, nullptr, from, pitch, width, height, kind, stream,
                             false);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return cudasim::array_copy(to, nullptr, x, y, nullptr, from, pitch, width, height, kind, nullptr,
                             true);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return cudasim::array_copy(nullptr, from, x, y, to, nullptr, pitch, width, height, kind, stream,
                             false);
}

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind) {
  return cudasim::array_copy(nullptr, from, x, y, to, nullptr, pitch, width, height, kind, nullptr,
                             true);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (!cudasim::known_array(to)) return cudasim::remember(cudaErrorInvalidResourceHandle);
  cudaMemcpy3DParms parms{};
  parms.srcArray = const_cast<cudaArray_t>(from);
  parms.dstArray = to;
  parms.srcPos = {from_x / to->element, from_y, 0};
  parms.dstPos = {to_x / to->element, to_y, 0};
  parms.extent = {width / to->element, height, 1};
  parms.kind = kind;
  return cudaMemcpy3D(&parms);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t count, cudaMemcpyKind kind) {
  return cudasim::array_run(to, nullptr, x, y, nullptr, from, count, kind, nullptr, true);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudasim::array_run(to, nullptr, x, y, nullptr, from, count, kind, stream, false);
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t count, cudaMemcpyKind kind) {
  return cudasim::array_run(nullptr, from, x, y, to, nullptr, count, kind, nullptr, true);
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudasim::array_run(nullptr, from, x, y, to, nullptr, count, kind, stream, false);
}
