#pragma once

#include <cstdint>

namespace cudasim {

struct Extra;
struct Op;
struct Warp;

constexpr unsigned kWarpSize = 32;
constexpr std::uint32_t kFullMask = 0xffffffffu;
/// Shared-window address of the first byte of a block's shared memory (the first KiB is reserved,
/// as on sm_90).
constexpr std::uint32_t kSharedStart = 0x400;
/// Distributed shared memory: a cluster rank's window starts at (rank + 1) << 24 + kSharedStart;
/// addresses below 1 << 24 are the own block's.
constexpr std::uint32_t kSharedRankShift = 24;

/// Runs one decoded operation on the lanes of `mask`. `r` is the frame's register file: register x
/// of lane i lies at r + offset(x) + i * bytes(x); a predicate is one 32-bit mask.
using Handler = void (*)(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& warp);

/// How the run loop treats an operation.
enum class Step : std::uint8_t {
  simple,    ///< can't fail, can't wait
  faulting,  ///< may set Worker::stop
  branch,
  sync,     ///< a warp-synchronous one: waits for the lanes of its member mask
  control,  ///< everything else that changes control flow; Op::control says what
};

enum class Control : std::uint8_t {
  none,
  branch_indexed,
  call,
  ret,
  exit,
  barrier,
  barrier_arrive,
  barrier_reduce,
  cluster_arrive,
  cluster_wait,
  trap,
  yield,
  unimplemented,
};

/// A decoded operation.
struct Op {
  Handler fn = nullptr;
  std::int32_t r[8] = {};  ///< register offsets: destinations first, then sources
  std::int64_t imm = 0;    ///< address offset or handler-defined
  std::int32_t guard = 0;  ///< offset of the guard predicate, 0 when none
  std::uint32_t guard_flip = 0;
  std::uint32_t target = 0;  ///< of a branch
  Step step = Step::simple;
  Control control = Control::none;
  std::uint8_t aux = 0;            ///< handler-defined
  std::uint8_t members_known = 0;  ///< sync: 1: imm32 members in `target`; 2: register r[7]
  const Extra* extra = nullptr;
};

}  // namespace cudasim
