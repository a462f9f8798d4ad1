#include "cudasim/check/taint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cudasim/check/checker.hpp"
#include "cudasim/check/region_shadow.hpp"

namespace cudasim {
namespace {

CheckedBlock& state_of(const Block& block) {
  return *static_cast<CheckedBlock*>(static_cast<RaceBlock*>(block.observed));
}

template <typename Visit>
void each_lane(std::uint32_t lanes, Visit&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(__builtin_ctz(lanes)));
}

}  // namespace

InitShadow* Checker::init_shadow(const Warp& w, std::uint64_t address, std::uint64_t& end,
                                 bool& global) const {
  CheckedBlock& state = state_of(*w.block);
  global = address >= state.init_base && address < state.init_end;
  if (global) {
    end = state.init_end;
    return state.init;
  }
  for (const auto& other : w.block->cluster->blocks) {
    const auto base = reinterpret_cast<std::uint64_t>(other->shared);
    if (address - base >= other->shared_bytes) continue;
    end = base + other->shared_bytes;
    return state_of(*other).shared_init.get();
  }
  const auto local = reinterpret_cast<std::uint64_t>(w.block->local_memory);
  if (w.block->local_bytes != 0 && address - local < w.block->local_bytes) {
    end = local + w.block->local_bytes;
    return state.local_init.get();
  }
  const Region* region = launch_->memory->find(address);
  if (region == nullptr) return nullptr;
  global = true;
  end = region->base + region->size;
  state.init = &RegionShadow::of(*region).init(*region);
  state.init_base = region->base;
  state.init_end = end;
  return state.init;
}

void Checker::uninitialized(Warp& w, std::uint32_t lanes, std::uint32_t pc, const char* what,
                            std::uint64_t address) {
  const auto& s = *static_cast<CheckedWarp*>(w.observed);
  const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
  std::string message = std::string("an uninitialised value ") + what;
  if (s.origin_address != 0) {
    const Place from = place(w.block->number, w.index, lane, s.origin_pc, "");
    message += "; it was last read at ";
    message += from.file.empty() ? "PTX line " + std::to_string(from.ptx_line)
                                 : from.file + ":" + std::to_string(from.line);
  }
  add(Check::initcheck, "uninitialized", false, w, lane, pc, message,
      s.origin_address != 0 ? s.origin_address : address, "use");
}

void Checker::frame_pushed(Warp& w, Frame& f, std::uint32_t lanes) {
  if (!has(Check::initcheck)) return;
  auto& s = *static_cast<CheckedWarp*>(w.observed);
  auto& taint = s.taint[&f];
  const std::size_t words = f.routine->register_bytes / 4 + 32;
  if (taint.size() < words || s.tainted) taint.assign(std::max(taint.size(), words), 0);
  f.taint = taint.data();
  InitShadow* shadow = state_of(*w.block).local_init.get();
  if (shadow == nullptr) return;
  each_lane(lanes, [&](unsigned i) {
    const auto lane = reinterpret_cast<std::uint64_t>(w.lane_local(i));
    shadow->set(lane + f.local_offset, f.routine->local_bytes, false);
    for (std::size_t a = 0; a < f.call->arguments.size(); ++a) {
      const std::uint32_t bytes = std::min(f.call->arguments[a].size, f.routine->param_sizes[a]);
      for (std::uint32_t k = 0; k < bytes; ++k) {
        const std::uint64_t from =
            lane + f.parent->local_offset + f.call->arguments[a].caller_offset + k;
        if (shadow->written(from))
          shadow->set(lane + f.local_offset + f.routine->param_offsets[a] + k, 1, true);
      }
    }
  });
}

void Checker::frame_popped(Warp& w, Frame& f, std::uint32_t lanes) {
  if (!has(Check::initcheck)) return;
  InitShadow* shadow = state_of(*w.block).local_init.get();
  if (shadow == nullptr) return;
  each_lane(lanes, [&](unsigned i) {
    const auto lane = reinterpret_cast<std::uint64_t>(w.lane_local(i));
    for (std::size_t a = 0; a < f.call->results.size(); ++a) {
      const std::uint32_t bytes = std::min(f.call->results[a].size, f.routine->result_sizes[a]);
      for (std::uint32_t k = 0; k < bytes; ++k) {
        const bool written =
            shadow->written(lane + f.local_offset + f.routine->result_offsets[a] + k);
        shadow->set(lane + f.parent->local_offset + f.call->results[a].caller_offset + k, 1,
                    written);
      }
    }
  });
}

