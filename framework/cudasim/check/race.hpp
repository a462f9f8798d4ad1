#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cudasim/check/access.hpp"
#include "cudasim/check/clock.hpp"
#include "cudasim/check/race_shadow.hpp"
#include "cudasim/exec/machine.hpp"

namespace cudasim {

/// A word that orders threads: a flag, a counter, an mbarrier.
struct SyncWord {
  Clock known;     ///< what those who wrote it before published
  Clock pending;   ///< mbarrier: of the phase that isn't complete
  Clock in_block;  ///< published at the scope of `block` only
  std::uint32_t block = 0;
};

/// What racecheck knows of a warp.
struct RaceWarp {
  struct Fence {  ///< the last fence of each lane, by what was known then
    std::array<std::uint32_t, 32> clock{}, floor{}, sync{};
  };
  using Matrix = std::array<std::array<std::uint32_t, 32>, 32>;
  std::uint32_t clock = 1;
  std::uint32_t sync = 0;          ///< all lanes know all lanes up to it
  std::unique_ptr<Matrix> matrix;  ///< [who][of whom], beyond sync
  Clock extra;                     ///< known by all lanes
  std::unique_ptr<std::array<Clock, 32>> lane_extra;
  std::unique_ptr<Fence> fences[2];               ///< of scope cta, of a wider one
  std::array<std::uint32_t, 32> group{}, done{};  ///< cp.async: open, last complete
  std::array<std::uint32_t, 32> bulk{}, bulk_group{}, bulk_done{};  ///< copies issued, …
  bool copies = false;
};

/// What racecheck knows of a block and of its shared memory.
struct RaceBlock {
  struct Barrier {
    Clock known;
    std::uint32_t lanes = 0;
    bool all_wait = true;
    std::vector<std::pair<unsigned, std::uint32_t>> waiting;  ///< warp, lanes
  };
  std::uint32_t number = 0;
  std::uint32_t floor = 1;         ///< all of the block's accesses before it are known to all
  std::uint32_t fenced_floor = 0;  ///< … and every thread had a device-wide fence since
  Clock extra;
  std::array<Barrier, 16> barriers;
  std::vector<RaceWarp> warps;
  std::unique_ptr<RaceShadow> shared;
  std::unordered_map<std::uint64_t, SyncWord> words;  ///< in shared memory
  bool alone = true;                                  ///< no other block of a cluster sees it
  std::uint64_t last_base = 1, last_end = 0;          ///< global memory looked at last …
  RaceShadow* last = nullptr;                         ///< … and its shadow
  Clock cluster;  ///< of the cluster barrier; kept with the cluster's first block
};

/// A pair of accesses that nothing orders.
struct Race {
  Trace earlier;
  std::uint32_t lane = 0;  ///< of the later access
  Touch touch{};
  std::uint32_t pc = 0;
  std::uint64_t address = 0;
  bool shared = false;
  bool same_value = false;  ///< two writes of one value
  unsigned other_lane = 0;
};

/// Finds accesses that no happens-before relation orders, whatever order the blocks ran in. Threads
/// are ordered by barriers, bar.warp.sync, mbarriers, the completion of asynchronous copies, and by
/// a flag or an atomic that was written after a fence (or with release) and read. A reader of such
/// a word needs no fence of its own, as CUDA's own examples do without.
class RaceDetector {
 public:
  using Report = void (*)(void* context, const Warp& warp, const Race& race);
  RaceDetector(Report report, void* context) : report_(report), context_(context) {}

  void begin(const LaunchState& launch);
  /// Allocations that the launch has touched so far.
  const std::vector<const Region*>& touched() const { return touched_; }
  void start(RaceBlock& state, const Block& block);

  /// The lanes of `mask` touch `bytes` at host addresses `a`. `values`: registers of a store, for
  /// the comparison of values.
  void touch(Warp& w, const Op& op, const Access& access, std::uint8_t* r, std::uint32_t mask,
             const std::uint64_t* a, unsigned bytes, Touch touch, bool shared_only,
             Pattern pattern);
  /// All lanes of the mask touch the same range.
  void touch_range(Warp& w, const Op& op, std::uint32_t lanes, std::uint64_t address,
                   std::uint64_t bytes, Touch touch);

  // Order.
  void warp_sync(Warp& w, std::uint32_t lanes);
  void fence(Warp& w, std::uint32_t lanes, Access::Scope scope);
  void release(Warp& w, std::uint32_t lanes, const std::uint64_t* a, const Access& access);
  void acquire(Warp& w, std::uint32_t lanes, const std::uint64_t* a);
  void barrier_arrived(Warp& w, std::uint32_t lanes, unsigned id, bool counted, bool waits);
  void barrier_completed(Block& block, unsigned id);
  void cluster_arrived(Warp& w, std::uint32_t lanes);
  void cluster_completed(Cluster& cluster);
  void word_arrived(Warp& w, std::uint32_t lanes, std::uint64_t word);
  void word_completed(Warp& w, std::uint64_t word);
  void word_tested(Warp& w, std::uint32_t lanes, std::uint64_t word);
  void word_started(Warp& w, std::uint64_t word);
  void copies_on_word(Warp& w, std::uint32_t lanes, std::uint64_t word);
  void bulk_on_word(Warp& w, unsigned lane, std::uint64_t word);
  void copies_committed(Warp& w, std::uint32_t lanes, bool bulk);
  void copies_waited(Warp& w, std::uint32_t lanes, bool bulk, std::int64_t pending);

 private:
  struct Context;
  void full_barrier(Block& block, RaceBlock& b);
  void add_known(const RaceBlock& b, const RaceWarp& v, unsigned warp, std::uint32_t lanes,
                 Clock& to);
  bool add_released(const RaceBlock& b, const RaceWarp& v, unsigned warp, unsigned lane,
                    Access::Scope scope, Clock& to);
  void learn(RaceWarp& v, std::uint32_t live, std::uint32_t lanes, const Clock& clock);
  bool ordered(const Context& c, const Trace& r, std::uint32_t lanes) const;
  bool coarse(Context& c, Segment& s, unsigned shape);
  void cell(Context& c, Cell& cell, std::uint32_t lanes, std::uint64_t address);
  void fine(Context& c, RaceShadow& shadow, std::uint64_t address, std::uint64_t bytes,
            std::uint32_t lanes);
  void found(Context& c, const Trace& r, std::uint32_t lanes, std::uint64_t address);
  void note(Context& c, Segment& s);
  RaceShadow* shadow_of(const Block& block, std::uint64_t address, std::uint64_t& end,
                        bool& shared);
  SyncWord* word_of(Warp& w, std::uint64_t address, bool make, std::unique_lock<std::mutex>& lock);

  Report report_;
  void* context_;
  const LaunchState* launch_ = nullptr;
  std::uint64_t serial_ = 0;
  bool locks_ = false;  ///< several workers
  std::mutex words_mutex_;
  std::unordered_map<std::uint64_t, SyncWord> words_;  ///< in global memory
  std::atomic<bool> any_words_{false};
  std::mutex touched_mutex_;
  std::vector<const Region*> touched_;
};

}  // namespace cudasim
