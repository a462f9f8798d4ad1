#include "cudasim/exec/decoder.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace cudasim {
namespace {

std::uint32_t align_up(std::uint32_t value, std::uint32_t align) {
  return (value + align - 1) / align * align;
}
/// Bytes of a lane in the register file: 8-bit values lie in 16-bit registers.
std::uint32_t lane_bytes(Type type) { return type_bytes(type) == 1 ? 2 : type_bytes(type); }

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

/// Roots whose first operand is read although it is a register.
bool first_operand_is_source(const Instruction& i) {
  static const std::set<std::string, std::less<>> roots = {
      "st",         "red",      "bra",       "brx",           "call",
      "ret",        "exit",     "membar",    "fence",         "nanosleep",
      "trap",       "prefetch", "prefetchu", "sust",          "sured",
      "stmatrix",   "cp",       "discard",   "applypriority", "griddepcontrol",
      "setmaxnreg", "pmevent",  "brkpt",     "tcgen05",       "stackrestore"};
  if (roots.contains(i.root)) return true;
  if (i.root == "bar" || i.root == "barrier") return !i.has("red");
  if (i.root == "wmma") return i.has("store");
  if (i.root == "mbarrier")
    return i.operands.empty() || i.operands[0].kind == Operand::Kind::address;
  return false;
}

template <typename Visit>
void each_register_written(const Instruction& i, Visit&& visit) {
  if (i.operands.empty() || first_operand_is_source(i)) return;
  const Operand& first = i.operands[0];
  if (first.kind == Operand::Kind::identifier) visit(first.name);
  if (!first.dual.empty()) visit(first.dual);
  for (const Operand& item : first.items) visit(item.name);
}
template <typename Visit>
void each_name(const Operand& o, Visit&& visit) {
  if (!o.name.empty()) visit(o.name);
  if (!o.dual.empty()) visit(o.dual);
  for (const Operand& item : o.items) each_name(item, visit);
}

}  // namespace

bool Modifiers::take(std::string_view word) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (!taken(i) && words_[i] == word) {
      mark(i);
      return true;
    }
  }
  return false;
}
std::string_view Modifiers::take_any(std::initializer_list<std::string_view> words) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (taken(i)) continue;
    for (const std::string_view word : words) {
      if (words_[i] == word) {
        mark(i);
        return word;
      }
    }
  }
  return {};
}
std::string_view Modifiers::take_prefix(std::string_view prefix) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (!taken(i) && words_[i].starts_with(prefix)) {
      mark(i);
      return words_[i];
    }
  }
  return {};
}
Type Modifiers::take_type() {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (taken(i)) continue;
    if (const Type type = type_from_name(words_[i]); type != Type::none) {
      mark(i);
      return type;
    }
  }
  return Type::none;
}
std::vector<std::string> Modifiers::rest() const {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (!taken(i)) result.push_back(words_[i]);
  }
  return result;
}

FunctionDecoder::FunctionDecoder(Program& program, int routine,
                                 const std::map<const Function*, int>& routines)
    : program_(program),
      routine_(program.routines[static_cast<std::size_t>(routine)]),
      function_(*routine_.function),
      routines_(routines) {}

void FunctionDecoder::fail(const std::string& message) const {
  throw DecodeError(message, *at_, function_);
}

const Operand& FunctionDecoder::operand(std::size_t i) const {
  if (i >= at_->operands.size()) fail("too few operands");
  return at_->operands[i];
}

void FunctionDecoder::run() {
  routine_.entry = static_cast<std::uint32_t>(program_.code.size());
  declare();
  place_registers();
  routine_.constants_offset = end_;
  fold_constants();
  for (const Instruction& instruction : function_.body) decode(instruction);
  // Running off the end is a return.
  Instruction const* last = function_.body.empty() ? nullptr : &function_.body.back();
  at_ = last;
  guard_ = 0;
  guard_flip_ = 0;
  pipe_ = Pipe::control;
  flops_ = 0;
  emit(nullptr, Step::control).control = Control::ret;
  program_.info.back().weight = 0;
  resolve_branches();
  routine_.register_bytes = end_;
  routine_.constants.assign(end_ - routine_.constants_offset, 0);
  for (const auto& [slot, value] : constant_values_) {
    const std::uint32_t bytes = constant_bytes_[slot];
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      __builtin_memcpy(&routine_.constants[slot - routine_.constants_offset + lane * bytes], &value,
                       std::min(bytes, 8u));
    }
  }
}

