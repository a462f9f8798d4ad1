#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace hone::oracle {

enum class Element : std::uint8_t { float32, float64, int32, int64, uint8 };

/// Bytes of one element.
std::size_t size_of(Element element);

enum class Role : std::uint8_t {
  input,    ///< const T*: device memory that must come back unchanged
  output,   ///< T*: device memory, poisoned before the call
  updated,  ///< T* that is read and written
  scalar,   ///< passed by value
  stream,   ///< cudaStream_t
};

struct Parameter {
  std::string name;
  Role role = Role::scalar;
  Element element = Element::float32;  ///< meaningless for a stream
  bool is_buffer() const {
    return role == Role::input || role == Role::output || role == Role::updated;
  }
};

/// What a candidate's entry looks like to the caller; it returns cudaError_t.
struct Signature {
  std::string entry;
  std::vector<Parameter> parameters;

  /// Derived from the C declaration: `Signature::of<decltype(saxpy)>("saxpy", {"n", "alpha", …})`.
  /// One name per parameter; const T* is an input, T* an output.
  template <class Function>
  static Signature of(std::string entry, std::vector<std::string> names);

  /// The same with parameter `name` (an output) read as well as written.
  Signature updating(const std::string& name) const;
};

namespace detail {
template <class T>
constexpr Element element_of() {
  if constexpr (std::is_same_v<T, float>) {
    return Element::float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return Element::float64;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
    return Element::int32;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    return Element::int64;
  } else {
    static_assert(sizeof(T) == 1, "no such element type in a signature");
    return Element::uint8;
  }
}

template <class T>
Parameter parameter_of(std::string name) {
  if constexpr (std::is_same_v<T, CUstream_st*>) {
    return {std::move(name), Role::stream, Element::uint8};
  } else if constexpr (std::is_pointer_v<T>) {
    using Pointee = std::remove_pointer_t<T>;
    return {std::move(name), std::is_const_v<Pointee> ? Role::input : Role::output,
            element_of<std::remove_const_t<Pointee>>()};
  } else {
    return {std::move(name), Role::scalar, element_of<T>()};
  }
}

/// Throws std::logic_error unless `names` has `count` entries.
void expect_names(const std::string& entry, std::size_t names, std::size_t count);

template <class Function>
struct Declaration;
template <class Result, class... Arguments>
struct Declaration<Result(Arguments...)> {
  static_assert(sizeof(Result) == sizeof(int), "an entry returns cudaError_t");
  static std::vector<Parameter> parameters(std::vector<std::string> names) {
    std::size_t i = 0;
    return {parameter_of<Arguments>(std::move(names[i++]))...};
  }
  static constexpr std::size_t count = sizeof...(Arguments);
};
}  // namespace detail

template <class Function>
Signature Signature::of(std::string entry, std::vector<std::string> names) {
  detail::expect_names(entry, names.size(), detail::Declaration<Function>::count);
  return {std::move(entry), detail::Declaration<Function>::parameters(std::move(names))};
}

}  // namespace hone::oracle