void Checker::builtin_returned(Warp& w, const Extra& call, std::uint32_t lanes) {
  InitShadow* shadow = state_of(*w.block).local_init.get();
  if (shadow == nullptr || call.results.empty()) return;
  each_lane(lanes, [&](unsigned i) {
    shadow->set(reinterpret_cast<std::uint64_t>(w.lane_local(i)) + w.frame->local_offset +
                    call.results[0].caller_offset,
                call.results[0].size, true);
  });
}

void Checker::check_members(Warp& w, const Op& op, std::uint8_t* r, std::uint32_t mask) {
  if (op.members_known != 2) return;
  const auto pc = static_cast<std::uint32_t>(&op - w.worker->code);
  const auto* members = reinterpret_cast<const std::uint32_t*>(r + op.r[7]);
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    char text[160];
    if ((members[i] >> i & 1) == 0) {
      std::snprintf(text, sizeof text, "lane %u runs it and is not in its member mask 0x%08x", i,
                    members[i]);
      return add(Check::synccheck, "bad-mask", false, w, i, pc, text, 0, "");
    }
    if (const std::uint32_t gone = members[i] & w.lanes & ~w.live; gone != 0) {
      std::snprintf(text, sizeof text, "the member mask 0x%08x names lane %d, which has exited",
                    members[i], __builtin_ctz(gone));
      return add(Check::synccheck, "bad-mask", false, w, i, pc, text, 0, "");
    }
  }
}

Taint::Taint(Checker& checker, Warp& warp, CheckedWarp& state, std::size_t index)
    : checker_(checker), warp_(warp), state_(state), index_(index), taint_(warp.frame->taint) {}

std::uint32_t Taint::reads() const {
  const Program& program = *warp_.worker->launch->program;
  const Program::Flow& flow = program.flows[index_];
  std::uint32_t tainted = 0;
  for (std::uint32_t k = 0; k < flow.reads; ++k)
    tainted |= at(program.flow_registers[flow.first + k]);
  return tainted;
}

std::uint32_t Taint::guard() const {
  const Op& op = warp_.worker->launch->program->code[index_];
  return op.guard != 0 ? at(op.guard) : 0;
}

void Taint::write(std::int32_t offset, std::uint32_t mask, std::uint32_t lanes) const {
  std::uint32_t& word = at(offset);
  word = (word & ~mask) | (lanes & mask);
  if ((lanes & mask) != 0) state_.tainted = true;
}

void Taint::clear_writes(std::uint32_t mask) const {
  if (!state_.tainted) return;
  const Program& program = *warp_.worker->launch->program;
  const Program::Flow& flow = program.flows[index_];
  for (std::uint32_t k = 0; k < flow.writes; ++k)
    write(program.flow_registers[flow.first + flow.reads + k], mask, 0);
}

void Taint::flow(const Op& op, std::uint32_t mask) const {
  const Program& program = *warp_.worker->launch->program;
  if (program.info[index_].weight == 0) {
    write(op.r[0], op.guard != 0 ? mask : kFullMask, op.r[1] != 0 ? at(op.r[1]) : 0);
    return;
  }
  const std::uint32_t tainted = reads() | guard();
  const Program::Flow& f = program.flows[index_];
  for (std::uint32_t k = 0; k < f.writes; ++k)
    write(program.flow_registers[f.first + f.reads + k], mask, tainted);
}

void Taint::addresses(std::uint32_t mask) const {
  if (const std::uint32_t bad = reads() & mask; bad != 0)
    checker_.uninitialized(warp_, bad, static_cast<std::uint32_t>(index_), "reaches an address", 0);
}

