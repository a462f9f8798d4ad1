// mbarrier and bulk copies. A barrier is a 64-bit word in shared memory: pending arrivals (20
// bits), expected arrivals (20), pending bytes (22, signed) and the phase (bit 63). Copies are done
// when issued, so their bytes complete at once.
#include <cstring>

#include "cudasim/exec/decoder.hpp"

namespace cudasim::handlers {
namespace {

struct Barrier64 {
  std::uint32_t pending, expected;
  std::int32_t bytes;
  bool phase;

  static Barrier64 load(const std::uint8_t* p) {
    std::uint64_t v = 0;
    std::memcpy(&v, p, 8);
    return {static_cast<std::uint32_t>(v & 0xfffff), static_cast<std::uint32_t>(v >> 20 & 0xfffff),
            static_cast<std::int32_t>(static_cast<std::uint32_t>(v >> 40 & 0x3fffff) << 10) >> 10,
            (v >> 63) != 0};
  }
  std::uint64_t word() const {
    return (pending & 0xfffffull) | (expected & 0xfffffull) << 20 |
           (static_cast<std::uint64_t>(bytes) & 0x3fffffull) << 40 | std::uint64_t{phase} << 63;
  }
  void store(std::uint8_t* p) {
    if (pending == 0 && bytes == 0) {
      phase = !phase;
      pending = expected;
    }
    const std::uint64_t v = word();
    std::memcpy(p, &v, 8);
  }
};

std::uint64_t lane_address(std::uint8_t* r, std::int32_t offset, std::int64_t add, bool narrow,
                           unsigned lane) {
  return (narrow ? std::uint64_t{reinterpret_cast<std::uint32_t*>(r + offset)[lane]}
                 : reinterpret_cast<std::uint64_t*>(r + offset)[lane]) +
         static_cast<std::uint64_t>(add);
}

/// Host address of shared or generic memory, null after a fault.
std::uint8_t* host(Warp& w, const Op& op, std::uint64_t address, std::uint64_t bytes,
                   std::uint64_t align, bool shared, bool write, unsigned lane) {
  std::uint8_t* p = nullptr;
  if (address % align == 0) {
    if (shared) {
      p = shared_at(w, address, bytes);
    } else {
      const Window* window = resolve(w, op, address, bytes);
      if (window != nullptr && (!write || window->writable)) {
        p = reinterpret_cast<std::uint8_t*>(address);
        std::uint64_t* map = write ? window->written_bits : window->read_bits;
        if (map != nullptr) {
          for (std::uint64_t s = address >> 5; s <= (address + bytes - 1) >> 5; ++s)
            map[(s - window->sector0) >> 6] |= std::uint64_t{1} << ((s - window->sector0) & 63);
        }
      }
    }
  }
  if (p == nullptr)
    memory_fault(w, address, align > 1 && address % align != 0 ? align : bytes, lane, write,
                 shared ? "shared" : "");
  return p;
}

enum class Do { init, inval, arrive, drop, expect, complete, arrive_expect, test, test_parity };

// r0 = state or predicate (0: none), r1 = count, bytes, state or parity (0: 1), r4 = address;
// aux bit 0: 32-bit address, bit 4: shared window; bit 1: polling.
template <Do D>
void barrier_lanes(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  std::uint32_t passed = 0;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint64_t a = lane_address(r, op.r[4], op.imm, op.aux & 1, i);
    std::uint8_t* p = host(w, op, a, 8, 8, op.aux & 16, true, i);
    if (p == nullptr) return;
    std::uint64_t value = 1;
    if (op.r[1] != 0)
      value = D == Do::test ? reinterpret_cast<std::uint64_t*>(r + op.r[1])[i]
                            : reinterpret_cast<std::uint32_t*>(r + op.r[1])[i];
    Barrier64 b = Barrier64::load(p);
    const std::uint64_t before = b.word();
    switch (D) {
      case Do::init: {
        b = {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value), 0, false};
        const std::uint64_t v = b.word();
        std::memcpy(p, &v, 8);
        continue;
      }
      case Do::inval:
        std::memset(p, 0, 8);
        continue;
      case Do::arrive:
        b.pending -= static_cast<std::uint32_t>(value);
        break;
      case Do::drop:
        b.pending -= static_cast<std::uint32_t>(value);
        b.expected -= static_cast<std::uint32_t>(value);
        break;
      case Do::expect:
        b.bytes += static_cast<std::int32_t>(value);
        break;
      case Do::complete:
        b.bytes -= static_cast<std::int32_t>(value);
        break;
      case Do::arrive_expect:
        b.bytes += static_cast<std::int32_t>(value);
        b.pending -= 1;
        break;
      case Do::test:
        passed |= (b.phase != (value >> 63 != 0) ? 1u : 0u) << i;
        continue;
      case Do::test_parity:
        passed |= (b.phase != ((value & 1) != 0) ? 1u : 0u) << i;
        continue;
    }
    b.store(p);
    if (op.r[0] != 0) reinterpret_cast<std::uint64_t*>(r + op.r[0])[i] = before;
  }
  if (D == Do::test || D == Do::test_parity) {
    auto& p = *reinterpret_cast<std::uint32_t*>(r + op.r[0]);
    p = (p & ~mask) | (passed & mask);
    if ((passed & mask) != mask) w.polls += 8;
  }
}

}  // namespace

