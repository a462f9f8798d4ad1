// The run loop of a warp: groups of lanes with one program counter, the lowest first.
#include <bit>
#include <cstring>

#include "cudasim/exec/apart.hpp"
#include "cudasim/exec/machine.hpp"
#include "cudasim/exec/observer.hpp"

namespace cudasim {
namespace {

constexpr std::uint32_t kNoLimit = 0xffffffffu;
constexpr std::uint32_t kPollsPerSlice = 64;
constexpr std::uint32_t kSpinsBeforeOthers = 1u << 16;
constexpr std::uint64_t kStepsAfterRelease = 32;
constexpr std::uint32_t kMostFrames = 4096;
#ifdef CUDASIM_UNCOUNTED  // only to measure in cudasim_bench what counting costs
constexpr bool kCount = false;
#else
constexpr bool kCount = true;
#endif

std::uint32_t& predicate(std::uint8_t* r, std::int32_t offset) {
  return *reinterpret_cast<std::uint32_t*>(r + offset);
}

void remove_group(Warp& w, Group* g) { *g = w.groups[--w.group_count]; }

/// Lanes that the warp-synchronous operation waits for.
std::uint32_t members_of(const Group& g, const Op& op) {
  if (op.members_known == 1) return op.target;
  const auto* members = reinterpret_cast<const std::uint32_t*>(g.frame->regs + op.r[7]);
  std::uint32_t all = 0;
  for (std::uint32_t k = g.mask; k != 0; k &= k - 1) all |= members[__builtin_ctz(k)];
  return all;
}

/// Tells the observer which lanes met, for each member mask that was given.
void tell_of_warp_barrier(Warp& w, std::uint32_t lanes) {
  const Op* code = w.worker->code;
  std::uint32_t masks[kWarpSize] = {};
  for (std::uint32_t a = 0; a < w.group_count; ++a) {
    const Group& g = w.groups[a];
    if (g.wait != Wait::lanes || code[g.pc].aux != 0xff) continue;
    const auto* given = reinterpret_cast<const std::uint32_t*>(g.frame->regs + code[g.pc].r[7]);
    for (std::uint32_t k = g.mask & lanes; k != 0; k &= k - 1)
      masks[__builtin_ctz(k)] = given[__builtin_ctz(k)];
  }
  while (lanes != 0) {
    std::uint32_t same = 0;
    for (std::uint32_t k = lanes; k != 0; k &= k - 1) {
      if (masks[__builtin_ctz(k)] == masks[__builtin_ctz(lanes)]) same |= k & ~(k - 1);
    }
    w.worker->launch->observer->warp_synced(w, same);
    lanes &= ~same;
  }
}

/// bar.warp.sync at different places: releases those whose members all wait.
bool release_warp_barriers(Warp& w) {
  const Op* code = w.worker->code;
  bool released = false;
  for (std::uint32_t a = 0; a < w.group_count; ++a) {
    Group& g = w.groups[a];
    if (g.wait != Wait::lanes || code[g.pc].aux != 0xff) continue;
    const std::uint32_t members = members_of(g, code[g.pc]) & w.live;
    std::uint32_t there = 0;
    for (std::uint32_t b = 0; b < w.group_count; ++b) {
      const Group& o = w.groups[b];
      if (o.wait == Wait::lanes && code[o.pc].aux == 0xff) there |= o.mask;
    }
    if ((members & ~there) != 0) continue;
    if (w.worker->launch->observer != nullptr) tell_of_warp_barrier(w, members & there);
    for (std::uint32_t b = 0; b < w.group_count; ++b) {
      Group& o = w.groups[b];
      if (o.wait == Wait::lanes && code[o.pc].aux == 0xff && (o.mask & members) != 0) {
        o.wait = Wait::none;
        ++o.pc;
        released = true;
      }
    }
  }
  return released;
}

/// Joins groups that met and picks the next to run; null when none can.
Group* schedule(Warp& w, std::uint32_t& limit) {
  for (std::uint32_t a = 0; a + 1 < w.group_count; ++a) {
    for (std::uint32_t b = a + 1; b < w.group_count;) {
      Group& x = w.groups[a];
      Group& y = w.groups[b];
      const auto movable = [](const Group& g) {
        return g.wait == Wait::none || g.wait == Wait::lanes;
      };
      if (x.pc == y.pc && x.frame == y.frame && movable(x) && movable(y)) {
        x.mask |= y.mask;
        x.wait = Wait::none;
        x.penalty = x.penalty < y.penalty ? x.penalty : y.penalty;
        x.spins = 0;
        remove_group(w, &y);
      } else {
        ++b;
      }
    }
  }
  Group* best = nullptr;
  for (std::uint32_t a = 0; a < w.group_count; ++a) {
    Group& g = w.groups[a];
    if (g.wait != Wait::none) continue;
    if (best == nullptr || g.penalty < best->penalty ||
        (g.penalty == best->penalty &&
         (g.frame->depth > best->frame->depth ||
          (g.frame->depth == best->frame->depth && g.pc < best->pc)))) {
      best = &g;
    }
  }
  limit = kNoLimit;
  if (best == nullptr) return nullptr;
  for (std::uint32_t a = 0; a < w.group_count; ++a) {
    const Group& g = w.groups[a];
    if (&g != best && g.frame == best->frame && g.pc > best->pc && g.pc < limit &&
        (g.wait == Wait::none || g.wait == Wait::lanes))
      limit = g.pc;
  }
  return best;
}

void recheck_lane_waits(Warp& w) {
  for (std::uint32_t a = 0; a < w.group_count; ++a) {
    if (w.groups[a].wait == Wait::lanes) w.groups[a].wait = Wait::none;
  }
}

void exit_lanes(Warp& w, Group* g, std::uint32_t lanes) {
  w.live &= ~lanes;
  const auto count = static_cast<std::uint32_t>(std::popcount(lanes));
  w.block->live_threads -= count;
  w.block->cluster->live_threads -= count;
  for (Frame* f = g->frame; f != nullptr; f = f->parent) {
    f->lanes &= ~lanes;
    if (f->lanes == 0 && f->parent != nullptr) w.free_frames.push_back(f);
  }
  g->mask &= ~lanes;
  if (g->mask == 0) remove_group(w, g);
  recheck_lane_waits(w);
  if (w.live == 0) --w.block->live_warps;
  check_barriers(*w.block);
  check_cluster(*w.block->cluster);
}

bool push_frame(Warp& w, Group* g, const Op& op, std::uint32_t lanes, std::uint32_t pc) {
  Worker& k = *w.worker;
  const Program& program = *k.launch->program;
  const Extra& call = *op.extra;
  int routine = call.routine;
  if (routine < 0) {
    // All lanes of the group call one function: others wait for their turn.
    const auto* targets = reinterpret_cast<const std::uint64_t*>(g->frame->regs + op.r[0]);
    const std::uint64_t target = targets[__builtin_ctz(lanes)];
    const auto found = program.routine_at.find(target);
    if (found == program.routine_at.end() || found->second == 0) {
      k.fault(w, FaultKind::illegal_address, "call of an address that is no function",
              static_cast<unsigned>(__builtin_ctz(lanes)), target);
      return false;
    }
    routine = found->second;
    std::uint32_t same = 0;
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto i = static_cast<unsigned>(__builtin_ctz(m));
      if (targets[i] == target) same |= 1u << i;
    }
    if (same != lanes) {
      w.groups[w.group_count++] = Group{pc, lanes & ~same, g->frame, g->penalty, 0, Wait::none, 0};
      g->mask &= ~(lanes & ~same);
      lanes = same;
    }
  }
  const Routine& callee = program.routines[static_cast<std::size_t>(routine)];
  if (callee.param_sizes.size() != call.arguments.size() ||
      callee.result_sizes.size() != call.results.size()) {
    k.fault(w, FaultKind::invalid_program, "indirect call with the wrong number of parameters");
    return false;
  }
  Frame* caller = g->frame;
  const std::uint64_t local = std::uint64_t{caller->local_offset} + caller->routine->local_bytes;
  if (local + callee.local_bytes > program.stack_bytes || caller->depth > kMostFrames) {
    k.fault(w, FaultKind::illegal_address, "stack overflow: recursion is too deep",
            static_cast<unsigned>(__builtin_ctz(lanes)));
    return false;
  }
  Frame* f = nullptr;
  if (w.free_frames.empty()) {
    w.frames.push_back(std::make_unique<Frame>());
    f = w.frames.back().get();
  } else {
    f = w.free_frames.back();
    w.free_frames.pop_back();
  }
  f->routine = &callee;
  f->parent = caller;
  f->call = &call;
  f->return_pc = pc + 1;
  f->lanes = lanes;
  f->local_offset = static_cast<std::uint32_t>(local);
  f->depth = caller->depth + 1;
  if (f->storage.size() < callee.register_bytes + 64) f->storage.resize(callee.register_bytes + 64);
  const auto raw = reinterpret_cast<std::uint64_t>(f->storage.data());
  f->regs = f->storage.data() + ((64 - raw % 64) % 64);
  std::memset(f->regs, 0, 64);
  std::memcpy(f->regs + callee.constants_offset, callee.constants.data(), callee.constants.size());
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    std::uint8_t* lane = w.lane_local(static_cast<unsigned>(__builtin_ctz(m)));
    for (std::size_t a = 0; a < call.arguments.size(); ++a) {
      const std::uint32_t bytes = std::min(call.arguments[a].size, callee.param_sizes[a]);
      std::memcpy(lane + local + callee.param_offsets[a],
                  lane + caller->local_offset + call.arguments[a].caller_offset, bytes);
    }
  }
  if (k.launch->observer != nullptr) k.launch->observer->frame_pushed(w, *f, lanes);
  if (lanes == g->mask) {
    g->frame = f;
    g->pc = callee.entry;
  } else {
    g->mask &= ~lanes;
    g->pc = pc + 1;
    w.groups[w.group_count++] = Group{callee.entry, lanes, f, g->penalty, 0, Wait::none, 0};
  }
  return true;
}

