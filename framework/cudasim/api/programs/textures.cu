#include <vector>

#include "check.hpp"

__global__ void sample(cudaTextureObject_t t, float* out, int width, float shift) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * width + x] = tex2D<float>(t, x + shift, y + shift);
}
__global__ void fetch(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(t, static_cast<int>(threadIdx.x));
}
__global__ void write(cudaSurfaceObject_t s) {
  surf2Dwrite(threadIdx.x * 10.0f + blockIdx.x, s, threadIdx.x * 4, blockIdx.x);
}
/// sust.p: coordinates in elements, components converted to the surface's format.
__global__ void write_formatted(cudaSurfaceObject_t s, bool four) {
  const int x = threadIdx.x, y = blockIdx.x;
  const float a = x + 0.5f, b = -y;
  if (four)
    asm volatile("sust.p.2d.v4.b32.trap [%0, {%1, %2}], {%3, %4, %3, %4};" ::"l"(s), "r"(x), "r"(y),
                 "f"(a), "f"(b));
  else
    asm volatile("sust.p.2d.b32.trap [%0, {%1, %2}], {%3};" ::"l"(s), "r"(x), "r"(y),
                 "r"(x + 0x1200));
}
__global__ void normalized(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2D<float>(t, (threadIdx.x + 0.5f) / 4, 0.5f);
}

template <typename F>
__global__ void each(float* out, F f) {
  out[threadIdx.x] = f(threadIdx.x);
}

/// Samples at `count` places, given as f(i) on the device.
template <typename F>
std::vector<float> sampled(int count, F f) {
  float* out = nullptr;
  OK(cudaMalloc(&out, count * sizeof(float)));
  each<<<1, count>>>(out, f);
  std::vector<float> values(count);
  OK(cudaMemcpy(values.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
  OK(cudaFree(out));
  return values;
}

/// A texture over the array with one address mode on all axes.
cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureAddressMode mode,
                               cudaTextureFilterMode filter, bool normalized) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  for (auto& axis : description.addressMode) axis = mode;
  description.filterMode = filter;
  description.readMode = cudaReadModeElementType;
  description.normalizedCoords = normalized;
  description.borderColor[0] = -5;
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

/// An array of floats numbered from 0.
cudaArray_t numbered(cudaExtent extent, unsigned flags) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  OK(cudaMalloc3DArray(&array, &format, extent, flags));
  const std::size_t rows = extent.height ? extent.height : 1,
                    slices = extent.depth ? extent.depth : 1;
  std::vector<float> values(extent.width * rows * slices);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(values.data(), extent.width * 4, extent.width, rows);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(extent.width, rows, slices);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  return array;
}

void one_dimension() {
  const cudaArray_t line = numbered(make_cudaExtent(8, 0, 0), 0);
  // Nine places from -1 to 9 in steps of 1.25, or the same by the width of 8.
  const auto at = [&](cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized) {
    const auto t = texture_of(line, mode, filter, normalized);
    return sampled(9, [=] __device__(int i) {
      const float x = i * 1.25f - 1;
      return tex1D<float>(t, normalized ? x / 8 : x);
    });
  };
  using V = std::vector<float>;
  CHECK(at(cudaAddressModeClamp, cudaFilterModePoint, false) == (V{0, 0, 1, 2, 4, 5, 6, 7, 7}));
  CHECK(at(cudaAddressModeBorder, cudaFilterModePoint, false) == (V{-5, 0, 1, 2, 4, 5, 6, 7, -5}));
  CHECK(at(cudaAddressModeWrap, cudaFilterModePoint, true) == (V{7, 0, 1, 2, 4, 5, 6, 7, 1}));
  CHECK(at(cudaAddressModeMirror, cudaFilterModePoint, true) == (V{0, 0, 1, 2, 4, 5, 6, 7, 6}));
  CHECK(at(cudaAddressModeClamp, cudaFilterModeLinear, false) ==
        (V{0, 0, 1, 2.25f, 3.5f, 4.75f, 6, 7, 7}));
  // Half of the texel before the first is the border's.
  CHECK(at(cudaAddressModeBorder, cudaFilterModeLinear, false)[1] == 0.75f * 0 + 0.25f * -5);
}

