#define layernorm_forward right_layernorm_forward
#include "../../kernels/layernorm/kernel_src/layernorm.cu"
#undef layernorm_forward
#include "null.cuh"

#define HONE_NULL(kind)                                                                            \
  extern "C" cudaError_t layernorm_forward_##kind(const float* x, const float* gamma,              \
                                                  const float* beta, float* y, int rows, int cols, \
                                                  float eps, cudaStream_t stream) {                \
    return null_candidate<Null::kind>(x, y, rows * cols, stream, [=](cudaStream_t on) {            \
      return right_layernorm_forward(x, gamma, beta, y, rows, cols, eps, on);                      \
    });                                                                                            \
  }
HONE_EACH_NULL(HONE_NULL)