void pop_frame(Warp& w, Group* g, std::uint32_t lanes, std::uint32_t pc) {
  Frame* f = g->frame;
  Frame* caller = f->parent;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    std::uint8_t* lane = w.lane_local(static_cast<unsigned>(__builtin_ctz(m)));
    for (std::size_t a = 0; a < f->call->results.size(); ++a) {
      const std::uint32_t bytes = std::min(f->call->results[a].size, f->routine->result_sizes[a]);
      std::memcpy(lane + caller->local_offset + f->call->results[a].caller_offset,
                  lane + f->local_offset + f->routine->result_offsets[a], bytes);
    }
  }
  if (w.worker->launch->observer != nullptr) w.worker->launch->observer->frame_popped(w, *f, lanes);
  const std::uint32_t back = f->return_pc;
  f->lanes &= ~lanes;
  const bool last = f->lanes == 0;
  if (lanes == g->mask) {
    g->frame = caller;
    g->pc = back;
  } else {
    g->mask &= ~lanes;
    g->pc = pc + 1;
    w.groups[w.group_count++] = Group{back, lanes, caller, g->penalty, 0, Wait::none, 0};
  }
  if (last) w.free_frames.push_back(f);
}

/// A branch that an observer has looked at: as the run loop does it, without its shortcuts.
void branch_observed(Warp& w, Group* g, const Op& op, std::uint32_t lanes, std::uint32_t pc) {
  if (lanes == 0) {
    g->pc = pc + 1;
  } else if (lanes == g->mask) {
    g->pc = op.target;
    if (op.target <= pc && w.group_count > 1 && ++g->spins > kSpinsBeforeOthers) {
      g->spins = 0;
      g->penalty = ++w.epoch;
    }
  } else {
    if (op.target != pc + 1) {
      ++w.worker->counters.divergent_branches;
      w.groups[w.group_count++] = Group{op.target, lanes, g->frame, g->penalty, 0, Wait::none, 0};
      g->mask &= ~lanes;
    }
    g->pc = pc + 1;
  }
}