Handler mbarrier(std::string_view operation) {
  if (operation == "init") return barrier_lanes<Do::init>;
  if (operation == "inval") return barrier_lanes<Do::inval>;
  if (operation == "arrive") return barrier_lanes<Do::arrive>;
  if (operation == "arrive_drop") return barrier_lanes<Do::drop>;
  if (operation == "expect_tx") return barrier_lanes<Do::expect>;
  if (operation == "complete_tx") return barrier_lanes<Do::complete>;
  if (operation == "arrive_expect_tx") return barrier_lanes<Do::arrive_expect>;
  if (operation == "test") return barrier_lanes<Do::test>;
  if (operation == "test_parity") return barrier_lanes<Do::test_parity>;
  return nullptr;
}

// r0 target, r1 size, r2 barrier or 0, r3 mask of cluster ranks or 0, r4 source; values: added
// offsets of target and barrier, flags 1: target in the shared window, 2: source in it, 4/8/16:
// 32-bit target/source/barrier address, and the reduction or 0.
void copy_bulk(std::uint8_t* r, const Op& op, std::uint32_t mask, Warp& w) {
  const auto& v = op.extra->values;
  const auto flags = static_cast<unsigned>(v[2]);
  const auto reduction = reinterpret_cast<BulkReduction>(v[3]);
  Counters& c = w.worker->counters;
  // The same place in each block that a multicast names.
  const auto in_block = [](std::uint64_t address, unsigned rank) {
    return (address & ((1u << kSharedRankShift) - 1)) | std::uint64_t{rank + 1} << kSharedRankShift;
  };
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    const std::uint32_t size = reinterpret_cast<std::uint32_t*>(r + op.r[1])[i];
    const std::uint64_t to = lane_address(r, op.r[0], v[0], flags & 4, i),
                        from = lane_address(r, op.r[4], op.imm, flags & 8, i);
    if (size % 16 != 0) {
      w.worker->fault(
          w, FaultKind::misaligned_address,
          "bulk copy of " + std::to_string(size) + " bytes: the size must be a multiple of 16", i,
          to);
      return;
    }
    const std::uint8_t* origin = nullptr;
    if (size != 0) {
      origin = host(w, op, from, size, 16, flags & 2, false, i);
      if (origin == nullptr) return;
      if (!(flags & 2)) {
        ++c.global_load_requests;
        c.global_load_sectors += (size + 31) / 32;
        c.global_load_bytes += size;
      }
    }
    const bool multicast = op.r[3] != 0;
    std::uint32_t ranks = multicast ? reinterpret_cast<std::uint16_t*>(r + op.r[3])[i] : 1;
    for (; ranks != 0; ranks &= ranks - 1) {
      const auto rank = static_cast<unsigned>(__builtin_ctz(ranks));
      if (size != 0) {
        std::uint8_t* target =
            host(w, op, multicast ? in_block(to, rank) : to, size, 16, flags & 1, true, i);
        if (target == nullptr) return;
        if (reduction != nullptr)
          reduction(target, origin, size);
        else
          std::memmove(target, origin, size);
        if (flags & 1) {
          ++c.shared_store_requests;
          c.shared_store_wavefronts += (size + 127) / 128;
          c.shared_store_bytes += size;
        } else {
          ++c.global_store_requests;
          c.global_store_sectors += (size + 31) / 32;
          c.global_store_bytes += size;
        }
      }
      if (op.r[2] == 0) continue;
      const std::uint64_t word = lane_address(r, op.r[2], v[1], flags & 16, i);
      std::uint8_t* p = host(w, op, multicast ? in_block(word, rank) : word, 8, 8, true, true, i);
      if (p == nullptr) return;
      Barrier64 b = Barrier64::load(p);
      b.bytes -= static_cast<std::int32_t>(size);
      b.store(p);
    }
  }
}

}  // namespace cudasim::handlers
