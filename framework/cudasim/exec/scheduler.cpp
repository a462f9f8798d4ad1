#include "cudasim/exec/scheduler.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

#include "cudasim/exec/observer.hpp"
#include "cudasim/exec/traffic.hpp"

namespace cudasim {
namespace {

constexpr std::uint64_t kSliceSteps = 200'000;
/// After a barrier warps first run a little each, as on a device: a warp doesn't run far ahead of
/// another that hasn't left the barrier yet.
constexpr std::uint64_t kFreshSteps = 32;
constexpr unsigned kSpinningSweeps = 4;
constexpr std::uint8_t kFreshShared = 0xCD;

std::uint32_t align_up(std::uint32_t value, std::uint32_t align) {
  return (value + align - 1) / align * align;
}

/// Specials that belong to a lane's place in the block.
bool lane_special(Special s, const Dim3& block, unsigned warp, unsigned lane,
                  std::uint32_t& value) {
  const std::uint32_t thread = warp * kWarpSize + lane;
  switch (s) {
    case Special::tid_x:
      value = thread % block.x;
      return true;
    case Special::tid_y:
      value = thread / block.x % block.y;
      return true;
    case Special::tid_z:
      value = thread / block.x / block.y;
      return true;
    case Special::laneid:
      value = lane;
      return true;
    case Special::lanemask_eq:
      value = 1u << lane;
      return true;
    case Special::lanemask_le:
      value = (2u << lane) - 1;
      return true;
    case Special::lanemask_lt:
      value = (1u << lane) - 1;
      return true;
    case Special::lanemask_ge:
      value = ~((1u << lane) - 1);
      return true;
    case Special::lanemask_gt:
      value = ~((2u << lane) - 1);
      return true;
    case Special::warpid:
      value = warp;
      return true;
    default:
      return false;
  }
}

}  // namespace

BlockScheduler::BlockScheduler(LaunchState& launch) : launch_(launch) {
  worker_.launch = &launch;
  worker_.code = launch.code;
  const std::size_t n = launch.program->code.size() + 2;
  worker_.windows.resize(n);
  worker_.executed.resize(n);
  worker_.lanes.resize(n);
  worker_.idle_lanes.resize(n);
}

BlockScheduler::~BlockScheduler() {
  if (launch_.observer == nullptr) return;
  const auto tell = [&](const std::unique_ptr<Cluster>& cluster) {
    for (const auto& block : cluster->blocks) launch_.observer->block_destroyed(*block);
  };
  for (const auto& cluster : resident_) tell(cluster);
  for (const auto& cluster : spare_) tell(cluster);
}

void BlockScheduler::fill(std::uint8_t* regs, std::uint32_t slot, std::uint32_t value) {
  auto* p = reinterpret_cast<std::uint32_t*>(regs + slot);
  for (unsigned i = 0; i < kWarpSize; ++i) p[i] = value;
}

std::unique_ptr<Cluster> BlockScheduler::make_cluster() {
  const Program& program = *launch_.program;
  const LaunchConfig& config = *launch_.config;
  const auto blocks = config.cluster.count();
  auto cluster = std::make_unique<Cluster>();
  const std::uint32_t register_bytes =
      align_up(program.routines[0].register_bytes + 64, 64) + 64;  // staggered over cache sets
  for (std::uint64_t rank = 0; rank < blocks; ++rank) {
    auto block = std::make_unique<Block>();
    block->cluster = cluster.get();
    block->cluster_rank = static_cast<std::uint32_t>(rank);
    block->shared_bytes = launch_.shared_bytes;
    block->shared = static_cast<std::uint8_t*>(
        std::aligned_alloc(1024, align_up(launch_.shared_bytes + 1024, 1024)));
    block->l1.resize(config.l1_bytes_per_block, launch_.memory->origin());
    block->register_bytes = std::uint64_t{register_bytes} * launch_.warps_per_block;
    block->register_memory =
        static_cast<std::uint8_t*>(std::aligned_alloc(64, block->register_bytes));
    if (block->shared == nullptr || block->register_memory == nullptr) throw std::bad_alloc();
    if (program.stack_bytes != 0) {
      block->local_bytes = std::uint64_t{program.stack_bytes} * launch_.warps_per_block * kWarpSize;
      void* p = ::mmap(nullptr, block->local_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) throw std::bad_alloc();
      block->local_memory = static_cast<std::uint8_t*>(p);
    }
    for (std::uint32_t i = 0; i < launch_.warps_per_block; ++i) {
      auto warp = std::make_unique<Warp>();
      warp->worker = &worker_;
      warp->block = block.get();
      warp->index = i;
      const std::uint32_t threads = launch_.threads_per_block - i * kWarpSize;
      warp->lanes = threads >= kWarpSize ? kFullMask : (1u << threads) - 1;
      warp->root = block->register_memory + std::uint64_t{register_bytes} * i;
      warp->local_stride = program.stack_bytes;
      warp->local = block->local_memory == nullptr
                        ? nullptr
                        : block->local_memory + std::uint64_t{program.stack_bytes} * kWarpSize * i;
      std::memset(warp->root, 0, 64);
      std::ranges::copy(launch_.root_constants, warp->root + program.routines[0].constants_offset);
      for (const auto& s : program.specials) {
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
          std::uint32_t value = 0;
          if (!lane_special(s.special, config.block, i, lane, value)) break;
          reinterpret_cast<std::uint32_t*>(warp->root + s.slot)[lane] = value;
        }
      }
      warp->root_frame.routine = program.routines.data();
      warp->root_frame.regs = warp->root;
      block->warps.push_back(std::move(warp));
    }
    if (launch_.observer != nullptr) launch_.observer->block_created(*block);
    cluster->blocks.push_back(std::move(block));
  }
  return cluster;
}

