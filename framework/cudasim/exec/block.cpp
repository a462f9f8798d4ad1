// Barriers, and the memory that a warp may touch.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "cudasim/exec/machine.hpp"
#include "cudasim/exec/observer.hpp"

namespace cudasim {

SectorMap::SectorMap(std::uint64_t bytes) : words(bytes / 32 / 64 + 2) {
  read = static_cast<std::uint64_t*>(std::calloc(words, 8));
  written = static_cast<std::uint64_t*>(std::calloc(words, 8));
}
SectorMap::SectorMap(SectorMap&& other) noexcept
    : words(other.words),
      read(other.read),
      written(other.written),
      passes(other.passes),
      first_pass(other.first_pass),
      last_pass(other.last_pass) {
  other.read = other.written = nullptr;
  other.passes = nullptr;
}
SectorMap::~SectorMap() {
  std::free(read);
  std::free(written);
  std::free(passes);
}
void SectorMap::add_passes(std::uint64_t sector, std::uint32_t count) {
  if (passes == nullptr) passes = static_cast<std::uint32_t*>(std::calloc(words * 64, 4));
  if (passes == nullptr) throw std::bad_alloc();
  passes[sector] += count;
  first_pass = std::min(first_pass, sector);
  last_pass = std::max(last_pass, sector);
}

Block::~Block() {
  if (local_memory != nullptr) ::munmap(local_memory, local_bytes);
  std::free(register_memory);
  std::free(shared);
}

void check_barriers(Block& block) {
  for (std::size_t id = 0; id < block.barriers.size(); ++id) {
    Barrier& b = block.barriers[id];
    if (!b.in_use) continue;
    const std::uint32_t expected = b.expected != 0 ? b.expected : block.live_threads;
    if (b.arrived < expected) continue;
    if (Observer* observer = block.warps[0]->worker->launch->observer; observer != nullptr)
      observer->barrier_completed(block, static_cast<unsigned>(id), b.expected == 0);
    for (const auto& warp : block.warps) {
      for (std::uint32_t a = 0; a < warp->group_count; ++a) {
        Group& g = warp->groups[a];
        if (g.wait != Wait::barrier || g.barrier != id) continue;
        const Op& op = warp->worker->launch->program->code[g.pc];
        if (op.control == Control::barrier_reduce) {
          std::uint8_t* r = g.frame->regs + op.r[3];
          if (op.aux == 0) {
            for (std::uint32_t m = g.mask; m != 0; m &= m - 1)
              reinterpret_cast<std::uint32_t*>(r)[__builtin_ctz(m)] = b.reduce_count;
          } else {
            auto& p = *reinterpret_cast<std::uint32_t*>(r);
            const bool value = op.aux == 1 ? b.reduce_and != 0 : b.reduce_or != 0;
            p = (p & ~g.mask) | (value ? g.mask : 0);
          }
        }
        g.wait = Wait::none;
        ++g.pc;
        warp->fresh = true;
      }
    }
    b = Barrier{};
  }
}

void arrive_at_barrier(Warp& w, Group& g, const Op& op, std::uint32_t mask) {
  Block& block = *w.block;
  std::uint8_t* r = g.frame->regs;
  const auto lane = __builtin_ctz(mask);
  const std::uint32_t id = reinterpret_cast<const std::uint32_t*>(r + op.r[0])[lane];
  const std::uint32_t count =
      op.r[1] != 0 ? reinterpret_cast<const std::uint32_t*>(r + op.r[1])[lane] : 0;
  if (id >= block.barriers.size()) {
    w.worker->fault(w, FaultKind::barrier_error,
                    "barrier " + std::to_string(id) + " doesn't exist: there are 16",
                    static_cast<unsigned>(lane));
    return;
  }
  Barrier& b = block.barriers[id];
  if (b.in_use && b.expected != count && b.expected != 0 && count != 0) {
    w.worker->fault(w, FaultKind::barrier_error,
                    "barrier " + std::to_string(id) + " is used with different thread counts: " +
                        std::to_string(b.expected) + " and " + std::to_string(count),
                    static_cast<unsigned>(lane));
    return;
  }
  b.in_use = true;
  if (Observer* observer = w.worker->launch->observer; observer != nullptr) {
    observer->barrier_arrived(w, mask, id, count != 0 ? count : b.expected,
                              op.control != Control::barrier_arrive);
  }
  if (count != 0) b.expected = count;
  // The device counts whole warps: the missing lanes of a partial warp arrive with it.
  b.arrived += b.expected != 0 && mask == w.live ? kWarpSize
                                                 : static_cast<std::uint32_t>(std::popcount(mask));
  ++w.worker->counters.barriers;
  if (op.control == Control::barrier_reduce) {
    const std::uint32_t input =
        *reinterpret_cast<const std::uint32_t*>(r + op.r[2]) ^ static_cast<std::uint32_t>(op.imm);
    b.reduce_count += static_cast<std::uint32_t>(std::popcount(input & mask));
    if ((input & mask) != mask) b.reduce_and = 0;
    if ((input & mask) != 0) b.reduce_or = 1;
  }
  if (op.control == Control::barrier_arrive) {
    ++g.pc;
  } else {
    g.wait = Wait::barrier;
    g.barrier = static_cast<std::uint8_t>(id);
  }
  check_barriers(block);
}

void check_cluster(Cluster& cluster) {
  if (cluster.arrived == 0 || cluster.arrived < cluster.live_threads) return;
  if (Observer* observer = cluster.blocks[0]->warps[0]->worker->launch->observer;
      observer != nullptr) {
    observer->cluster_completed(cluster);
  }
  cluster.arrived = 0;
  ++cluster.phase;
  for (const auto& block : cluster.blocks) {
    for (const auto& warp : block->warps) {
      for (std::uint32_t a = 0; a < warp->group_count; ++a) {
        if (warp->groups[a].wait == Wait::cluster) warp->groups[a].wait = Wait::none;
      }
    }
  }
}

void arrive_at_cluster(Warp& w, std::uint32_t lanes) {
  Cluster& cluster = *w.block->cluster;
  if (w.worker->launch->observer != nullptr) w.worker->launch->observer->cluster_arrived(w, lanes);
  w.cluster_phase = cluster.phase;
  cluster.arrived += static_cast<std::uint32_t>(std::popcount(lanes));
  check_cluster(cluster);
}

const Window* resolve(Warp& w, const Op& op, std::uint64_t address, std::uint64_t bytes) {
  Worker& k = *w.worker;
  LaunchState& launch = *k.launch;
  Window& window = k.windows[static_cast<std::size_t>(&op - k.code)];
  if (const Region* region = launch.memory->find(address)) {
    if (!region->contains(address, bytes)) return nullptr;
    Window& target = region->kind == RegionKind::device_heap ? k.scratch : window;
    target.base = region->base;
    target.size = region->size;
    target.writable = region->writable && region->kind != RegionKind::constant;
    target.sector0 = region->base >> 7 << 2;
    target.space = region->kind == RegionKind::constant ? 3 : 0;
    target.read_bits = target.written_bits = nullptr;
    target.map = nullptr;
    if (target.space == 0) {
      const std::pair key(k.phase, region->base);
      auto found = k.sectors.find(key);
      if (found == k.sectors.end())
        found = k.sectors.emplace(key, SectorMap(region->size + 128)).first;
      target.map = &found->second;
      target.read_bits = found->second.read;
      target.written_bits = found->second.written;
    }
    return &target;
  }
  for (const auto& block : w.block->cluster->blocks) {
    const std::uint64_t shared = reinterpret_cast<std::uint64_t>(block->shared);
    if (address - shared < block->shared_bytes) {
      if (bytes > block->shared_bytes - (address - shared)) return nullptr;
      window = Window{shared, block->shared_bytes, nullptr, nullptr, nullptr, 0, 1, true};
      return &window;
    }
  }
  const std::uint64_t local = reinterpret_cast<std::uint64_t>(w.local),
                      local_bytes = w.local_stride * kWarpSize;
  if (local_bytes != 0 && address - local < local_bytes) {
    if (bytes > local_bytes - (address - local)) return nullptr;
    window = Window{local, local_bytes, nullptr, nullptr, nullptr, 0, 2, true};
    return &window;
  }
  const std::uint64_t params = reinterpret_cast<std::uint64_t>(launch.params);
  if (address - params < launch.param_bytes && bytes <= launch.param_bytes - (address - params)) {
    window = Window{params, launch.param_bytes, nullptr, nullptr, nullptr, 0, 3, false};
    return &window;
  }
  return nullptr;
}

void count_local_words(Warp& w, bool store, std::uint64_t word, unsigned bytes,
                       std::uint32_t lanes) {
  Counters& c = w.worker->counters;
  std::uint32_t sectors = 0;  // eight lanes' words each
  for (unsigned s = 0; s < 4; ++s) sectors |= (lanes >> 8 * s & 0xff) != 0 ? 1u << s : 0;
  const auto touched = static_cast<std::uint64_t>(std::popcount(sectors));
  for (std::uint64_t i = word; i < word + (bytes + 3) / 4; ++i) {
    (store ? c.local_store_sectors : c.local_load_sectors) += touched;
    const std::uint32_t missing = w.block->l1.take(BlockL1::local_line(w.index, i), sectors);
    c.local_l1_hit_sectors += static_cast<std::uint64_t>(std::popcount(sectors & ~missing));
  }
}

std::uint8_t* shared_at(const Warp& w, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t rank = address >> kSharedRankShift;
  const Block* block = w.block;
  if (rank != 0) {
    if (rank > w.block->cluster->blocks.size()) return nullptr;
    block = w.block->cluster->blocks[rank - 1].get();
  }
  const std::uint64_t offset = (address & ((1u << kSharedRankShift) - 1)) - kSharedStart;
  if (offset >= block->shared_bytes || bytes > block->shared_bytes - offset) return nullptr;
  return block->shared + offset;
}

void memory_fault(Warp& w, std::uint64_t address, std::uint64_t bytes, unsigned lane, bool write,
                  const char* space) {
  const std::string what =
      std::string(write ? "write" : "read") + " of " + std::to_string(bytes) + " bytes";
  char hex[32];
  std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(address));
  if ((address & (bytes - 1)) != 0 && std::has_single_bit(bytes)) {
    w.worker->fault(w, FaultKind::misaligned_address, "misaligned " + what + " at " + hex, lane,
                    address);
    return;
  }
  std::string message =
      "invalid " + std::string(space) + (*space != '\0' ? " " : "") + what + " at " + hex;
  if (std::string_view(space) == "shared") {
    message += ": the block has " + std::to_string(w.block->shared_bytes) +
               " bytes of shared memory from 0x400";
  } else {
    const Location location = w.worker->launch->memory->locate(address);
    const Region* region = w.worker->launch->memory->find(address);
    if (region != nullptr && write && (!region->writable || region->kind == RegionKind::constant))
      message += ": the memory is read-only";
    else if (region != nullptr)
      message += ": it runs over the end; " + location.text();
    else
      message += ": " + location.text();
  }
  w.worker->fault(w, FaultKind::illegal_address, std::move(message), lane, address);
}

}  // namespace cudasim
