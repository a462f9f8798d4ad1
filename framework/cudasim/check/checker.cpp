#include "cudasim/check/checker.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "cudasim/check/observing.hpp"
#include "cudasim/check/region_shadow.hpp"

namespace cudasim {
namespace {

/// Whether the host has memory there: a kernel was given a host pointer.
bool host_memory(std::uint64_t address) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  return ::mincore(reinterpret_cast<void*>(address / page * page), 1, &resident) == 0;
}

std::string touch_name(Touch t) {
  switch (t) {
    case Touch::read:
    case Touch::volatile_read:
      return "read";
    case Touch::write:
    case Touch::volatile_write:
      return "write";
    case Touch::atomic:
    case Touch::atomic_cta:
      return "atomic";
    case Touch::atomic_read:
      return "atomic read";
    case Touch::copy_async:
    case Touch::copy_bulk:
      return "asynchronous write";
    case Touch::none:
      break;
  }
  return "access";
}

bool reads_only(Touch t) {
  return t == Touch::read || t == Touch::volatile_read || t == Touch::atomic_read;
}

CheckedBlock& state_of(const Block& block) {
  return *static_cast<CheckedBlock*>(static_cast<RaceBlock*>(block.observed));
}

}  // namespace

Checker::Checker(Checks checks, Findings& findings)
    : checks_(checks),
      findings_(findings),
      races_([](void* self, const Warp& w,
                const Race& race) { static_cast<Checker*>(self)->add_race(w, race); },
             this) {}

Checker::~Checker() = default;

const Op* Checker::begin(LaunchState& launch) {
  launch_ = &launch;
  skipped_ = 0;
  auto& made = programs_[launch.program];
  if (made == nullptr) {
    made = std::make_unique<Instrumented>();
    made->keep = launch.program->kernel->decoded;
    instrument(*made, *launch.program);
  }
  current_ = made.get();
  if (has(Check::racecheck)) races_.begin(launch);
  return made->code.data();
}

void Checker::end(LaunchState& launch) {
  const std::lock_guard lock(mutex_);
  if (has(Check::racecheck) && order_.number != 0 && !launch.fault) {
    const auto party = std::make_shared<StreamParty>(
        StreamParty{order_, launch.program->kernel->decoded, launch.program, launch.config->grid,
                    launch.config->block, launch.memory});
    for (const Region* region : races_.touched()) {
      if (!region->live || region->kind == RegionKind::device_heap) continue;
      RegionShadow& shadow = RegionShadow::of(*region);
      find_stream_races(shadow.history(), *party, shadow.race(*region), findings_);
      shadow.history().prune(order_);
      shadow.history().past.push_back({party, shadow.take_race(), 0, 0, false});
    }
  }
  for (auto& [key, noted] : noted_) {
    noted.finding.count = noted.count;
    findings_.add(std::move(noted.finding));
  }
  noted_.clear();
  launch_ = nullptr;
}

void Checker::instrument(Instrumented& made, const Program& program) const {
  made.code = program.code;
  made.access.resize(program.code.size());
  if (has(Check::memcheck)) made.bounds = shared_bounds(program);
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    made.access[i] = access_of(program, i);
    const bool bounded = !made.bounds.empty() && made.bounds[i].name != nullptr;
    observe_operation(checks_, program, i, made.access[i], bounded, made.code[i]);
  }
}

void Checker::block_created(Block& block) {
  auto* state = new CheckedBlock;
  state->checked.resize(block.warps.size());
  block.observed = static_cast<RaceBlock*>(state);
  for (std::size_t i = 0; i < block.warps.size(); ++i) {
    Warp& w = *block.warps[i];
    w.observed = &state->checked[i];
    if (!has(Check::initcheck)) continue;
    auto& taint = state->checked[i].taint[&w.root_frame];
    taint.assign(launch_->program->routines[0].register_bytes / 4 + 32, 0);
    w.root_frame.taint = taint.data();
  }
  if (!has(Check::initcheck)) return;
  if (block.shared_bytes != 0) {
    state->shared_init = std::make_unique<InitShadow>(reinterpret_cast<std::uint64_t>(block.shared),
                                                      block.shared_bytes, false);
  }
  if (block.local_bytes != 0) {
    state->local_init = std::make_unique<InitShadow>(
        reinterpret_cast<std::uint64_t>(block.local_memory), block.local_bytes, false);
  }
}

