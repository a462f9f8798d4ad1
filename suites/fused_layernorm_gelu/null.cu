#define fused_layernorm_gelu right_fused_layernorm_gelu
#include "../../kernels/fused_layernorm_gelu/kernel_src/fused_layernorm_gelu.cu"
#undef fused_layernorm_gelu
#include "null.cuh"

#define HONE_NULL(kind)                                                                          \
  extern "C" cudaError_t fused_layernorm_gelu_##kind(const float* x, const float* gamma,         \
                                                     const float* beta, float* y, int rows,      \
                                                     int cols, float eps, cudaStream_t stream) { \
    return null_candidate<Null::kind>(x, y, rows * cols, stream, [=](cudaStream_t on) {          \
      return right_fused_layernorm_gelu(x, gamma, beta, y, rows, cols, eps, on);                 \
    });                                                                                          \
  }
HONE_EACH_NULL(HONE_NULL)
