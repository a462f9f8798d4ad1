#define row_softmax right_row_softmax
#include "../../kernels/row_softmax/kernel_src/row_softmax.cu"
#undef row_softmax
#include "null.cuh"

#define HONE_NULL(kind)                                                                   \
  extern "C" cudaError_t row_softmax_##kind(const float* x, float* y, int rows, int cols, \
                                            cudaStream_t stream) {                        \
    return null_candidate<Null::kind>(x, y, rows * cols, stream, [=](cudaStream_t on) {   \
      return right_row_softmax(x, y, rows, cols, on);                                     \
    });                                                                                   \
  }
HONE_EACH_NULL(HONE_NULL)
