#include "cudasim/exec/counters.hpp"

#include <vector>

#include "cudasim/exec/traffic.hpp"

namespace cudasim {

void Counters::merge(const Counters& other) {
#define CUDASIM_COUNTER(name) name += other.name;
#include "cudasim/exec/counters.inc"
#undef CUDASIM_COUNTER
}

namespace {

void add_pipe(Counters& c, Pipe pipe, std::uint64_t warps, std::uint64_t threads) {
  switch (pipe) {
#define CUDASIM_PIPE(p, w, t) \
  case Pipe::p:               \
    c.w += warps;             \
    c.t += threads;           \
    break;
    CUDASIM_PIPE(fp32, warp_fp32, thread_fp32)
    CUDASIM_PIPE(fp64, warp_fp64, thread_fp64)
    CUDASIM_PIPE(half, warp_half, thread_half)
    CUDASIM_PIPE(tensor, warp_tensor, thread_tensor)
    CUDASIM_PIPE(integer, warp_int, thread_int)
    CUDASIM_PIPE(sfu, warp_sfu, thread_sfu)
    CUDASIM_PIPE(convert, warp_convert, thread_convert)
    CUDASIM_PIPE(move, warp_move, thread_move)
    CUDASIM_PIPE(control, warp_control, thread_control)
    CUDASIM_PIPE(load, warp_load, thread_load)
    CUDASIM_PIPE(store, warp_store, thread_store)
    CUDASIM_PIPE(atomic, warp_atomic, thread_atomic)
    CUDASIM_PIPE(sync, warp_sync, thread_sync)
    CUDASIM_PIPE(shuffle, warp_shuffle, thread_shuffle)
    CUDASIM_PIPE(texture, warp_texture, thread_texture)
#undef CUDASIM_PIPE
    default:
      c.warp_other += warps;
      c.thread_other += threads;
      break;
  }
  c.warp_instructions += warps;
  c.thread_instructions += threads;
}

void count_async_wait(Counters& c, const Instruction* i, std::uint64_t runs) {
  if (i == nullptr || i->root != "cp" || i->has("bulk")) return;
  if (!i->has("wait_all") && !i->has("wait_group")) return;
  c.async_waits += runs;
  if (i->has("wait_group") && !i->operands.empty())
    c.async_groups_left += runs * static_cast<std::uint64_t>(i->operands[0].value);
}

}  // namespace

Counters collect_counters(const Program& program, const std::vector<Worker*>& workers,
                          std::uint32_t phases) {
  Counters c;
  std::vector<std::uint64_t> executed(program.code.size()), lanes(program.code.size());
  for (Worker* w : workers) {
    c.merge(w->counters);
    std::int64_t runs = 0, threads = 0;
    for (std::size_t pc = 0; pc < program.code.size(); ++pc) {
      runs += w->executed[pc];
      threads += w->lanes[pc];
      executed[pc] += static_cast<std::uint64_t>(runs);
      lanes[pc] += static_cast<std::uint64_t>(threads - w->idle_lanes[pc]);
    }
  }
  for (std::size_t pc = 0; pc < program.code.size(); ++pc) {
    const OpInfo& info = program.info[pc];
    const std::uint64_t runs = executed[pc], threads = lanes[pc];
    if (runs == 0) continue;
    if (info.elided != 0) add_pipe(c, Pipe::move, runs * info.elided, threads * info.elided);
    if (info.weight == 0) continue;
    add_pipe(c, info.pipe, runs, threads);
    if (program.code[pc].step == Step::branch) c.branches += runs;
    count_async_wait(c, info.instruction, runs);
    if (program.code[pc].step == Step::sync && program.code[pc].aux == 0xff)
      c.warp_barriers += runs;
    switch (info.pipe) {
      case Pipe::fp64:
        c.flops_fp64 += threads * info.flops;
        break;
      case Pipe::half:
        c.flops_half += threads * info.flops;
        break;
      case Pipe::tensor:
        (info.tensor_integer ? c.ops_tensor_int : c.flops_tensor) += runs * info.tensor_flops;
        c.tensor_work += runs * info.tensor_work;
        break;
      default:
        c.flops_fp32 += threads * info.flops;
        break;
    }
  }
  count_traffic(workers, phases, c);
  return c;
}

}  // namespace cudasim
