#pragma once
#include <cuda_runtime_api.h>

#include <memory>

#include "cudasim/api/work.hpp"

namespace cudasim {

/// A launch as the program asked for it.
struct LaunchRequest {
  const void* function = nullptr;  ///< host stub, cudaKernel_t or cudaFunction_t
  dim3 grid, block, cluster;
  void** arguments = nullptr;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  bool cluster_given = false;
};

/// Checks a launch against H100's limits and packs its arguments.
cudaError_t prepare(Runtime& runtime, const LaunchRequest& request,
                    std::unique_ptr<KernelWork>& out);

/// prepare and submit.
cudaError_t launch_kernel(Runtime& runtime, const LaunchRequest& request);

}  // namespace cudasim
