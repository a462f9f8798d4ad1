#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cudasim {

/// How a record's lanes touched their bytes.
enum class Touch : std::uint8_t {
  none,
  read,
  write,
  atomic,       ///< of a scope that holds all threads concerned
  atomic_cta,   ///< atomic among the threads of a block
  atomic_read,  ///< ld.relaxed, ld.acquire
  volatile_read,
  volatile_write,
  copy_async,  ///< written by cp.async; the clock is the number of its group
  copy_bulk,   ///< written by cp.async.bulk; the clock is the copy's number
};

/// Lanes of one warp that touched the same bytes in the same way.
struct Trace {
  static constexpr unsigned kPcBits = 23;
  std::uint32_t block = 0;
  std::uint32_t clock = 0;  ///< of the warp
  std::uint32_t lanes = 0;
  std::uint32_t where = 0;  ///< warp (5 bits), touch (4), place in the code (23)

  static std::uint32_t pack(unsigned warp, Touch touch, std::uint32_t pc) {
    return warp << 27 | static_cast<std::uint32_t>(touch) << kPcBits | (pc & ((1u << kPcBits) - 1));
  }
  unsigned warp() const { return where >> 27; }
  Touch touch() const { return static_cast<Touch>(where >> kPcBits & 15); }
  std::uint32_t pc() const { return where & ((1u << kPcBits) - 1); }
};

/// The accesses to some bytes that later ones are checked against: the last plain write, and two
/// of the reads and atomics since.
struct Cell {
  Trace slots[3];
};

/// The shadow of 64 bytes. Coarse: lane first + i of a warp touched the i-th group of bytes, which
/// is how full warps touch neighbouring elements. Fine: a cell for each 4, 2 or 1 bytes.
struct Segment {
  static constexpr unsigned kBytes = 64;
  Trace slots[3];
  std::uint8_t shapes[3] = {};  ///< of the coarse records: log2(bytes a lane) << 5 | first lane
  std::uint8_t fine = 0;        ///< bytes of a cell; 0: coarse
  std::uint8_t capacity = 0;    ///< bytes of a cell that `cells` has room for
  std::uint8_t lock = 0;
  Cell* cells = nullptr;
};
static_assert(sizeof(Segment) == 64);

/// The shadow of a range of memory; its pages are there once they are touched.
class RaceShadow {
 public:
  RaceShadow(std::uint64_t base, std::uint64_t bytes);
  ~RaceShadow();
  RaceShadow(const RaceShadow&) = delete;
  RaceShadow& operator=(const RaceShadow&) = delete;

  std::uint64_t base() const { return base_; }
  std::uint64_t bytes() const { return bytes_; }
  Segment* at(std::uint64_t address) { return segments_ + ((address - base_) >> 6); }
  /// Forgets everything.
  void clear();
  /// Makes the segment's cells `bytes` wide; a coarse one is spread over them.
  void refine(Segment& segment, unsigned bytes);
  /// Forgets what an earlier launch did; true once for each launch.
  bool enter(std::uint64_t launch) {
    return launch_.load(std::memory_order_acquire) != launch && renew(launch);
  }

 private:
  bool renew(std::uint64_t launch);
  Cell* take(std::size_t cells);

  std::uint64_t base_, bytes_, mapped_ = 0;
  Segment* segments_ = nullptr;
  std::atomic<std::uint64_t> launch_{0};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Cell[]>> chunks_;
  std::size_t used_ = 0;  ///< cells of the last chunk
};

}  // namespace cudasim
