#include "cudasim/ptx/module.hpp"

#include <cstring>

namespace cudasim {

const Kernel* Module::find_kernel(std::string_view name) const {
  const Function* function = find_function(name);
  return function != nullptr && function->entry ? function : nullptr;
}

const Function* Module::find_function(std::string_view name) const {
  const auto found = function_index_.find(name);
  return found == function_index_.end() ? nullptr : found->second;
}

const Variable* Module::find_variable(std::string_view name) const {
  const auto found = variable_index_.find(name);
  return found == variable_index_.end() ? nullptr : &variables_[found->second];
}

std::vector<const Kernel*> Module::kernels() const {
  std::vector<const Kernel*> result;
  for (const auto& function : functions_) {
    if (function->entry) result.push_back(function.get());
  }
  return result;
}

void Module::bind(std::string_view name, std::uint64_t address) {
  const auto found = variable_index_.find(name);
  if (found != variable_index_.end()) variables_[found->second].address = address;
}

std::uint64_t Module::function_address(const Function& function) {
  return reinterpret_cast<std::uint64_t>(&function);
}

const Function* Module::function_at(std::uint64_t address) const {
  for (const auto& function : functions_) {
    if (function_address(*function) == address) return function.get();
  }
  return nullptr;
}

std::vector<std::byte> Module::image(const Variable& variable) const {
  std::vector<std::byte> bytes = variable.initial;
  bytes.resize(variable.size);
  for (const Relocation& relocation : variable.relocations) {
    std::uint64_t value = 0;
    if (const Variable* other = find_variable(relocation.symbol)) {
      value = other->address;
    } else if (const Function* function = find_function(relocation.symbol)) {
      value = function_address(*function);
    }
    value += static_cast<std::uint64_t>(relocation.addend);
    if (relocation.offset + relocation.size <= bytes.size()) {
      std::memcpy(bytes.data() + relocation.offset, &value, relocation.size);
    }
  }
  return bytes;
}

}  // namespace cudasim