void BlockScheduler::start(Cluster& cluster, std::uint64_t number) {
  const LaunchConfig& config = *launch_.config;
  const Dim3& c = config.cluster;
  const Dim3 clusters{config.grid.x / c.x, config.grid.y / c.y, config.grid.z / c.z};
  const auto cx = static_cast<std::uint32_t>(number % clusters.x),
             cy = static_cast<std::uint32_t>(number / clusters.x % clusters.y),
             cz = static_cast<std::uint32_t>(number / clusters.x / clusters.y);
  cluster.arrived = 0;
  cluster.phase = 0;
  cluster.live_threads =
      static_cast<std::uint32_t>(cluster.blocks.size()) * launch_.threads_per_block;
  for (const auto& owned : cluster.blocks) {
    Block& block = *owned;
    const std::uint32_t rank = block.cluster_rank;
    const std::uint32_t rx = rank % c.x, ry = rank / c.x % c.y, rz = rank / c.x / c.y;
    block.id = {cx * c.x + rx, cy * c.y + ry, cz * c.z + rz};
    block.number = block.id.x + std::uint64_t{config.grid.x} *
                                    (block.id.y + std::uint64_t{config.grid.y} * block.id.z);
    block.live_threads = launch_.threads_per_block;
    block.live_warps = launch_.warps_per_block;
    block.barriers = {};
    block.l1.clear();
    if (launch_.shared_bytes != 0) std::memset(block.shared, kFreshShared, launch_.shared_bytes);
    for (const auto& warp : block.warps) {
      for (const auto& s : launch_.program->specials) {
        std::uint32_t value = 0;
        switch (s.special) {
          case Special::ctaid_x:
            value = block.id.x;
            break;
          case Special::ctaid_y:
            value = block.id.y;
            break;
          case Special::ctaid_z:
            value = block.id.z;
            break;
          case Special::smid:
            value = static_cast<std::uint32_t>(block.number % 132);
            break;
          case Special::cluster_ctaid_x:
            value = rx;
            break;
          case Special::cluster_ctaid_y:
            value = ry;
            break;
          case Special::cluster_ctaid_z:
            value = rz;
            break;
          case Special::cluster_ctarank:
            value = rank;
            break;
          case Special::clusterid_x:
            value = cx;
            break;
          case Special::clusterid_y:
            value = cy;
            break;
          case Special::clusterid_z:
            value = cz;
            break;
          default:
            continue;
        }
        fill(warp->root, s.slot, value);
      }
      warp->live = warp->lanes;
      warp->group_count = 1;
      warp->epoch = 0;
      warp->fresh = true;
      warp->cluster_phase = 0;
      warp->root_frame.lanes = warp->lanes;
      warp->free_frames.clear();
      for (const auto& f : warp->frames) warp->free_frames.push_back(f.get());
      warp->groups[0] = Group{
          launch_.program->routines[0].entry, warp->lanes, &warp->root_frame, 0, 0, Wait::none, 0};
      warp->frame = &warp->root_frame;
    }
  }
  if (launch_.observer != nullptr) launch_.observer->cluster_started(cluster);
  worker_.counters.blocks += cluster.blocks.size();
  worker_.counters.warps += cluster.blocks.size() * launch_.warps_per_block;
  worker_.counters.threads += cluster.live_threads;
}

std::uint64_t BlockScheduler::place_in_order(std::uint64_t number) const {
  const LaunchConfig& config = *launch_.config;
  if (config.order == BlockOrder::ascending) return number;
  if (config.order == BlockOrder::descending) return launch_.clusters - 1 - number;
  // A permutation of [0, 2^bits), walked until it lands in [0, clusters).
  const auto bits = static_cast<unsigned>(std::bit_width(launch_.clusters - 1));
  if (bits == 0) return number;
  const std::uint64_t all = bits == 64 ? ~0ULL : (std::uint64_t{1} << bits) - 1;
  do {
    for (unsigned round = 1; round <= 4; ++round) {
      const std::uint64_t salt = (config.order_seed + round) * 0x9E3779B97F4A7C15ULL;
      number = (number * (salt | 1) + (salt >> 17)) & all;
      number ^= number >> (bits / 2 + 1);
    }
  } while (number >= launch_.clusters);
  return number;
}

bool BlockScheduler::start_in(std::unique_ptr<Cluster>& cluster) {
  const std::uint64_t number = launch_.next_cluster.fetch_add(1);
  if (number >= launch_.clusters) return false;
  if (cluster == nullptr) cluster = make_cluster();
  start(*cluster, place_in_order(number));
  return true;
}