void FunctionDecoder::declare() {
  int scopes = 1;
  for (const Declaration& d : function_.declarations) scopes = std::max(scopes, d.scope + 1);
  for (const Instruction& i : function_.body) scopes = std::max(scopes, i.scope + 1);
  registers_.resize(static_cast<std::size_t>(scopes));
  locals_.resize(static_cast<std::size_t>(scopes));
  parents_.assign(static_cast<std::size_t>(scopes), -1);
  for (const auto& [child, parent] : function_.scope_parents) {
    if (child < scopes) parents_[static_cast<std::size_t>(child)] = parent;
  }
  std::uint32_t frame = 0;
  if (!function_.entry) {
    for (const Param& p : function_.results) {
      frame = align_up(frame, std::max(1u, p.align));
      routine_.result_offsets.push_back(frame);
      routine_.result_sizes.push_back(p.size);
      frame += p.size;
    }
    for (const Param& p : function_.params) {
      frame = align_up(frame, std::max(1u, p.align));
      routine_.param_offsets.push_back(frame);
      routine_.param_sizes.push_back(p.size);
      frame += p.size;
    }
  }
  for (const Declaration& d : function_.declarations) {
    if (d.kind != Declaration::Kind::variable) continue;
    const auto scope = static_cast<std::size_t>(d.scope);
    if (d.space == Space::reg) {
      Register r;
      r.bytes = static_cast<std::uint8_t>(d.type == Type::pred ? 0 : lane_bytes(d.type));
      if (d.count < 0) {
        registers_[scope][d.name] = r;
      } else {
        for (int n = 0; n < d.count; ++n) registers_[scope][d.name + std::to_string(n)] = r;
      }
    } else if (d.space == Space::local || d.space == Space::param) {
      frame = align_up(frame, std::max(1u, d.align));
      locals_[scope][d.name] = {&d, frame};
      frame += static_cast<std::uint32_t>(d.size);
    }
  }
  routine_.local_bytes = align_up(frame, 16);
}

void FunctionDecoder::place_registers() {
  // Registers in order of their first mention: close in time, close in memory.
  for (const Instruction& i : function_.body) {
    at_ = &i;
    auto place = [&](const std::string& name) {
      Register* r = find_register(name);
      if (r != nullptr && r->offset < 0) r->offset = allocate(r->bytes);
    };
    if (!i.guard.empty()) place(i.guard);
    for (const Operand& o : i.operands) each_name(o, place);
  }
}

std::int32_t FunctionDecoder::allocate(std::uint32_t bytes) {
  std::uint32_t size = 4;
  if (bytes != 0) {
    end_ = align_up(end_, 64);
    size = bytes * kWarpSize;
  }
  const std::uint32_t offset = end_;
  end_ += size;
  if (end_ > (1u << 30)) fail("the function needs too many registers");
  return static_cast<std::int32_t>(offset);
}

Register* FunctionDecoder::find_register(const std::string& name) {
  for (int scope = at_->scope; scope >= 0; scope = parents_[static_cast<std::size_t>(scope)]) {
    auto& table = registers_[static_cast<std::size_t>(scope)];
    if (const auto found = table.find(name); found != table.end()) return &found->second;
  }
  return nullptr;
}

const Declaration* FunctionDecoder::find_local(const std::string& name,
                                               std::uint32_t& frame_offset) {
  for (int scope = at_->scope; scope >= 0; scope = parents_[static_cast<std::size_t>(scope)]) {
    auto& table = locals_[static_cast<std::size_t>(scope)];
    if (const auto found = table.find(name); found != table.end()) {
      frame_offset = found->second.second;
      return found->second.first;
    }
  }
  return nullptr;
}

