#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "oracle/signature.hpp"

namespace hone::oracle {

/// A contiguous array of one element type; the host's copy of a device buffer.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Element element, std::size_t count)
      : element_(element), bytes_(count * size_of(element)) {}

  Element element() const { return element_; }
  std::size_t count() const { return bytes_.size() / size_of(element_); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<std::byte> bytes() { return bytes_; }
  bool operator==(const Tensor&) const = default;

  /// The elements as T, which must be the tensor's element type.
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  std::span<float> floats() { return as<float>(); }
  std::span<const float> floats() const { return as<float>(); }

 private:
  Element element_ = Element::float32;
  std::vector<std::byte> bytes_;
};

/// A scalar argument, converted to the parameter's type when the call is made.
using Scalar = std::variant<std::int64_t, double>;

/// One argument: a tensor for a pointer, a number for a scalar.
using Argument = std::variant<Tensor, Scalar>;

}  // namespace hone::oracle