bool BlockScheduler::start_next() {
  std::unique_ptr<Cluster> cluster;
  if (!spare_.empty()) {
    cluster = std::move(spare_.back());
    spare_.pop_back();
  }
  if (!start_in(cluster)) {
    if (cluster != nullptr) spare_.push_back(std::move(cluster));
    return false;
  }
  resident_.push_front(std::move(cluster));
  return true;
}

bool BlockScheduler::watchdog() {
  if (launch_.abort.load(std::memory_order_relaxed)) {
    worker_.stop = true;
    return false;
  }
  // Time in which the machine was busy elsewhere is not held against the kernel, but not for ever.
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - launch_.start;
  const double limit = launch_.watchdog_seconds;
  const bool late = lasted.count() > limit && (process_cpu_seconds() - launch_.start_cpu > limit ||
                                               lasted.count() > kWatchdogPatience * limit);
  if (!late && (launch_.step_limit == 0 || worker_.steps < launch_.step_limit)) return true;
  // The place where most operations were run.
  std::int64_t running = 0, most = -1;
  std::size_t hot = 0;
  for (std::size_t pc = 0; pc < launch_.program->code.size(); ++pc) {
    running += worker_.executed[pc];
    if (running >= most) {
      most = running;
      hot = pc;
    }
  }
  if (!resident_.empty()) {
    Warp& warp = *resident_.front()->blocks[0]->warps[0];
    warp.pc = static_cast<std::uint32_t>(hot);
    worker_.fault(
        warp, FaultKind::timeout,
        late ? "the kernel runs longer than the watchdog allows; most time is spent here"
             : "the kernel runs more instructions than the watchdog allows; most are run here");
  }
  return false;
}

BlockScheduler::Outcome BlockScheduler::run_cluster(Cluster& cluster) {
  unsigned spinning_sweeps = 0;
  for (;;) {
    bool alive = false, ran = false, spins = true;
    for (const auto& block : cluster.blocks) {
      if (block->live_warps == 0) continue;
      for (const auto& warp : block->warps) {
        if (warp->done()) continue;
        const std::uint64_t before = worker_.steps;
        worker_.slice_end = before + (warp->fresh ? kFreshSteps : kSliceSteps);
        warp->fresh = false;
        const Ran outcome = run_warp(*warp);
        if (outcome == Ran::stopped) return Outcome::stopped;
        alive = alive || outcome != Ran::done;
        ran = ran || worker_.steps != before;
        if (outcome == Ran::done || (outcome == Ran::yielded && warp->polls < 64) ||
            (outcome == Ran::blocked && worker_.steps - before > 512))
          spins = false;
      }
    }
    if (!alive) {
      bool finished = true;
      for (const auto& block : cluster.blocks) finished = finished && block->live_warps == 0;
      if (finished) return Outcome::done;
    }
    if (!watchdog()) return Outcome::stopped;
    if (!ran) {
      for (const auto& block : cluster.blocks) {
        for (const auto& warp : block->warps) {
          if (warp->done() || warp->group_count == 0) continue;
          warp->pc = warp->groups[0].pc;
          const auto lane = static_cast<unsigned>(__builtin_ctz(warp->groups[0].mask));
          worker_.fault(*warp, FaultKind::barrier_error,
                        "deadlock: these threads wait for others of the block that never come here",
                        lane);
          return Outcome::stopped;
        }
      }
      return Outcome::done;
    }
    spinning_sweeps = spins ? spinning_sweeps + 1 : 0;
    if (spinning_sweeps >= kSpinningSweeps) return Outcome::spinning;
  }
}

void BlockScheduler::run() {
  if (launch_.config->cooperative) {
    // All blocks must be resident: take an even share before running any.
    const std::uint64_t share =
        (launch_.clusters + launch_.resident_limit - 1) / launch_.resident_limit;
    for (std::uint64_t i = 0; i < share && start_next(); ++i) {
    }
  }
  const std::uint64_t most_resident = 256;
  std::uint64_t idle = 0, rounds = 0;
  for (;;) {
    if (launch_.abort.load(std::memory_order_relaxed)) return;
    if (resident_.empty() && !start_next()) return;
    // A block that ends at once never looks at the clock itself.
    if (++rounds % 1024 == 0 && !watchdog()) return;
    if (const auto phase = phase_of(launch_, resident_.front()->blocks[0]->number);
        phase != worker_.phase) {
      worker_.phase = phase;
      std::ranges::fill(worker_.windows, Window{});
    }
    switch (run_cluster(*resident_.front())) {
      case Outcome::stopped:
        return;
      case Outcome::done:
        idle = 0;
        if (resident_.size() == 1 && start_in(resident_.front())) break;
        spare_.push_back(std::move(resident_.front()));
        resident_.pop_front();
        break;
      case Outcome::spinning:
        resident_.push_back(std::move(resident_.front()));
        resident_.pop_front();
        if (resident_.size() < most_resident && ++idle >= resident_.size()) {
          if (!start_next()) ::sched_yield();
          idle = 0;
        }
        break;
    }
  }
}

}  // namespace cudasim
