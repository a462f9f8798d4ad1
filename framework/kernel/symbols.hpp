#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::kernel {

/// What a shared library offers and wants, read from its bytes without loading it.
struct Symbols {
  std::vector<std::string> functions;  ///< defined, global or weak, visible
  std::vector<std::string> undefined;  ///< to be found elsewhere; version suffixes left out
  std::vector<std::string> needed;     ///< libraries it names (DT_NEEDED)
  bool exports(std::string_view name) const;
};

/// Reads the dynamic symbols of a 64-bit little-endian ELF shared library. Nothing, and `reason`,
/// when the bytes are not one; safe on damaged and hostile bytes.
std::optional<Symbols> read_symbols(std::string_view elf, std::string* reason = nullptr);

/// "k(float*, int)" of "_Z1kPfi"; the name itself when it is not a mangled one.
std::string demangle(const std::string& name);

/// Why the entry is missing, as one line that says what to do: declared without extern "C", a near
/// name exported instead, or not defined. "" when it is exported.
std::string missing_entry(const Symbols& symbols, const std::string& entry);

}  // namespace hone::kernel
