#include "kernel/symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "diagnostic/diagnostic.hpp"

namespace hone::kernel {
namespace {

/// Bounds-checked reads from a file image.
class Image {
 public:
  explicit Image(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  bool read(uint64_t offset, T& value) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof value) return false;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return true;
  }
  std::string_view part(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) return {};
    return bytes_.substr(offset, size);
  }

 private:
  std::string_view bytes_;
};

std::string name_at(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return "";
  const std::string_view rest = table.substr(offset);
  return std::string(rest.substr(0, std::min(rest.find('\0'), rest.size())));
}

bool visible(const Elf64_Sym& symbol) {
  const auto binding = ELF64_ST_BIND(symbol.st_info);
  const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return (binding == STB_GLOBAL || binding == STB_WEAK) &&
         (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

}  // namespace

bool Symbols::exports(std::string_view name) const {
  return std::find(functions.begin(), functions.end(), name) != functions.end();
}

std::optional<Symbols> read_symbols(std::string_view elf, std::string* reason) {
  const auto fail = [&](const char* why) {
    if (reason != nullptr) *reason = why;
    return std::nullopt;
  };
  const Image image(elf);
  Elf64_Ehdr header;
  if (!image.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return fail("not a 64-bit ELF file");
  if (header.e_type != ET_DYN || header.e_shentsize != sizeof(Elf64_Shdr))
    return fail("not a shared library");

  const auto section = [&](uint64_t index, Elf64_Shdr& result) {
    return index < header.e_shnum && header.e_shoff <= elf.size() &&
           image.read(header.e_shoff + index * sizeof(Elf64_Shdr), result);
  };
  Symbols symbols;
  bool found = false;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table, strings;
    if (!section(i, table) || (table.sh_type != SHT_DYNSYM && table.sh_type != SHT_DYNAMIC))
      continue;
    if (!section(table.sh_link, strings)) return fail("damaged section table");
    const std::string_view names = image.part(strings.sh_offset, strings.sh_size);
    const std::string_view entries = image.part(table.sh_offset, table.sh_size);
    if (entries.size() != table.sh_size || names.size() != strings.sh_size)
      return fail("damaged symbol table");
    const Image rows(entries);
    if (table.sh_type == SHT_DYNAMIC) {
      Elf64_Dyn row;
      for (uint64_t at = 0; rows.read(at, row) && row.d_tag != DT_NULL; at += sizeof row)
        if (row.d_tag == DT_NEEDED) symbols.needed.push_back(name_at(names, row.d_un.d_val));
      continue;
    }
    found = true;
    Elf64_Sym row;
    for (uint64_t at = sizeof row; rows.read(at, row); at += sizeof row) {
      const std::string name = name_at(names, row.st_name);
      const auto type = ELF64_ST_TYPE(row.st_info);
      if (name.empty()) continue;
      if (row.st_shndx == SHN_UNDEF)
        symbols.undefined.push_back(name);
      else if ((type == STT_FUNC || type == STT_GNU_IFUNC) && visible(row))
        symbols.functions.push_back(name);
    }
  }
  if (!found) return fail("no dynamic symbols");
  return symbols;
}

std::string demangle(const std::string& name) {
  if (name.size() > 4096) return name;  // a hostile name may take for ever
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

std::string missing_entry(const Symbols& symbols, const std::string& entry) {
  if (entry.empty() || symbols.exports(entry)) return "";
  std::vector<std::string> plain;
  for (const auto& symbol : symbols.functions) {
    const std::string name = demangle(symbol);
    const std::string bare = name.substr(0, name.find('('));
    const size_t scope = bare.rfind("::");
    if (name != symbol && (scope == std::string::npos ? bare : bare.substr(scope + 2)) == entry)
      return fmt::format(
          "{} is not exported: declare it extern \"C\" (the library has the C++ function {})",
          entry, name.substr(0, 200));
    if (name == symbol && symbol[0] != '_' && symbol.rfind("fatbin", 0) != 0)
      plain.push_back(symbol);
  }
  if (const std::string near = nearest(entry, plain); !near.empty())
    return fmt::format("{} is not exported: the library exports {} instead", entry, near);
  return fmt::format("{} is not exported: the answer does not define it", entry);
}

}  // namespace hone::kernel