bool FunctionDecoder::find_param(const std::string& name, std::uint32_t& offset) const {
  for (std::size_t i = 0; i < function_.params.size(); ++i) {
    if (function_.params[i].name == name) {
      offset = function_.entry ? function_.params[i].offset : routine_.param_offsets[i];
      return true;
    }
  }
  for (std::size_t i = 0; i < function_.results.size(); ++i) {
    if (function_.results[i].name == name) {
      offset = routine_.result_offsets[i];
      return true;
    }
  }
  return false;
}

bool FunctionDecoder::symbol(const std::string& name, std::uint64_t& value, Space& space) {
  const auto in_block = [&](const std::string& key) {
    const auto found = program_.kernel->shared_offsets.find(key);
    if (found == program_.kernel->shared_offsets.end()) return false;
    value = kSharedStart + found->second;
    space = Space::shared;
    return true;
  };
  if (in_block(function_.name + "/" + name)) return true;
  if (const Variable* v = program_.module->find_variable(name)) {
    if (v->space == Space::shared) return in_block(name);
    if (v->address == 0 && v->size != 0)
      fail("the variable " + name + " has no memory: it is external or wasn't bound");
    value = v->address;
    space = v->space;
    return true;
  }
  if (const Function* f = program_.module->find_function(name)) {
    value = Module::function_address(*f);
    space = Space::generic;
    return true;
  }
  return false;
}

std::int32_t FunctionDecoder::constant(std::uint64_t bits, std::uint32_t bytes) {
  if (bytes < 8) bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
  const auto [where, fresh] = constants_.try_emplace({bits, bytes}, 0);
  if (fresh) {
    where->second = allocate(bytes);
    constant_values_[static_cast<std::uint32_t>(where->second)] = bits;
    constant_bytes_[static_cast<std::uint32_t>(where->second)] = bytes;
  }
  return where->second;
}

std::int32_t FunctionDecoder::temporary(std::uint32_t bytes) {
  auto& pool = temporaries_[bytes];
  auto& used = temporaries_used_[bytes];
  if (used == pool.size()) pool.push_back(allocate(bytes));
  return pool[used++];
}

bool FunctionDecoder::is_immediate(const Operand& o) const {
  return o.kind == Operand::Kind::integer || o.kind == Operand::Kind::real32 ||
         o.kind == Operand::Kind::real64;
}

std::uint64_t FunctionDecoder::immediate(const Operand& o, Type type) const {
  const auto raw = static_cast<std::uint64_t>(o.value);
  if (type == Type::f64) {
    if (o.kind == Operand::Kind::real32)
      return std::bit_cast<std::uint64_t>(
          static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(raw))));
    if (o.kind == Operand::Kind::integer)
      return std::bit_cast<std::uint64_t>(static_cast<double>(o.value));
    return raw;
  }
  if (type == Type::f32 || (o.kind == Operand::Kind::real64 && type_bytes(type) == 4)) {
    if (o.kind == Operand::Kind::real64)
      return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(raw)));
    if (o.kind == Operand::Kind::integer && type == Type::f32)
      return std::bit_cast<std::uint32_t>(static_cast<float>(o.value));
  }
  return raw;
}

