#include "cudasim/check/init_shadow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace cudasim {

InitShadow::InitShadow(std::uint64_t base, std::uint64_t bytes, bool initialized)
    : base_(base), bytes_(bytes), always_(initialized) {
  if (always_) return;
  mapped_ = (bytes + 63) / 64 * 8 + 8;
  void* p = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  bits_ = static_cast<std::uint64_t*>(p);
}

InitShadow::~InitShadow() {
  if (bits_ != nullptr) ::munmap(bits_, mapped_);
}

void InitShadow::set(std::uint64_t address, std::uint64_t bytes, bool initialized) {
  if (always_) return;
  std::uint64_t i = address - base_;
  const std::uint64_t end = std::min(i + bytes, bytes_);
  while (i < end) {
    const std::uint64_t n = std::min<std::uint64_t>(64 - (i & 63), end - i);
    const std::uint64_t mask = (n == 64 ? ~0ULL : (1ULL << n) - 1) << (i & 63);
    std::uint64_t& word = bits_[i >> 6];
    const std::uint64_t now = __atomic_load_n(&word, __ATOMIC_RELAXED);
    if (initialized && (now & mask) != mask)
      __atomic_fetch_or(&word, mask, __ATOMIC_RELAXED);
    else if (!initialized && (now & mask) != 0)
      __atomic_fetch_and(&word, ~mask, __ATOMIC_RELAXED);
    i += n;
  }
}

std::uint64_t InitShadow::count(std::uint64_t address, std::uint64_t bytes) const {
  if (always_) return bytes;
  std::uint64_t i = address - base_, written = 0;
  const std::uint64_t end = std::min(i + bytes, bytes_);
  while (i < end) {
    const std::uint64_t n = std::min<std::uint64_t>(64 - (i & 63), end - i);
    const std::uint64_t mask = (n == 64 ? ~0ULL : (1ULL << n) - 1) << (i & 63);
    written += static_cast<std::uint64_t>(
        std::popcount(__atomic_load_n(&bits_[i >> 6], __ATOMIC_RELAXED) & mask));
    i += n;
  }
  return written;
}

}  // namespace cudasim
