// wmma, mma.sync, ldmatrix, stmatrix, movmatrix.
//
// Accumulation: products are exact, the sum over k and the accumulator is formed in double and
// rounded once to the accumulator's type. mma.sp expands A with its zeros first. wmma fragments
// hold element lane * n + i of the matrix in row-major order (the ISA leaves the order open); mma
// fragments lie as the ISA defines.
#include "cudasim/exec/handlers_matrix.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "cudasim/exec/half.hpp"

namespace cudasim::handlers {
namespace {

std::uint16_t double_to_half(double v) {
  // Round to odd in float first, so that the second rounding is right.
  float f = static_cast<float>(v);
  if (static_cast<double>(f) != v && std::isfinite(v)) {
    auto u = std::bit_cast<std::uint32_t>(f);
    if (std::fabs(static_cast<double>(f)) > std::fabs(v)) --u;
    f = std::bit_cast<float>(u | 1u);
  }
  return float_to_half(f);
}
double eight_bits(std::uint32_t b, int exponent_bits) {
  const int mantissa_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t magnitude = b & 0x7f;
  const auto e = static_cast<int>(magnitude >> mantissa_bits);
  const auto m = static_cast<int>(magnitude & ((1u << mantissa_bits) - 1));
  double v =
      std::ldexp(e == 0 ? m : m + (1 << mantissa_bits), (e == 0 ? 1 : e) - bias - mantissa_bits);
  if (exponent_bits == 4 && magnitude == 0x7f) v = NAN;
  if (exponent_bits == 5 && e == 31) v = m == 0 ? INFINITY : NAN;
  return b & 0x80 ? -v : v;
}

std::uint64_t register_of(const std::uint8_t* r, std::int32_t offset, unsigned lane,
                          unsigned bytes) {
  std::uint64_t v = 0;
  std::memcpy(&v, r + offset + lane * bytes, bytes);
  return v;
}
void set_register(std::uint8_t* r, std::int32_t offset, unsigned lane, unsigned bytes,
                  std::uint64_t v) {
  std::memcpy(r + offset + lane * bytes, &v, bytes);
}
void put_element(std::uint64_t& raw, unsigned index, Type type, double v) {
  std::uint64_t bits = 0;
  switch (type) {
    case Type::f16:
      bits = double_to_half(v);
      break;
    case Type::f32:
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(v));
      break;
    case Type::f64:
      bits = std::bit_cast<std::uint64_t>(v);
      break;
    default:
      bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(v));
      break;
  }
  if (type == Type::f16)
    raw = (raw & ~(std::uint64_t{0xffff} << (16 * index))) | bits << (16 * index);
  else
    raw = bits;
}

/// Row and column of element i of register n of a lane.
void place(const MatrixShape& s, char which, bool wmma, unsigned registers, unsigned per_register,
           unsigned lane, unsigned n, unsigned i, unsigned& row, unsigned& column) {
  const unsigned rows = which == 'b' ? s.k : s.m, columns = which == 'a' ? s.k : s.n;
  if (wmma) {
    const unsigned index =
        (lane * registers * per_register + n * per_register + i) % (rows * columns);
    row = index / columns;
    column = index % columns;
    return;
  }
  const unsigned group = lane >> 2, in_group = lane & 3;
  if (which == 'a') {
    row = group + (s.m == 16 ? 8 * (n & 1) : 0);
    column = in_group * per_register + i + (s.m == 16 ? n >> 1 : n) * 4 * per_register;
  } else if (which == 'b') {
    row = in_group * per_register + i + n * 4 * per_register;
    column = group;
  } else {  // two neighbours of a row, then eight rows down
    const unsigned e = n * per_register + i;
    row = group + 8 * (e >> 1);
    column = in_group * 2 + (e & 1);
  }
}

