#include "cudasim/memory/memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace cudasim {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;
constexpr std::uint64_t kGiB = 1ULL << 30;
/// Larger allocations are filled lazily: their pages are copies on write of a shared pattern.
constexpr std::uint64_t kEagerFill = 16 * kMiB;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

void* reserve(std::uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

std::uint64_t default_limit() {
  if (const char* text = std::getenv("CUDASIM_MEMORY_LIMIT")) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
    if (error == std::errc{} && *end == '\0' && value > 0) return value;
    std::fprintf(stderr, "cudasim: CUDASIM_MEMORY_LIMIT=%s is not a number of bytes; ignored\n",
                 text);
  }
  const auto ram = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                   static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(DeviceMemory::kReportedBytes, ram / 10 * 8);
}

}  // namespace

std::string_view name_of(RegionKind kind) noexcept {
  switch (kind) {
    case RegionKind::device:
      return "device";
    case RegionKind::managed:
      return "managed";
    case RegionKind::pinned_host:
      return "pinned host";
    case RegionKind::module_global:
      return "__device__ variable";
    case RegionKind::constant:
      return "__constant__ variable";
    case RegionKind::device_heap:
      return "device heap";
    case RegionKind::array:
      return "array";
    case RegionKind::image:
      return "texture or surface object";
  }
  return "unknown";
}

std::string Location::text() const {
  if (region == nullptr) return "in no device allocation";
  char text[320];
  const char* relation = where == Where::below   ? "before the start of"
                         : where == Where::above ? "past the end of"
                                                 : "inside";
  std::snprintf(
      text, sizeof text, "%llu byte%s %s the %llu-byte %.*s allocation #%llu at 0x%llx%s%s%s",
      static_cast<unsigned long long>(distance), distance == 1 ? "" : "s", relation,
      static_cast<unsigned long long>(region->size), static_cast<int>(name_of(region->kind).size()),
      name_of(region->kind).data(), static_cast<unsigned long long>(region->id),
      static_cast<unsigned long long>(region->base), region->note.empty() ? "" : ", ",
      region->note.substr(0, 160).c_str(), where == Where::after_free ? ", already freed" : "");
  return text;
}

DeviceMemory::DeviceMemory(std::uint64_t limit) : limit_(limit != 0 ? limit : default_limit()) {
  // Address space is cheap, but a sandbox may ration it: take at most half of what there is.
  rlimit ration{};
  const bool rationed = getrlimit(RLIMIT_AS, &ration) == 0 && ration.rlim_cur != RLIM_INFINITY;
  for (std::uint64_t bytes = 512 * kGiB; bytes >= 64 * kMiB; bytes /= 2) {
    if (rationed && bytes > ration.rlim_cur / 2) continue;
    void* arena = reserve(bytes);
    if (arena == nullptr) continue;
    const std::uint64_t pages = bytes >> kPageBits;
    void* table = mmap(nullptr, pages * sizeof(std::atomic<Region*>), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) {
      munmap(arena, bytes);
      continue;
    }
    arena_ = reinterpret_cast<std::uint64_t>(arena);
    pages_ = pages;
    table_ = static_cast<std::atomic<Region*>*>(table);  // zero pages are null pointers
    next_ = arena_;
    return;
  }
  limit_ = 0;
}

DeviceMemory::~DeviceMemory() {
  if (arena_ != 0) munmap(reinterpret_cast<void*>(arena_), pages_ << kPageBits);
  if (table_ != nullptr) munmap(table_, pages_ * sizeof(std::atomic<Region*>));
  if (pattern_fd_ >= 0) close(pattern_fd_);
}

/// Address space for `bytes`: never used, else from the oldest quarantined allocations.
std::uint64_t DeviceMemory::take_range(std::uint64_t bytes) {
  const std::uint64_t end = arena_ + (pages_ << kPageBits);
  if (end - next_ >= bytes) {
    const std::uint64_t base = next_;
    next_ += bytes;
    return base;
  }
  for (;;) {
    for (auto it = free_ranges_.begin(); it != free_ranges_.end(); ++it) {
      if (it->second < bytes) continue;
      const Range range{it->first, it->second};
      free_ranges_.erase(it);
      if (range.size > bytes) free_ranges_[range.base + bytes] = range.size - bytes;
      return range.base;
    }
    if (quarantine_.empty()) return 0;
    const std::uint64_t base = quarantine_.front();
    quarantine_.pop_front();
    const std::uint64_t span = spans_.at(base);
    spans_.erase(base);
    by_base_.erase(base);
    mark(base, span, nullptr);
    auto at = free_ranges_.emplace(base, span).first;
    if (auto next = std::next(at);
        next != free_ranges_.end() && at->first + at->second == next->first) {
      at->second += next->second;
      free_ranges_.erase(next);
    }
    if (at != free_ranges_.begin()) {
      auto before = std::prev(at);
      if (before->first + before->second == at->first) {
        before->second += at->second;
        free_ranges_.erase(at);
      }
    }
  }
}

