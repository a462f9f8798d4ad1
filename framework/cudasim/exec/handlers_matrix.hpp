#pragma once

#include "cudasim/exec/decoder.hpp"

namespace cudasim::handlers {

struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
};
/// A decoded multiply: register counts and types of d, a, b, c.
struct MatrixOp {
  MatrixShape shape;
  unsigned d = 0, a = 0, b = 0, c = 0;
  Type d_type{}, a_type{}, b_type{}, c_type{};
  bool wmma = false, saturate = false;
  int bit_operation = 0;  ///< b1: 1 xor.popc, 2 and.popc
  /// mma.sp: A holds every second element; the last register tells which, in the threads that the
  /// selector names.
  bool sparse = false;
  unsigned selector = 0;
  /// Index in the row-major matrix of each fragment's elements, by lane, register and element.
  const std::uint16_t *a_places = nullptr, *b_places = nullptr, *c_places = nullptr,
                      *d_places = nullptr;
};
/// The places of a fragment ('a', 'b', 'c' or 'd'), made once.
const std::uint16_t* matrix_places(const MatrixShape& shape, char which, bool wmma,
                                   unsigned registers, Type type);
MatrixOp unpack_matrix_op(const Extra& extra);
unsigned matrix_element_bits(Type type);
/// mma.sp: how many values the sparsity selector may have; 0 where there is no such shape.
unsigned metadata_selectors(const MatrixShape& shape, Type a_type);

void matrix_multiply(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void matrix_transfer(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void load_matrix(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void store_matrix(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);
void transpose_matrix(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w);

}  // namespace cudasim::handlers
