#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cudasim {

/// One member of a fatbin: PTX text or a cubin, still compressed.
struct FatbinEntry {
  enum class Kind : std::uint8_t { ptx, cubin, other };
  Kind kind = Kind::other;
  std::uint32_t arch = 0;  ///< 90 for sm_90 and sm_90a
  std::uint64_t flags = 0;
  std::uint64_t raw_size = 0;  ///< bytes when unpacked; 0 when the entry is stored as it is
  std::span<const std::byte> payload;
};

/// What a fatbin holds; `error` says why reading stopped, entries before the fault are kept.
struct Fatbin {
  std::vector<FatbinEntry> entries;
  std::string error;
};

/// Reads the headers of one fatbin, or of several that follow each other with padding between.
/// Never reads outside `bytes`.
Fatbin read_fatbin(std::span<const std::byte> bytes);

/// An entry's bytes, unpacked.
struct Unpacked {
  std::string bytes;
  std::string error;  ///< empty when good
};
Unpacked unpack(const FatbinEntry& entry);

/// The PTX entry for `arch`: the highest that is not above it; null when there is none.
const FatbinEntry* choose_ptx(const Fatbin& fatbin, std::uint32_t arch = 90);

/// Readable bytes from `address` to the end of its mapping, so that a damaged size in a header
/// can't lead out of it. At most `wanted`.
std::size_t readable_bytes(const void* address, std::size_t wanted);

}  // namespace cudasim