void Checker::block_destroyed(Block& block) {
  delete &state_of(block);
  block.observed = nullptr;
}

void Checker::cluster_started(Cluster& cluster) {
  for (const auto& block : cluster.blocks) {
    CheckedBlock& state = state_of(*block);
    state.arrivals = {};
    state.arrived = {};
    if (has(Check::racecheck)) races_.start(state, *block);
    if (state.shared_init != nullptr) {
      state.shared_init->set(reinterpret_cast<std::uint64_t>(block->shared), block->shared_bytes,
                             false);
    }
    if (state.local_init != nullptr) {
      state.local_init->set(reinterpret_cast<std::uint64_t>(block->local_memory),
                            block->local_bytes, false);
    }
    for (CheckedWarp& warp : state.checked) {
      if (!warp.tainted) continue;
      warp.tainted = false;
      for (auto& [frame, taint] : warp.taint) std::ranges::fill(taint, 0u);
    }
  }
}

void Checker::warp_synced(Warp& w, std::uint32_t lanes) {
  if (has(Check::racecheck)) races_.warp_sync(w, lanes);
}

void Checker::barrier_arrived(Warp& w, std::uint32_t lanes, unsigned id, std::uint32_t expected,
                              bool waits) {
  if (has(Check::racecheck)) races_.barrier_arrived(w, lanes, id, expected != 0, waits);
  if (!has(Check::synccheck)) return;
  CheckedBlock& state = state_of(*w.block);
  const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
  if (expected != 0 && expected % kWarpSize != 0) {
    add(Check::synccheck, "bad-count", false, w, lane, w.pc,
        "barrier " + std::to_string(id) + " is given " + std::to_string(expected) +
            " threads, which is no multiple of 32",
        0, "");
  }
  state.arrived[id] += lanes == w.live && expected != 0
                           ? kWarpSize
                           : static_cast<std::uint32_t>(std::popcount(lanes));
  if (expected != 0 && state.arrived[id] > (expected + 31) / 32 * 32) {
    add(Check::synccheck, "bad-count", false, w, lane, w.pc,
        std::to_string(state.arrived[id]) + " threads arrive at barrier " + std::to_string(id) +
            ", which is given " + std::to_string(expected),
        0, "");
  }
  state.arrivals[id].push_back({w.index, lanes, w.pc});
}

void Checker::barrier_completed(Block& block, unsigned id, bool whole_block) {
  if (has(Check::racecheck)) races_.barrier_completed(block, id);
  if (!has(Check::synccheck)) return;
  CheckedBlock& state = state_of(block);
  const std::vector<CheckedBlock::Arrival> arrivals = std::move(state.arrivals[id]);
  state.arrivals[id].clear();
  state.arrived[id] = 0;
  std::vector<std::uint32_t> first(block.warps.size(), ~0u);
  for (const auto& a : arrivals) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(a.lanes));
    if (first[a.warp] == ~0u) {
      first[a.warp] = a.pc;
    } else if (first[a.warp] != a.pc) {
      add(Check::synccheck, "divergent-barrier", false, *block.warps[a.warp], lane, a.pc,
          "threads of one warp wait for barrier " + std::to_string(id) +
              " at different places of the code",
          0, "");
    }
  }
  if (!whole_block || block.live_threads >= launch_->threads_per_block || arrivals.empty()) return;
  const auto& a = arrivals.front();
  add(Check::synccheck, "exited-threads", false, *block.warps[a.warp],
      static_cast<unsigned>(__builtin_ctz(a.lanes)), a.pc,
      std::to_string(launch_->threads_per_block - block.live_threads) +
          " threads of the block exited before this barrier of the whole block",
      0, "");
}