void branch_indexed(Warp& w, Group* g, const Op& op, std::uint32_t lanes, std::uint32_t pc) {
  const auto* index = reinterpret_cast<const std::uint32_t*>(g->frame->regs + op.r[0]);
  const auto& targets = op.extra->targets;
  const std::uint32_t rest = g->mask & ~lanes;
  const Group origin = *g;
  bool first = true;
  if (rest != 0) {
    g->mask = rest;
    g->pc = pc + 1;
    first = false;
  }
  for (std::uint32_t left = lanes; left != 0;) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    if (index[lane] >= targets.size()) {
      w.worker->fault(w, FaultKind::illegal_instruction, "branch index out of the table", lane);
      return;
    }
    const std::uint32_t target = targets[index[lane]];
    std::uint32_t same = 0;
    for (std::uint32_t m = left; m != 0; m &= m - 1) {
      const auto i = static_cast<unsigned>(__builtin_ctz(m));
      if (index[i] < targets.size() && targets[index[i]] == target) same |= 1u << i;
    }
    left &= ~same;
    if (first) {
      g->mask = same;
      g->pc = target;
      first = false;
    } else {
      w.groups[w.group_count++] =
          Group{target, same, origin.frame, origin.penalty, 0, Wait::none, 0};
    }
  }
}

}  // namespace