void three_dimensions_and_layers() {
  const auto box = texture_of(numbered(make_cudaExtent(4, 3, 2), 0), cudaAddressModeClamp,
                              cudaFilterModePoint, false);
  const auto smooth = texture_of(numbered(make_cudaExtent(4, 3, 2), 0), cudaAddressModeClamp,
                                 cudaFilterModeLinear, false);
  auto got = sampled(24, [=] __device__(int i) {
    return tex3D<float>(box, i % 4 + 0.5f, i / 4 % 3 + 0.5f, i / 12 + 0.5f);
  });
  for (int i = 0; i < 24; ++i) CHECK(got[i] == i);
  // In the middle of eight texels: their mean.
  got = sampled(
      6, [=] __device__(int i) { return tex3D<float>(smooth, i % 3 + 1.0f, i / 3 + 1.0f, 1.0f); });
  for (int i = 0; i < 6; ++i) CHECK(got[i] == i % 3 + 0.5f + 4 * (i / 3 + 0.5f) + 6);

  const auto layers = texture_of(numbered(make_cudaExtent(4, 3, 2), cudaArrayLayered),
                                 cudaAddressModeClamp, cudaFilterModePoint, false);
  got = sampled(24, [=] __device__(int i) {
    return tex2DLayered<float>(layers, i % 4 + 0.5f, i / 4 % 3 + 0.5f, i / 12);
  });
  for (int i = 0; i < 24; ++i) CHECK(got[i] == i);
  const auto lines = texture_of(numbered(make_cudaExtent(4, 0, 5), cudaArrayLayered),
                                cudaAddressModeClamp, cudaFilterModePoint, false);
  got = sampled(20,
                [=] __device__(int i) { return tex1DLayered<float>(lines, i % 4 + 0.5f, i / 4); });
  for (int i = 0; i < 20; ++i) CHECK(got[i] == i);
}

void cubes() {
  // A 1 x 1 face each: +x -x +y -y +z -z are 0 to 5.
  const auto cube = texture_of(numbered(make_cudaExtent(1, 1, 6), cudaArrayCubemap),
                               cudaAddressModeClamp, cudaFilterModePoint, true);
  auto got = sampled(6, [=] __device__(int i) {
    const float major = i % 2 ? -1 : 1;
    return texCubemap<float>(cube, i / 2 == 0 ? major : 0.3f, i / 2 == 1 ? major : 0.3f,
                             i / 2 == 2 ? major : 0.3f);
  });
  for (int i = 0; i < 6; ++i) CHECK(got[i] == i);
  // On face +x of 2 x 2 texels, s runs along -z and t along -y.
  const auto fine = texture_of(numbered(make_cudaExtent(2, 2, 6), cudaArrayCubemap),
                               cudaAddressModeClamp, cudaFilterModePoint, true);
  got = sampled(4, [=] __device__(int i) {
    return texCubemap<float>(fine, 1, i / 2 ? -0.5f : 0.5f, i % 2 ? -0.5f : 0.5f);
  });
  for (int i = 0; i < 4; ++i) CHECK(got[i] == i);
  const auto two =
      texture_of(numbered(make_cudaExtent(1, 1, 12), cudaArrayCubemap | cudaArrayLayered),
                 cudaAddressModeClamp, cudaFilterModePoint, true);
  got = sampled(2, [=] __device__(int i) { return texCubemapLayered<float>(two, 0, -1, 0, i); });
  CHECK(got[0] == 3 && got[1] == 9);
}

template <typename T>
std::vector<T> formatted(int width, int height) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  OK(cudaMallocArray(&resource.res.array.array, &format, width, height, cudaArraySurfaceLoadStore));
  cudaSurfaceObject_t surface;
  OK(cudaCreateSurfaceObject(&surface, &resource));
  write_formatted<<<height, width>>>(surface, sizeof(T) > 1);
  std::vector<T> out(width * height);
  OK(cudaMemcpy2DFromArray(out.data(), width * sizeof(T), resource.res.array.array, 0, 0,
                           width * sizeof(T), height, cudaMemcpyDeviceToHost));
  OK(cudaDestroySurfaceObject(surface));
  OK(cudaFreeArray(resource.res.array.array));
  return out;
}

void formatted_stores() {
  const auto floats = formatted<float2>(8, 4);
  CHECK(floats[2 * 8 + 5].x == 5.5f && floats[2 * 8 + 5].y == -2.0f);
  const auto halves = formatted<ushort4>(8, 4);  // integers take the words' low bits
  CHECK(halves[9].x == 0 && halves[9].y == 0);
  const auto bytes = formatted<unsigned char>(8, 4);
  CHECK(bytes[3 * 8 + 7] == 7);
}

