#include "cudasim/fatbin/cubin.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace cudasim {
namespace {

// .nv.info is a list of {u8 format, u8 attribute, u16 size or value, payload when format is 4}.
/// sm_90 cubins count the kilobyte that the system keeps of each block's shared memory.
constexpr std::uint64_t kReservedShared = 1024;
constexpr std::uint8_t kSized = 4, kFrameSize = 0x11, kRegisterCount = 0x2f;

class Elf {
 public:
  explicit Elf(std::span<const std::byte> bytes) : bytes_(bytes) {
    Elf64_Ehdr header{};
    if (!copy(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section{};
      if (!copy(header.e_shoff + i * sizeof section, section)) break;
      sections_.push_back(section);
    }
    names_ = header.e_shstrndx;
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }

  template <typename T>
  bool copy(std::uint64_t at, T& out) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof out) return false;
    std::memcpy(&out, bytes_.data() + at, sizeof out);
    return true;
  }

  std::string_view text(std::size_t section, std::uint64_t offset) const {
    if (section >= sections_.size() || offset >= sections_[section].sh_size) return {};
    const std::uint64_t at = sections_[section].sh_offset + offset;
    if (at >= bytes_.size()) return {};
    const auto* start = reinterpret_cast<const char*>(bytes_.data()) + at;
    return {start, strnlen(start, bytes_.size() - at)};
  }

  std::string_view name(const Elf64_Shdr& section) const { return text(names_, section.sh_name); }

 private:
  std::span<const std::byte> bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::size_t names_ = 0;
};

}  // namespace

std::map<std::string, KernelFacts> read_cubin(std::span<const std::byte> bytes) {
  const Elf elf(bytes);
  std::map<std::string, KernelFacts> result;
  const Elf64_Shdr* symbols = nullptr;
  for (const auto& section : elf.sections()) {
    if (section.sh_type == SHT_SYMTAB) symbols = &section;
  }
  const auto symbol_name = [&](std::uint32_t index) -> std::string {
    Elf64_Sym symbol{};
    if (symbols == nullptr || !elf.copy(symbols->sh_offset + index * sizeof symbol, symbol)) {
      return {};
    }
    return std::string(elf.text(symbols->sh_link, symbol.st_name));
  };
  for (const auto& section : elf.sections()) {
    const std::string_view name = elf.name(section);
    constexpr std::string_view kText = ".text.", kShared = ".nv.shared.";
    if (name.starts_with(kText)) {
      auto& facts = result[std::string(name.substr(kText.size()))];
      if (facts.shared_bytes < 0) facts.shared_bytes = 0;
    } else if (name.starts_with(kShared) && !name.starts_with(".nv.shared.reserved")) {
      result[std::string(name.substr(kShared.size()))].shared_bytes =
          static_cast<int>(section.sh_size - std::min(section.sh_size, kReservedShared));
    } else if (name == ".nv.info") {
      for (std::uint64_t at = 0; at + 4 <= section.sh_size;) {
        std::uint8_t format = 0, attribute = 0;
        std::uint16_t size = 0;
        const std::uint64_t place = section.sh_offset + at;
        if (!elf.copy(place, format) || !elf.copy(place + 1, attribute) ||
            !elf.copy(place + 2, size)) {
          break;
        }
        std::uint32_t symbol = 0, value = 0;
        if (format == kSized && size == 8 && elf.copy(place + 4, symbol) &&
            elf.copy(place + 8, value)) {
          if (attribute == kRegisterCount) {
            result[symbol_name(symbol)].registers = static_cast<int>(value);
          } else if (attribute == kFrameSize) {
            result[symbol_name(symbol)].frame_bytes = static_cast<int>(value);
          }
        }
        at += 4 + (format == kSized ? size : 0);
      }
    }
  }
  result.erase("");
  return result;
}

}  // namespace cudasim