/// Puts a fragment's elements where they belong in the matrix, as number(bits of the element).
template <unsigned Bits, typename Number>
void gather_as(const std::uint8_t* r, const std::int32_t* offsets, unsigned registers,
               const std::uint16_t* places, double* matrix, Number&& number) {
  constexpr unsigned bytes = Bits == 64 ? 8 : 4, per = Bits == 64 ? 1 : 32 / Bits;
  constexpr std::uint64_t mask = Bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << Bits) - 1;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    for (unsigned n = 0; n < registers; ++n) {
      std::uint64_t raw = 0;
      std::memcpy(&raw, r + offsets[n] + lane * bytes, bytes);
      for (unsigned i = 0; i < per; ++i) matrix[*places++] = number(raw >> (i * Bits) & mask);
    }
  }
}
void gather(const std::uint8_t* r, const std::int32_t* offsets, unsigned registers, Type type,
            const std::uint16_t* places, double* matrix) {
  const auto with = [&]<unsigned Bits>(auto&& number) {
    gather_as<Bits>(r, offsets, registers, places, matrix, number);
  };
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  switch (type) {
    case Type::f16:
      return with.operator()<16>(
          [](std::uint64_t v) { return half_to_float(static_cast<std::uint16_t>(v)); });
    case Type::bf16:
      return with.operator()<16>(
          [&](std::uint64_t v) { return std::bit_cast<float>(low(v) << 16); });
    case Type::tf32:  // the low bits are ignored
      return with.operator()<32>(
          [&](std::uint64_t v) { return std::bit_cast<float>(low(v) & ~0x1fffu); });
    case Type::f32:
      return with.operator()<32>([&](std::uint64_t v) { return std::bit_cast<float>(low(v)); });
    case Type::f64:
      return with.operator()<64>([](std::uint64_t v) { return std::bit_cast<double>(v); });
    case Type::s32:
      return with.operator()<32>([](std::uint64_t v) { return static_cast<std::int32_t>(v); });
    case Type::s8:
      return with.operator()<8>([](std::uint64_t v) { return static_cast<std::int8_t>(v); });
    case Type::e4m3:
      return with.operator()<8>([&](std::uint64_t v) { return eight_bits(low(v), 4); });
    case Type::e5m2:
      return with.operator()<8>([&](std::uint64_t v) { return eight_bits(low(v), 5); });
    case Type::s4:
      return with.operator()<4>(
          [](std::uint64_t v) { return static_cast<std::int8_t>(v << 4) >> 4; });
    case Type::u4:
      return with.operator()<4>([](std::uint64_t v) { return static_cast<double>(v); });
    case Type::b1:
      return with.operator()<1>([](std::uint64_t v) { return static_cast<double>(v); });
    default:
      return with.operator()<8>([](std::uint64_t v) { return static_cast<double>(v); });
  }
}

/// Puts the elements of a sparse A, m x k / 2, where the metadata says, m x k with zeros. Four bits
/// tell two 2-bit places in a chunk: of 4 elements of 16 or 8 bits, of 4 pairs of 4-bit ones, of
/// the halves of 2 tf32. A row's bits lie, 16 at a time, for 16-bit types and tf32 in thread 0
/// (1: the second half) of the row's group of four, the row eight below in the upper half; for
/// smaller ones in thread 0 (odd ones: the row eight below, 2 and 3: the second half).
void expand(const std::uint8_t* r, std::int32_t metadata, const MatrixOp& o, const double* packed,
            double* a) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(r + metadata);
  const unsigned k = o.shape.k, bits = matrix_element_bits(o.a_type), columns = k / 2;
  const unsigned chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4, kept = chunk / 2;
  const unsigned threads = 4 / metadata_selectors(o.shape, o.a_type);
  for (unsigned row = 0; row < o.shape.m; ++row) {
    const unsigned first = (row % 8) * 4 + o.selector * threads;
    std::uint64_t places = 0;
    if (bits >= 16) {
      for (unsigned t = 0; t < threads; ++t)
        places |= std::uint64_t{words[first + t] >> (row / 8 * 16) & 0xffff} << (16 * t);
    } else {
      for (unsigned t = 0; t < threads / 2; ++t)
        places |= std::uint64_t{words[first + 2 * t + row / 8]} << (32 * t);
    }
    for (unsigned x = 0; x < k; ++x) a[row * k + x] = 0;
    for (unsigned x = 0; x < columns; ++x) {
      const auto four = static_cast<unsigned>(places >> (4 * (x / kept)) & 15);
      const unsigned which = x % kept;  // of the chunk's elements that are there
      const unsigned place = bits == 32  ? (four & 3) / 2
                             : bits == 4 ? (four >> (2 * (which / 2)) & 3) * 2 + which % 2
                                         : four >> (2 * which) & 3;
      a[row * k + x / kept * chunk + place] = packed[row * columns + x];
    }
  }
}

}  // namespace

unsigned metadata_selectors(const MatrixShape& s, Type type) {
  if (s.m != 16 || s.n != 8) return 0;
  switch (matrix_element_bits(type)) {
    case 32:
      return s.k == 8 ? 4 : s.k == 16 ? 2 : 0;
    case 16:
      return s.k == 16 ? 4 : s.k == 32 ? 2 : 0;
    case 8:
      return s.k == 64 ? 1 : s.k == 32 && (type == Type::s8 || type == Type::u8) ? 2 : 0;
    case 4:
      return s.k == 64 ? 2 : s.k == 128 ? 1 : 0;
    default:
      return 0;
  }
}