std::int32_t FunctionDecoder::special(const std::string& name, std::uint32_t bytes) {
  static const std::map<std::string, Special, std::less<>> names = {
      {"%tid.x", Special::tid_x},
      {"%tid.y", Special::tid_y},
      {"%tid.z", Special::tid_z},
      {"%ntid.x", Special::ntid_x},
      {"%ntid.y", Special::ntid_y},
      {"%ntid.z", Special::ntid_z},
      {"%ctaid.x", Special::ctaid_x},
      {"%ctaid.y", Special::ctaid_y},
      {"%ctaid.z", Special::ctaid_z},
      {"%nctaid.x", Special::nctaid_x},
      {"%nctaid.y", Special::nctaid_y},
      {"%nctaid.z", Special::nctaid_z},
      {"%laneid", Special::laneid},
      {"%warpid", Special::warpid},
      {"%nwarpid", Special::nwarpid},
      {"%lanemask_eq", Special::lanemask_eq},
      {"%lanemask_le", Special::lanemask_le},
      {"%lanemask_lt", Special::lanemask_lt},
      {"%lanemask_ge", Special::lanemask_ge},
      {"%lanemask_gt", Special::lanemask_gt},
      {"%smid", Special::smid},
      {"%nsmid", Special::nsmid},
      {"%gridid", Special::gridid},
      {"%dynamic_smem_size", Special::dynamic_smem_size},
      {"%total_smem_size", Special::total_smem_size},
      {"%aggr_smem_size", Special::aggr_smem_size},
      {"%reserved_smem_offset_begin", Special::reserved_smem_begin},
      {"%reserved_smem_offset_end", Special::reserved_smem_end},
      {"%cluster_ctaid.x", Special::cluster_ctaid_x},
      {"%cluster_ctaid.y", Special::cluster_ctaid_y},
      {"%cluster_ctaid.z", Special::cluster_ctaid_z},
      {"%cluster_nctaid.x", Special::cluster_nctaid_x},
      {"%cluster_nctaid.y", Special::cluster_nctaid_y},
      {"%cluster_nctaid.z", Special::cluster_nctaid_z},
      {"%cluster_ctarank", Special::cluster_ctarank},
      {"%cluster_nctarank", Special::cluster_nctarank},
      {"%clusterid.x", Special::clusterid_x},
      {"%clusterid.y", Special::clusterid_y},
      {"%clusterid.z", Special::clusterid_z},
      {"%nclusterid.x", Special::nclusterid_x},
      {"%nclusterid.y", Special::nclusterid_y},
      {"%nclusterid.z", Special::nclusterid_z},
      {"%is_explicit_cluster", Special::is_explicit_cluster},
  };
  Special which = Special::count_;
  std::uint32_t argument = 0;
  if (const auto found = names.find(name); found != names.end()) {
    which = found->second;
  } else if (name.starts_with("%envreg")) {
    which = Special::envreg;
    argument = static_cast<std::uint32_t>(std::strtoul(name.c_str() + 7, nullptr, 10));
  } else if (name.starts_with("%pm") || name == "%tid.w" || name == "%ctaid.w") {
    which = Special::zero;
  } else {
    return -1;
  }
  if (which == Special::is_explicit_cluster && bytes == 0) return -1;
  const auto key = std::pair{static_cast<int>(which), argument};
  if (function_.entry) {
    const auto [where, fresh] = specials_.try_emplace(key, 0);
    if (fresh) {
      where->second = allocate(4);
      program_.specials.push_back({which, static_cast<std::uint32_t>(where->second), argument});
    }
    return where->second;
  }
  // A called function reads the kernel's slot.
  std::uint32_t slot = 0;
  for (const auto& s : program_.specials) {
    if (s.special == which && s.argument == argument) slot = s.slot;
  }
  if (slot == 0) {
    Routine& root = program_.routines[0];
    slot = align_up(root.register_bytes, 64);
    root.register_bytes = slot + 4 * kWarpSize;
    root.constants.resize(root.register_bytes - root.constants_offset);
    program_.specials.push_back({which, slot, argument});
  }
  const std::int32_t t = temporary(4);
  Op& op = emit_helper(handlers::read_root);
  op.r[0] = t;
  op.imm = slot;
  return t;
}

std::int32_t FunctionDecoder::source_bytes(const Operand& o, std::uint32_t bytes) {
  return source(o, bytes == 1 || bytes == 2 ? Type::b16
                   : bytes == 4             ? Type::b32
                   : bytes == 8             ? Type::b64
                                            : Type::b128);
}

std::int32_t FunctionDecoder::source(const Operand& o, Type type) {
  const std::int32_t offset = place_source(o, type);
  reads_.push_back(offset);
  return offset;
}

