// Memory, control flow and warp-level instructions.
#include "cudasim/exec/decoder.hpp"

namespace cudasim {
namespace {

std::uint32_t lane_bytes(Type type) { return type_bytes(type) == 1 ? 2 : type_bytes(type); }
bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

struct Access {
  Space space = Space::generic;
  bool poll = false, constant = false, not_in_l1 = false;
  unsigned vector = 1;
  Type type = Type::none;
};

/// The modifiers that loads, stores and atomics share; cache hints are read and dropped.
Access take_access(Modifiers& m) {
  Access a;
  const std::string_view space =
      m.take_any({"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param",
                  "param::entry", "param::func"});
  if (space == "global")
    a.space = Space::global;
  else if (space.starts_with("shared"))
    a.space = Space::shared;
  else if (space == "local")
    a.space = Space::local;
  else if (space == "const")
    a.space = Space::constant;
  else if (space.starts_with("param"))
    a.space = Space::param;
  a.constant = a.space == Space::constant;
  const std::string_view order =
      m.take_any({"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"});
  if (order == "mmio") m.take("relaxed");
  a.poll = !order.empty() && order != "weak";
  m.take_any({"cta", "cluster", "gpu", "sys"});
  m.take("nc");
  const std::string_view cached = m.take_any({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  a.not_in_l1 = cached == "cg" || cached == "cv";
  while (!m.take_prefix("L1::").empty()) {
  }
  while (!m.take_prefix("L2::").empty()) {
  }
  m.take_prefix("level::");
  m.take("unified");
  const std::string_view vector = m.take_any({"v2", "v4"});
  a.vector = vector == "v2" ? 2 : vector == "v4" ? 4 : 1;
  a.type = m.take_type();
  return a;
}

}  // namespace

FunctionDecoder::Result FunctionDecoder::load(Modifiers& m) {
  pipe_ = Pipe::load;
  const Access access = take_access(m);
  const unsigned bytes = type_bytes(access.type);
  if (!m.empty() || bytes == 0) return Result::unsupported;
  const bool sign = is_signed(access.type);
  const Operand& to = operand(0);
  const Operand& from = operand(1);
  if ((to.kind == Operand::Kind::vector) != (access.vector != 1) ||
      (access.vector != 1 && to.items.size() != access.vector))
    fail("vector operand doesn't match its modifier");
  const auto element = [&](unsigned v) -> const Operand& {
    return access.vector == 1 ? to : to.items[v];
  };

  std::uint32_t offset = 0;
  bool frame = false, parameter = false;
  if (access.space == Space::param || access.space == Space::local) {
    const Declaration* local =
        from.kind == Operand::Kind::address && find_register(from.name) == nullptr
            ? find_local(from.name, offset)
            : nullptr;
    frame = local != nullptr;
    if (!frame && access.space == Space::param && find_register(from.name) == nullptr) {
      if (!find_param(from.name, offset)) fail("undefined parameter " + from.name);
      frame = !function_.entry;
      parameter = function_.entry;
    }
  }
  if (frame) {
    if (access.space == Space::param) pipe_ = Pipe::move;
    for (unsigned v = 0; v < access.vector; ++v) {
      Register* r = find_register(element(v).name);
      const unsigned wide = r == nullptr || r->bytes == 0 ? lane_bytes(access.type) : r->bytes;
      const Handler h = handlers::frame_load(bytes, wide, sign);
      if (h == nullptr) return Result::unsupported;
      const std::int32_t d = destination(element(v), wide);
      Op& op = emit(h);
      op.r[0] = d;
      op.imm = offset + from.value + v * bytes;
      if (v != 0) program_.info.back().weight = 0;
      op.aux = access.space == Space::param ? 0 : v == 0 ? 1 : 2;
      if (op.imm < 0 || static_cast<std::uint64_t>(op.imm) + bytes > routine_.local_bytes)
        fail("load out of the frame");
    }
    return Result::done;
  }
  if (parameter) {
    pipe_ = Pipe::move;
    for (unsigned v = 0; v < access.vector; ++v) {
      Register* r = find_register(element(v).name);
      const unsigned wide = r == nullptr || r->bytes == 0 ? lane_bytes(access.type) : r->bytes;
      const std::uint32_t at = offset + static_cast<std::uint32_t>(from.value) + v * bytes;
      if (at + bytes > function_.param_bytes || bytes > 8) fail("parameter load out of range");
      const std::int32_t s = param_constant(at, access.type, wide);
      Key k;
      k.op = "mov";
      k.type = wide == 2 ? Type::b16 : wide == 4 ? Type::b32 : Type::b64;
      const std::int32_t d = destination(element(v), wide);
      Op& op = emit(isa_.arithmetic(k));
      op.r[0] = d;
      op.r[1] = s;
      if (v != 0) program_.info.back().weight = 0;
    }
    return Result::done;
  }

  // A register wider than the type takes the extended value directly when all elements agree.
  unsigned wide = 0;
  for (unsigned v = 0; v < access.vector; ++v) {
    Register* r = find_register(element(v).name);
    const unsigned mine = r == nullptr || r->bytes == 0 ? lane_bytes(access.type) : r->bytes;
    if (wide == 0 || mine == wide)
      wide = mine;
    else
      wide = lane_bytes(access.type);
  }
  if (wide < lane_bytes(access.type)) wide = lane_bytes(access.type);
  const Handler h =
      isa_.load(access.space == Space::shared ? 's' : 'g', bytes, sign, wide, access.vector);
  if (h == nullptr) return Result::unsupported;
  Op proto;
  address(proto, from, access.space);
  std::int32_t d[4] = {};
  for (unsigned v = 0; v < access.vector; ++v) d[v] = destination(element(v), wide, sign);
  Op& op = emit(h, Step::faulting);
  for (unsigned v = 0; v < access.vector; ++v) op.r[v] = d[v];
  op.r[4] = proto.r[4];
  op.imm = proto.imm;
  op.aux = static_cast<std::uint8_t>(proto.aux | (access.poll ? 2 : 0) | (access.constant ? 4 : 0) |
                                     (access.not_in_l1 ? 8 : 0));
  return Result::done;
}

FunctionDecoder::Result FunctionDecoder::store(Modifiers& m) {
  pipe_ = Pipe::store;
  if (m.take("async") || m.take("bulk")) return Result::unsupported;
  const Access access = take_access(m);
  const unsigned bytes = type_bytes(access.type);
  if (!m.empty() || bytes == 0) return Result::unsupported;
  const Operand& to = operand(0);
  const Operand& from = operand(1);
  if ((from.kind == Operand::Kind::vector) != (access.vector != 1) ||
      (access.vector != 1 && from.items.size() != access.vector))
    fail("vector operand doesn't match its modifier");
  const auto element = [&](unsigned v) -> const Operand& {
    return access.vector == 1 ? from : from.items[v];
  };
  std::uint32_t offset = 0;
  bool frame = false;
  if ((access.space == Space::param || access.space == Space::local) &&
      find_register(to.name) == nullptr) {
    frame = find_local(to.name, offset) != nullptr;
    if (!frame && access.space == Space::param) {
      if (function_.entry || !find_param(to.name, offset)) fail("undefined parameter " + to.name);
      frame = true;
    }
  }
  std::int32_t s[4] = {};
  for (unsigned v = 0; v < access.vector; ++v) s[v] = source(element(v), access.type);
  if (frame) {
    if (access.space == Space::param) pipe_ = Pipe::move;
    const Handler h = handlers::frame_store(bytes);
    if (h == nullptr) return Result::unsupported;
    for (unsigned v = 0; v < access.vector; ++v) {
      Op& op = emit(h);
      op.r[0] = s[v];
      op.imm = offset + to.value + v * bytes;
      if (v != 0) program_.info.back().weight = 0;
      op.aux = access.space == Space::param ? 0 : v == 0 ? 1 : 2;
      if (op.imm < 0 || static_cast<std::uint64_t>(op.imm) + bytes > routine_.local_bytes)
        fail("store out of the frame");
    }
    return Result::done;
  }
  const Handler h = isa_.store(access.space == Space::shared ? 's' : 'g', bytes, access.vector);
  if (h == nullptr) return Result::unsupported;
  Op proto;
  address(proto, to, access.space);
  Op& op = emit(h, Step::faulting);
  for (unsigned v = 0; v < access.vector; ++v) op.r[v] = s[v];
  op.r[4] = proto.r[4];
  op.imm = proto.imm;
  op.aux = proto.aux;
  return Result::done;
}

FunctionDecoder::Result FunctionDecoder::atomic(Modifiers& m, bool reduction) {
  pipe_ = Pipe::atomic;
  if (m.take("async")) return Result::unsupported;
  m.take("noftz");
  const std::string_view operation =
      m.take_any({"and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max"});
  const Access access = take_access(m);
  if (!m.empty() || operation.empty() || access.type == Type::none) return Result::unsupported;
  const bool shared = access.space == Space::shared;
  if (access.space == Space::local || access.space == Space::param ||
      access.space == Space::constant)
    return Result::unsupported;
  const Handler h = handlers::atomic(operation, access.type, access.vector, shared);
  if (h == nullptr) return Result::unsupported;
  const std::uint32_t bytes = type_bytes(access.type);
  const std::size_t first = reduction ? 0 : 1;
  Op proto;
  address(proto, operand(first), access.space);
  std::vector<std::int32_t> registers;  // destinations then sources
  bool used = false;
  for (unsigned v = 0; v < access.vector; ++v) {
    if (reduction) {
      registers.push_back(temporary(bytes));
      continue;
    }
    const Operand& d = access.vector == 1 ? operand(0) : operand(0).items.at(v);
    used = used || (d.kind != Operand::Kind::sink && d.name != "_" && reads_of(d.name) != 0);
    registers.push_back(destination(d, bytes));
  }
  for (unsigned v = 0; v < access.vector; ++v)
    registers.push_back(source(
        access.vector == 1 ? operand(first + 1) : operand(first + 1).items.at(v), access.type));
  const std::int32_t c = operation == "cas" ? source(operand(first + 2), access.type) : 0;
  Op& op = emit(h, Step::faulting);
  op.r[0] = registers[0];
  op.r[1] = registers[access.vector];
  op.r[2] = c;
  op.r[4] = proto.r[4];
  op.imm = proto.imm;
  op.aux = static_cast<std::uint8_t>(proto.aux | (used ? 0 : 8));
  if (access.vector > 1) extra(op).registers = std::move(registers);
  return Result::done;
}

FunctionDecoder::Result FunctionDecoder::branch(Modifiers& m) {
  pipe_ = Pipe::control;
  const std::string& root = at_->root;
  const bool uniform = m.take("uni");
  (void)uniform;
  if (root == "bra") {
    if (!m.empty()) return Result::unsupported;
    fixups_.push_back({program_.code.size(), operand(0).name, -1, at_});
    emit(nullptr, Step::branch);
    return Result::done;
  }
  if (root == "brx") {
    if (!m.take("idx") || !m.empty()) return Result::unsupported;
    const std::int32_t index = source(operand(0), Type::b32);
    const Declaration* table = nullptr;
    for (const Declaration& d : function_.declarations) {
      if (d.kind == Declaration::Kind::branch_targets && d.name == operand(1).name) table = &d;
    }
    if (table == nullptr) fail("undefined branch table " + operand(1).name);
    Op& op = emit(nullptr, Step::control);
    op.control = Control::branch_indexed;
    op.r[0] = index;
    extra(op).targets.resize(table->targets.size());
    for (std::size_t t = 0; t < table->targets.size(); ++t)
      fixups_.push_back({program_.code.size() - 1, table->targets[t], static_cast<int>(t), at_});
    return Result::done;
  }
  if (!m.empty()) return Result::unsupported;
  Op& op = emit(nullptr, Step::control);
  op.control = root == "exit" ? Control::exit : root == "ret" ? Control::ret : Control::trap;
  return Result::done;
}

FunctionDecoder::Result FunctionDecoder::call(Modifiers& m) {
  pipe_ = Pipe::control;
  m.take("uni");
  if (!m.empty()) return Result::unsupported;
  std::size_t at = 0;
  const Operand* results = nullptr;
  const Operand* arguments = nullptr;
  if (operand(at).kind == Operand::Kind::list) results = &operand(at++);
  const Operand& callee = operand(at++);
  if (at < operands() && operand(at).kind == Operand::Kind::list) arguments = &operand(at++);
  auto call_info = std::make_unique<Extra>();
  const auto describe = [&](const Operand* list, std::vector<Extra::Argument>& into) {
    if (list == nullptr) return true;
    for (const Operand& o : list->items) {
      std::uint32_t offset = 0;
      const Declaration* d =
          o.kind == Operand::Kind::identifier ? find_local(o.name, offset) : nullptr;
      if (d == nullptr || d->space != Space::param) return false;
      into.push_back({offset, static_cast<std::uint32_t>(d->size)});
    }
    return true;
  };
  if (!describe(results, call_info->results) || !describe(arguments, call_info->arguments))
    return Result::unsupported;
  std::int32_t target = 0;
  if (Register* r = find_register(callee.name)) {
    target = r->offset;
    if (r->bytes != 8) return Result::unsupported;
  } else {
    const Function* f = program_.module->find_function(callee.name);
    const auto routine = f == nullptr ? routines_.end() : routines_.find(f);
    if (routine != routines_.end()) {
      call_info->routine = routine->second;
      if (f->params.size() != call_info->arguments.size() ||
          f->results.size() != call_info->results.size())
        fail("call of " + callee.name + " with the wrong number of parameters");
    } else {
      call_info->builtin = callee.name;
    }
  }
  Op& op = emit(nullptr, Step::control);
  op.control = Control::call;
  op.r[0] = target;
  op.extra = call_info.get();
  program_.extras.push_back(std::move(call_info));
  return Result::done;
}

FunctionDecoder::Result FunctionDecoder::barrier(Modifiers& m) {
  pipe_ = Pipe::sync;
  if (m.take("warp")) {
    if (!m.take("sync") || !m.empty()) return Result::unsupported;
    const std::int32_t members = source(operand(0), Type::b32);
    Op& op = emit(handlers::nop, Step::sync);
    op.members_known = 2;
    op.r[7] = members;
    op.aux = 0xff;  // may be met at different places
    return Result::done;
  }
  if (m.take("cluster")) {
    const bool arrive = m.take("arrive"), wait = m.take("wait");
    m.take_any({"release", "relaxed", "acquire"});
    m.take("aligned");
    if (!m.empty() || arrive == wait) return Result::unsupported;
    emit(nullptr, Step::control).control = arrive ? Control::cluster_arrive : Control::cluster_wait;
    return Result::done;
  }
  m.take("cta");
  m.take("aligned");
  const std::string_view kind = m.take_any({"sync", "arrive", "red"});
  if (kind.empty()) return Result::unsupported;
  if (kind == "red") {
    const std::string_view operation = m.take_any({"popc", "and", "or"});
    const Type type = m.take_type();
    if (!m.empty() || operation.empty()) return Result::unsupported;
    (void)type;
    const bool counted = operands() == 4;
    const std::int32_t id = source(operand(1), Type::b32);
    const std::int32_t count = counted ? source(operand(2), Type::b32) : 0;
    const Operand& input = operand(counted ? 3 : 2);
    const std::int32_t p = predicate(input);
    const std::int32_t d =
        operation == "popc" ? destination(operand(0), 4) : predicate_destination(operand(0));
    Op& op = emit(nullptr, Step::control);
    op.control = Control::barrier_reduce;
    op.r[0] = id;
    op.r[1] = count;
    op.r[2] = p;
    op.r[3] = d;
    op.aux = operation == "popc" ? 0 : operation == "and" ? 1 : 2;
    op.imm = input.negated ? 0xffffffff : 0;
    return Result::done;
  }
  if (!m.empty()) return Result::unsupported;
  const std::int32_t id = operands() > 0 ? source(operand(0), Type::b32) : constant(0, 4);
  const std::int32_t count = operands() > 1 ? source(operand(1), Type::b32) : 0;
  Op& op = emit(nullptr, Step::control);
  op.control = kind == "sync" ? Control::barrier : Control::barrier_arrive;
  op.r[0] = id;
  op.r[1] = count;
  return Result::done;
}

FunctionDecoder::Result FunctionDecoder::warp_op(Modifiers& m) {
  const std::string& root = at_->root;
  pipe_ = Pipe::shuffle;
  if (root == "activemask") {
    m.take_type();
    if (!m.empty()) return Result::unsupported;
    pipe_ = Pipe::integer;
    const std::int32_t d = destination(operand(0), 4);
    emit(handlers::activemask).r[0] = d;
    return Result::done;
  }
  const bool sync = m.take("sync");
  if (!sync) return Result::unsupported;
  Handler h = nullptr;
  std::int32_t r[6] = {};
  std::int64_t imm = 0;
  std::int32_t members = 0;
  Operand first = operand(0);
  const std::string dual = first.dual;
  first.dual.clear();
  const auto dual_predicate = [&]() -> std::int32_t {
    if (dual.empty() || dual == "_") return 0;
    Operand p;
    p.name = dual;
    return predicate_destination(p);
  };
  if (root == "shfl") {
    const std::string_view mode = m.take_any({"up", "down", "bfly", "idx"});
    if (m.take_type() != Type::b32 || !m.empty()) return Result::unsupported;
    h = handlers::shuffle(mode);
    r[2] = source(operand(1), Type::b32);
    r[3] = source(operand(2), Type::b32);
    r[4] = source(operand(3), Type::b32);
    members = source(operand(4), Type::b32);
    r[0] = destination(first, 4);
    r[1] = dual_predicate();
  } else if (root == "vote") {
    const std::string_view mode = m.take_any({"all", "any", "uni", "ballot"});
    m.take_type();
    if (!m.empty()) return Result::unsupported;
    h = handlers::vote(mode);
    r[2] = predicate(operand(1));
    imm = operand(1).negated ? 0xffffffff : 0;
    members = source(operand(2), Type::b32);
    r[0] = mode == "ballot" ? destination(first, 4) : predicate_destination(first);
  } else if (root == "match") {
    const std::string_view mode = m.take_any({"any", "all"});
    const Type type = m.take_type();
    if (!m.empty() || mode.empty()) return Result::unsupported;
    h = handlers::match(mode == "any", type_bytes(type));
    r[2] = source(operand(1), type);
    members = source(operand(2), Type::b32);
    r[0] = destination(first, 4);
    r[1] = dual_predicate();
  } else if (root == "redux") {
    const std::string_view operation = m.take_any({"add", "min", "max", "and", "or", "xor"});
    const Type type = m.take_type();
    if (!m.empty()) return Result::unsupported;
    h = handlers::reduce(operation, type);
    r[2] = source(operand(1), Type::b32);
    members = source(operand(2), Type::b32);
    r[0] = destination(first, 4);
  } else {
    if (!m.empty()) return Result::unsupported;
    h = handlers::elect;
    members = source(operand(1), Type::b32);
    r[0] = destination(first, 4);
    r[1] = dual_predicate();
  }
  if (h == nullptr) return Result::unsupported;
  Op& op = emit(h, Step::sync);
  for (int i = 0; i < 6; ++i) op.r[i] = r[i];
  op.imm = imm;
  op.members_known = 2;
  op.r[7] = members;
  return Result::done;
}

FunctionDecoder::Result FunctionDecoder::miscellaneous(Modifiers& m) {
  const std::string& root = at_->root;
  if (root == "membar" || root == "fence") {
    pipe_ = Pipe::sync;
    const std::string_view word = m.take_any({"proxy"});
    if (!word.empty()) {
      m.take_any({"async", "async.global", "async.shared::cta", "alias", "tensormap::generic"});
      m.take_any({"global", "shared::cta", "shared::cluster"});
    }
    m.take_any({"sc", "acq_rel", "acquire", "release", "mbarrier_init",
                "sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
    m.take_any({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
    m.take("release");
    m.take_any({"cta", "cluster", "gl", "gpu", "sys"});
    if (!m.empty()) return Result::unsupported;
    emit(handlers::fence);
    return Result::done;
  }
  if (root == "nanosleep") {
    pipe_ = Pipe::control;
    emit(nullptr, Step::control).control = Control::yield;
    return Result::done;
  }
  if (root == "createpolicy") {
    pipe_ = Pipe::move;
    const std::int32_t d = destination(operand(0), 8);
    Key k;
    k.op = "mov";
    k.type = Type::b64;
    const std::int32_t zero = constant(0, 8);
    Op& op = emit(isa_.arithmetic(k));
    op.r[0] = d;
    op.r[1] = zero;
    return Result::done;
  }
  if (root == "prefetch" || root == "prefetchu" || root == "applypriority" ||
      root == "griddepcontrol" || root == "setmaxnreg" || root == "pmevent") {
    pipe_ = root == "prefetch" || root == "prefetchu" ? Pipe::load : Pipe::control;
    emit(handlers::nop);
    return Result::done;
  }
  return Result::unsupported;
}

}  // namespace cudasim