unsigned matrix_element_bits(Type type) {
  switch (type) {
    case Type::b1:
      return 1;
    case Type::s4:
    case Type::u4:
      return 4;
    case Type::tf32:
      return 32;
    default:
      return type_bytes(type) * 8;
  }
}

const std::uint16_t* matrix_places(const MatrixShape& s, char which, bool wmma, unsigned registers,
                                   Type type) {
  using Key = std::tuple<unsigned, unsigned, unsigned, char, bool, unsigned, unsigned>;
  static std::mutex mutex;
  static std::map<Key, std::vector<std::uint16_t>> all;
  const unsigned bits = matrix_element_bits(type), per = bits == 64 ? 1 : 32 / bits,
                 columns = which == 'a' ? s.k : s.n;
  const std::lock_guard lock(mutex);
  auto& places = all[{s.m, s.n, s.k, which, wmma, registers, per}];
  if (!places.empty()) return places.data();
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    for (unsigned n = 0; n < registers; ++n) {
      for (unsigned i = 0; i < per; ++i) {
        unsigned row = 0, column = 0;
        place(s, which, wmma, registers, per, lane, n, i, row, column);
        places.push_back(static_cast<std::uint16_t>(row * columns + column));
      }
    }
  }
  return places.data();
}

void matrix_multiply(std::uint8_t* r, const Op& op, std::uint32_t, Warp&) {
  const MatrixOp o = unpack_matrix_op(*op.extra);
  const std::int32_t* offsets = op.extra->registers.data();
  const unsigned m = o.shape.m, n = o.shape.n, k = o.shape.k;
  double a[32 * 256], b[256 * 32], c[32 * 32];
  if (o.sparse) {
    double packed[16 * 64];
    gather(r, offsets + o.d, o.a, o.a_type, o.a_places, packed);
    expand(r, op.extra->registers.back(), o, packed, a);
  } else {
    gather(r, offsets + o.d, o.a, o.a_type, o.a_places, a);
  }
  gather(r, offsets + o.d + o.a, o.b, o.b_type, o.b_places, b);
  gather(r, offsets + o.d + o.a + o.b, o.c, o.c_type, o.c_places, c);
  for (unsigned i = 0; i < m; ++i) {
    double sums[32] = {};
    for (unsigned x = 0; x < k; ++x) {
      const double v = a[i * k + x];
      const double* row = b + x * n;
      if (o.bit_operation == 1) {
        for (unsigned j = 0; j < n; ++j) sums[j] += v != row[j];
      } else {
        for (unsigned j = 0; j < n; ++j) sums[j] += v * row[j];
      }
    }
    for (unsigned j = 0; j < n; ++j) {
      double v = c[i * n + j] + sums[j];
      if (o.d_type == Type::s32) {
        if (o.saturate) v = v > 2147483647.0 ? 2147483647.0 : v < -2147483648.0 ? -2147483648.0 : v;
      }
      c[i * n + j] = v;
    }
  }
  const unsigned bits = matrix_element_bits(o.d_type), bytes = bits == 64 ? 8 : 4,
                 per = bits == 64 ? 1 : 32 / bits;
  const std::uint16_t* places = o.d_places;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    for (unsigned reg = 0; reg < o.d; ++reg) {
      std::uint64_t raw = 0;
      for (unsigned i = 0; i < per; ++i) put_element(raw, i, o.d_type, c[*places++]);
      set_register(r, offsets[reg], lane, bytes, raw);
    }
  }
}