void Checker::cluster_arrived(Warp& w, std::uint32_t lanes) {
  if (has(Check::racecheck)) races_.cluster_arrived(w, lanes);
}
void Checker::cluster_completed(Cluster& cluster) {
  if (has(Check::racecheck)) races_.cluster_completed(cluster);
}
Place Checker::place(std::uint64_t block, unsigned warp, unsigned lane, std::uint32_t pc,
                     std::string access) const {
  return place_in(*launch_->program, launch_->config->grid, launch_->config->block, block, warp,
                  lane, pc, std::move(access));
}

void Checker::describe_address(std::uint64_t address, const Block& block, Finding& f) const {
  f.address = address;
  for (const auto& other : block.cluster->blocks) {
    const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(other->shared);
    if (offset >= other->shared_bytes) continue;
    f.space = "shared";
    f.allocation = "byte " + std::to_string(offset) + " of the block's " +
                   std::to_string(other->shared_bytes) + " bytes of shared memory";
    // The static variable it lies in, when it does.
    std::uint64_t best = 0;
    for (const auto& [name, at] : launch_->program->kernel->shared_offsets) {
      if (at > offset || at < best) continue;
      const auto slash = name.find('/');
      best = at;
      f.allocation = "byte " + std::to_string(offset - at) + " from the start of the variable " +
                     demangled(slash == std::string::npos ? name : name.substr(slash + 1)) +
                     " in shared memory";
    }
    return;
  }
  if (block.local_bytes != 0 &&
      address - reinterpret_cast<std::uint64_t>(block.local_memory) < block.local_bytes) {
    f.space = "local";
    f.allocation = "in the block's local memory";
    return;
  }
  if (address < (std::uint64_t{1} << kSharedRankShift)) {
    f.space = "shared";
    return;
  }
  const Location where = launch_->memory->locate(address);
  f.space = "global";
  if (where.region != nullptr)
    f.allocation = where.text();
  else
    f.allocation = host_memory(address) ? "host memory" : "in no allocation";
}

void Checker::add(Check check, const char* kind, bool warning, const Warp& w, unsigned lane,
                  std::uint32_t pc, const std::string& message, std::uint64_t address,
                  std::string access) {
  const std::lock_guard lock(mutex_);
  auto& noted = noted_[{static_cast<unsigned>(check) << 1 | (warning ? 1u : 0u), kind, pc, 0}];
  if (noted.count++ != 0) return;
  Finding& f = noted.finding;
  f.check = check;
  f.kind = kind;
  f.warning = warning;
  f.message = message;
  f.kernel = launch_->program->kernel->name;
  f.at = place(w.block->number, w.index, lane, pc, std::move(access));
  if (address != 0) describe_address(address, *w.block, f);
}

void Checker::add_race(const Warp& w, const Race& race) {
  const Trace& r = race.earlier;
  const std::lock_guard lock(mutex_);
  // The sides come in either order.
  const std::uint32_t low = std::min(r.pc(), race.pc), high = std::max(r.pc(), race.pc);
  auto& noted = noted_[{static_cast<unsigned>(Check::racecheck) << 1 | (race.same_value ? 1u : 0u),
                        race.same_value ? "same-value" : "race", low, high}];
  if (noted.count++ != 0) return;
  Finding& f = noted.finding;
  f.check = Check::racecheck;
  f.kind = race.same_value ? "same-value" : "race";
  f.warning = race.same_value;
  f.kernel = launch_->program->kernel->name;
  const auto number = static_cast<std::uint32_t>(w.block->number);
  const bool same_block = r.block == number, same_warp = same_block && r.warp() == w.index;
  f.message = touch_name(race.touch) + " after " + touch_name(r.touch()) + ", unordered: ";
  if (r.touch() == Touch::copy_async || r.touch() == Touch::copy_bulk)
    f.message += "nothing waited for the asynchronous copy";
  else if (same_warp)
    f.message += "threads of one warp without __syncwarp";
  else if (same_block)
    f.message += "threads of one block without a barrier between them";
  else if (race.shared)
    f.message += "threads of different blocks of a cluster without a cluster barrier";
  else
    f.message +=
        "threads of different blocks; a fence with an atomic flag orders them, or another "
        "kernel";
  if (race.same_value) f.message += " (both write the same value)";
  if (!race.same_value && reads_only(r.touch()) && reads_only(race.touch)) f.warning = true;
  f.at = place(w.block->number, w.index, race.lane, race.pc, touch_name(race.touch));
  f.has_other = true;
  f.other = place(same_block ? w.block->number : r.block, r.warp(), race.other_lane, r.pc(),
                  touch_name(r.touch()));
  describe_address(race.address, *w.block, f);
}

