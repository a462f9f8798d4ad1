#include "report/clean_text.hpp"

#include <algorithm>

#include "process/terminal.hpp"

namespace hone::report {
namespace {

/// Code point at `at` of valid UTF-8, moving `at` behind it.
char32_t next_code_point(std::string_view text, size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t point = length == 1 ? lead : lead & (0x7F >> length);
  for (size_t i = 1; i < length && at + i < text.size(); ++i)
    point = (point << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  at = std::min(at + length, text.size());
  return point;
}

bool is_noncharacter(char32_t point) {
  return (point & 0xFFFE) == 0xFFFE || (point >= 0xFDD0 && point <= 0xFDEF);
}

size_t columns_of(char32_t c) {
  const auto in = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  if (in(0x300, 0x36F) || in(0x200B, 0x200D) || in(0x20D0, 0x20FF) || in(0xFE00, 0xFE0F) ||
      c == 0xFEFF)
    return 0;
  return in(0x1100, 0x115F) || in(0x2E80, 0xA4CF) || in(0xAC00, 0xD7A3) || in(0xF900, 0xFAFF) ||
                 in(0xFE30, 0xFE6F) || in(0xFF00, 0xFF60) || in(0xFFE0, 0xFFE6) ||
                 in(0x1F300, 0x1FAFF) || in(0x20000, 0x3FFFD)
             ? 2
             : 1;
}

std::string escape(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string clean_text(std::string_view text, size_t limit) {
  const std::string sane = process::sanitise(text, limit);
  std::string clean;
  clean.reserve(sane.size());
  for (size_t at = 0; at < sane.size();) {
    const size_t start = at;
    if (!is_noncharacter(next_code_point(sane, at))) clean.append(sane, start, at - start);
  }
  return clean;
}

std::string clean_line(std::string_view text, size_t limit) {
  std::string line;
  for (const char c : clean_text(text, limit)) {
    if (c != ' ' && c != '\n' && c != '\t')
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

storage::Json clean_json(const storage::Json& value, size_t limit) {
  if (value.is_string()) return clean_text(value.get_ref<const std::string&>(), limit);
  if (!value.is_structured()) return value;
  storage::Json clean = value.is_array() ? storage::Json::array() : storage::Json::object();
  for (const auto& item : value.items()) {
    if (value.is_array())
      clean.push_back(clean_json(item.value(), limit));
    else
      clean[clean_line(item.key())] = clean_json(item.value(), limit);
  }
  return clean;
}

std::string xml_text(std::string_view text, size_t limit) {
  return escape(clean_text(text, limit));
}

std::string xml_attribute(std::string_view text, size_t limit) {
  return escape(clean_line(text, limit));
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) width += columns_of(next_code_point(text, at));
  return width;
}

std::string fit(std::string_view text, size_t columns, bool pad) {
  size_t width = display_width(text);
  std::string fitted(text);
  if (width > columns) {
    fitted.clear();
    width = 0;
    for (size_t at = 0; at < text.size() && columns > 0;) {
      const size_t start = at;
      const size_t next = columns_of(next_code_point(text, at));
      if (width + next + 1 > columns) break;
      width += next;
      fitted.append(text.substr(start, at - start));
    }
    if (columns > 0) {
      fitted += "…";
      ++width;
    }
  }
  if (pad && width < columns) fitted.append(columns - width, ' ');
  return fitted;
}

std::string markdown_text(std::string_view text, size_t limit) {
  std::string escaped;
  for (const char c : clean_line(text, limit)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '@':
        escaped += "@\u200b";  // mentions nobody
        break;
      default:
        if (std::string_view("\\`*_{}[]()#+!|~$").find(c) != std::string_view::npos)
          escaped += '\\';
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace hone::report
