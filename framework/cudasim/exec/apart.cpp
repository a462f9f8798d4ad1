#include "cudasim/exec/apart.hpp"

#include <bit>
#include <cstring>
#include <unordered_map>

#include "cudasim/exec/decoder.hpp"

namespace cudasim {
namespace {

/// What the registers r[0] … of an exchange hold: w a 32-bit result, p a predicate result, s and S
/// a 32- and a 64-bit source, q a predicate source (xor imm). Null for other operations.
const char* operand_kinds(Handler handler) {
  static const std::unordered_map<Handler, const char*> kinds = [] {
    std::unordered_map<Handler, const char*> k;
    for (const char* mode : {"up", "down", "bfly", "idx"}) k[handlers::shuffle(mode)] = "wpsss";
    for (const char* mode : {"all", "any", "uni"}) k[handlers::vote(mode)] = "p-q";
    k[handlers::vote("ballot")] = "w-q";
    for (const bool any : {false, true}) {
      k[handlers::match(any, 4)] = "wps";
      k[handlers::match(any, 8)] = "wpS";
    }
    for (const char* operation : {"add", "min", "max", "and", "or", "xor"}) {
      for (const Type type : {Type::u32, Type::s32}) k[handlers::reduce(operation, type)] = "w-s";
    }
    k[handlers::elect] = "wp";
    return k;
  }();
  const auto found = kinds.find(handler);
  return found == kinds.end() ? nullptr : found->second;
}

template <typename T>
T* at(std::uint8_t* r, std::int32_t offset) {
  return reinterpret_cast<T*>(r + offset);
}
void copy_bits(std::uint32_t& to, std::uint32_t from, std::uint32_t lanes) {
  to = (to & ~lanes) | (from & lanes);
}

/// A register file for the exchange: slot i at kSlots + i * kSlotBytes.
constexpr std::int32_t kSlots = 64, kSlotBytes = 8 * kWarpSize;
struct Scratch {
  alignas(64) std::uint8_t bytes[kSlots + 8 * kSlotBytes] = {};
  static std::int32_t slot(int i) { return kSlots + i * kSlotBytes; }
};

/// Copies the lanes' sources to the scratch registers, or its results back.
void transfer(const char* kinds, const Op& op, std::uint8_t* r, Scratch& scratch,
              std::uint32_t lanes, bool back) {
  for (int i = 0; kinds[i] != '\0'; ++i) {
    if (op.r[i] == 0) continue;
    std::uint8_t* s = scratch.bytes;
    const std::int32_t slot = Scratch::slot(i);
    const bool result = kinds[i] == 'w' || kinds[i] == 'p';
    if (result != back) continue;
    if (kinds[i] == 'p')
      copy_bits(*at<std::uint32_t>(r, op.r[i]), *at<std::uint32_t>(s, slot), lanes);
    if (kinds[i] == 'q') {
      const std::uint32_t input =
          *at<std::uint32_t>(r, op.r[i]) ^ static_cast<std::uint32_t>(op.imm);
      copy_bits(*at<std::uint32_t>(s, slot), input, lanes);
    }
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = __builtin_ctz(left);
      if (kinds[i] == 'w') at<std::uint32_t>(r, op.r[i])[lane] = at<std::uint32_t>(s, slot)[lane];
      if (kinds[i] == 's') at<std::uint32_t>(s, slot)[lane] = at<std::uint32_t>(r, op.r[i])[lane];
      if (kinds[i] == 'S') at<std::uint64_t>(s, slot)[lane] = at<std::uint64_t>(r, op.r[i])[lane];
    }
  }
}

std::uint32_t guarded(const Op& op, std::uint8_t* r, std::uint32_t lanes) {
  return op.guard == 0 ? lanes : lanes & (*at<std::uint32_t>(r, op.guard) ^ op.guard_flip);
}

/// Lanes of the group that hold this member mask.
std::uint32_t lanes_with(const Group& g, const Op& op, std::uint32_t members) {
  std::uint32_t lanes = 0;
  for (std::uint32_t left = g.mask; left != 0; left &= left - 1) {
    const auto lane = __builtin_ctz(left);
    if (at<std::uint32_t>(g.frame->regs, op.r[7])[lane] == members) lanes |= 1u << lane;
  }
  return lanes;
}

/// The lanes of all groups that wait at `handler` with `members` exchange and go on.
void exchange(Warp& w, Handler handler, const char* kinds, std::uint32_t members) {
  Worker& worker = *w.worker;
  const auto& code = w.worker->launch->program->code;
  Scratch scratch;
  Op joint;
  joint.fn = handler;
  for (int i = 0; kinds[i] != '\0'; ++i) joint.r[i] = kinds[i] == '-' ? 0 : Scratch::slot(i);
  joint.r[7] = Scratch::slot(7);
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    at<std::uint32_t>(scratch.bytes, joint.r[7])[lane] = members;
  std::uint32_t all = 0;
  const auto each = [&](auto&& visit) {
    const std::uint32_t groups = w.group_count;
    for (std::uint32_t a = 0; a < groups; ++a) {
      Group& g = w.groups[a];
      if (g.wait != Wait::lanes || code[g.pc].fn != handler) continue;
      const Op& op = code[g.pc];
      if (const std::uint32_t lanes = lanes_with(g, op, members)) visit(g, op, lanes);
    }
  };
  each([&](Group& g, const Op& op, std::uint32_t lanes) {
    const std::uint32_t active = guarded(op, g.frame->regs, lanes);
    transfer(kinds, op, g.frame->regs, scratch, active, false);
    all |= active;
  });
  handler(scratch.bytes, joint, all, w);
  each([&](Group& g, const Op& op, std::uint32_t lanes) {
    transfer(kinds, op, g.frame->regs, scratch, guarded(op, g.frame->regs, lanes), true);
    const auto count = static_cast<std::int64_t>(std::popcount(lanes));
    ++worker.executed[g.pc];
    --worker.executed[g.pc + 1];
    worker.lanes[g.pc] += count;
    worker.lanes[g.pc + 1] -= count;
    ++worker.steps;
    if (lanes == g.mask) {
      ++g.pc;
      g.wait = Wait::none;
    } else {
      w.groups[w.group_count++] = Group{g.pc + 1, lanes, g.frame, g.penalty, 0, Wait::none, 0};
      g.mask &= ~lanes;
    }
  });
}

}  // namespace

bool exchange_apart(Warp& w) {
  // The originals: under the checks others stand in for them in Worker::code.
  const auto& code = w.worker->launch->program->code;
  for (std::uint32_t a = 0; a < w.group_count; ++a) {
    const Group& g = w.groups[a];
    if (g.wait != Wait::lanes) continue;
    const Op& op = code[g.pc];
    const char* kinds = operand_kinds(op.fn);
    if (kinds == nullptr) continue;
    for (std::uint32_t left = g.mask; left != 0;) {
      const std::uint32_t members = at<std::uint32_t>(g.frame->regs, op.r[7])[__builtin_ctz(left)];
      std::uint32_t there = 0;
      for (std::uint32_t b = 0; b < w.group_count; ++b) {
        const Group& o = w.groups[b];
        if (o.wait == Wait::lanes && code[o.pc].fn == op.fn)
          there |= lanes_with(o, code[o.pc], members);
      }
      if ((members & w.live & ~there) == 0) {
        exchange(w, op.fn, kinds, members);
        return true;
      }
      left &= ~lanes_with(g, op, members);
    }
  }
  return false;
}

}  // namespace cudasim