std::int32_t FunctionDecoder::place_source(const Operand& o, Type type) {
  const std::uint32_t bytes = lane_bytes(type);
  if (is_immediate(o)) return constant(immediate(o, type), bytes);
  if (o.kind != Operand::Kind::identifier) fail("unexpected operand");
  const auto fit = [&](std::int32_t offset, std::uint32_t have) {
    if (have == bytes) return offset;
    const Handler h =
        have > bytes ? handlers::narrow(have, bytes) : handlers::widen(have, bytes, false);
    if (h == nullptr) fail("operand " + o.name + " has the wrong size");
    const std::int32_t t = temporary(bytes);
    Op& op = emit_helper(h);
    op.r[0] = t;
    op.r[1] = offset;
    return t;
  };
  if (Register* r = find_register(o.name)) {
    if (r->bytes == 0) fail("predicate " + o.name + " used as a value");
    return fit(r->offset, r->bytes);
  }
  if (o.name.front() == '%') {
    if (o.name == "%clock64" || o.name == "%globaltimer" || o.name == "%clock" ||
        o.name == "%clock_hi" || o.name == "%globaltimer_lo" || o.name == "%globaltimer_hi") {
      const bool wide = o.name == "%clock64" || o.name == "%globaltimer";
      const std::int32_t t = temporary(8);
      Op& op =
          emit_helper(o.name.starts_with("%clock") ? handlers::clock64 : handlers::global_timer);
      op.r[0] = t;
      op.imm = o.name.ends_with("hi") ? 32 : 0;
      (void)wide;
      return fit(t, 8);
    }
    const std::int32_t s = special(o.name, 4);
    if (s >= 0) return fit(s, 4);
    fail("unknown register " + o.name);
  }
  if (o.name == "WARP_SZ") return constant(32, bytes);
  std::uint32_t frame_offset = 0;
  const bool local = find_local(o.name, frame_offset) != nullptr;
  if (local || (!function_.entry && find_param(o.name, frame_offset))) {
    const std::int32_t t = temporary(8);
    Op& op = emit_helper(handlers::frame_address);
    op.r[0] = t;
    op.imm = frame_offset + o.value;
    return fit(t, 8);
  }
  if (find_param(o.name, frame_offset)) {
    const std::int32_t slot = allocate(8);
    program_.param_addresses.push_back(
        {static_cast<std::uint32_t>(slot), frame_offset + static_cast<std::uint32_t>(o.value)});
    return fit(slot, 8);
  }
  std::uint64_t value = 0;
  Space space{};
  if (symbol(o.name, value, space))
    return constant(value + static_cast<std::uint64_t>(o.value), bytes);
  fail("undefined symbol " + o.name);
}

std::int32_t FunctionDecoder::predicate(const Operand& o) {
  Register* r = o.kind == Operand::Kind::identifier ? find_register(o.name) : nullptr;
  if (is_immediate(o)) {
    const std::int32_t slot = constant(o.value != 0 ? 0xffffffffu : 0u, 4);
    return slot;
  }
  if (r != nullptr && r->bytes == 0) {
    reads_.push_back(r->offset);
    return r->offset;
  }
  if (o.name == "%is_explicit_cluster") {
    const std::int32_t s = special(o.name, 4);
    if (s >= 0) return s;
  }
  fail("expected a predicate register");
}

std::int32_t FunctionDecoder::predicate_destination(const Operand& o) {
  if (o.kind == Operand::Kind::sink || o.name == "_") return temporary(4);
  const std::int32_t offset = predicate(o);
  if (!reads_.empty()) reads_.pop_back();
  writes_.push_back(offset);
  return offset;
}

std::int32_t FunctionDecoder::destination(const Operand& o, std::uint32_t bytes, bool sign) {
  if (bytes == 1) bytes = 2;
  if (o.kind == Operand::Kind::sink || o.name == "_") return temporary(bytes);
  Register* r = o.kind == Operand::Kind::identifier ? find_register(o.name) : nullptr;
  if (r == nullptr || r->bytes == 0) fail("expected a destination register");
  if (r->bytes == bytes) {
    writes_.push_back(r->offset);
    return r->offset;
  }
  const std::int32_t t = temporary(bytes);
  writes_.push_back(t);
  pending_.push_back({t, r->offset, static_cast<std::uint8_t>(bytes), r->bytes, sign});
  return t;
}

