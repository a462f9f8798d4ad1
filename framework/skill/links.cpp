#include "skill/links.hpp"

#include <algorithm>
#include <array>

namespace hone::skill {
namespace {

bool is_path_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' ||
         c == '-';
}

/// "```" or "~~~" with at least three characters; 0 when the line is no fence.
size_t fence_length(std::string_view line, char& character) {
  const size_t at = line.find_first_not_of(" \t");
  if (at == std::string_view::npos || (line[at] != '`' && line[at] != '~')) return 0;
  character = line[at];
  const size_t end = std::min(line.find_first_not_of(character, at), line.size());
  if (character == '`' && line.find('`', end) != std::string_view::npos) return 0;
  return end - at >= 3 ? end - at : 0;
}

/// The line with its inline code blanked out.
std::string without_code(std::string_view line) {
  std::string text(line);
  for (size_t open = text.find('`'); open != std::string::npos; open = text.find('`', open)) {
    const size_t count = std::min(text.find_first_not_of('`', open), text.size()) - open;
    const size_t close = text.find(std::string(count, '`'), open + count);
    if (close == std::string::npos) break;
    std::fill(text.begin() + static_cast<long>(open),
              text.begin() + static_cast<long>(close + count), ' ');
    open = close + count;
  }
  return text;
}

/// What a link's parentheses hold: the path, or "" for an URL, an anchor or nothing.
std::string path_of(std::string_view target) {
  const size_t from = target.find_first_not_of(" <");
  if (from == std::string_view::npos) return "";
  target.remove_prefix(from);
  target = target.substr(0, target.find_first_of(" >\t#?"));
  const bool scheme = target.find(':') != std::string_view::npos || target.starts_with("//");
  return scheme ? "" : std::string(target);
}

class Finder {
 public:
  Finder(const std::string& file, Links& out) : file_(file), out_(out) {}

  void line(std::string_view text, int number) {
    char character = 0;
    const size_t length = fence_length(text, character);
    if (open_ > 0) {
      const bool bare = text.find_last_not_of(" \t\r") != std::string_view::npos &&
                        text[text.find_last_not_of(" \t\r")] == character;
      if (character == character_ && length >= open_ && bare) {
        open_ = 0;
        out_.open_fence = {};
      }
      return;
    }
    if (length > 0) {
      open_ = length;
      character_ = character;
      out_.open_fence = {file_, number, 1};
      return;
    }
    markdown_links(without_code(text), number);
    plain_paths(text, number);
  }

 private:
  void markdown_links(const std::string& text, int number) {
    for (size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 2)) {
      const size_t close = text.find(')', at);
      if (close == std::string::npos) return;
      add(path_of(std::string_view(text).substr(at + 2, close - at - 2)), number, at + 3);
    }
  }

  void plain_paths(std::string_view text, int number) {
    static constexpr std::array<std::string_view, 3> kFolders = {"references/", "scripts/",
                                                                 "assets/"};
    for (const auto folder : kFolders) {
      for (size_t at = text.find(folder); at != std::string_view::npos;
           at = text.find(folder, at + 1)) {
        if (at > 0 && (is_path_character(text[at - 1]) || text[at - 1] == ':')) continue;
        size_t end = at;
        while (end < text.size() && is_path_character(text[end])) ++end;
        while (end > at && text[end - 1] == '.') --end;
        if (end - at > folder.size()) add(std::string(text.substr(at, end - at)), number, at + 1);
      }
    }
  }

  void add(std::string path, int number, size_t column) {
    if (path.empty()) return;
    const bool known = std::any_of(out_.links.begin(), out_.links.end(), [&](const Link& l) {
      return l.path == path && l.where.line == number;
    });
    if (!known) out_.links.push_back({std::move(path), {file_, number, static_cast<int>(column)}});
  }

  std::string file_;
  Links& out_;
  size_t open_ = 0;  ///< length of the fence that opened a block
  char character_ = 0;
};

}  // namespace

Links find_links(const std::string& file, std::string_view text) {
  Links found;
  Finder finder(file, found);
  int number = 1;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    finder.line(text.substr(at, end - at), number);
    at = end + 1;
  }
  return found;
}

}  // namespace hone::skill
