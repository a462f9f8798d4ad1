#include "cudasim/fatbin/fatbin.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace cudasim {
namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::uint64_t kFlagLz4 = 0x2000;  ///< toolkits up to 12
constexpr std::uint64_t kFlagZstd = 0x8000;
constexpr std::uint64_t kMostUnpacked = 1ULL << 30;
constexpr std::uint64_t kZstdRatio = 1 << 16;  ///< a block of 3 bytes and more makes 128 KiB at most

/// Little-endian field at `offset`; 0 when it lies outside.
template <typename T>
T field(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof value) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  }
  return value;
}

/// LZ4 block format (lz4_Block_format.md): false when the input is damaged.
bool unpack_lz4(std::span<const std::byte> in, std::string& out, std::size_t size) {
  std::size_t at = 0;
  const auto next = [&] { return std::to_integer<std::size_t>(in[at++]); };
  const auto extended = [&](std::size_t length) {
    if (length != 15) return length;
    for (std::size_t more = 255; more == 255 && at < in.size();) length += more = next();
    return length;
  };
  while (at < in.size()) {
    const std::size_t token = next();
    const std::size_t literals = extended(token >> 4);
    if (literals > in.size() - at || literals > size - out.size()) return false;
    out.append(reinterpret_cast<const char*>(in.data()) + at, literals);
    at += literals;
    if (at == in.size()) break;
    if (in.size() - at < 2) return false;
    std::size_t distance = next();
    distance |= next() << 8;
    const std::size_t match = extended(token & 15) + 4;
    if (distance == 0 || distance > out.size() || match > size - out.size()) return false;
    for (std::size_t i = 0; i < match; ++i) out.push_back(out[out.size() - distance]);
  }
  return out.size() == size;
}

}  // namespace

Fatbin read_fatbin(std::span<const std::byte> bytes) {
  Fatbin result;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto rest = bytes.subspan(at);
    if (field<std::uint32_t>(rest, 0) != kMagic) {
      if (at == 0) result.error = "not a fatbin: wrong magic number";
      return result;  // padding after the last one
    }
    if (rest.size() < 16) {
      result.error = "truncated in the header";
      return result;
    }
    const std::size_t header = field<std::uint16_t>(rest, 6);
    const std::uint64_t size = field<std::uint64_t>(rest, 8);
    if (header < 16 || header > rest.size() || size > rest.size() - header) {
      result.error = "truncated: the header promises " + std::to_string(size) + " bytes, " +
                     std::to_string(rest.size() - std::min(header, rest.size())) + " are there";
      return result;
    }
    const auto body = rest.subspan(header, size);
    for (std::size_t p = 0; p + 32 <= body.size();) {
      const auto entry = body.subspan(p);
      const std::size_t entry_header = field<std::uint32_t>(entry, 4);
      const std::uint64_t padded = field<std::uint64_t>(entry, 8);
      if (entry_header < 32 || entry_header > entry.size() ||
          padded > entry.size() - entry_header) {
        result.error = "damaged entry at byte " + std::to_string(at + header + p);
        return result;
      }
      const auto kind = field<std::uint16_t>(entry, 0);
      FatbinEntry out;
      out.kind = kind == 1   ? FatbinEntry::Kind::ptx
                 : kind == 2 ? FatbinEntry::Kind::cubin
                             : FatbinEntry::Kind::other;
      out.arch = field<std::uint32_t>(entry, 28);
      out.flags = field<std::uint64_t>(entry.first(entry_header), 40);
      const std::uint64_t packed = field<std::uint32_t>(entry, 16);
      if ((out.flags & (kFlagLz4 | kFlagZstd)) != 0) {
        out.raw_size = field<std::uint64_t>(entry.first(entry_header), 56);
      }
      const bool compressed = (out.flags & (kFlagLz4 | kFlagZstd)) != 0;
      out.payload = entry.subspan(entry_header,
                                  compressed && packed != 0 && packed <= padded ? packed : padded);
      result.entries.push_back(out);
      p += entry_header + padded;
    }
    at += header + size;
  }
  return result;
}

Unpacked unpack(const FatbinEntry& entry) {
  Unpacked result;
  const auto* data = reinterpret_cast<const char*>(entry.payload.data());
  if ((entry.flags & (kFlagLz4 | kFlagZstd)) == 0) {
    result.bytes.assign(data, entry.payload.size());
  } else if (entry.raw_size > kMostUnpacked) {
    result.error = "an entry claims " + std::to_string(entry.raw_size) + " bytes when unpacked";
  } else if ((entry.flags & kFlagZstd) != 0) {
    // The frame and the entry must agree on the size before memory is taken for it.
    if (entry.raw_size > entry.payload.size() * kZstdRatio ||
        ZSTD_getFrameContentSize(data, entry.payload.size()) != entry.raw_size) {
      result.error = "damaged zstd data: sizes disagree";
      return result;
    }
    result.bytes.resize(entry.raw_size);
    const std::size_t got =
        ZSTD_decompress(result.bytes.data(), result.bytes.size(), data, entry.payload.size());
    if (ZSTD_isError(got) != 0) {
      result.error = std::string("damaged zstd data: ") + ZSTD_getErrorName(got);
      result.bytes.clear();
    } else {
      result.bytes.resize(got);
    }
  } else if (entry.raw_size > entry.payload.size() * 255 ||
             !unpack_lz4(entry.payload, result.bytes, entry.raw_size)) {
    result.error = "damaged lz4 data";
    result.bytes.clear();
  }
  if (entry.kind == FatbinEntry::Kind::ptx) {
    result.bytes.resize(std::min(result.bytes.find('\0'), result.bytes.size()));
  }
  return result;
}

const FatbinEntry* choose_ptx(const Fatbin& fatbin, std::uint32_t arch) {
  const FatbinEntry* best = nullptr;
  for (const FatbinEntry& entry : fatbin.entries) {
    if (entry.kind != FatbinEntry::Kind::ptx || entry.arch > arch) continue;
    if (best == nullptr || entry.arch >= best->arch) best = &entry;
  }
  return best;
}

std::size_t readable_bytes(const void* address, std::size_t wanted) {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return wanted;
  const auto start = reinterpret_cast<std::uint64_t>(address);
  std::uint64_t end = start;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long low = 0, high = 0;
    char rights = '-';
    if (std::sscanf(line, "%llx-%llx %c", &low, &high, &rights) != 3) continue;
    if (rights == 'r' && low <= end && end < high) end = high;  // neighbours are joined
  }
  std::fclose(maps);
  return std::min<std::size_t>(end - start, wanted);
}

}  // namespace cudasim
