// cp.async: done when issued, which every order that waits for it allows.
#include <cstring>

#include "cudasim/exec/decoder.hpp"

namespace cudasim::handlers {

// r0 shared address, r1 source bytes or 0, r2 ignore predicate or 0 (r3: flipped), r4 global
// address; target: bytes; aux bit 0: 32-bit global address, bit 3: not kept in L1 (.cg), bit 4:
// 32-bit shared address.
void copy_async(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  Counters& c = w.worker->counters;
  const std::uint32_t bytes = op.target;
  std::uint64_t lines[kWarpSize];
  std::uint32_t sectors[kWarpSize];
  unsigned count = 0;
  const Window* window = &w.worker->windows[static_cast<std::size_t>(&op - w.worker->code)];
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    std::uint64_t to = op.aux & 16 ? reinterpret_cast<std::uint32_t*>(r + op.r[0])[i]
                                   : reinterpret_cast<std::uint64_t*>(r + op.r[0])[i];
    std::uint64_t from = op.aux & 1 ? reinterpret_cast<std::uint32_t*>(r + op.r[4])[i]
                                    : reinterpret_cast<std::uint64_t*>(r + op.r[4])[i];
    to += static_cast<std::uint64_t>(op.extra->values[0]);
    from += static_cast<std::uint64_t>(op.imm);
    std::uint32_t size = op.r[1] != 0 ? reinterpret_cast<std::uint32_t*>(r + op.r[1])[i] : bytes;
    if (op.r[2] != 0 &&
        ((*reinterpret_cast<std::uint32_t*>(r + op.r[2]) ^ static_cast<std::uint32_t>(op.r[3])) >>
             i &
         1))
      size = 0;
    if (size > bytes) size = bytes;
    std::uint8_t* p = to & (bytes - 1) ? nullptr : shared_at(w, to, bytes);
    if (p == nullptr) return memory_fault(w, to, bytes, i, true, "shared");
    std::memset(p, 0, bytes);
    if (size == 0) continue;
    if (from & (bytes - 1)) return memory_fault(w, from, size, i, false, "");
    if (from - window->base >= window->size || size > window->size - (from - window->base))
      window = resolve(w, op, from, size);
    if (window == nullptr) return memory_fault(w, from, size, i, false, "");
    std::memcpy(p, reinterpret_cast<const void*>(from), size);
    const std::uint64_t s = from >> 5;
    unsigned k = count == 0 || lines[count - 1] != s >> 2 ? 0 : count - 1;
    while (k < count && lines[k] != s >> 2) ++k;
    if (k == count) {
      lines[count] = s >> 2;
      sectors[count++] = 0;
    }
    sectors[k] |= 1u << (s & 3);
    if (window->read_bits != nullptr)
      window->read_bits[(s - window->sector0) >> 6] |= std::uint64_t{1}
                                                       << ((s - window->sector0) & 63);
    c.global_load_bytes += size;
  }
  ++c.global_load_requests;
  ++c.async_copy_requests;
  for (unsigned k = 0; k < count; ++k) {
    const std::uint32_t missing = op.aux & 8 ? sectors[k] : w.block->l1.take(lines[k], sectors[k]);
    c.global_load_sectors += static_cast<std::uint64_t>(__builtin_popcount(sectors[k]));
    c.l1_hit_sectors += static_cast<std::uint64_t>(__builtin_popcount(sectors[k] & ~missing));
  }
  ++c.shared_store_requests;
  c.shared_store_wavefronts += bytes <= 4 ? 1 : bytes / 4;
  c.shared_store_bytes += static_cast<std::uint64_t>(__builtin_popcount(mask)) * bytes;
}

}  // namespace cudasim::handlers
