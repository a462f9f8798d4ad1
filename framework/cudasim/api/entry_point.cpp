// Device code that a program brings as data, and its questions after the driver.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "cudasim/api/runtime.hpp"

namespace cudasim {
namespace {

/// A library loaded from memory.
struct Library {
  Binary* binary = nullptr;
};
std::map<cudaLibrary_t, std::unique_ptr<Library>>& libraries() {
  static auto* const all = new std::map<cudaLibrary_t, std::unique_ptr<Library>>;
  return *all;
}

constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;
constexpr std::uint32_t kWrapperMagic = 0x466243B1;

cudaError_t load(Runtime& runtime, cudaLibrary_t* out, const void* code) {
  if (out == nullptr || code == nullptr) return cudaErrorInvalidValue;
  auto library = std::make_unique<Library>();
  std::uint32_t magic = 0;
  std::memcpy(&magic, code, sizeof magic);
  if (magic == kWrapperMagic) {
    library->binary = runtime.registry.add_binary(code);
  } else if (magic == kFatbinMagic) {
    struct {
      std::uint32_t magic, version;
      const void* data;
      const void* more;
    } const wrapper{kWrapperMagic, 1, code, nullptr};
    library->binary = runtime.registry.add_binary(&wrapper);
  } else if (std::memcmp(code,
                         "\x7f"
                         "ELF",
                         4) == 0) {
    std::fprintf(stderr, "cudasim: cudaLibraryLoadData was given a cubin; it runs PTX only\n");
    return cudaErrorNoKernelImageForDevice;
  } else {
    library->binary = runtime.registry.add_text(static_cast<const char*>(code));
  }
  if (const cudaError_t error = runtime.registry.load(*library->binary); error != cudaSuccess) {
    runtime.registry.remove_binary(library->binary);
    return error;
  }
  *out = reinterpret_cast<cudaLibrary_t>(library.get());
  libraries()[*out] = std::move(library);
  return cudaSuccess;
}

cudaError_t with_library(cudaLibrary_t handle, auto&& body) {
  return call([&](Runtime& runtime) {
    const auto at = libraries().find(handle);
    return at == libraries().end() ? cudaErrorInvalidResourceHandle : body(runtime, *at->second);
  });
}

cudaError_t variable(Library& library, const char* name, void** pointer, std::size_t* bytes,
                     bool managed) {
  if (name == nullptr) return cudaErrorInvalidValue;
  const Variable* found = library.binary->module->find_variable(name);
  if (found == nullptr || found->address == 0 || found->managed != managed) {
    return cudaErrorSymbolNotFound;
  }
  if (pointer != nullptr) *pointer = reinterpret_cast<void*>(found->address);
  if (bytes != nullptr) *bytes = found->size;
  return cudaSuccess;
}

}  // namespace
}  // namespace cudasim

using cudasim::call;
using cudasim::libraries;
using cudasim::Library;
using cudasim::query;
using cudasim::Runtime;
using cudasim::with_library;

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  return call([&](Runtime& runtime) { return cudasim::load(runtime, library, code); });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* name, cudaJitOption*,
                                    void**, unsigned, cudaLibraryOption*, void**, unsigned) {
  return call([&](Runtime& runtime) {
    if (name == nullptr) return cudaErrorInvalidValue;
    std::ifstream file(name, std::ios::binary);
    if (!file) return cudaErrorFileNotFound;
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    // A fatbin is read lazily: its bytes must outlive this call.
    auto* kept = new std::string(text);
    return cudasim::load(runtime, library, kept->c_str());
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
  return with_library(handle, [&](Runtime& runtime, Library& library) {
    runtime.registry.remove_binary(library.binary);
    libraries().erase(handle);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t handle, const char* name) {
  return with_library(handle, [&](Runtime& runtime, Library& library) {
    if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
    *kernel =
        reinterpret_cast<cudaKernel_t>(runtime.registry.library_kernel(*library.binary, name));
    return *kernel == nullptr ? cudaErrorSymbolNotFound : cudaSuccess;
  });
}

cudaError_t cudaLibraryGetGlobal(void** pointer, std::size_t* bytes, cudaLibrary_t handle,
                                 const char* name) {
  return with_library(handle, [&](Runtime&, Library& library) {
    return cudasim::variable(library, name, pointer, bytes, false);
  });
}

cudaError_t cudaLibraryGetManaged(void** pointer, std::size_t* bytes, cudaLibrary_t handle,
                                  const char* name) {
  return with_library(handle, [&](Runtime&, Library& library) {
    return cudasim::variable(library, name, pointer, bytes, true);
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t handle) {
  return with_library(handle, [&](Runtime&, Library& library) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = static_cast<unsigned>(library.binary->module->kernels().size());
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                        cudaLibrary_t handle) {
  return with_library(handle, [&](Runtime& runtime, Library& library) {
    if (kernels == nullptr) return cudaErrorInvalidValue;
    const auto all = library.binary->module->kernels();
    for (unsigned i = 0; i < count && i < all.size(); ++i) {
      kernels[i] = reinterpret_cast<cudaKernel_t>(
          runtime.registry.library_kernel(*library.binary, all[i]->name));
    }
    return cudaSuccess;
  });
}

// There is no driver underneath: each symbol is answered as one that the driver lacks.
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  return query([&](Runtime&) {
    if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
    *function = nullptr;
    if (status != nullptr) *status = cudaDriverEntryPointSymbolNotFound;
    std::fprintf(stderr, "cudasim: the driver function %s is not offered\n", symbol);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}
