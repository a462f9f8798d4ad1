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
__global__ void normalized(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2D<float>(t, (threadIdx.x + 0.5f) / 4, 0.5f);
}

int main() {
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
