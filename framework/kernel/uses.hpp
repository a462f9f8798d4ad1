#pragma once
#include <string>
#include <vector>

#include "kernel/source.hpp"
#include "kernel/symbols.hpp"

namespace hone::kernel {

/// Something an answer uses that a task may forbid.
struct Use {
  /// "libraries" (Thrust, CUB, CUTLASS, cuBLAS …: device code by others), "inline-ptx", "loading"
  /// (dlopen and the like) or "system" (processes, sockets).
  std::string kind;
  std::string what;  ///< "includes <thrust/sort.h>", "calls dlopen"
  std::string file;  ///< "" for what only the library shows
  int line = 0;
  /// "includes <thrust/sort.h> (answer.cu:3)"
  std::string text() const;
};

/// What the sources include and write, comments and strings apart, and what the library wants
/// beyond the CUDA runtime and the C and C++ libraries; each thing once, in order of files.
std::vector<Use> find_uses(const std::vector<SourceFile>& files, const Symbols& library);

}  // namespace hone::kernel