/// Makes [base, base+span) accessible and fills the `size` bytes at its start.
bool DeviceMemory::commit(std::uint64_t base, std::uint64_t size, std::uint64_t span,
                          std::uint8_t fill) {
  auto* start = reinterpret_cast<std::uint8_t*>(base);
  if (fill == 0 || size <= kEagerFill) {
    // The gap is made accessible as well, so that neighbours stay one mapping of the kernel's.
    if (mprotect(start, span, PROT_READ | PROT_WRITE) != 0) return false;
    if (fill != 0) std::memset(start, fill, size);
    return true;
  }
  if (pattern_fd_ < 0) {
    const int fd = memfd_create("cudasim fresh memory", MFD_CLOEXEC);
    if (fd < 0) return false;
    void* pattern = ftruncate(fd, static_cast<off_t>(kEagerFill)) == 0
                        ? mmap(nullptr, kEagerFill, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                        : MAP_FAILED;
    if (pattern == MAP_FAILED) {
      close(fd);
      return false;
    }
    std::memset(pattern, fill, kEagerFill);
    munmap(pattern, kEagerFill);
    pattern_fd_ = fd;
  }
  const std::uint64_t bytes = round_up(size, kPage);
  for (std::uint64_t done = 0; done < bytes; done += kEagerFill) {
    const std::uint64_t part = std::min(kEagerFill, bytes - done);
    if (mmap(start + done, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
             pattern_fd_, 0) == MAP_FAILED) {
      return false;
    }
  }
  return true;
}

void DeviceMemory::mark(std::uint64_t base, std::uint64_t size, Region* region) {
  const std::uint64_t first = (base - arena_) >> kPageBits;
  const std::uint64_t count = round_up(size, kPage) >> kPageBits;
  for (std::uint64_t page = first; page < first + count; ++page) {
    // Untouched gap pages of the table stay untouched.
    if (region != nullptr || table_[page].load(std::memory_order_relaxed) != nullptr) {
      table_[page].store(region, std::memory_order_release);
    }
  }
}

std::uint64_t DeviceMemory::allocate(std::uint64_t size, RegionKind kind, std::string note,
                                     bool writable) {
  const std::lock_guard lock(mutex_);
  if (size > limit_ || live_bytes_.load() > limit_ - size) return 0;
  const std::uint64_t used = round_up(std::max<std::uint64_t>(size, 1), kPage);
  // A gap as large as a small allocation: an index that is off by a factor of two lands in it.
  std::uint64_t gap = std::clamp(round_up(size, kPage), 16 * kPage, 4 * kMiB);
  if ((pages_ << kPageBits) < 16 * kGiB) gap = kPage;
  const std::uint64_t span = used + gap;
  const std::uint64_t base = take_range(span);
  if (base == 0) return 0;
  const bool fresh = kind == RegionKind::device || kind == RegionKind::device_heap;
  if (!commit(base, size, span, fresh ? kFreshByte : 0)) {
    free_ranges_[base] = span;
    return 0;
  }
  Region& region = regions_.emplace_back();
  region.base = base;
  region.size = size;
  region.id = next_id_++;
  region.kind = kind;
  region.writable = writable;
  region.note = std::move(note);
  by_base_[base] = &region;
  spans_[base] = span;
  live_bytes_ += size;
  mark(base, used, &region);
  return base;
}

FreeStatus DeviceMemory::free_locked(Region& region) {
  region.live.store(false, std::memory_order_release);
  live_bytes_ -= region.size;
  // The pages go back to the system; the address range stays known until it must be reused.
  void* start = region.data();
  const std::uint64_t used = round_up(std::max<std::uint64_t>(region.size, 1), kPage);
  if (used > kEagerFill) {
    mmap(start, used, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  } else {
    madvise(start, used, MADV_DONTNEED);
  }
  quarantine_.push_back(region.base);
  return FreeStatus::freed;
}

FreeStatus DeviceMemory::free(std::uint64_t base) {
  const std::lock_guard lock(mutex_);
  const auto it = by_base_.find(base);
  if (it == by_base_.end()) return FreeStatus::invalid_free;
  if (!it->second->live.load()) return FreeStatus::double_free;
  if (!spans_.contains(base)) return FreeStatus::wrong_kind;  // a registered host range
  return free_locked(*it->second);
}

void DeviceMemory::publish_host_ranges(std::unique_ptr<HostRanges> ranges) {
  host_ranges_.store(ranges->empty() ? nullptr : ranges.get(), std::memory_order_release);
  host_snapshots_.push_back(std::move(ranges));  // readers may still hold an older one
}

bool DeviceMemory::add_host_range(void* base, std::uint64_t size, std::string note) {
  const auto address = reinterpret_cast<std::uint64_t>(base);
  const std::lock_guard lock(mutex_);
  if (size == 0 || address + size < address) return false;
  const auto* now = host_ranges_.load();
  auto next = now == nullptr ? std::make_unique<HostRanges>() : std::make_unique<HostRanges>(*now);
  for (const Region* r : *next) {
    if (address < r->base + r->size && r->base < address + size) return false;
  }
  if (address < arena_ + (pages_ << kPageBits) && arena_ < address + size) return false;
  Region& region = regions_.emplace_back();
  region.base = address;
  region.size = size;
  region.id = next_id_++;
  region.kind = RegionKind::pinned_host;
  region.note = std::move(note);
  next->insert(std::ranges::upper_bound(*next, address, {}, &Region::base), &region);
  by_base_[address] = &region;
  publish_host_ranges(std::move(next));
  return true;
}

FreeStatus DeviceMemory::remove_host_range(void* base) {
  const auto address = reinterpret_cast<std::uint64_t>(base);
  const std::lock_guard lock(mutex_);
  const auto* now = host_ranges_.load();
  if (now == nullptr) return FreeStatus::invalid_free;
  auto next = std::make_unique<HostRanges>(*now);
  const auto it = std::ranges::find(*next, address, &Region::base);
  if (it == next->end()) return FreeStatus::invalid_free;
  (*it)->live.store(false, std::memory_order_release);
  by_base_.erase(address);
  next->erase(it);
  publish_host_ranges(std::move(next));
  return FreeStatus::freed;
}

const Region* DeviceMemory::find_host(std::uint64_t address) const noexcept {
  const auto* ranges = host_ranges_.load(std::memory_order_acquire);
  if (ranges == nullptr) return nullptr;
  auto it = std::ranges::upper_bound(*ranges, address, {}, &Region::base);
  if (it == ranges->begin()) return nullptr;
  const Region* region = *--it;
  return address - region->base < region->size ? region : nullptr;
}

Location DeviceMemory::locate(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  Location result;
  auto it = by_base_.upper_bound(address);
  const Region* above = it == by_base_.end() ? nullptr : it->second;
  const Region* below = it == by_base_.begin() ? nullptr : std::prev(it)->second;
  if (below != nullptr && address - below->base < below->size) {
    result.where = below->live.load() ? Location::Where::inside : Location::Where::after_free;
    result.region = below;
    result.distance = address - below->base;
    return result;
  }
  // A stray address far from everything (null, a host pointer) is in no allocation.
  constexpr std::uint64_t kNear = 1ULL << 32;
  const std::uint64_t past = below == nullptr ? ~0ULL : address - (below->base + below->size);
  const std::uint64_t before = above == nullptr ? ~0ULL : above->base - address;
  const bool in_arena = address - arena_ < (pages_ << kPageBits);
  if (std::min(past, before) > (in_arena ? ~0ULL - 1 : kMiB) || std::min(past, before) > kNear) {
    return result;
  }
  result.where = past <= before ? Location::Where::above : Location::Where::below;
  result.region = past <= before ? below : above;
  result.distance = std::min(past, before);
  return result;
}

std::vector<const Region*> DeviceMemory::live() const {
  const std::lock_guard lock(mutex_);
  std::vector<const Region*> result;
  for (const Region& region : regions_) {
    if (region.live.load()) result.push_back(&region);
  }
  return result;
}

void DeviceMemory::reset() {
  const std::lock_guard lock(mutex_);
  for (auto& [base, region] : by_base_) {
    const bool variable =
        region->kind == RegionKind::module_global || region->kind == RegionKind::constant;
    if (region->live.load() && !variable && spans_.contains(base)) free_locked(*region);
  }
}

}  // namespace cudasim