// r4 address, r5 stride or 0; values describe the fragment; aux bit 0: 32-bit address, bit 4:
// shared.
void matrix_transfer(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  const auto& v = op.extra->values;
  MatrixShape shape{static_cast<unsigned>(v[0]), static_cast<unsigned>(v[1]),
                    static_cast<unsigned>(v[2])};
  const auto which = static_cast<char>(v[3]);
  const auto type = static_cast<Type>(v[4]);
  const bool store = v[5] != 0, row_major = v[6] != 0;
  const auto registers = static_cast<unsigned>(op.extra->registers.size());
  const unsigned bits = matrix_element_bits(type), bytes = bits == 64 ? 8 : 4,
                 per = bits == 64 ? 1 : 32 / bits;
  const unsigned rows = which == 'b' ? shape.k : shape.m,
                 columns = which == 'a' ? shape.k : shape.n;
  Counters& c = w.worker->counters;
  std::uint64_t sectors[1024];
  unsigned count = 0;
  bool shared = false;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if (!(mask >> lane & 1)) continue;
    std::uint64_t base = op.aux & 1 ? reinterpret_cast<std::uint32_t*>(r + op.r[4])[lane]
                                    : reinterpret_cast<std::uint64_t*>(r + op.r[4])[lane];
    base += static_cast<std::uint64_t>(op.imm);
    const std::uint64_t stride = op.r[5] != 0 ? reinterpret_cast<std::uint32_t*>(r + op.r[5])[lane]
                                              : (row_major ? columns : rows);
    for (unsigned n = 0; n < registers; ++n) {
      std::uint64_t raw = store ? register_of(r, op.extra->registers[n], lane, bytes) : 0;
      for (unsigned i = 0; i < per; ++i) {
        unsigned row = 0, column = 0;
        place(shape, which, true, registers, per, lane, n, i, row, column);
        const std::uint64_t index = row_major ? row * stride + column : column * stride + row;
        const std::uint64_t address = base + index * bits / 8;
        const unsigned size = bits < 8 ? 1 : bits / 8;
        const std::uint8_t* p = nullptr;
        if (op.aux & 16) {
          shared = true;
          p = address % size ? nullptr : shared_at(w, address, size);
        } else if (address % size == 0) {
          const Window& cached = w.worker->windows[static_cast<std::size_t>(&op - w.worker->code)];
          const Window* window =
              address - cached.base < cached.size && size <= cached.size - (address - cached.base)
                  ? &cached
                  : resolve(w, op, address, size);
          if (window != nullptr && (!store || window->writable)) {
            p = reinterpret_cast<const std::uint8_t*>(address);
            shared = window->space == 1;
            const std::uint64_t s = address >> 5;
            unsigned k = count;
            while (k > 0 && sectors[k - 1] != s) --k;
            if (k == 0 && count < 1024) {
              sectors[count++] = s;
              if (!store && window->space == 0)
                c.l1_hit_sectors += w.block->l1.take(s >> 2, 1u << (s & 3)) == 0 ? 1 : 0;
            }
            std::uint64_t* map = store ? window->written_bits : window->read_bits;
            if (map != nullptr)
              map[(s - window->sector0) >> 6] |= std::uint64_t{1} << ((s - window->sector0) & 63);
          }
        }
        if (p == nullptr)
          return memory_fault(w, address, size, lane, store, op.aux & 16 ? "shared" : "");
        if (store) {
          const std::uint64_t value = bits == 64 ? raw : raw >> (i * bits);
          std::memcpy(const_cast<std::uint8_t*>(p), &value, size);
        } else if (bits < 8) {
          const std::uint64_t value = *p >> (index * bits % 8) & ((1u << bits) - 1);
          raw |= value << (i * bits);
        } else {
          std::uint64_t value = 0;
          std::memcpy(&value, p, size);
          raw |= bits == 64 ? value : value << (i * bits);
        }
      }
      if (!store) set_register(r, op.extra->registers[n], lane, bytes, raw);
    }
  }
  const std::uint64_t moved = std::uint64_t{rows} * columns * bits / 8;
  if (shared) {
    ++(store ? c.shared_store_requests : c.shared_load_requests);
    (store ? c.shared_store_wavefronts : c.shared_load_wavefronts) += (moved + 127) / 128;
    (store ? c.shared_store_bytes : c.shared_load_bytes) += moved;
  } else {
    ++(store ? c.global_store_requests : c.global_load_requests);
    (store ? c.global_store_sectors : c.global_load_sectors) += count;
    (store ? c.global_store_bytes : c.global_load_bytes) += moved;
  }
}

namespace {

/// Host addresses of the 8 * n rows whose addresses lanes 0, 1, … give; false after a fault.
bool matrix_rows(std::uint8_t* r, const Op& op, Warp& w, unsigned n, bool store,
                 std::uint8_t** rows) {
  for (unsigned lane = 0; lane < 8 * n; ++lane) {
    const std::uint64_t a =
        (op.aux & 1 ? std::uint64_t{reinterpret_cast<std::uint32_t*>(r + op.r[4])[lane]}
                    : reinterpret_cast<std::uint64_t*>(r + op.r[4])[lane]) +
        static_cast<std::uint64_t>(op.imm);
    if (op.aux & 16) {
      rows[lane] = a % 16 ? nullptr : shared_at(w, op.aux & 1 ? a & 0xffffffffu : a, 16);
    } else {
      const Window* window = a % 16 ? nullptr : resolve(w, op, a, 16);
      rows[lane] = window == nullptr ? nullptr : reinterpret_cast<std::uint8_t*>(a);
    }
    if (rows[lane] == nullptr) {
      memory_fault(w, a, 16, lane, store, "shared");
      return false;
    }
  }
  Counters& c = w.worker->counters;
  ++(store ? c.shared_store_requests : c.shared_load_requests);
  (store ? c.shared_store_bytes : c.shared_load_bytes) += 128 * n;
  // One pass a matrix, more when its rows share banks.
  for (unsigned m = 0; m < n; ++m) {
    unsigned counts[8] = {}, most = 1;
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned bank =
          static_cast<unsigned>(reinterpret_cast<std::uint64_t>(rows[8 * m + i]) >> 4 & 7);
      most = ++counts[bank] > most ? counts[bank] : most;
    }
    (store ? c.shared_store_wavefronts : c.shared_load_wavefronts) += most;
  }
  return true;
}

}  // namespace