Ran run_warp(Warp& w) {
  Worker& k = *w.worker;
  const Op* const code = k.code;
  w.polls = 0;
  for (;;) {
    std::uint32_t limit = kNoLimit;
    Group* g = schedule(w, limit);
    if (g == nullptr) {
      if (w.live == 0) return Ran::done;
      if (release_warp_barriers(w) || exchange_apart(w)) continue;
      return Ran::blocked;
    }
    std::uint32_t pc = g->pc;
    const std::uint32_t mask = g->mask;
    std::uint8_t* const r = g->frame->regs;
    w.frame = g->frame;
    w.active = mask;
    std::uint32_t start = pc;
    const std::int64_t lanes = mask == kFullMask ? kWarpSize : std::popcount(mask);
    const auto end_segment = [&](std::uint32_t end) {
      if constexpr (kCount) {
        ++k.executed[start];
        --k.executed[end];
        k.lanes[start] += lanes;
        k.lanes[end] -= lanes;
      }
      k.steps += end - start;
    };
    for (;;) {
      const Op& op = code[pc];
      std::uint32_t m = mask;
      if (op.guard != 0) {
        m &= predicate(r, op.guard) ^ op.guard_flip;
        if (op.step != Step::branch) {
          if (kCount && m != mask) k.idle_lanes[pc] += std::popcount(mask & ~m);
          if (m == 0) {
            if (++pc >= limit) {
              end_segment(pc);
              g->pc = pc;
              break;
            }
            continue;
          }
        }
      }
      switch (op.step) {
        case Step::simple:
          op.fn(r, op, m, w);
          ++pc;
          break;
        case Step::faulting:
          w.pc = pc;
          op.fn(r, op, m, w);
          if (k.stop) [[unlikely]] {
            end_segment(pc + 1);
            return Ran::stopped;
          }
          ++pc;
          break;
        case Step::sync: {
          if (mask != w.live) {
            const std::uint32_t missing = members_of(*g, op) & w.live & ~mask;
            if (missing != 0) {
              end_segment(pc);
              g->pc = pc;
              g->wait = Wait::lanes;
              goto reschedule;
            }
          }
          w.pc = pc;
          op.fn(r, op, m, w);
          if (k.stop) [[unlikely]] {
            end_segment(pc + 1);
            return Ran::stopped;
          }
          ++pc;
          break;
        }
        case Step::branch: {
          if (m == 0) {
            ++pc;
            break;
          }
          const std::uint32_t target = op.target;
          end_segment(pc + 1);
          if (m == mask) [[likely]] {
            const bool backward = target <= pc;
            pc = target;
            start = pc;
            if (backward) {
              if (k.steps >= k.slice_end || w.polls >= kPollsPerSlice) [[unlikely]] {
                g->pc = pc;
                if (w.group_count > 1) g->penalty = ++w.epoch;
                return Ran::yielded;
              }
              if (w.group_count > 1) {
                g->pc = pc;
                if (++g->spins > kSpinsBeforeOthers) {
                  g->spins = 0;
                  g->penalty = ++w.epoch;
                }
                goto reschedule;
              }
            }
            break;
          }
          if (target != pc + 1) {
            ++k.counters.divergent_branches;
            w.groups[w.group_count++] = Group{target, m, g->frame, g->penalty, 0, Wait::none, 0};
            g->mask = mask & ~m;
          }
          g->pc = pc + 1;
          goto reschedule;
        }
        case Step::control: {
          w.pc = pc;
          end_segment(pc + 1);
          g->pc = pc;
          const Op* real = &op;
          if (op.control == Control::none && op.fn != nullptr) {
            op.fn(r, op, m, w);
            if (k.stop) return Ran::stopped;
            real = &k.launch->program->code[pc];
            if (real->guard != 0) m &= predicate(r, real->guard) ^ real->guard_flip;
            if (real->step == Step::branch) {
              const bool backward = m == mask && real->target <= pc;
              branch_observed(w, g, *real, m, pc);
              if (backward && w.polls >= kPollsPerSlice) {
                if (w.group_count > 1) g->penalty = ++w.epoch;
                return Ran::yielded;
              }
              goto reschedule;
            }
            if (m == 0) {
              g->pc = pc + 1;
              goto reschedule;
            }
          }
          switch (real->control) {
            case Control::exit:
              g->pc = pc + 1;
              exit_lanes(w, g, m);
              goto reschedule;
            case Control::ret:
              if (g->frame->parent == nullptr) {
                g->pc = pc + 1;
                exit_lanes(w, g, m);
              } else {
                pop_frame(w, g, m, pc);
              }
              goto reschedule;
            case Control::call:
              if (!real->extra->builtin.empty()) {
                if (!call_builtin(w, *real->extra, m))
                  k.fault(w, FaultKind::illegal_instruction,
                          "the device function " + real->extra->builtin + " isn't available");
                if (k.stop) return Ran::stopped;
                if (k.launch->observer != nullptr)
                  k.launch->observer->builtin_returned(w, *real->extra, m);
                g->pc = pc + 1;
              } else if (!push_frame(w, g, *real, m, pc)) {
                return Ran::stopped;
              }
              goto reschedule;
            case Control::branch_indexed:
              branch_indexed(w, g, *real, m, pc);
              if (k.stop) return Ran::stopped;
              if (k.steps >= k.slice_end) return Ran::yielded;
              goto reschedule;
            case Control::barrier:
            case Control::barrier_arrive:
            case Control::barrier_reduce:
              if (m != mask) {  // lanes that the guard switches off go on
                w.groups[w.group_count++] =
                    Group{pc + 1, mask & ~m, g->frame, g->penalty, 0, Wait::none, 0};
                g->mask = m;
              }
              arrive_at_barrier(w, *g, *real, m);
              if (k.stop) return Ran::stopped;
              // The last to come doesn't run ahead of those it released.
              if (w.fresh && k.slice_end > k.steps + kStepsAfterRelease)
                k.slice_end = k.steps + kStepsAfterRelease;
              goto reschedule;
            case Control::cluster_arrive:
              g->pc = pc + 1;
              arrive_at_cluster(w, m);
              goto reschedule;
            case Control::cluster_wait:
              if (w.block->cluster->phase != w.cluster_phase)
                g->pc = pc + 1;
              else
                g->wait = Wait::cluster;
              goto reschedule;
            case Control::yield:
              g->pc = pc + 1;
              w.polls += kPollsPerSlice;
              if (w.group_count > 1) g->penalty = ++w.epoch;
              return Ran::yielded;
            case Control::trap:
              k.fault(w, FaultKind::trap, "trap", static_cast<unsigned>(__builtin_ctz(m)));
              return Ran::stopped;
            case Control::unimplemented:
            case Control::none:
              k.fault(w, FaultKind::illegal_instruction, "not implemented",
                      static_cast<unsigned>(__builtin_ctz(m)));
              return Ran::stopped;
          }
          goto reschedule;
        }
      }
      if (pc >= limit) {
        if (pc != start) end_segment(pc);
        g->pc = pc;
        break;
      }
    }
  reschedule:;
    if (k.steps >= k.slice_end) {
      // Straight-line code ends; calls and divergence come by here too.
      if (w.live == 0) return Ran::done;
      bool runnable = false;
      for (std::uint32_t a = 0; a < w.group_count; ++a)
        runnable = runnable || w.groups[a].wait != Wait::barrier;
      if (runnable) return Ran::yielded;
    }
  }
}

}  // namespace cudasim
