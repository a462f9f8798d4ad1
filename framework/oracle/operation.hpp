#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/inputs.hpp"
#include "oracle/signature.hpp"
#include "oracle/tensor.hpp"
#include "oracle/tolerance.hpp"

namespace hone::oracle {

/// Named extents, in order: {"rows", 3}, {"cols", 1025}.
struct Shape {
  std::vector<std::pair<std::string, std::int64_t>> extents;
  std::source_location where = {};

  /// "rows=3,cols=1025"
  std::string name() const;
  /// Throws std::out_of_range for an unknown extent.
  std::int64_t operator[](std::string_view extent) const;
  /// Product of the extents.
  std::int64_t elements() const;
};

/// One call of the operation: an argument per parameter but the stream. An output's tensor fixes
/// its size; its content is never sent.
struct Problem {
  std::vector<Argument> arguments;
  const Tensor& tensor(std::size_t parameter) const;
  std::span<const float> floats(std::size_t parameter) const { return tensor(parameter).floats(); }
  std::int64_t integer(std::size_t parameter) const;
  double real(std::size_t parameter) const;
};

/// Least work that a shape asks for, whatever the implementation.
struct Cost {
  double bytes = 0;  ///< compulsory traffic: each input read once, each output written once
  double flops = 0;
};

/// Of what cudaMalloc returns, in bytes (CUDA programming guide, device memory accesses).
inline constexpr std::size_t malloc_alignment = 256;

/// What a suite defines, once, in its oracle.cpp.
struct Operation {
  std::string name;
  Signature signature;
  std::vector<Shape> shapes;        ///< verified, each by several input families
  std::vector<Shape> bench_shapes;  ///< timed; small enough for the simulator
  std::vector<Family> families;     ///< input families that make sense here
  /// Bytes that buffers' addresses are multiples of, as op.h promises; below what cudaMalloc gives,
  /// calls with addresses that are multiples of no more than this are tried.
  std::size_t alignment = malloc_alignment;
  /// Arguments for a shape; draws every input from `inputs`.
  std::function<Problem(const Shape&, Inputs& inputs)> make;
  /// What each output (and updated buffer) must hold, in parameter order, with the error allowed.
  std::function<std::vector<Expected>(const Problem&)> reference;
  std::function<Cost(const Shape&)> cost;
};

/// Shapes n=…, one a value.
std::vector<Shape> shapes_1d(std::initializer_list<std::int64_t> values,
                             std::source_location where = std::source_location::current());
/// Shapes rows=…,cols=…, one a pair.
std::vector<Shape> shapes_2d(std::initializer_list<std::pair<std::int64_t, std::int64_t>> values,
                             std::source_location where = std::source_location::current());

}  // namespace hone::oracle

/// The suite's operation: each oracle.cpp defines it; the mains of verify and bench call it.
hone::oracle::Operation hone_operation();