/// Sectors of texture fetches: rows and columns of an array cost about the same, a copy in linear
/// memory shows the stride.
__global__ void rows(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f);
}
__global__ void columns(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2D<float>(t, 0.5f, threadIdx.x + 0.5f);
}
long sectors_of(const std::string& kernel) {
  const std::string json = cudasim_text("cudasimCountersJson"), field = "\"global_load_sectors\":";
  const auto at = json.find("\"" + kernel + "(");
  CHECK(at != std::string::npos);
  return std::atol(json.c_str() + json.find(field, at) + field.size());
}
void texture_sectors() {
  const cudaArray_t array = numbered(cudaExtent{64, 64, 0}, 0);
  const auto texture = texture_of(array, cudaAddressModeClamp, cudaFilterModePoint, false);
  float* out;
  OK(cudaMalloc(&out, 32 * sizeof(float)));
  rows<<<1, 32>>>(texture, out);
  columns<<<1, 32>>>(texture, out);
  OK(cudaDeviceSynchronize());
  if (cudasim_text("cudasimCountersJson").empty()) return;  // a GPU
  CHECK(sectors_of("rows") == 8);                           // 16 B wide
  CHECK(sectors_of("columns") == 16);                       // two rows high
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFree(out));
}

int main() {
  formatted_stores();
  texture_sectors();
  one_dimension();
  three_dimensions_and_layers();
  cubes();
  const int width = 16, height = 8;
  std::vector<float> host(width * height), back(width * height);
  for (int i = 0; i < width * height; ++i) host[i] = static_cast<float>(i);
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  OK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  OK(cudaMemcpy2DToArray(array, 0, 0, host.data(), width * 4, width * 4, height,
                         cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModePoint;
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  float* out;
  OK(cudaMalloc(&out, width * height * 4));
  sample<<<height, width>>>(texture, out, width, 0.5f);
  OK(cudaMemcpy(back.data(), out, width * height * 4, cudaMemcpyDeviceToHost));
  CHECK(back == host);
  // Between four texels the linear filter takes their mean.
  OK(cudaDestroyTextureObject(texture));
  description.filterMode = cudaFilterModeLinear;
  OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  sample<<<height, width>>>(texture, out, width, 1.0f);
  OK(cudaMemcpy(back.data(), out, width * height * 4, cudaMemcpyDeviceToHost));
  CHECK(back[0] == (0 + 1 + 16 + 17) / 4.0f);
  CHECK(back[width * height - 1] == width * height - 1);  // clamped at the corner

  cudaSurfaceObject_t surface;
  OK(cudaCreateSurfaceObject(&surface, &resource));
  write<<<height, width>>>(surface);
  OK(cudaMemcpy2DFromArray(back.data(), width * 4, array, 0, 0, width * 4, height,
                           cudaMemcpyDeviceToHost));
  CHECK(back[3 * width + 5] == 53);

  int* linear;
  OK(cudaMallocManaged(&linear, 64 * 4));
  for (int i = 0; i < 64; ++i) linear[i] = i * i;
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = linear;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = 64 * 4;
  cudaTextureDesc plain = {};
  cudaTextureObject_t list;
  OK(cudaCreateTextureObject(&list, &resource, &plain, nullptr));
  fetch<<<1, 64>>>(list, reinterpret_cast<int*>(out));
  int squares[64];
  OK(cudaMemcpy(squares, out, sizeof squares, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) CHECK(squares[i] == i * i);

  // Bytes read as floats in [0, 1], with normalised coordinates.
  cudaArray_t bytes;
  const cudaChannelFormatDesc byte = cudaCreateChannelDesc<unsigned char>();
  const unsigned char levels[4] = {0, 51, 102, 255};
  OK(cudaMallocArray(&bytes, &byte, 4, 1));
  OK(cudaMemcpy2DToArray(bytes, 0, 0, levels, 4, 4, 1, cudaMemcpyHostToDevice));
  resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = bytes;
  description.filterMode = cudaFilterModePoint;
  description.readMode = cudaReadModeNormalizedFloat;
  description.normalizedCoords = 1;
  cudaTextureObject_t shades;
  OK(cudaCreateTextureObject(&shades, &resource, &description, nullptr));
  normalized<<<1, 4>>>(shades, out);
  float values[4];
  OK(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost));
  CHECK(values[0] == 0 && values[3] == 1 && values[1] > 0.1999f && values[1] < 0.2001f);
  for (const auto t : {texture, list, shades}) OK(cudaDestroyTextureObject(t));
  OK(cudaDestroySurfaceObject(surface));
  CHECK(cudaDestroyTextureObject(texture) != cudaSuccess);
  std::puts("passed");
}
