#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hone::kernel {

/// A CUDA toolkit.
struct Toolkit {
  std::filesystem::path root;  ///< absolute
  std::filesystem::path nvcc;
  std::string version;                         ///< "13.0.48", as nvcc --version says
  std::vector<std::filesystem::path> include;  ///< include, include/cccl
  std::filesystem::path library_dir;           ///< where libcudart.so is (lib64 or lib)
};

/// The toolkit at `hint`, when that is not empty; otherwise at HONE_CUDA_ROOT, when that is set;
/// otherwise of CUDA_HOME, of /usr/local/cuda, of the nvcc in PATH. Nothing when no nvcc that runs is there; `reason` then says what was tried.
std::optional<Toolkit> find_toolkit(const std::filesystem::path& hint = {},
                                    std::string* reason = nullptr);

}  // namespace hone::kernel
