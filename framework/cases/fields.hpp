#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cases/located_json.hpp"
#include "diagnostic/diagnostic.hpp"

namespace hone::cases {

/// Where errors of one file go.
class Report {
 public:
  Report(std::string file, std::string_view text, std::vector<Diagnostic>& out)
      : file_(std::move(file)), text_(text), out_(out) {}
  void error(size_t offset, std::string message, std::string hint = "");
  void warning(size_t offset, std::string message, std::string hint = "");
  Location at(size_t offset) const { return locate(file_, text_, offset); }
  /// Errors so far; a reader that finds it grown refuses its case.
  size_t errors() const { return errors_; }

 private:
  std::string file_;
  std::string_view text_;
  std::vector<Diagnostic>& out_;
  size_t errors_ = 0;
};

/// Typed access to the members of an object; what has another type is reported where it stands.
/// With `null_is_absent`, as in files that programs wrote, null counts as not given.
class Fields {
 public:
  Fields(const LocatedJson& object, Report& report, bool null_is_absent = false)
      : object_(object), report_(report), null_is_absent_(null_is_absent) {}

  /// The member's value, or null when it is not there.
  const LocatedJson* find(std::string_view key) const;
  /// The same, reported unless it is of that kind.
  const LocatedJson* find(std::string_view key, LocatedJson::Kind kind) const;
  std::optional<std::string> string(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  /// A whole number from 1 up.
  std::optional<int> count(std::string_view key) const;
  /// A string or a list of strings, none of them empty; an empty list is reported.
  std::vector<std::string> strings(std::string_view key) const;
  /// Reports each member that is not among `known`, with the nearest of them.
  void only(const std::vector<std::string>& known) const;

  const LocatedJson& object() const { return object_; }
  Report& report() const { return report_; }
  bool null_is_absent() const { return null_is_absent_; }

 private:
  const LocatedJson& object_;
  Report& report_;
  bool null_is_absent_;
};

}  // namespace hone::cases
