#include "process/terminal.hpp"

#include <algorithm>

namespace hone::process {
namespace {

/// Length of the well-formed UTF-8 sequence at the start of `text`, or 0.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
      (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F))
    return 0;
  return length;
}

/// Length of the escape sequence that starts at `text` (which starts with ESC).
size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (text[1] == '[') {  // CSI: parameters, then a final byte
    size_t i = 2;
    while (i < text.size() && text[i] >= 0x20 && text[i] < 0x40) ++i;
    return std::min(i + 1, text.size());
  }
  if (text[1] == ']' || text[1] == 'P' || text[1] == '^' ||
      text[1] == '_') {  // OSC …: to BEL or ST
    for (size_t i = 2; i < std::min<size_t>(text.size(), 4096); ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == '\n') return i;
      if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '\\') return i + 2;
    }
  }
  return text[1] >= 0x20 && text[1] < 0x7f ? 2 : 1;
}

bool is_invisible(std::string_view sequence) {
  // C1 controls, and the marks that reorder text: U+200E/F, U+202A..E, U+2066..9.
  if (sequence.size() == 2 && sequence[0] == '\xC2') return sequence[1] < '\xA0';
  if (sequence.size() != 3 || sequence[0] != '\xE2') return false;
  const auto a = static_cast<unsigned char>(sequence[1]),
             b = static_cast<unsigned char>(sequence[2]);
  return (a == 0x80 && (b == 0x8E || b == 0x8F || (b >= 0xAA && b <= 0xAE))) ||
         (a == 0x81 && b >= 0xA6 && b <= 0xA9);
}

size_t boundary_at(std::string_view text, size_t i) {
  while (i > 0 && i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) --i;
  return i;
}

std::string cut_middle(std::string text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const size_t head = boundary_at(text, max_bytes / 4 * 3);
  const size_t tail = boundary_at(text, text.size() - (max_bytes - max_bytes / 4 * 3));
  return text.substr(0, head) + "\n[... " + std::to_string(tail - head) + " bytes left out ...]\n" +
         text.substr(tail);
}

}  // namespace

std::string sanitise(std::string_view text, size_t max_bytes) {
  std::string clean;
  clean.reserve(std::min(text.size(), size_t{1} << 20));
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\x1b') {
      i += escape_length(text.substr(i));
    } else if (c == '\n' || c == '\t') {
      clean += c;
      ++i;
    } else if (c == '\r') {
      if (i + 1 >= text.size() || text[i + 1] != '\n') clean += '\n';
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      ++i;
    } else if (const size_t length = utf8_length(text.substr(i)); length == 0) {
      clean += "\xEF\xBF\xBD";
      ++i;
    } else {
      if (!is_invisible(text.substr(i, length))) clean += text.substr(i, length);
      i += length;
    }
  }
  return cut_middle(std::move(clean), max_bytes);
}

std::string first_line(std::string_view text, size_t max_bytes) {
  const std::string clean = sanitise(text.substr(0, std::min<size_t>(text.size(), 65536)), 65536);
  const size_t begin = clean.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return "";
  std::string line = clean.substr(begin, clean.find('\n', begin) - begin);
  line.erase(line.find_last_not_of(" \t") + 1);
  if (line.size() > max_bytes) line = line.substr(0, boundary_at(line, max_bytes)) + "...";
  return line;
}

}  // namespace hone::process