void FunctionDecoder::finish_destinations() {
  for (const Pending& p : pending_) {
    const Handler h = p.from_bytes > p.to_bytes ? handlers::narrow(p.from_bytes, p.to_bytes)
                                                : handlers::widen(p.from_bytes, p.to_bytes, p.sign);
    if (h == nullptr) fail("destination register of the wrong size");
    Op& op = emit_helper(h);
    op.r[0] = p.to;
    op.r[1] = p.from;
    op.guard = guard_;
    op.guard_flip = guard_flip_;
  }
  pending_.clear();
}

void FunctionDecoder::address(Op& op, const Operand& o, Space space) {
  if (o.kind != Operand::Kind::address) fail("expected an address in brackets");
  op.imm = o.value;
  if (o.name.empty()) {
    op.r[4] = constant(0, 8);
    return;
  }
  if (Register* r = find_register(o.name)) {
    if (r->bytes != 4 && r->bytes != 8) fail("an address must be a 32 or 64-bit register");
    op.r[4] = r->offset;
    reads_.push_back(r->offset);
    if (r->bytes == 4) op.aux |= 1;
    return;
  }
  Operand name;
  name.name = o.name;
  op.r[4] = source(name, space == Space::shared ? Type::b32 : Type::b64);
  if (space == Space::shared) op.aux |= 1;
}

int FunctionDecoder::reads_of(const std::string& name) {
  if (mentions_.empty()) {
    for (const Instruction& i : function_.body) {
      const auto count = [&](const std::string& n) { ++mentions_[n]; };
      for (const Operand& o : i.operands) each_name(o, count);
      if (!i.guard.empty()) count(i.guard);
    }
  }
  return mentions_[name] - 1;
}

Op& FunctionDecoder::emit(Handler fn, Step step) {
  Op& op = program_.code.emplace_back();
  op.fn = fn;
  op.step = step;
  op.guard = guard_;
  op.guard_flip = guard_flip_;
  OpInfo& info = program_.info.emplace_back();
  info.instruction = at_;
  info.function = &function_;
  info.pipe = pipe_;
  info.flops = flops_;
  info.elided = static_cast<std::uint16_t>(std::min(elided_, 65535u));
  elided_ = 0;
  return op;
}

Op& FunctionDecoder::emit_helper(Handler fn) {
  const std::uint32_t elided = elided_;
  Op& op = emit(fn);
  op.guard = 0;
  op.guard_flip = 0;
  program_.info.back().weight = 0;
  program_.info.back().elided = 0;
  elided_ = elided;
  return op;
}

Extra& FunctionDecoder::extra(Op& op) {
  program_.extras.push_back(std::make_unique<Extra>());
  op.extra = program_.extras.back().get();
  return *program_.extras.back();
}

Op& FunctionDecoder::unimplemented() {
  Op& op = emit(nullptr, Step::control);
  op.control = Control::unimplemented;
  return op;
}

void FunctionDecoder::resolve_branches() {
  for (const Fixup& fixup : fixups_) {
    const auto found = labels_.find(fixup.label);
    at_ = fixup.at;
    if (found == labels_.end()) fail("undefined label " + fixup.label);
    if (fixup.table < 0)
      program_.code[fixup.op].target = found->second;
    else
      const_cast<Extra*>(program_.code[fixup.op].extra)
          ->targets[static_cast<std::size_t>(fixup.table)] = found->second;
  }
}

std::int32_t FunctionDecoder::param_constant(std::uint32_t offset, Type type,
                                             std::uint32_t register_bytes) {
  const std::int32_t slot = allocate(register_bytes);
  program_.folds.push_back({static_cast<std::uint32_t>(slot), offset,
                            static_cast<std::uint8_t>(type_bytes(type)),
                            static_cast<std::uint8_t>(register_bytes), is_signed(type)});
  return slot;
}

