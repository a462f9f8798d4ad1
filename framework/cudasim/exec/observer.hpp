#pragma once

#include <cstdint>
#include <string>

#include "cudasim/exec/launch.hpp"

namespace cudasim {

struct Block;
struct Cluster;
struct Extra;
struct Frame;
struct LaunchState;
struct Op;
struct Program;
struct Warp;

/// Sees what a launch does (the checks). The calls for one block all come from one host thread;
/// blocks run on several. Without an observer a launch pays nothing for it.
class Observer {
 public:
  virtual ~Observer() = default;

  /// The operations to run in place of program.code: a copy of the same length in which `fn` of
  /// any operation may look on before it calls the original. A control operation or a branch that
  /// is to be seen has step control, Control::none, no guard and a `fn`, which is called before the
  /// original (program.code at the same place) takes effect.
  virtual const Op* begin(LaunchState& launch) = 0;
  virtual void end(LaunchState& launch) = 0;

  virtual void block_created(Block& block) = 0;  ///< memory is there; runs many blocks in turn
  virtual void cluster_started(Cluster& cluster) = 0;
  virtual void block_destroyed(Block& block) = 0;

  /// Lanes met at a bar.warp.sync.
  virtual void warp_synced(Warp& warp, std::uint32_t lanes) = 0;
  /// Lanes arrived at barrier `id` (expected: threads, 0 for all); they wait, or go on when not.
  virtual void barrier_arrived(Warp& warp, std::uint32_t lanes, unsigned id, std::uint32_t expected,
                               bool waits) = 0;
  /// The barrier is complete; called before its waiting lanes go on.
  virtual void barrier_completed(Block& block, unsigned id, bool whole_block) = 0;
  virtual void cluster_arrived(Warp& warp, std::uint32_t lanes) = 0;
  virtual void cluster_completed(Cluster& cluster) = 0;
  virtual void frame_pushed(Warp& warp, Frame& callee, std::uint32_t lanes) = 0;
  virtual void frame_popped(Warp& warp, Frame& callee, std::uint32_t lanes) = 0;
  /// A function of the device runtime (malloc, vprintf …) gave its results.
  virtual void builtin_returned(Warp& warp, const Extra& call, std::uint32_t lanes) = 0;

  /// A fault is about to stop the launch. True: it was recorded, and the lane's access is skipped.
  virtual bool fault(const Warp& warp, FaultKind kind, const std::string& message, unsigned lane,
                     std::uint64_t address) = 0;
};

}  // namespace cudasim
