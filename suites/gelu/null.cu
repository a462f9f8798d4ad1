#define gelu_forward right_gelu_forward
#include "../../kernels/gelu/kernel_src/gelu.cu"
#undef gelu_forward
#include "null.cuh"

#define HONE_NULL(kind)                                                                     \
  extern "C" cudaError_t gelu_forward_##kind(const float* x, float* y, int n,               \
                                             cudaStream_t stream) {                         \
    return null_candidate<Null::kind>(                                                      \
        x, y, n, stream, [=](cudaStream_t on) { return right_gelu_forward(x, y, n, on); }); \
  }
HONE_EACH_NULL(HONE_NULL)