void Taint::control(std::uint32_t mask) const {
  const Op& op = warp_.worker->launch->program->code[index_];
  const std::uint32_t tainted =
      (guard() | (op.control == Control::branch_indexed ? at(op.r[0]) : 0)) & mask;
  if (tainted != 0)
    checker_.uninitialized(warp_, tainted, static_cast<std::uint32_t>(index_), "decides a branch",
                           0);
}

std::uint32_t Taint::unwritten(const std::uint64_t* addresses, std::uint32_t mask,
                               std::uint64_t offset, unsigned bytes) const {
  std::uint32_t result = 0;
  const InitShadow* shadow = nullptr;
  std::uint64_t end = 0, low = 1;
  bool global = false;
  each_lane(mask, [&](unsigned i) {
    const std::uint64_t a = addresses[i] + offset;
    if (shadow == nullptr || a < low || a + bytes > end) {
      shadow = checker_.init_shadow(warp_, a, end, global);
      low = a;
    }
    if (shadow == nullptr || shadow->always() || a + bytes > end) return;
    if (shadow->count(a, bytes) == 0) result |= 1u << i;
  });
  return result;
}

void Taint::before_access(const Access& a, std::uint8_t* r, const Op& op, std::uint32_t mask,
                          const std::uint64_t* addresses) const {
  const auto pc = static_cast<std::uint32_t>(index_);
  const auto first = static_cast<unsigned>(__builtin_ctz(mask));
  if (state_.tainted) {
    if (const std::uint32_t bad = at(op.r[4]) & mask; bad != 0)
      checker_.uninitialized(warp_, bad, pc, "reaches an address", 0);
    if (const std::uint32_t bad = guard() & mask; bad != 0 && a.writes)
      checker_.uninitialized(warp_, bad, pc, "decides whether a store is made", 0);
  }
  if (a.kind != Access::Kind::atomic) return;
  const Instruction& i = *warp_.worker->launch->program->info[index_].instruction;
  std::uint64_t end = 0;
  bool global = false;
  checker_.init_shadow(warp_, addresses[first], end, global);
  if (!i.has("exch")) {
    if (const std::uint32_t bad = unwritten(addresses, mask, 0, a.total()); bad != 0) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(bad));
      state_.origin_pc = pc;
      state_.origin_address = addresses[lane];
      checker_.uninitialized(warp_, bad, pc, "is what an atomic starts from", addresses[lane]);
    }
  }
  if (!state_.tainted) return;
  const std::uint32_t bad = at(op.r[1]) & mask;
  if (bad != 0) checker_.uninitialized(warp_, bad, pc, "reaches an atomic", 0);
  (void)r;
}

