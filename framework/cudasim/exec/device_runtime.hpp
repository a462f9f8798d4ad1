#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudasim {

/// A thread's call of a function that the device's runtime library would define.
struct DeviceCall {
  std::string_view name;
  std::uint64_t thread = 0;  ///< linear number in the grid
  std::vector<std::span<const std::byte>> arguments;
  std::span<std::byte> result;  ///< zero before the call; empty when the function gives none
  /// Host address of memory that the thread may read and write; null where it may not.
  std::function<std::byte*(std::uint64_t address, std::uint64_t bytes)> memory;
  std::string trouble;  ///< set by the callee: the call is a fault

  template <typename T>
  T argument(std::size_t index) const {
    T value{};
    if (index < arguments.size() && arguments[index].size() >= sizeof value)
      __builtin_memcpy(&value, arguments[index].data(), sizeof value);
    return value;
  }
  template <typename T>
  void answer(const T& value) {
    if (result.size() >= sizeof value) __builtin_memcpy(result.data(), &value, sizeof value);
  }
};

/// What kernels ask of the runtime: launches of their own, streams, conditions of graphs.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  /// False when there is no function of this name. Called from all threads that run blocks.
  virtual bool call(DeviceCall& call) = 0;
};

}  // namespace cudasim
