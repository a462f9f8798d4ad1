// wmma, mma.sync and the matrix moves.
#include <cstdio>

#include "cudasim/exec/handlers_matrix.hpp"

namespace cudasim {
namespace {

bool take_shape(Modifiers& m, handlers::MatrixShape& shape) {
  const std::string_view word = m.take_prefix("m");
  return std::sscanf(std::string(word).c_str(), "m%un%uk%u", &shape.m, &shape.n, &shape.k) == 3;
}

}  // namespace

FunctionDecoder::Result FunctionDecoder::matrix(Modifiers& m) {
  const std::string& root = at_->root;
  const auto all_lanes = [](Op& op) {
    op.members_known = 1;
    op.target = kFullMask;
  };
  const auto items = [](const Operand& o) -> std::vector<Operand> {
    return o.kind == Operand::Kind::vector ? o.items : std::vector<Operand>{o};
  };
  const bool sparse = root == "mma" && (m.take("sp") || m.take("sp::ordered_metadata"));
  if (!m.take("sync")) return Result::unsupported;
  m.take("aligned");

  if (root == "movmatrix") {
    if (!m.take("m8n8") || !m.take("trans") || !m.take("b16") || !m.empty())
      return Result::unsupported;
    pipe_ = Pipe::shuffle;
    const std::int32_t a = source(operand(1), Type::b32), d = destination(operand(0), 4);
    Op& op = emit(handlers::transpose_matrix, Step::sync);
    all_lanes(op);
    op.r[0] = d;
    op.r[1] = a;
    return Result::done;
  }
  if (root == "ldmatrix" || root == "stmatrix") {
    const bool load = root == "ldmatrix";
    if (!m.take("m8n8")) return Result::unsupported;
    const std::string_view count = m.take_any({"x1", "x2", "x4"});
    const bool transposed = m.take("trans");
    const bool shared = m.take("shared") || m.take("shared::cta");
    if (!m.take("b16") || !m.empty() || count.empty()) return Result::unsupported;
    pipe_ = load ? Pipe::load : Pipe::store;
    const std::vector<Operand> registers = items(operand(load ? 0 : 1));
    if (registers.size() != static_cast<std::size_t>(count[1] - '0'))
      fail("wrong number of registers");
    Op proto;
    address(proto, operand(load ? 1 : 0), shared ? Space::shared : Space::generic);
    std::vector<std::int32_t> offsets;
    for (const Operand& o : registers)
      offsets.push_back(load ? destination(o, 4) : source(o, Type::b32));
    Op& op = emit(load ? handlers::load_matrix : handlers::store_matrix, Step::sync);
    op.members_known = 1;
    op.target = kFullMask;
    op.r[4] = proto.r[4];
    op.imm = proto.imm;
    op.aux = static_cast<std::uint8_t>(proto.aux | (shared ? 16 : 0));
    extra(op).registers = std::move(offsets);
    // Transposition is told by the handler, the member mask being implied.
    op.fn =
        load ? (transposed ? Handler{[](std::uint8_t* r, const Op& o, std::uint32_t mask, Warp& w) {
          Op t = o;
          t.target = 1;
          handlers::load_matrix(r, t, mask, w);
        }}
                           : Handler{[](std::uint8_t* r, const Op& o, std::uint32_t mask, Warp& w) {
                               Op t = o;
                               t.target = 0;
                               handlers::load_matrix(r, t, mask, w);
                             }})
             : (transposed ? Handler{[](std::uint8_t* r, const Op& o, std::uint32_t mask, Warp& w) {
                 Op t = o;
                 t.target = 1;
                 handlers::store_matrix(r, t, mask, w);
               }}
                           : Handler{[](std::uint8_t* r, const Op& o, std::uint32_t mask, Warp& w) {
                               Op t = o;
                               t.target = 0;
                               handlers::store_matrix(r, t, mask, w);
                             }});
    if (!shared) return Result::unsupported;
    return Result::done;
  }

  handlers::MatrixShape shape;
  const bool wmma = root == "wmma";
  if (wmma && !m.take("mma")) {
    const bool store = m.take("store");
    if (!store && !m.take("load")) return Result::unsupported;
    const std::string_view which = m.take_any({"a", "b", "c", "d"});
    const std::string_view layout = m.take_any({"row", "col"});
    if (which.empty() || layout.empty() || !take_shape(m, shape)) return Result::unsupported;
    const std::string_view space = m.take_any({"global", "shared", "shared::cta"});
    const Type type = m.take_type();
    if (!m.empty() || type == Type::none) return Result::unsupported;
    pipe_ = store ? Pipe::store : Pipe::load;
    const bool shared = space.starts_with("shared");
    const Operand& memory = operand(store ? 0 : 1);
    Op proto;
    address(proto, memory, shared ? Space::shared : Space::generic);
    const bool wide = type == Type::f64;
    std::vector<std::int32_t> offsets;
    for (const Operand& o : items(operand(store ? 1 : 0)))
      offsets.push_back(store ? source_bytes(o, wide ? 8 : 4) : destination(o, wide ? 8 : 4));
    const std::int32_t stride = operands() > 2 ? source(operand(2), Type::b32) : 0;
    Op& op = emit(handlers::matrix_transfer, Step::sync);
    all_lanes(op);
    op.r[4] = proto.r[4];
    op.r[5] = stride;
    op.imm = proto.imm;
    op.aux = static_cast<std::uint8_t>(proto.aux | (shared ? 16 : 0));
    Extra& e = extra(op);
    e.registers = std::move(offsets);
    const char letter = which[0] == 'd' ? 'c' : which[0];
    e.values = {shape.m, shape.n,        shape.k, letter, static_cast<std::int64_t>(type),
                store,   layout == "row"};
    return Result::done;
  }

  // Multiplication: wmma.mma.sync.aligned.row.col.shape.d.c or .d.a.b.c
  const std::string_view la = m.take_any({"row", "col"});
  const std::string_view lb = m.take_any({"row", "col"});
  if (!take_shape(m, shape) || la.empty() || lb.empty()) return Result::unsupported;
  if (!wmma && (la != "row" || lb != "col"))
    return Result::unsupported;  // m8n8k4 of f16 alone has others
  std::vector<Type> types;
  for (Type t = m.take_type(); t != Type::none; t = m.take_type()) types.push_back(t);
  const bool saturate = m.take("satfinite");
  m.take("rn");
  int bit_operation = 0;
  if (m.take("xor"))
    bit_operation = 1;
  else if (m.take("and"))
    bit_operation = 2;
  if (bit_operation != 0 && !m.take("popc")) return Result::unsupported;
  if (!m.empty()) return Result::unsupported;
  handlers::MatrixOp o;
  o.shape = shape;
  o.wmma = wmma;
  if (types.size() == 2) {
    o.d_type = types[0];
    o.c_type = types[1];
    o.a_type = o.b_type = Type::f16;
  } else if (types.size() == 4) {
    o.d_type = types[0];
    o.a_type = types[1];
    o.b_type = types[2];
    o.c_type = types[3];
  } else {
    return Result::unsupported;
  }
  if (!wmma && shape.m == 8 && shape.k == 4 && o.a_type == Type::f16) return Result::unsupported;
  if (shape.m > 32 || shape.n > 32 || shape.k > 256 || operands() != (sparse ? 6u : 4u))
    return Result::unsupported;
  handlers::MatrixShape a_shape = shape;
  if (sparse) {
    a_shape.k /= 2;
    o.sparse = true;
    o.selector = static_cast<unsigned>(operand(5).value);
    if (operand(5).kind != Operand::Kind::integer ||
        o.selector >= handlers::metadata_selectors(shape, o.a_type))
      return Result::unsupported;
  }
  const auto wide = [](Type t) { return t == Type::f64; };
  std::vector<std::int32_t> offsets;
  const std::vector<Operand> d = items(operand(0)), a = items(operand(1)), b = items(operand(2)),
                             c = items(operand(3));
  for (const Operand& x : d) offsets.push_back(destination(x, wide(o.d_type) ? 8 : 4));
  for (const Operand& x : a) offsets.push_back(source_bytes(x, wide(o.a_type) ? 8 : 4));
  for (const Operand& x : b) offsets.push_back(source_bytes(x, wide(o.b_type) ? 8 : 4));
  for (const Operand& x : c) offsets.push_back(source_bytes(x, wide(o.c_type) ? 8 : 4));
  if (sparse) offsets.push_back(source(operand(4), Type::b32));
  // The fragments must hold the matrices exactly (wmma's f16 ones hold them twice).
  const auto fits = [&](std::size_t registers, Type t, unsigned elements) {
    const unsigned bits = handlers::matrix_element_bits(t);
    const std::size_t held = registers * (bits == 64 ? 1 : 32 / bits) * kWarpSize;
    return bits != 0 && (wmma ? held % elements == 0 && held != 0 : held == elements);
  };
  if (!fits(d.size(), o.d_type, shape.m * shape.n) ||
      !fits(a.size(), o.a_type, shape.m * a_shape.k) ||
      !fits(b.size(), o.b_type, shape.k * shape.n) ||
      !fits(c.size(), o.c_type, shape.m * shape.n)) {
    return Result::unsupported;
  }
  o.d = static_cast<unsigned>(d.size());
  o.a = static_cast<unsigned>(a.size());
  o.b = static_cast<unsigned>(b.size());
  o.c = static_cast<unsigned>(c.size());
  pipe_ = Pipe::tensor;
  Op& op = emit(handlers::matrix_multiply, Step::sync);
  all_lanes(op);
  Extra& e = extra(op);
  e.registers = std::move(offsets);
  e.values = {shape.m,
              shape.n,
              shape.k,
              o.d,
              o.a,
              o.b,
              o.c,
              static_cast<std::int64_t>(o.d_type),
              static_cast<std::int64_t>(o.a_type),
              static_cast<std::int64_t>(o.b_type),
              static_cast<std::int64_t>(o.c_type),
              wmma,
              saturate,
              bit_operation};
  const auto places = [&](char which, unsigned registers, Type type) {
    e.values.push_back(reinterpret_cast<std::int64_t>(
        handlers::matrix_places(which == 'a' ? a_shape : shape, which, wmma, registers, type)));
  };
  places('a', o.a, o.a_type);
  places('b', o.b, o.b_type);
  places('c', o.c, o.c_type);
  places('d', o.d, o.d_type);
  e.values.push_back(o.sparse);
  e.values.push_back(o.selector);
  OpInfo& info = program_.info.back();
  info.tensor_flops = 2 * shape.m * shape.n * a_shape.k;
  info.tensor_integer = o.d_type == Type::s32;
  const unsigned bits = handlers::matrix_element_bits(o.a_type);
  info.tensor_work = bits == 64 ? info.tensor_flops * 16 : info.tensor_flops / 16 * bits;
  return Result::done;
}

}  // namespace cudasim
