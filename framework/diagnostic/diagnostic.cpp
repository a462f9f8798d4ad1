#include "diagnostic/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace hone {
namespace {

std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const auto& d : diagnostics) text += (text.empty() ? "" : "\n") + d.str();
  return text;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t up = row[j];
      row[j] = std::min({up + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = up;
    }
  }
  return row.back();
}

}  // namespace

std::string Location::str() const {
  std::string text = file;
  if (line > 0) text += fmt::format(":{}", line);
  if (line > 0 && column > 0) text += fmt::format(":{}", column);
  return text;
}

std::string Diagnostic::str() const {
  const std::string place = where.str();
  return fmt::format("{}{}{}: {}{}", place, place.empty() ? "" : ": ", warning ? "warning" : "error",
                     message, hint.empty() ? "" : " (" + hint + ")");
}

Location locate(const std::string& file, std::string_view text, size_t offset) {
  const auto head = text.substr(0, std::min(offset, text.size()));
  const auto newline = head.rfind('\n');
  const size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  return {file, 1 + static_cast<int>(std::count(head.begin(), head.end(), '\n')),
          1 + static_cast<int>(head.size() - start)};
}

std::string nearest(std::string_view wrong, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = wrong.size() / 2 + 1;
  for (const auto& name : known) {
    if (const size_t d = edit_distance(wrong, name); d < best_distance) {
      best_distance = d;
      best = name;
    }
  }
  return best;
}

Error::Error(Exit code, std::string message) : std::runtime_error(std::move(message)), code_(code) {}

Error::Error(Exit code, std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(diagnostics)), code_(code), diagnostics_(std::move(diagnostics)) {}

}  // namespace hone
