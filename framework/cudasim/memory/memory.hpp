#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cudasim {

/// What an allocation is; decides who may touch it and how a fault names it.
enum class RegionKind : std::uint8_t {
  device,         ///< cudaMalloc, cudaMallocAsync
  managed,        ///< cudaMallocManaged, __managed__
  pinned_host,    ///< cudaMallocHost, cudaHostAlloc, cudaHostRegister
  module_global,  ///< __device__ variables
  constant,       ///< __constant__ variables
  device_heap,    ///< malloc/new in a kernel
  array,          ///< cudaMallocArray and friends (reached through textures and surfaces)
  image,          ///< what a texture or surface handle points to: see image.hpp
};

/// "device", "managed", … as used in messages and JSON.
std::string_view name_of(RegionKind kind) noexcept;

/// One allocation. Never destroyed before its DeviceMemory, so a pointer stays valid after free.
struct Region {
  std::uint64_t base = 0;  ///< device address == host address of a real mapping
  std::uint64_t size = 0;  ///< bytes asked for
  std::uint64_t id = 0;    ///< allocation number, from 1, in order of allocation
  RegionKind kind = RegionKind::device;
  bool writable = true;                        ///< false: a kernel's store is a fault
  std::atomic<bool> live{true};                ///< false once freed (quarantined)
  std::string note;                            ///< variable name, or where it was allocated
  mutable std::atomic<void*> shadow{nullptr};  ///< free for the checkers (initcheck, racecheck)

  std::uint8_t* data() const noexcept { return reinterpret_cast<std::uint8_t*>(base); }
  bool contains(std::uint64_t address, std::uint64_t bytes = 1) const noexcept {
    return address - base < size && bytes <= size - (address - base);
  }
};

enum class FreeStatus : std::uint8_t { freed, double_free, invalid_free, wrong_kind };

/// Where an address lies, for messages.
struct Location {
  enum class Where : std::uint8_t { nowhere, inside, after_free, below, above };
  Where where = Where::nowhere;
  const Region* region = nullptr;  ///< the one it lies in, or the nearest; null for nowhere
  std::uint64_t distance = 0;      ///< inside: offset; below, above: bytes out of the region

  /// E.g. "4 bytes past the end of the 1024-byte device allocation #3 at 0x7f…".
  std::string text() const;
};

/// The device's address space: device addresses are host addresses. Each allocation starts on its
/// own page, is followed by a gap, and is quarantined when freed. Thread-safe.
class DeviceMemory {
 public:
  static constexpr std::uint64_t kReportedBytes = 85'000'000'000ULL / 4096 * 4096;  ///< H100 80 GB
  static constexpr std::uint8_t kFreshByte = 0xCD;  ///< fill of new device memory

  /// `limit`: bytes that may be live at once; 0: from CUDASIM_MEMORY_LIMIT, else most of the RAM.
  explicit DeviceMemory(std::uint64_t limit = 0);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Address of `size` new bytes, page-aligned; 0 when the limit is reached. Device and heap memory
  /// is filled with kFreshByte, the other kinds with zeros. A size of 0 takes one byte of space.
  std::uint64_t allocate(std::uint64_t size, RegionKind kind, std::string note = {},
                         bool writable = true);

  /// Frees an allocation by its base.
  FreeStatus free(std::uint64_t base);

  /// Makes existing host memory reachable (cudaHostRegister); false when it overlaps a region.
  bool add_host_range(void* base, std::uint64_t size, std::string note = {});
  /// Forgets it again.
  FreeStatus remove_host_range(void* base);

  /// The live allocation that holds `address`, or null. Lock-free.
  const Region* find(std::uint64_t address) const noexcept {
    const std::uint64_t page = (address - arena_) >> kPageBits;
    if (page < pages_) [[likely]] {
      const Region* region = table_[page].load(std::memory_order_acquire);
      return region != nullptr && address - region->base < region->size &&
                     region->live.load(std::memory_order_relaxed)
                 ? region
                 : nullptr;
    }
    return host_ranges_.load(std::memory_order_acquire) == nullptr ? nullptr : find_host(address);
  }

  /// Explains an address, freed and neighbouring allocations included.
  Location locate(std::uint64_t address) const;

  /// Where device addresses begin.
  std::uint64_t origin() const noexcept { return arena_; }
  std::uint64_t live_bytes() const noexcept { return live_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t limit() const noexcept { return limit_; }
  /// Live allocations in order of allocation (leaks at exit).
  std::vector<const Region*> live() const;
  /// Frees everything of the kinds that cudaDeviceReset drops.
  void reset();

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr std::uint64_t kPage = 1ULL << kPageBits;
  struct Range {
    std::uint64_t base, size;
  };
  using HostRanges = std::vector<Region*>;  ///< sorted by base; a snapshot, replaced on change

  const Region* find_host(std::uint64_t address) const noexcept;
  std::uint64_t take_range(std::uint64_t bytes);
  bool commit(std::uint64_t base, std::uint64_t size, std::uint64_t span, std::uint8_t fill);
  void mark(std::uint64_t base, std::uint64_t size, Region* region);
  FreeStatus free_locked(Region& region);
  void publish_host_ranges(std::unique_ptr<HostRanges> ranges);

  std::uint64_t arena_ = 0, pages_ = 0;
  std::atomic<Region*>* table_ = nullptr;
  std::uint64_t limit_ = 0;
  std::atomic<std::uint64_t> live_bytes_{0};
  std::atomic<const HostRanges*> host_ranges_{nullptr};

  mutable std::mutex mutex_;
  std::deque<Region> regions_;
  std::map<std::uint64_t, Region*> by_base_;
  std::map<std::uint64_t, std::uint64_t> spans_;        ///< base -> pages with the gap, in bytes
  std::deque<std::uint64_t> quarantine_;                ///< bases, oldest first
  std::map<std::uint64_t, std::uint64_t> free_ranges_;  ///< base -> bytes, coalesced
  std::uint64_t next_ = 0;                              ///< never-used part of the arena
  std::uint64_t next_id_ = 1;
  std::vector<std::unique_ptr<HostRanges>> host_snapshots_;
  int pattern_fd_ = -1;
};

}  // namespace cudasim
