#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "cudasim/api/copy.hpp"
#include "cudasim/api/runtime.hpp"
#include "cudasim/memory/image.hpp"

/// The levels of a mipmapped array, each half the size of the one before.
struct cudaMipmappedArray {
  std::uint64_t base = 0;
  std::vector<std::unique_ptr<cudaArray>> levels;
};

namespace cudasim {
namespace {

std::map<const cudaArray*, std::unique_ptr<cudaArray>>& arrays() {
  static auto* const all = new std::map<const cudaArray*, std::unique_ptr<cudaArray>>;
  return *all;
}
std::map<const cudaMipmappedArray*, std::unique_ptr<cudaMipmappedArray>>& mipmaps() {
  static auto* const all =
      new std::map<const cudaMipmappedArray*, std::unique_ptr<cudaMipmappedArray>>;
  return *all;
}

/// What a texture or surface object was made from.
struct ObjectFacts {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  cudaResourceViewDesc view{};
};
std::map<std::uint64_t, ObjectFacts>& objects() {
  static auto* const all = new std::map<std::uint64_t, ObjectFacts>;
  return *all;
}

cudaError_t shape(const cudaChannelFormatDesc& format, cudaExtent extent, unsigned flags,
                  cudaArray& array) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  std::size_t total = 0;
  for (const int b : bits) {
    if (b != 0 && b != 8 && b != 16 && b != 32) return cudaErrorInvalidChannelDescriptor;
    total += static_cast<std::size_t>(b);
  }
  if (total == 0 || extent.width == 0) return cudaErrorInvalidValue;
  array.format = format;
  array.extent = extent;
  array.flags = flags;
  array.element = total / 8;
  array.pitch = extent.width * array.element;
  array.slice = array.pitch * array.rows();
  return cudaSuccess;
}

cudaError_t make_array(Runtime& runtime, cudaArray_t* out, const cudaChannelFormatDesc* format,
                       cudaExtent extent, unsigned flags) {
  if (out == nullptr || format == nullptr) return cudaErrorInvalidValue;
  auto array = std::make_unique<cudaArray>();
  if (const auto error = shape(*format, extent, flags, *array); error != cudaSuccess) return error;
  array->base =
      runtime.memory.allocate(array->slice * array->slices(), RegionKind::array, "cudaMallocArray");
  if (array->base == 0) return cudaErrorMemoryAllocation;
  *out = array.get();
  arrays()[*out] = std::move(array);
  return cudaSuccess;
}

Image::Address address_mode(cudaTextureAddressMode mode) {
  switch (mode) {
    case cudaAddressModeWrap:
      return Image::Address::wrap;
    case cudaAddressModeMirror:
      return Image::Address::mirror;
    case cudaAddressModeBorder:
      return Image::Address::border;
    default:
      return Image::Address::clamp;
  }
}

cudaError_t describe(const cudaChannelFormatDesc& format, Image& image) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  image.channels =
      static_cast<std::uint8_t>(std::ranges::count_if(bits, [](int b) { return b > 0; }));
  if (image.channels == 0 || image.channels == 3) return cudaErrorInvalidChannelDescriptor;
  image.channel_bytes = static_cast<std::uint8_t>(format.x / 8);
  image.element_bytes = std::uint32_t{image.channels} * image.channel_bytes;
  switch (format.f) {
    case cudaChannelFormatKindSigned:
      image.channel = Image::Channel::signed_int;
      return cudaSuccess;
    case cudaChannelFormatKindUnsigned:
      image.channel = Image::Channel::unsigned_int;
      return cudaSuccess;
    case cudaChannelFormatKindFloat:
      image.channel = Image::Channel::floating;
      return cudaSuccess;
    default:
      return cudaErrorNotSupported;
  }
}

cudaError_t of_array(const cudaArray& array, Image& image) {
  image.base = array.base;
  image.width = array.extent.width;
  image.height = array.extent.height;
  image.depth = array.extent.depth;
  image.pitch = array.pitch;
  image.slice = array.slice;
  if ((array.flags & cudaArrayCubemap) != 0) {
    image.shape = Image::Shape::cube;
  } else if ((array.flags & cudaArrayLayered) != 0) {
    image.shape = array.extent.height == 0 ? Image::Shape::one_layered : Image::Shape::two_layered;
  } else {
    image.shape = array.extent.depth != 0    ? Image::Shape::three
                  : array.extent.height != 0 ? Image::Shape::two
                                             : Image::Shape::one;
  }
  return describe(array.format, image);
}

