#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.hpp"

namespace hone::cases {

/// A JSON value that knows where in its text it starts.
struct LocatedJson {
  enum class Kind { null, boolean, number, string, array, object };
  struct Member;

  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  std::string text;  ///< of a string
  size_t offset = 0;
  std::vector<LocatedJson> items;
  std::vector<Member> members;  ///< in file order, names unique

  bool is(Kind wanted) const { return kind == wanted; }
  /// The member of that name, or null.
  const Member* find(std::string_view name) const;
};

struct LocatedJson::Member {
  std::string name;
  size_t offset = 0;  ///< of the name
  LocatedJson value;
};

/// "a string", "a number", …
std::string_view name(LocatedJson::Kind kind);

/// Parses `text`; `file` is for the diagnostics. Syntax errors and names given twice are appended
/// to `diagnostics` with line and column; nothing is returned after a syntax error.
std::optional<LocatedJson> parse_located(const std::string& file, std::string_view text,
                                         std::vector<Diagnostic>& diagnostics);

}  // namespace hone::cases
