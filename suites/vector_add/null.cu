#define vector_add right_vector_add
#include "../../kernels/vector_add/kernel_src/vector_add.cu"
#undef vector_add
#include "null.cuh"

#define HONE_NULL(kind)                                                                          \
  extern "C" cudaError_t vector_add_##kind(const float* a, const float* b, float* out, int n,    \
                                           cudaStream_t stream) {                                \
    return null_candidate<Null::kind>(                                                           \
        a, out, n, stream, [=](cudaStream_t on) { return right_vector_add(a, b, out, n, on); }); \
  }
HONE_EACH_NULL(HONE_NULL)