/// Registers that are written once, by a constant, a parameter or a special register, become names
/// of that constant.
void FunctionDecoder::fold_constants() {
  std::unordered_map<const Register*, int> writes;
  for (const Instruction& i : function_.body) {
    at_ = &i;
    each_register_written(i, [&](const std::string& name) {
      if (Register* r = find_register(name)) ++writes[r];
    });
    if (i.root == "call") {  // registers may be arguments and results
      for (const Operand& o : i.operands) {
        each_name(o, [&](const std::string& name) {
          if (Register* r = find_register(name)) writes[r] += 2;
        });
      }
    }
  }
  std::unordered_map<const Register*, int>::iterator found;
  for (const Instruction& i : function_.body) {
    at_ = &i;
    if (!i.guard.empty() || i.operands.size() != 2) continue;
    if (i.operands[0].kind == Operand::Kind::identifier && i.operands[0].dual.empty()) {
      Register* r = find_register(i.operands[0].name);
      if (r == nullptr || r->bytes == 0 || writes[r] != 1) continue;
      r->constant = fold(i, *r);
    } else if (i.operands[0].kind == Operand::Kind::vector && i.root == "ld" && i.has("param") &&
               function_.entry) {
      std::uint32_t offset = 0;
      const Operand& a = i.operands[1];
      Modifiers m(i);
      const Type type = m.take_type();
      bool good =
          a.kind == Operand::Kind::address && find_param(a.name, offset) && type_bytes(type) != 0;
      for (const Operand& item : i.operands[0].items) {
        Register* r = find_register(item.name);
        good = good && item.kind == Operand::Kind::identifier && r != nullptr &&
               r->bytes >= type_bytes(type) && writes[r] == 1;
      }
      if (!good) continue;
      offset += static_cast<std::uint32_t>(a.value);
      for (const Operand& item : i.operands[0].items) {
        Register* r = find_register(item.name);
        if (offset + type_bytes(type) > function_.param_bytes) fail("parameter load out of range");
        r->offset = param_constant(offset, type, r->bytes);
        r->constant = true;
        offset += type_bytes(type);
      }
    }
  }
}

bool FunctionDecoder::fold(const Instruction& i, Register& r) {
  const Operand& from = i.operands[1];
  Modifiers m(i);
  if (i.root == "mov") {
    const Type type = m.take_type();
    if (!m.empty() || type_bytes(type) == 0 || type_bytes(type) > 8 || lane_bytes(type) != r.bytes)
      return false;
    if (is_immediate(from)) {
      r.offset = constant(immediate(from, type), r.bytes);
      return true;
    }
    if (from.kind != Operand::Kind::identifier || find_register(from.name) != nullptr) return false;
    if (from.name.front() == '%') {
      if (!function_.entry || r.bytes != 4) return false;
      const std::int32_t slot = special(from.name, 4);
      if (slot < 0) return false;
      r.offset = slot;
      return true;
    }
    std::uint32_t frame_offset = 0;
    if (find_local(from.name, frame_offset) != nullptr || find_param(from.name, frame_offset))
      return false;
    std::uint64_t value = 0;
    Space space{};
    if (!symbol(from.name, value, space)) return false;
    r.offset = constant(value + static_cast<std::uint64_t>(from.value), r.bytes);
    return true;
  }
  if (i.root == "ld" && function_.entry && m.take_prefix("param").size() != 0) {
    const Type type = m.take_type();
    std::uint32_t offset = 0;
    std::uint32_t unused = 0;
    if (!m.empty() || from.kind != Operand::Kind::address || type_bytes(type) == 0 ||
        r.bytes < type_bytes(type) || type_bytes(type) > 8)
      return false;
    if (find_local(from.name, unused) != nullptr || !find_param(from.name, offset)) return false;
    offset += static_cast<std::uint32_t>(from.value);
    if (offset + type_bytes(type) > function_.param_bytes) fail("parameter load out of range");
    r.offset = param_constant(offset, type, r.bytes);
    return true;
  }
  return false;
}

