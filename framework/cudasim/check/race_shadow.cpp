#include "cudasim/check/race_shadow.hpp"

#include <sys/mman.h>

#include <new>

namespace cudasim {
namespace {
constexpr std::size_t kChunk = 4096;
}

RaceShadow::RaceShadow(std::uint64_t base, std::uint64_t bytes) : base_(base), bytes_(bytes) {
  mapped_ = ((base & 63) + bytes + 63) / 64 * sizeof(Segment);
  base_ = base & ~std::uint64_t{63};
  void* p = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  segments_ = static_cast<Segment*>(p);  // zero pages are empty segments
}

RaceShadow::~RaceShadow() { ::munmap(segments_, mapped_); }

void RaceShadow::clear() {
  ::madvise(segments_, mapped_, MADV_DONTNEED);
  if (chunks_.size() > 1) chunks_.resize(1);
  used_ = 0;
}

bool RaceShadow::renew(std::uint64_t launch) {
  const std::lock_guard lock(mutex_);
  if (launch_.load() == launch) return false;
  if (launch_.load() != 0) clear();
  launch_.store(launch, std::memory_order_release);
  return true;
}

Cell* RaceShadow::take(std::size_t cells) {
  const std::lock_guard lock(mutex_);
  if (chunks_.empty() || used_ + cells > kChunk) {
    chunks_.push_back(std::make_unique<Cell[]>(kChunk));
    used_ = 0;
  }
  Cell* taken = chunks_.back().get() + used_;
  used_ += cells;
  return taken;
}

void RaceShadow::refine(Segment& s, unsigned bytes) {
  const std::size_t cells = Segment::kBytes / bytes;
  Cell* old = s.cells;
  const unsigned old_bytes = s.fine;
  if (s.capacity == 0 || s.capacity > bytes) {
    s.cells = take(cells);
    s.capacity = static_cast<std::uint8_t>(bytes);
  }
  if (old_bytes != 0) {
    for (std::size_t i = cells; i-- > 0;) s.cells[i] = old[i * bytes / old_bytes];
  } else {
    for (std::size_t i = 0; i < cells; ++i) {
      for (unsigned k = 0; k < 3; ++k) {
        Trace& r = s.cells[i].slots[k];
        r = s.slots[k];
        if (r.where != 0) r.lanes = 1u << ((s.shapes[k] & 31u) + (i * bytes >> (s.shapes[k] >> 5)));
      }
    }
  }
  for (Trace& r : s.slots) r = Trace{};
  s.fine = static_cast<std::uint8_t>(bytes);
}

}  // namespace cudasim
