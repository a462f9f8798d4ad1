#include "cudasim/check/access.hpp"

#include "cudasim/exec/decoder.hpp"

namespace cudasim {
namespace {

using Kind = Access::Kind;

std::uint32_t lane_bytes(Type type) { return type_bytes(type) == 1 ? 2 : type_bytes(type); }

void read_modifiers(const Instruction& i, Access& a) {
  Type type = Type::none;
  for (const std::string& m : i.modifiers) {
    if (m == "global")
      a.space = Space::global;
    else if (m.starts_with("shared"))
      a.space = Space::shared;
    else if (m == "local")
      a.space = Space::local;
    else if (m == "const")
      a.space = Space::constant;
    else if (m.starts_with("param"))
      a.space = Space::param;
    else if (m == "volatile")
      a.order = Access::Order::is_volatile;
    else if (m == "relaxed" || m == "mmio")
      a.order = Access::Order::relaxed;
    else if (m == "acquire")
      a.order = Access::Order::acquire;
    else if (m == "release")
      a.order = Access::Order::release;
    else if (m == "acq_rel" || m == "sc")
      a.order = Access::Order::acq_rel;
    else if (m == "cta")
      a.scope = Access::Scope::cta;
    else if (m == "cluster")
      a.scope = Access::Scope::cluster;
    else if (m == "v2" || m == "v4" || m == "v8")
      a.vector = static_cast<std::uint8_t>(m[1] - '0');
    else if (type == Type::none)
      type = type_from_name(m);
  }
  a.bytes = static_cast<std::uint8_t>(type_bytes(type));
  a.wide = static_cast<std::uint8_t>(lane_bytes(type));
}

/// The frame handlers don't keep their widths: they are told by comparison.
bool frame_access(const Op& op, Access& a) {
  for (const unsigned wide : {2u, 4u, 8u, 16u}) {
    for (const bool sign : {false, true}) {
      if (op.fn != handlers::frame_load(a.bytes, wide, sign)) continue;
      a.kind = Kind::frame_load;
      a.wide = static_cast<std::uint8_t>(wide);
      a.reads = true;
      return true;
    }
  }
  if (op.fn != handlers::frame_store(a.bytes)) return false;
  a.kind = Kind::frame_store;
  a.writes = true;
  return true;
}

void copy(const Instruction& i, const Op& op, Access& a) {
  const bool bulk = i.has("bulk");
  if (i.has("commit_group")) {
    a.kind = bulk ? Kind::bulk_commit : Kind::async_commit;
  } else if (i.has("wait_group") || i.has("wait_all")) {
    a.kind = bulk ? Kind::bulk_wait : Kind::async_wait;
    a.pending = i.has("wait_all") ? -1 : i.operands.empty() ? 0 : i.operands[0].value;
  } else if (i.has("mbarrier")) {
    a.kind = Kind::async_on_barrier;
    a.window = (op.aux & 16) != 0;
  } else if (op.fn == Handler{handlers::copy_async}) {
    a.kind = Kind::copy_async;
  } else if (op.fn == Handler{handlers::copy_bulk}) {
    a.kind = Kind::copy_bulk;
  }
}

Access::Word word_of(const Instruction& i) {
  if (i.has("init")) return Access::Word::init;
  if (i.has("inval")) return Access::Word::inval;
  if (i.has("arrive") || i.has("arrive_drop")) return Access::Word::arrive;
  if (i.has("expect_tx") || i.has("complete_tx")) return Access::Word::expect;
  if (i.has("test_wait") || i.has("try_wait")) return Access::Word::test;
  return Access::Word::other;
}

}  // namespace

Access access_of(const Program& program, std::size_t index) {
  Access a;
  const OpInfo& info = program.info[index];
  const Op& op = program.code[index];
  if (info.instruction == nullptr || op.fn == nullptr) return a;
  const Instruction& i = *info.instruction;
  const std::string& root = i.root;
  const bool memory = op.step == Step::faulting || op.step == Step::sync;
  if (root == "ld" || root == "ldu" || root == "st") {
    read_modifiers(i, a);
    if (memory) {
      a.kind = root == "st" ? Kind::store : Kind::load;
      (root == "st" ? a.writes : a.reads) = true;
      a.window = a.space == Space::shared;
    } else if (!frame_access(op, a)) {
      a = Access{};
    }
    return a;
  }
  if (info.weight == 0) return a;
  if (root == "atom" || root == "red") {
    read_modifiers(i, a);
    if (!memory) return Access{};
    a.kind = Kind::atomic;
    a.reads = a.writes = true;
    a.window = a.space == Space::shared;
    if (a.order == Access::Order::weak) a.order = Access::Order::relaxed;
  } else if (root == "ldmatrix" || root == "stmatrix") {
    a.kind = root == "ldmatrix" ? Kind::rows_load : Kind::rows_store;
    (root == "ldmatrix" ? a.reads : a.writes) = true;
    a.space = Space::shared;
    a.window = (op.aux & 16) != 0;
    a.rows = static_cast<std::uint8_t>(op.extra->registers.size());
    a.bytes = 16;
  } else if (root == "wmma" && (i.has("load") || i.has("store"))) {
    a.kind = i.has("load") ? Kind::tile_load : Kind::tile_store;
    (i.has("load") ? a.reads : a.writes) = true;
    a.window = (op.aux & 16) != 0;
  } else if (root == "cp") {
    copy(i, op, a);
  } else if (root == "mbarrier" && memory) {
    a.kind = Kind::barrier_word;
    a.word = word_of(i);
    a.window = (op.aux & 16) != 0;
  } else if (root == "membar" || root == "fence") {
    read_modifiers(i, a);
    a.kind = i.has("proxy") || i.has("mbarrier_init") ? Kind::none : Kind::fence;
  } else if ((root == "bar" || root == "barrier") && i.has("warp")) {
    a.kind = Kind::warp_sync;
  } else if (root == "shfl" || root == "vote" || root == "match" || root == "redux" ||
             root == "elect") {
    a.kind = Kind::exchange;
  } else if (memory && (root == "tex" || root == "suld" || root == "sust" || root == "tld4" ||
                        root == "txq" || root == "suq")) {
    a.kind = Kind::other_memory;
  }
  return a;
}

Pattern pattern_of(const std::uint64_t* a, std::uint32_t mask, unsigned bytes) {
  if (mask != kFullMask) return Pattern::scattered;
  const std::uint64_t step = a[1] - a[0];
  if (step != 0 && step != bytes) return Pattern::scattered;
  std::uint64_t differs = 0;
  for (unsigned i = 0; i < kWarpSize; ++i) differs |= a[i] ^ (a[0] + i * step);
  return differs != 0 ? Pattern::scattered : step == 0 ? Pattern::uniform : Pattern::consecutive;
}

void lane_addresses(const std::uint8_t* r, const Op& op, std::uint64_t* a) {
  if (op.aux & 1) {
    const auto* p = reinterpret_cast<const std::uint32_t*>(r + op.r[4]);
    const auto offset = static_cast<std::uint32_t>(op.imm);
    for (unsigned i = 0; i < kWarpSize; ++i) a[i] = static_cast<std::uint32_t>(p[i] + offset);
  } else {
    const auto* p = reinterpret_cast<const std::uint64_t*>(r + op.r[4]);
    const auto offset = static_cast<std::uint64_t>(op.imm);
    for (unsigned i = 0; i < kWarpSize; ++i) a[i] = p[i] + offset;
  }
}

}  // namespace cudasim
