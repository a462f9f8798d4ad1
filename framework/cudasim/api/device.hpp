#pragma once
#include <cuda_runtime_api.h>

namespace cudasim {

/// The model of H100 SXM5's value of an attribute.
int device_attribute(cudaDeviceAttr name);

}  // namespace cudasim
