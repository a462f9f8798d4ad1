#include <vector>

#include "check.hpp"

__global__ void transpose(const int* in, std::size_t pitch, int* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    const int* row = reinterpret_cast<const int*>(reinterpret_cast<const char*>(in) + y * pitch);
    out[x * height + y] = row[x];
  }
}

int main() {
  const int width = 37, height = 21;
  std::vector<int> host(width * height), back(width * height);
  for (int i = 0; i < width * height; ++i) host[i] = i;
  int *in, *out;
  std::size_t pitch;
  OK(cudaMallocPitch(&in, &pitch, width * 4, height));
  CHECK(pitch >= width * 4 && pitch % 256 == 0);
  OK(cudaMalloc(&out, width * height * 4));
  OK(cudaMemcpy2D(in, pitch, host.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  transpose<<<dim3(3, 2), dim3(16, 16)>>>(in, pitch, out, width, height);
  OK(cudaMemcpy(back.data(), out, width * height * 4, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) CHECK(back[x * height + y] == host[y * width + x]);
  }
  OK(cudaMemset2D(in, pitch, 0x11, width * 4, height));
  OK(cudaMemcpy2D(back.data(), width * 4, in, pitch, width * 4, height, cudaMemcpyDeviceToHost));
  for (const int value : back) CHECK(value == 0x11111111);
  CHECK_CODE(cudaErrorInvalidPitchValue, cudaMemcpy2D(in, 4, host.data(), width * 4, width * 4,
                                                      height, cudaMemcpyHostToDevice));
  CHECK_CODE(cudaErrorInvalidValue,
             cudaMemcpy(out, host.data(), width * height * 4 + 4, cudaMemcpyHostToDevice));
  CHECK_CODE(cudaErrorInvalidValue, cudaMemset(out, 0, width * height * 4 + 1));

  // A 3D block, and an array.
  cudaPitchedPtr volume;
  const cudaExtent extent = make_cudaExtent(8 * 4, 4, 3);
  OK(cudaMalloc3D(&volume, extent));
  std::vector<int> cube(8 * 4 * 3), cube_back(8 * 4 * 3);
  for (std::size_t i = 0; i < cube.size(); ++i) cube[i] = static_cast<int>(i) * 3;
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(cube.data(), 32, 32, 4);
  p.dstPtr = volume;
  p.extent = extent;
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  p.srcPtr = volume;
  p.dstPtr = make_cudaPitchedPtr(cube_back.data(), 32, 32, 4);
  p.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&p));
  CHECK(cube == cube_back);

  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  OK(cudaMallocArray(&array, &format, width, height));
  OK(cudaMemcpy2DToArray(array, 0, 0, host.data(), width * 4, width * 4, height,
                         cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DFromArray(back.data(), width * 4, array, 0, 0, width * 4, height,
                           cudaMemcpyDeviceToHost));
  CHECK(back == host);
  OK(cudaFreeArray(array));

  // Pinned and registered memory, and who owns a pointer.
  int* pinned;
  OK(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped));
  void* mapped;
  OK(cudaHostGetDevicePointer(&mapped, pinned, 0));
  CHECK(mapped == pinned);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, pinned));
  CHECK(attributes.type == cudaMemoryTypeHost);
  OK(cudaPointerGetAttributes(&attributes, out));
  CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
  OK(cudaPointerGetAttributes(&attributes, host.data()));
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  OK(cudaHostRegister(host.data(), host.size() * 4, cudaHostRegisterDefault));
  transpose<<<dim3(3, 2), dim3(16, 16)>>>(host.data(), width * 4, out, width, height);
  OK(cudaDeviceSynchronize());
  OK(cudaHostUnregister(host.data()));
  std::size_t free_before, free_after, total;
  OK(cudaMemGetInfo(&free_before, &total));
  void* large;
  OK(cudaMalloc(&large, 1 << 30));
  OK(cudaMemGetInfo(&free_after, &total));
  CHECK(free_before - free_after >= (1u << 30));
  CHECK(total > 79ull * 1000 * 1000 * 1000);
  std::puts("passed");
}