void FunctionDecoder::decode(const Instruction& i) {
  at_ = &i;
  for (auto& [bytes, used] : temporaries_used_) used = 0;
  guard_ = 0;
  guard_flip_ = 0;
  flops_ = 0;
  pipe_ = Pipe::other;
  if (!i.label.empty()) {
    if (elided_ != 0) {
      pipe_ = Pipe::move;
      emit(handlers::nop);
      program_.info.back().weight = 0;
    }
    if (!labels_.emplace(i.label, static_cast<std::uint32_t>(program_.code.size())).second)
      fail("label " + i.label + " defined twice");
    return;
  }
  // Folded away?
  if (i.guard.empty() && i.operands.size() == 2 && (i.root == "mov" || i.root == "ld")) {
    const Operand& d = i.operands[0];
    const std::string& name =
        d.kind == Operand::Kind::vector && !d.items.empty() ? d.items[0].name : d.name;
    const Register* r = find_register(name);
    if (r != nullptr && r->constant) {
      ++elided_;
      return;
    }
  }
  if (!i.guard.empty()) {
    Register* r = find_register(i.guard);
    if (r == nullptr || r->bytes != 0) fail("guard " + i.guard + " is no predicate");
    guard_ = r->offset;
    guard_flip_ = i.guard_negated ? kFullMask : 0;
  }
  const std::size_t code_before = program_.code.size();
  pending_.clear();
  const std::size_t fixups_before = fixups_.size();
  reads_.clear();
  writes_.clear();
  if (decode_known(i) == Result::unsupported) {
    program_.code.resize(code_before);
    program_.info.resize(code_before);
    fixups_.resize(fixups_before);
    pending_.clear();
    pipe_ = Pipe::other;
    unimplemented();
    return;
  }
  record_flow(code_before);
  finish_destinations();
}

/// Every counted operation of an instruction is said to read and write all that the instruction
/// does; helpers (weight 0) copy r1 to r0.
void FunctionDecoder::record_flow(std::size_t first) {
  Program::Flow flow;
  flow.first = static_cast<std::uint32_t>(program_.flow_registers.size());
  flow.reads = static_cast<std::uint16_t>(reads_.size());
  flow.writes = static_cast<std::uint16_t>(writes_.size());
  auto& all = program_.flow_registers;
  all.insert(all.end(), reads_.begin(), reads_.end());
  all.insert(all.end(), writes_.begin(), writes_.end());
  program_.flows.resize(program_.code.size());
  for (std::size_t i = first; i < program_.code.size(); ++i) {
    if (program_.info[i].instruction == at_ && program_.info[i].weight != 0)
      program_.flows[i] = flow;
  }
}

std::shared_ptr<const Program> decoded_program(const Module& module, const Kernel& kernel) {
  const std::lock_guard lock(module.decode_mutex);
  if (kernel.decoded) return std::static_pointer_cast<const Program>(kernel.decoded);
  auto program = std::make_shared<Program>();
  program->module = &module;
  program->kernel = &kernel;
  std::map<const Function*, int> routines;
  program->routines.resize(kernel.reachable.size());
  for (std::size_t i = 0; i < kernel.reachable.size(); ++i) {
    program->routines[i].function = kernel.reachable[i];
    routines[kernel.reachable[i]] = static_cast<int>(i);
    program->routine_at[Module::function_address(*kernel.reachable[i])] = static_cast<int>(i);
  }
  for (std::size_t i = 0; i < kernel.reachable.size(); ++i)
    FunctionDecoder(*program, static_cast<int>(i), routines).run();
  std::uint32_t frames = 0;
  for (const Routine& r : program->routines) frames += r.local_bytes;
  program->flows.resize(program->code.size());
  program->calls = program->routines.size() > 1;
  // Without recursion each function is on the stack once; recursion gets room for more.
  program->stack_bytes = program->routines[0].local_bytes;
  if (program->calls) program->stack_bytes = align_up(frames + 8192 + 4 * frames, 16);
  program->stack_bytes = std::min(program->stack_bytes, 512u << 10);
  kernel.decoded = program;
  return program;
}

}  // namespace cudasim
