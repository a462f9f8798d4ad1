#pragma once
#include <cuda_runtime_api.h>

#include <memory>

#include "cudasim/api/work.hpp"

/// A CUDA array: texels in row order, see cudasim::Image.
struct cudaArray {
  std::uint64_t base = 0;
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  ///< elements; 0 where there is no such axis
  unsigned flags = 0;
  std::size_t element = 0, pitch = 0, slice = 0;
  bool owned = true;  ///< false: a level of a mipmapped array
  std::size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  std::size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
};

namespace cudasim {

/// The checked copy of a plain range.
cudaError_t plan_copy(Runtime& runtime, void* to, const void* from, std::size_t count,
                      cudaMemcpyKind kind, std::unique_ptr<CopyWork>& out);

/// The checked copy that cudaMemcpy3D describes.
cudaError_t plan_copy(Runtime& runtime, const cudaMemcpy3DParms& parms,
                      std::unique_ptr<CopyWork>& out);

/// The checked copy to or from a variable.
cudaError_t plan_symbol_copy(Runtime& runtime, const void* symbol, bool to_symbol,
                             const void* other, std::size_t count, std::size_t offset,
                             cudaMemcpyKind kind, std::unique_ptr<CopyWork>& out);

/// A checked fill of `height` rows and `depth` slices; width in bytes.
cudaError_t plan_fill(Runtime& runtime, void* to, std::size_t pitch, std::size_t slice,
                      std::uint32_t value, std::uint32_t element, std::size_t width,
                      std::size_t height, std::size_t depth, std::unique_ptr<FillWork>& out);

/// Whether it is an array that is live.
bool known_array(const cudaArray* array);

}  // namespace cudasim