// registers: destinations; target: transposed.
void load_matrix(std::uint8_t* r, const Op& op, std::uint32_t, Warp& w) {
  std::uint8_t* rows[32] = {};
  const auto n = static_cast<unsigned>(op.extra->registers.size());
  if (!matrix_rows(r, op, w, n, false, rows)) return;
  std::uint32_t values[4][kWarpSize];
  for (unsigned m = 0; m < n; ++m) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      std::uint16_t pair[2];
      for (unsigned i = 0; i < 2; ++i) {
        const unsigned row = op.target ? 2 * (lane & 3) + i : lane >> 2,
                       column = op.target ? lane >> 2 : 2 * (lane & 3) + i;
        std::memcpy(&pair[i], rows[8 * m + row] + 2 * column, 2);
      }
      values[m][lane] = pair[0] | static_cast<std::uint32_t>(pair[1]) << 16;
    }
  }
  for (unsigned m = 0; m < n; ++m)
    std::memcpy(r + op.extra->registers[m], values[m], sizeof values[m]);
}
void store_matrix(std::uint8_t* r, const Op& op, std::uint32_t, Warp& w) {
  std::uint8_t* rows[32] = {};
  const auto n = static_cast<unsigned>(op.extra->registers.size());
  if (!matrix_rows(r, op, w, n, true, rows)) return;
  for (unsigned m = 0; m < n; ++m) {
    const auto* values = reinterpret_cast<const std::uint32_t*>(r + op.extra->registers[m]);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      for (unsigned i = 0; i < 2; ++i) {
        const unsigned row = op.target ? 2 * (lane & 3) + i : lane >> 2,
                       column = op.target ? lane >> 2 : 2 * (lane & 3) + i;
        const auto half = static_cast<std::uint16_t>(values[lane] >> (16 * i));
        std::memcpy(rows[8 * m + row] + 2 * column, &half, 2);
      }
    }
  }
}
void transpose_matrix(std::uint8_t* r, const Op& op, std::uint32_t, Warp&) {
  std::uint16_t matrix[8][8];
  const auto* a = reinterpret_cast<const std::uint32_t*>(r + op.r[1]);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    for (unsigned i = 0; i < 2; ++i)
      matrix[lane >> 2][2 * (lane & 3) + i] = static_cast<std::uint16_t>(a[lane] >> (16 * i));
  }
  auto* d = reinterpret_cast<std::uint32_t*>(r + op.r[0]);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    d[lane] = matrix[2 * (lane & 3)][lane >> 2] |
              static_cast<std::uint32_t>(matrix[2 * (lane & 3) + 1][lane >> 2]) << 16;
  }
}

MatrixOp unpack_matrix_op(const Extra& extra) {
  const auto& v = extra.values;
  MatrixOp o;
  o.shape = {static_cast<unsigned>(v[0]), static_cast<unsigned>(v[1]), static_cast<unsigned>(v[2])};
  o.d = static_cast<unsigned>(v[3]);
  o.a = static_cast<unsigned>(v[4]);
  o.b = static_cast<unsigned>(v[5]);
  o.c = static_cast<unsigned>(v[6]);
  o.d_type = static_cast<Type>(v[7]);
  o.a_type = static_cast<Type>(v[8]);
  o.b_type = static_cast<Type>(v[9]);
  o.c_type = static_cast<Type>(v[10]);
  o.wmma = v[11] != 0;
  o.saturate = v[12] != 0;
  o.bit_operation = static_cast<int>(v[13]);
  const auto places = [&](std::size_t i) { return reinterpret_cast<const std::uint16_t*>(v[i]); };
  o.a_places = places(14);
  o.b_places = places(15);
  o.c_places = places(16);
  o.d_places = places(17);
  o.sparse = v[18] != 0;
  o.selector = static_cast<unsigned>(v[19]);
  return o;
}

}  // namespace cudasim::handlers
