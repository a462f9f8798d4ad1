#pragma once
#include <driver_types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cudasim/fatbin/cubin.hpp"
#include "cudasim/memory/memory.hpp"
#include "cudasim/ptx/module.hpp"

namespace cudasim {

struct HostVariable {
  std::string name;
  std::size_t size = 0;
  void** managed_pointer = nullptr;  ///< for __managed__: where the host keeps its address
};

/// What one translation unit (or library) registered; its PTX is read at the first use.
struct Binary {
  std::vector<const void*> images;  ///< fatbins
  std::string ptx;                  ///< instead of images: text given by cudaLibraryLoadData
  enum class State : std::uint8_t { unread, good, bad } state = State::unread;
  cudaError_t error = cudaSuccess;  ///< of a bad one
  std::unique_ptr<Module> module;
  std::map<std::string, KernelFacts> facts;
  std::map<const void*, HostVariable> variables;
  std::map<std::string, std::pair<void*, std::size_t>> host_variables;
  std::map<std::string, std::uint64_t> addresses;  ///< of its variables, once good
  std::map<std::string, std::unique_ptr<struct KernelEntry>> library_kernels;
};

/// A kernel as the host knows it; a cudaKernel_t and a cudaFunction_t point to one.
struct KernelEntry {
  Binary* binary = nullptr;
  std::string name;
  const Kernel* kernel = nullptr;  ///< set by Registry::resolve
  std::uint32_t registers = 0;
  std::uint32_t static_shared = 0;
  std::uint32_t local_bytes = 0;
  std::uint32_t max_threads = 0;
  std::uint32_t dynamic_limit = 0;  ///< cudaFuncAttributeMaxDynamicSharedMemorySize
  int carveout = -1;
  bool nonportable_cluster = false;
  bool cluster_must_be_set = false;
  std::uint32_t required_cluster[3] = {0, 0, 0};
};

/// Where a __device__ or __constant__ variable is.
struct Symbol {
  std::uint64_t address = 0;
  std::size_t size = 0;
};

/// The program's device code, by the host's names for it.
class Registry {
 public:
  explicit Registry(DeviceMemory& memory) : memory_(memory) {}

  Binary* add_binary(const void* fatbin_wrapper);
  Binary* add_text(std::string ptx);
  void remove_binary(Binary* binary);
  void add_kernel(Binary* binary, const void* host, const char* name);
  void add_variable(Binary* binary, const void* host, const char* name, std::size_t size);
  void add_managed(Binary* binary, void** host, const char* name, std::size_t size);
  void add_host_variable(Binary* binary, void* host, const char* name, std::size_t size);

  /// Reads the PTX and places the variables, once; the error is remembered.
  cudaError_t load(Binary& binary);

  /// The kernel of a host stub or of a handle, read and ready; an error code when it isn't.
  cudaError_t resolve(const void* host, KernelEntry*& out);
  cudaError_t resolve(KernelEntry& entry);
  /// Without reading it; null when unknown.
  KernelEntry* find(const void* host);
  cudaError_t symbol(const void* host, Symbol& out);
  KernelEntry* library_kernel(Binary& binary, const std::string& name);
  /// The entry by which the host knows a kernel of the binary, else a new one.
  KernelEntry* kernel_of(Binary& binary, const std::string& name);

 private:
  cudaError_t read(Binary& binary);

  DeviceMemory& memory_;
  std::vector<std::unique_ptr<Binary>> binaries_;
  std::unordered_map<const void*, std::unique_ptr<KernelEntry>> kernels_;
  std::unordered_map<const void*, KernelEntry*> handles_;
  std::unordered_map<const void*, Binary*> variable_owner_;
};

}  // namespace cudasim