cudaError_t of_resource(const Runtime& runtime, const cudaResourceDesc& resource, Image& image) {
  const auto whole = [&](const void* pointer, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const Region* region = runtime.memory.find(address);
    return region != nullptr && region->contains(address, bytes);
  };
  switch (resource.resType) {
    case cudaResourceTypeArray:
      if (!known_array(resource.res.array.array)) return cudaErrorInvalidResourceHandle;
      return of_array(*resource.res.array.array, image);
    case cudaResourceTypeMipmappedArray: {
      const auto at = mipmaps().find(resource.res.mipmap.mipmap);
      if (at == mipmaps().end()) return cudaErrorInvalidResourceHandle;
      return of_array(*at->second->levels.front(), image);
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      if (const auto error = describe(linear.desc, image); error != cudaSuccess) return error;
      if (!whole(linear.devPtr, linear.sizeInBytes)) return cudaErrorInvalidValue;
      image.base = reinterpret_cast<std::uint64_t>(linear.devPtr);
      image.width = linear.sizeInBytes / image.element_bytes;
      image.pitch = image.slice = linear.sizeInBytes;
      image.shape = Image::Shape::linear;
      return cudaSuccess;
    }
    case cudaResourceTypePitch2D: {
      const auto& pitched = resource.res.pitch2D;
      if (const auto error = describe(pitched.desc, image); error != cudaSuccess) return error;
      if (pitched.width == 0 || pitched.height == 0 || pitched.pitchInBytes % 32 != 0 ||
          !whole(pitched.devPtr, pitched.pitchInBytes * (pitched.height - 1) +
                                     pitched.width * image.element_bytes)) {
        return cudaErrorInvalidValue;
      }
      image.base = reinterpret_cast<std::uint64_t>(pitched.devPtr);
      image.width = pitched.width;
      image.height = pitched.height;
      image.pitch = pitched.pitchInBytes;
      image.slice = pitched.pitchInBytes * pitched.height;
      image.shape = Image::Shape::two;
      return cudaSuccess;
    }
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t publish(Runtime& runtime, const Image& image, const ObjectFacts& facts,
                    unsigned long long* out) {
  const std::uint64_t handle =
      runtime.memory.allocate(sizeof image, RegionKind::image, "texture or surface object", false);
  if (handle == 0) return cudaErrorMemoryAllocation;
  std::memcpy(reinterpret_cast<void*>(handle), &image, sizeof image);
  objects()[handle] = facts;
  *out = handle;
  return cudaSuccess;
}

cudaError_t drop(Runtime& runtime, std::uint64_t handle) {
  if (objects().erase(handle) == 0) return cudaErrorInvalidValue;
  runtime.streams.finish(runtime);
  runtime.memory.free(handle);
  return cudaSuccess;
}

}  // namespace

bool known_array(const cudaArray* array) {
  if (arrays().contains(array)) return true;
  return std::ranges::any_of(mipmaps(), [&](const auto& mipmap) {
    return std::ranges::any_of(mipmap.second->levels,
                               [&](const auto& level) { return level.get() == array; });
  });
}

}  // namespace cudasim

