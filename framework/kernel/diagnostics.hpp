#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/build.hpp"

namespace hone::kernel {

/// What the compiler printed, taken apart.
struct CompilerOutput {
  std::string text;  ///< sanitised, paths replaced, without ptxas' -v lines
  std::vector<KernelFacts> kernels;
  std::optional<FirstError> first_error;
};

/// Reads the output of `nvcc -Xptxas -v`. Each of `paths` is (prefix, replacement), applied in
/// order; nvcc's temporary names are always reduced to the source's name.
CompilerOutput read_output(std::string_view raw,
                           const std::vector<std::pair<std::string, std::string>>& paths,
                           size_t max_bytes = 16384);

}  // namespace hone::kernel
