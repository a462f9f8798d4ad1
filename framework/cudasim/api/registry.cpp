#include "cudasim/api/registry.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cudasim/fatbin/fatbin.hpp"
#include "cudasim/model/h100.hpp"
#include "cudasim/model/occupancy.hpp"
#include "cudasim/ptx/parser.hpp"

namespace cudasim {
namespace {

/// What __cudaRegisterFatBinary receives.
struct FatbinWrapper {
  std::uint32_t magic;
  std::uint32_t version;  ///< 2: relocatable code, `more` lists the fatbins that were linked
  const void* data;
  const void* const* more;  ///< ends with null
};
constexpr std::uint32_t kWrapperMagic = 0x466243B1;

std::span<const std::byte> fatbin_bytes(const void* image) {
  constexpr std::size_t kHeader = 16;
  if (image == nullptr || readable_bytes(image, kHeader) < kHeader) return {};
  std::uint16_t header = 0;
  std::uint64_t size = 0;
  std::memcpy(&header, static_cast<const char*>(image) + 6, sizeof header);
  std::memcpy(&size, static_cast<const char*>(image) + 8, sizeof size);
  const std::size_t wanted = size > SIZE_MAX - header ? SIZE_MAX : header + size;
  return {static_cast<const std::byte*>(image), readable_bytes(image, wanted)};
}

cudaError_t refuse(Binary& binary, cudaError_t error, const std::string& why) {
  std::fprintf(stderr, "cudasim: cannot load device code: %s\n", why.c_str());
  binary.state = Binary::State::bad;
  return binary.error = error;
}

}  // namespace

Binary* Registry::add_binary(const void* fatbin_wrapper) {
  auto& binary = *binaries_.emplace_back(std::make_unique<Binary>());
  const auto* wrapper = static_cast<const FatbinWrapper*>(fatbin_wrapper);
  if (wrapper != nullptr && wrapper->magic == kWrapperMagic) {
    binary.images.push_back(wrapper->data);
    if (wrapper->version == 2 && wrapper->more != nullptr) {
      for (const auto* more = wrapper->more; *more != nullptr; ++more) {
        binary.images.push_back(*more);
      }
    }
  }
  return &binary;
}

Binary* Registry::add_text(std::string ptx) {
  auto& binary = *binaries_.emplace_back(std::make_unique<Binary>());
  binary.ptx = std::move(ptx);
  return &binary;
}

void Registry::remove_binary(Binary* binary) {
  const auto at = std::ranges::find(binaries_, binary, &std::unique_ptr<Binary>::get);
  if (at == binaries_.end()) return;
  std::erase_if(kernels_, [&](const auto& item) {
    if (item.second->binary != binary) return false;
    handles_.erase(item.second.get());
    return true;
  });
  for (const auto& [name, entry] : binary->library_kernels) handles_.erase(entry.get());
  std::erase_if(variable_owner_, [&](const auto& item) { return item.second == binary; });
  for (const auto& [name, address] : binary->addresses) memory_.free(address);
  binaries_.erase(at);
}

void Registry::add_kernel(Binary* binary, const void* host, const char* name) {
  auto entry = std::make_unique<KernelEntry>();
  entry->binary = binary;
  entry->name = name;
  handles_[entry.get()] = entry.get();
  if (auto old = kernels_.find(host); old != kernels_.end()) handles_.erase(old->second.get());
  kernels_[host] = std::move(entry);
}

void Registry::add_variable(Binary* binary, const void* host, const char* name, std::size_t size) {
  binary->variables[host] = {name, size, nullptr};
  variable_owner_[host] = binary;
}

void Registry::add_managed(Binary* binary, void** host, const char* name, std::size_t size) {
  binary->variables[host] = {name, size, host};
  variable_owner_[host] = binary;
}

void Registry::add_host_variable(Binary* binary, void* host, const char* name, std::size_t size) {
  binary->host_variables[name] = {host, size};
}

cudaError_t Registry::load(Binary& binary) {
  if (binary.state == Binary::State::unread) {
    const cudaError_t error = read(binary);
    if (error != cudaSuccess) return error;
    binary.state = Binary::State::good;
  }
  return binary.state == Binary::State::good ? cudaSuccess : binary.error;
}

cudaError_t Registry::read(Binary& binary) {
  std::string text = binary.ptx;
  std::string trouble;
  bool cubin_only = false;
  for (const void* image : binary.images) {
    const Fatbin fatbin = read_fatbin(fatbin_bytes(image));
    if (!fatbin.error.empty()) trouble = fatbin.error;
    for (const FatbinEntry& entry : fatbin.entries) {
      if (entry.kind != FatbinEntry::Kind::cubin) continue;
      cubin_only = true;
      if (entry.arch != 90) continue;
      const Unpacked cubin = unpack(entry);
      binary.facts.merge(read_cubin(std::as_bytes(std::span(cubin.bytes))));
    }
    if (const FatbinEntry* ptx = choose_ptx(fatbin)) {
      Unpacked unpacked = unpack(*ptx);
      if (!unpacked.error.empty()) return refuse(binary, cudaErrorInvalidPtx, unpacked.error);
      if (!text.empty()) text += '\n';
      text += unpacked.bytes;
    }
  }
  if (text.empty()) {
    if (!trouble.empty()) return refuse(binary, cudaErrorInvalidKernelImage, trouble);
    return refuse(binary, cudaErrorNoKernelImageForDevice,
                  cubin_only
                      ? "it holds machine code (SASS) and no PTX for sm_90 or older; rebuild "
                        "with -gencode arch=compute_90,code=[sm_90,compute_90]"
                      : "the fatbin is empty");
  }
  try {
    binary.module = parse(text);
  } catch (const VersionError& error) {
    return refuse(binary, cudaErrorUnsupportedPtxVersion, std::string("PTX ") + error.what());
  } catch (const ParseError& error) {
    return refuse(binary, cudaErrorInvalidPtx, std::string("PTX ") + error.what());
  }
  Module& module = *binary.module;
  for (const Variable& variable : module.variables()) {
    if (variable.space != Space::global && variable.space != Space::constant) continue;
    if (const auto host = binary.host_variables.find(variable.name);
        host != binary.host_variables.end()) {
      memory_.add_host_range(host->second.first, host->second.second, variable.name);
      module.bind(variable.name, reinterpret_cast<std::uint64_t>(host->second.first));
      continue;
    }
    if (variable.external) {
      // Defined by another translation unit that was registered on its own.
      for (const auto& other : binaries_) {
        const auto found = other->addresses.find(variable.name);
        if (found != other->addresses.end()) module.bind(variable.name, found->second);
      }
      continue;
    }
    const RegionKind kind = variable.managed                    ? RegionKind::managed
                            : variable.space == Space::constant ? RegionKind::constant
                                                                : RegionKind::module_global;
    const std::uint64_t address =
        memory_.allocate(variable.size, kind, variable.name, variable.space != Space::constant);
    if (address == 0) return refuse(binary, cudaErrorMemoryAllocation, "out of device memory");
    binary.addresses[variable.name] = address;
    module.bind(variable.name, address);
  }
  for (const Variable& variable : module.variables()) {
    const auto at = binary.addresses.find(variable.name);
    if (at == binary.addresses.end()) continue;
    const std::vector<std::byte> image = module.image(variable);
    std::memcpy(reinterpret_cast<void*>(at->second), image.data(),
                std::min<std::size_t>(image.size(), variable.size));
  }
  for (const auto& [host, variable] : binary.variables) {
    const auto at = binary.addresses.find(variable.name);
    if (variable.managed_pointer != nullptr && at != binary.addresses.end()) {
      *variable.managed_pointer = reinterpret_cast<void*>(at->second);
    }
  }
  return cudaSuccess;
}

KernelEntry* Registry::find(const void* host) {
  if (const auto at = kernels_.find(host); at != kernels_.end()) return at->second.get();
  const auto at = handles_.find(host);
  return at == handles_.end() ? nullptr : at->second;
}

cudaError_t Registry::resolve(const void* host, KernelEntry*& out) {
  out = find(host);
  return out == nullptr ? cudaErrorInvalidDeviceFunction : resolve(*out);
}

cudaError_t Registry::resolve(KernelEntry& entry) {
  if (entry.kernel != nullptr) return cudaSuccess;
  if (const cudaError_t error = load(*entry.binary); error != cudaSuccess) return error;
  const Kernel* kernel = entry.binary->module->find_kernel(entry.name);
  if (kernel == nullptr) {
    std::fprintf(stderr, "cudasim: the PTX holds no kernel named %s\n", entry.name.c_str());
    return cudaErrorInvalidDeviceFunction;
  }
  const auto product = [](const std::uint32_t(&d)[3]) {
    return d[0] == 0 ? 0u : d[0] * std::max(d[1], 1u) * std::max(d[2], 1u);
  };
  // ptxas's own figures where the cubin tells them, else estimates from the PTX; ptxas would keep
  // within what the largest block leaves to a thread.
  KernelFacts facts;
  if (const auto at = entry.binary->facts.find(entry.name); at != entry.binary->facts.end()) {
    facts = at->second;
  }
  const std::uint32_t largest_block =
      std::max(product(kernel->max_threads), product(kernel->required_threads));
  // A warp gets registers in units that make eight a lane.
  const std::uint32_t most_registers =
      std::min(h100::kMaxRegistersPerThread,
               h100::kRegistersPerSm /
                   (largest_block != 0 ? largest_block : h100::kMaxThreadsPerBlock) / 8 * 8);
  entry.registers = facts.registers > 0
                        ? static_cast<std::uint32_t>(facts.registers)
                        : std::clamp(kernel->register_estimate, 16u, std::max(16u, most_registers));
  entry.static_shared = kernel->static_shared_bytes;
  entry.local_bytes =
      facts.frame_bytes >= 0 ? static_cast<std::uint32_t>(facts.frame_bytes) : kernel->local_bytes;
  entry.max_threads = max_threads_for_registers(entry.registers);
  for (const std::uint32_t limit :
       {product(kernel->max_threads), product(kernel->required_threads)}) {
    if (limit != 0) entry.max_threads = std::min(entry.max_threads, limit);
  }
  entry.dynamic_limit =
      h100::kSharedPerBlock - std::min(entry.static_shared, h100::kSharedPerBlock);
  std::ranges::copy(kernel->cluster, entry.required_cluster);
  entry.cluster_must_be_set = kernel->explicit_cluster && kernel->cluster[0] == 0;
  entry.kernel = kernel;
  return cudaSuccess;
}

cudaError_t Registry::symbol(const void* host, Symbol& out) {
  const auto owner = variable_owner_.find(host);
  if (owner == variable_owner_.end()) return cudaErrorInvalidSymbol;
  Binary& binary = *owner->second;
  if (const cudaError_t error = load(binary); error != cudaSuccess) return error;
  const HostVariable& variable = binary.variables.at(host);
  const Variable* declared = binary.module->find_variable(variable.name);
  if (declared == nullptr || declared->address == 0) return cudaErrorInvalidSymbol;
  out.address = declared->address;
  out.size = declared->size != 0 ? declared->size : variable.size;
  return cudaSuccess;
}

KernelEntry* Registry::kernel_of(Binary& binary, const std::string& name) {
  for (const auto& [host, entry] : kernels_) {
    if (entry->binary == &binary && entry->name == name) return entry.get();
  }
  return library_kernel(binary, name);
}

KernelEntry* Registry::library_kernel(Binary& binary, const std::string& name) {
  if (binary.module == nullptr || binary.module->find_kernel(name) == nullptr) return nullptr;
  auto& entry = binary.library_kernels[name];
  if (entry == nullptr) {
    entry = std::make_unique<KernelEntry>();
    entry->binary = &binary;
    entry->name = name;
    handles_[entry.get()] = entry.get();
  }
  return entry.get();
}

}  // namespace cudasim