void Taint::after_access(const Access& a, std::uint8_t*, const Op& op, std::uint32_t mask,
                         const std::uint64_t* addresses) const {
  const auto pc = static_cast<std::uint32_t>(index_);
  const auto first = static_cast<unsigned>(__builtin_ctz(mask));
  const unsigned total = a.total();
  if (a.kind == Access::Kind::load) {
    // Full warps at neighbouring addresses are looked at as one range.
    std::uint64_t end = 0;
    bool global = false;
    const InitShadow* shadow = checker_.init_shadow(warp_, addresses[first], end, global);
    bool clean = shadow == nullptr || shadow->always();
    if (shadow != nullptr && !clean) {
      std::uint64_t low = ~std::uint64_t{0}, high = 0;
      for (unsigned i = 0; i < kWarpSize; ++i) {
        const bool on = (mask >> i & 1) != 0;
        low = std::min(low, on ? addresses[i] : ~std::uint64_t{0});
        high = std::max(high, on ? addresses[i] : std::uint64_t{0});
      }
      high += total;
      // Lanes far apart are looked at one by one, and so are those outside this memory.
      const std::uint64_t span = high - low;
      clean = low >= shadow->base() && high <= end && span <= std::uint64_t{total} * 64 &&
              shadow->count(low, span) == span;
    }
    const std::uint32_t from_guard = state_.tainted ? guard() : 0;
    for (unsigned v = 0; v < a.vector; ++v) {
      const std::uint32_t bad =
          clean ? 0 : unwritten(addresses, mask, std::uint64_t{v} * a.bytes, a.bytes);
      if (bad != 0) {
        state_.origin_pc = pc;
        state_.origin_address = addresses[__builtin_ctz(bad)] + std::uint64_t{v} * a.bytes;
      }
      if (bad != 0 || state_.tainted) write(op.r[v], mask, bad | (from_guard & mask));
    }
    return;
  }
  if (a.kind == Access::Kind::atomic) {
    each_lane(mask, [&](unsigned i) { mark(addresses[i], total, true); });
    clear_writes(mask);
    return;
  }
  // A store.
  std::uint32_t all = kFullMask, any = 0;
  for (unsigned v = 0; v < a.vector && state_.tainted; ++v) {
    all &= at(op.r[v]);
    any |= at(op.r[v]);
  }
  any &= mask;
  all &= any;
  const bool contiguous = [&] {
    std::uint64_t differs = 0;
    for (unsigned i = 0; i < kWarpSize; ++i)
      differs |= addresses[i] ^ (addresses[0] + std::uint64_t{i} * total);
    return mask == kFullMask && differs == 0;
  }();
  if (any == 0 && contiguous) return mark(addresses[0], std::uint64_t{total} * kWarpSize, true);
  each_lane(mask, [&](unsigned i) {
    for (unsigned v = 0; v < a.vector; ++v) {
      std::uint64_t end = 0;
      bool global = false;
      InitShadow* shadow =
          checker_.init_shadow(warp_, addresses[i] + std::uint64_t{v} * a.bytes, end, global);
      if (shadow == nullptr) continue;
      const bool bad = (any >> i & 1) != 0 && (at(op.r[v]) >> i & 1) != 0;
      if (bad && global && (all >> i & 1) != 0 && v == 0)
        checker_.uninitialized(warp_, 1u << i, pc, "reaches a store to global memory",
                               addresses[i]);
      // Reported once: what it flows into counts as written then.
      shadow->set(addresses[i] + std::uint64_t{v} * a.bytes, a.bytes,
                  !bad || (global && (all >> i & 1) != 0));
    }
  });
}

void Taint::frame_access(const Access& a, const Op& op, std::uint32_t mask) const {
  InitShadow* shadow = state_of(*warp_.block).local_init.get();
  if (shadow == nullptr) return;
  std::uint32_t bad = 0;
  each_lane(mask, [&](unsigned i) {
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(warp_.lane_local(i)) +
                                  warp_.frame->local_offset + static_cast<std::uint64_t>(op.imm);
    if (a.kind == Access::Kind::frame_store) {
      shadow->set(address, a.bytes, !state_.tainted || (at(op.r[0]) >> i & 1) == 0);
    } else if (shadow->count(address, a.bytes) == 0) {
      bad |= 1u << i;
      state_.origin_pc = static_cast<std::uint32_t>(index_);
      state_.origin_address = address;
    }
  });
  if (a.kind == Access::Kind::frame_load && (bad != 0 || state_.tainted)) write(op.r[0], mask, bad);
}

void Taint::rows_load(const Op& op, const std::uint8_t* r) const {
  const Access a = access_of(*warp_.worker->launch->program, index_);
  const bool transposed = warp_.worker->launch->program->info[index_].instruction->has("trans");
  for (unsigned m = 0; m < a.rows; ++m) {
    std::uint32_t bad = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      bool clean = false;
      for (unsigned k = 0; k < 2; ++k) {
        const unsigned row = transposed ? 2 * (lane & 3) + k : lane >> 2,
                       column = transposed ? lane >> 2 : 2 * (lane & 3) + k;
        const unsigned giver = 8 * m + row;
        std::uint64_t address =
            ((op.aux & 1) != 0 ? reinterpret_cast<const std::uint32_t*>(r + op.r[4])[giver]
                               : reinterpret_cast<const std::uint64_t*>(r + op.r[4])[giver]) +
            static_cast<std::uint64_t>(op.imm);
        if (a.window) address = reinterpret_cast<std::uint64_t>(shared_at(warp_, address, 16));
        std::uint64_t end = 0;
        bool global = false;
        const InitShadow* shadow =
            address == 0 ? nullptr : checker_.init_shadow(warp_, address + 2 * column, end, global);
        clean = clean || shadow == nullptr || shadow->count(address + 2 * column, 2) != 0;
        if (!clean) state_.origin_address = address + 2 * column;
      }
      bad |= (clean ? 0u : 1u) << lane;
    }
    if (bad != 0) state_.origin_pc = static_cast<std::uint32_t>(index_);
    if (bad != 0 || state_.tainted) write(op.extra->registers[m], kFullMask, bad);
  }
}

