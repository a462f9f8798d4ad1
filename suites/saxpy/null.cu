#define saxpy right_saxpy
#include "../../kernels/saxpy/kernel_src/saxpy.cu"
#undef saxpy
#include "null.cuh"

#define HONE_NULL(kind)                                                                     \
  extern "C" cudaError_t saxpy_##kind(int n, float alpha, const float* x, float* y,         \
                                      cudaStream_t stream) {                                \
    return null_candidate<Null::kind>(                                                      \
        x, y, n, stream, [=](cudaStream_t on) { return right_saxpy(n, alpha, x, y, on); }); \
  }
HONE_EACH_NULL(HONE_NULL)
