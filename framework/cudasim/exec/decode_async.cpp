// Asynchronous copies and mbarriers.
#include "cudasim/exec/decoder.hpp"

namespace cudasim {

FunctionDecoder::Result FunctionDecoder::async_copy(Modifiers& m) {
  pipe_ = Pipe::load;
  const bool reduce = m.take("reduce");
  if (!m.take("async")) return Result::unsupported;
  const bool bulk = m.take("bulk");
  if (reduce && !bulk) return Result::unsupported;
  if (!m.take_any({"commit_group", "wait_group", "wait_all"}).empty()) {
    // Copies are done when they are issued.
    pipe_ = Pipe::sync;
    m.take("read");
    if (!m.empty()) return Result::unsupported;
    emit(handlers::nop);
    return Result::done;
  }
  if (m.take("mbarrier")) {
    // Without .noinc the barrier expects one more arrival, which comes at once.
    if (bulk || !m.take("arrive")) return Result::unsupported;
    const bool noinc = m.take("noinc");
    const bool shared = !m.take_any({"shared", "shared::cta", "shared::cluster"}).empty();
    if (!m.take("b64") || !m.empty()) return Result::unsupported;
    pipe_ = Pipe::sync;
    Op proto;
    address(proto, operand(0), shared ? Space::shared : Space::generic);
    Op& op = emit(noinc ? handlers::mbarrier("arrive") : Handler{handlers::nop}, Step::faulting);
    op.r[4] = proto.r[4];
    op.imm = proto.imm;
    op.aux = static_cast<std::uint8_t>(proto.aux | (shared ? 16 : 0));
    return Result::done;
  }
  if (bulk) {
    if (m.take("prefetch")) {
      emit(handlers::nop);
      return Result::done;
    }
    const std::string_view to = m.take_any({"shared::cluster", "global", "shared::cta"});
    const std::string_view from = m.take_any({"global", "shared::cta"});
    const bool barrier = m.take("mbarrier::complete_tx::bytes"), group = m.take("bulk_group");
    const bool multicast = m.take("multicast::cluster");
    while (!m.take_prefix("L2::").empty()) {
    }
    handlers::BulkReduction reduction = nullptr;
    if (reduce) {
      m.take("noftz");
      const std::string_view operation =
          m.take_any({"and", "or", "xor", "add", "inc", "dec", "min", "max"});
      reduction = handlers::bulk_reduction(operation, m.take_type());
      if (reduction == nullptr) return Result::unsupported;
    }
    if (!m.empty() || from.empty() || barrier == group || (multicast && (reduce || !barrier)))
      return Result::unsupported;  // tensors, byte masks
    const bool to_shared = to.starts_with("shared"), from_shared = from.starts_with("shared");
    Op target, origin, word;
    address(target, operand(0), to_shared ? Space::shared : Space::global);
    address(origin, operand(1), from_shared ? Space::shared : Space::global);
    const std::int32_t size = source(operand(2), Type::b32);
    if (barrier) address(word, operand(3), Space::shared);
    const std::int32_t ranks = multicast ? source(operand(4), Type::b16) : 0;
    Op& op = emit(handlers::copy_bulk, Step::faulting);
    op.r[0] = target.r[4];
    op.r[1] = size;
    op.r[2] = barrier ? word.r[4] : 0;
    op.r[3] = ranks;
    op.r[4] = origin.r[4];
    op.imm = origin.imm;
    extra(op).values = {target.imm, word.imm,
                        (to_shared ? 1 : 0) | (from_shared ? 2 : 0) | (target.aux & 1 ? 4 : 0) |
                            (origin.aux & 1 ? 8 : 0) | (word.aux & 1 ? 16 : 0),
                        reinterpret_cast<std::int64_t>(reduction)};
    return Result::done;
  }
  const bool not_in_l1 = m.take_any({"ca", "cg"}) == "cg";
  const std::string_view to = m.take_any({"shared", "shared::cta", "shared::cluster"});
  const bool global = m.take("global");
  while (!m.take_prefix("L2::").empty()) {
  }
  if (!m.empty() || to.empty() || !global) return Result::unsupported;
  const std::int64_t bytes = operand(2).value;
  if (operand(2).kind != Operand::Kind::integer || (bytes != 4 && bytes != 8 && bytes != 16))
    return Result::unsupported;
  Op target, origin;
  address(target, operand(0), Space::shared);
  address(origin, operand(1), Space::global);
  const bool by_policy = at_->has("L2::cache_hint");
  std::int32_t size = 0, ignore = 0;
  std::uint32_t flip = 0;
  if (operands() > (by_policy ? 4u : 3u)) {
    const Operand& o = operand(3);
    Register* r = o.kind == Operand::Kind::identifier ? find_register(o.name) : nullptr;
    if (r != nullptr && r->bytes == 0) {
      ignore = r->offset;
      flip = o.negated ? kFullMask : 0;
    } else {
      size = source(o, Type::b32);
    }
  }
  Op& op = emit(handlers::copy_async, Step::faulting);
  op.r[0] = target.r[4];
  op.r[1] = size;
  op.r[2] = ignore;
  op.r[3] = static_cast<std::int32_t>(flip);
  op.r[4] = origin.r[4];
  op.imm = origin.imm;
  op.target = static_cast<std::uint32_t>(bytes);
  op.aux =
      static_cast<std::uint8_t>((origin.aux & 1) | (not_in_l1 ? 8 : 0) | ((target.aux & 1) << 4));
  extra(op).values.push_back(target.imm);
  return Result::done;
}

FunctionDecoder::Result FunctionDecoder::mbarrier(Modifiers& m) {
  pipe_ = Pipe::sync;
  const std::string_view operation =
      m.take_any({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait",
                  "try_wait", "pending_count"});
  if (operation.empty()) return Result::unsupported;
  const bool expect = operation != "expect_tx" && m.take("expect_tx");
  m.take("noComplete");
  const bool parity = m.take("parity");
  m.take_any({"release", "acquire", "relaxed"});
  m.take_any({"cta", "cluster"});
  const bool shared = !m.take_any({"shared", "shared::cta", "shared::cluster"}).empty();
  if (!m.take("b64") && operation != "expect_tx" && operation != "complete_tx")
    return Result::unsupported;
  if (!m.empty()) return Result::unsupported;
  if (operation == "pending_count") {
    const std::int32_t s = source(operand(1), Type::b64), d = destination(operand(0), 4);
    Op& op = emit([](std::uint8_t* r, const Op& o, std::uint32_t mask, Warp&) {
      for (unsigned i = 0; i < kWarpSize; ++i) {
        if (mask >> i & 1)
          reinterpret_cast<std::uint32_t*>(r + o.r[0])[i] =
              static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t*>(r + o.r[1])[i] & 0xfffff);
      }
    });
    op.r[0] = d;
    op.r[1] = s;
    return Result::done;
  }
  const bool waits = operation == "test_wait" || operation == "try_wait";
  const bool has_result = operand(0).kind != Operand::Kind::address;
  const std::size_t at = has_result ? 1 : 0;
  Op proto;
  address(proto, operand(at), shared ? Space::shared : Space::generic);
  std::int32_t value = 0, d = 0;
  if (operands() > at + 1)
    value = source(operand(at + 1), waits && !parity ? Type::b64 : Type::b32);
  else if (operation == "init" || expect || waits)
    fail("too few operands");
  if (has_result)
    d = waits                                    ? predicate_destination(operand(0))
        : operand(0).kind == Operand::Kind::sink ? 0
                                                 : destination(operand(0), 8);
  std::string name(operation);
  if (waits) name = parity ? "test_parity" : "test";
  if (expect) {
    if (operation != "arrive") return Result::unsupported;
    name = "arrive_expect_tx";
  }
  Op& op = emit(handlers::mbarrier(name), Step::faulting);
  op.r[0] = d;
  op.r[1] = value;
  op.r[4] = proto.r[4];
  op.imm = proto.imm;
  op.aux = static_cast<std::uint8_t>(proto.aux | (shared ? 16 : 0));
  return Result::done;
}

}  // namespace cudasim