void Taint::exchange(const Op& op, Handler original, const std::uint8_t* r,
                     std::uint32_t mask) const {
  const Instruction& i = *warp_.worker->launch->program->info[index_].instruction;
  if (i.root != "shfl") {
    const std::uint32_t any = (at(op.r[2]) & mask) != 0 ? kFullMask : 0;
    write(op.r[0], mask, any);
    if (op.r[1] != 0) write(op.r[1], mask, any);
    return;
  }
  // The taint travels as the values do.
  alignas(64) std::uint8_t file[6 * 128] = {};
  Op twin = op;
  twin.r[0] = 128;
  twin.r[1] = 0;
  twin.r[2] = 256;
  twin.r[3] = 384;
  twin.r[4] = 512;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    reinterpret_cast<std::uint32_t*>(file + 256)[lane] = at(op.r[2]) >> lane & 1;
  std::memcpy(file + 384, r + op.r[3], 128);
  std::memcpy(file + 512, r + op.r[4], 128);
  original(file, twin, mask, warp_);
  std::uint32_t result = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    result |= (reinterpret_cast<std::uint32_t*>(file + 128)[lane] & 1) << lane;
  write(op.r[0], mask, result);
  if (op.r[1] != 0) write(op.r[1], mask, 0);
}

void Taint::matrix_multiply(const Op& op) const {
  const auto& registers = op.extra->registers;
  const auto& v = op.extra->values;
  const auto d = static_cast<std::size_t>(v[3]), a = static_cast<std::size_t>(v[4]),
             b = static_cast<std::size_t>(v[5]), c = static_cast<std::size_t>(v[6]);
  std::uint32_t in_a = 0, in_b = 0, in_c = 0;
  for (std::size_t k = 0; k < a; ++k) in_a |= at(registers[d + k]);
  for (std::size_t k = 0; k < b; ++k) in_b |= at(registers[d + a + k]);
  for (std::size_t k = 0; k < c; ++k) in_c |= at(registers[d + a + b + k]);
  std::uint32_t out = in_c;
  if (v[11] != 0) {
    out = (in_a | in_b | in_c) != 0 ? kFullMask : 0;
  } else {
    // Four lanes share a row of A and of D; lane l holds columns 2 * (l & 3) and the next of D,
    // whose B lies in the lanes 4 * column to 4 * column + 3.
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const bool row = (in_a >> (lane & ~3u) & 15) != 0;
      const bool column = (in_b >> (8 * (lane & 3)) & 255) != 0;
      if (row || column) out |= 1u << lane;
    }
  }
  for (std::size_t k = 0; k < d; ++k) write(registers[k], kFullMask, out);
}

void Taint::mark(std::uint64_t address, std::uint64_t bytes, bool initialized) const {
  std::uint64_t end = 0;
  bool global = false;
  if (InitShadow* shadow = checker_.init_shadow(warp_, address, end, global))
    shadow->set(address, bytes, initialized);
}

void Taint::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) const {
  std::uint64_t to_end = 0, from_end = 0;
  bool global = false;
  InitShadow* target = checker_.init_shadow(warp_, to, to_end, global);
  const InitShadow* origin = checker_.init_shadow(warp_, from, from_end, global);
  if (target == nullptr) return;
  bytes = std::min(bytes, to_end - to);
  if (origin == nullptr || origin->always() || from + bytes > from_end ||
      origin->count(from, bytes) == bytes)
    return target->set(to, bytes, true);
  for (std::uint64_t k = 0; k < bytes; ++k) target->set(to + k, 1, origin->written(from + k));
}

}  // namespace cudasim