using cudasim::call;
using cudasim::Image;
using cudasim::objects;
using cudasim::Runtime;

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height, unsigned flags) {
  return call([&](Runtime& runtime) {
    return cudasim::make_array(runtime, array, format, {width, height, 0}, flags);
  });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  return call(
      [&](Runtime& runtime) { return cudasim::make_array(runtime, array, format, extent, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return call([&](Runtime& runtime) {
    if (array == nullptr) return cudaSuccess;
    const auto at = cudasim::arrays().find(array);
    if (at == cudasim::arrays().end()) return cudaErrorInvalidValue;
    runtime.streams.finish(runtime);
    runtime.memory.free(at->second->base);
    cudasim::arrays().erase(at);
    return cudaSuccess;
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  return call([&](Runtime&) {
    if (!cudasim::known_array(array)) return cudaErrorInvalidResourceHandle;
    if (format != nullptr) *format = array->format;
    if (extent != nullptr) *extent = array->extent;
    if (flags != nullptr) *flags = array->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* format,
                                     cudaExtent extent, unsigned levels, unsigned flags) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || format == nullptr || levels == 0) return cudaErrorInvalidValue;
    auto mipmap = std::make_unique<cudaMipmappedArray>();
    std::uint64_t bytes = 0;
    for (unsigned i = 0; i < levels; ++i) {
      auto level = std::make_unique<cudaArray>();
      if (const auto error = cudasim::shape(*format, extent, flags, *level); error != cudaSuccess) {
        return error;
      }
      level->owned = false;
      level->base = bytes;
      bytes += level->slice * level->slices();
      const bool last =
          extent.width == 1 && std::max<std::size_t>(extent.height, 1) == 1 && extent.depth <= 1;
      mipmap->levels.push_back(std::move(level));
      if (last) break;
      extent.width = std::max<std::size_t>(extent.width / 2, 1);
      if (extent.height != 0) extent.height = std::max<std::size_t>(extent.height / 2, 1);
      if (extent.depth != 0 && (flags & cudaArrayLayered) == 0) {
        extent.depth = std::max<std::size_t>(extent.depth / 2, 1);
      }
    }
    mipmap->base = runtime.memory.allocate(bytes, cudasim::RegionKind::array, "mipmapped array");
    if (mipmap->base == 0) return cudaErrorMemoryAllocation;
    for (auto& level : mipmap->levels) level->base += mipmap->base;
    *out = mipmap.get();
    cudasim::mipmaps()[*out] = std::move(mipmap);
    return cudaSuccess;
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* out, cudaMipmappedArray_const_t mipmap,
                                       unsigned level) {
  return call([&](Runtime&) {
    const auto at = cudasim::mipmaps().find(mipmap);
    if (at == cudasim::mipmaps().end()) return cudaErrorInvalidResourceHandle;
    if (out == nullptr || level >= at->second->levels.size()) return cudaErrorInvalidValue;
    *out = at->second->levels[level].get();
    return cudaSuccess;
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
  return call([&](Runtime& runtime) {
    if (mipmap == nullptr) return cudaSuccess;
    const auto at = cudasim::mipmaps().find(mipmap);
    if (at == cudasim::mipmaps().end()) return cudaErrorInvalidValue;
    runtime.streams.finish(runtime);
    runtime.memory.free(at->second->base);
    cudasim::mipmaps().erase(at);
    return cudaSuccess;
  });
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || resource == nullptr || texture == nullptr) return cudaErrorInvalidValue;
    Image image;
    if (const auto error = cudasim::of_resource(runtime, *resource, image); error != cudaSuccess) {
      return error;
    }
    const bool integers = image.channel != Image::Channel::floating;
    image.normalized_read = integers && texture->readMode == cudaReadModeNormalizedFloat;
    image.linear_filter = texture->filterMode == cudaFilterModeLinear;
    if (image.linear_filter && integers && !image.normalized_read) return cudaErrorInvalidValue;
    for (int i = 0; i < 3; ++i) {
      image.address[i] = cudasim::address_mode(texture->addressMode[i]);
      // Wrap and mirror need normalised coordinates: else CUDA clamps.
      const bool repeats =
          image.address[i] == Image::Address::wrap || image.address[i] == Image::Address::mirror;
      if (repeats && texture->normalizedCoords == 0) image.address[i] = Image::Address::clamp;
    }
    image.normalized_coordinates = texture->normalizedCoords != 0;
    image.srgb = texture->sRGB != 0;
    std::ranges::copy(texture->borderColor, image.border);
    cudasim::ObjectFacts facts{*resource, *texture,
                               view == nullptr ? cudaResourceViewDesc{} : *view};
    return cudasim::publish(runtime, image, facts, out);
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return call([&](Runtime& runtime) { return cudasim::drop(runtime, object); });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t object) {
  return call([&](Runtime&) {
    const auto at = objects().find(object);
    if (out == nullptr || at == objects().end()) return cudaErrorInvalidValue;
    *out = at->second.resource;
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t object) {
  return call([&](Runtime&) {
    const auto at = objects().find(object);
    if (out == nullptr || at == objects().end()) return cudaErrorInvalidValue;
    *out = at->second.texture;
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out,
                                                 cudaTextureObject_t object) {
  return call([&](Runtime&) {
    const auto at = objects().find(object);
    if (out == nullptr || at == objects().end()) return cudaErrorInvalidValue;
    *out = at->second.view;
    return cudaSuccess;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray) {
      return cudaErrorInvalidValue;
    }
    Image image;
    if (const auto error = cudasim::of_resource(runtime, *resource, image); error != cudaSuccess) {
      return error;
    }
    return cudasim::publish(runtime, image, {*resource, {}, {}}, out);
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return call([&](Runtime& runtime) { return cudasim::drop(runtime, object); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t object) {
  return cudaGetTextureObjectResourceDesc(out, object);
}