bool Checker::fault(const Warp& w, FaultKind kind, const std::string& message, unsigned lane,
                    std::uint64_t address) {
  if (kind == FaultKind::barrier_error) {
    if (has(Check::synccheck))
      add(Check::synccheck, "deadlock", false, w, lane, w.pc, message, 0, "");
    return false;
  }
  const bool misaligned = kind == FaultKind::misaligned_address;
  if ((kind != FaultKind::illegal_address && !misaligned) || !has(Check::memcheck)) return false;
  const Location where = launch_->memory->locate(address);
  const Region* region = launch_->memory->find(address);
  const char* name = "out-of-bounds";
  if (misaligned)
    name = "misaligned";
  else if (where.where == Location::Where::after_free)
    name = "use-after-free";
  else if (region != nullptr && (!region->writable || region->kind == RegionKind::constant))
    name = "read-only";
  else if (where.region == nullptr && address >= (std::uint64_t{1} << kSharedRankShift) &&
           host_memory(address))
    name = "host-memory";
  const Access::Kind what = current_->access[w.pc].kind;
  add(Check::memcheck, name, false, w, lane, w.pc, message, address,
      what == Access::Kind::atomic                 ? "atomic"
      : message.find("write") != std::string::npos ? "write"
                                                   : "read");
  auto& state = *static_cast<CheckedWarp*>(w.observed);
  const std::lock_guard lock(mutex_);
  return state.skipping && ++skipped_ <= kMostSkipped;
}

void Checker::host_touched(const DeviceMemory& memory, const void* at, std::uint64_t bytes,
                           bool write) {
  const auto begin = reinterpret_cast<std::uint64_t>(at);
  const Region* region = memory.find(begin);
  if (region == nullptr || order_.number == 0) return;
  const auto party = std::make_shared<StreamParty>();
  party->order = order_;
  party->memory = &memory;
  StreamHistory& history = RegionShadow::of(*region).history();
  find_stream_races(history, *party, begin, begin + bytes, write, findings_);
  // The rows of one box are one piece of work.
  if (!history.past.empty() && history.past.back().shadow == nullptr) {
    StreamHistory::Past& last = history.past.back();
    if (last.party->order.stream == order_.stream && last.party->order.number == order_.number &&
        last.write == write && begin == last.end) {
      last.end += bytes;
      return;
    }
  }
  history.prune(order_);
  history.past.push_back({party, nullptr, begin, begin + bytes, write});
}

void Checker::host_wrote(const DeviceMemory& memory, const void* to, std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(to);
  const Region* region = memory.find(address);
  if (region != nullptr) RegionShadow::of(*region).init(*region).set(address, bytes, true);
}

void Checker::host_copied(const DeviceMemory& memory, const void* to, const void* from,
                          std::uint64_t bytes) {
  const auto target = reinterpret_cast<std::uint64_t>(to),
             source = reinterpret_cast<std::uint64_t>(from);
  const Region* region = memory.find(target);
  const Region* origin = memory.find(source);
  if (region == nullptr) return;
  InitShadow& written = RegionShadow::of(*region).init(*region);
  if (written.always()) return;
  if (origin == nullptr) return written.set(target, bytes, true);
  const InitShadow& known = RegionShadow::of(*origin).init(*origin);
  if (known.count(source, bytes) == bytes) return written.set(target, bytes, true);
  for (std::uint64_t i = 0; i < bytes; ++i) written.set(target + i, 1, known.written(source + i));
}

}  // namespace cudasim
