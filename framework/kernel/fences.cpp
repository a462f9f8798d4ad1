#include "kernel/fences.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace hone::kernel {
namespace {

std::string_view trim(std::string_view text, std::string_view what = " \t\r\n") {
  const size_t begin = text.find_first_not_of(what);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(what) - begin + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

struct Marker {
  char character;
  size_t count, indent;
  std::string_view info;
};

std::optional<Marker> fence_of(std::string_view line) {
  const size_t indent = line.find_first_not_of(" \t");
  if (indent == std::string_view::npos) return std::nullopt;
  const char c = line[indent];
  if (c != '`' && c != '~') return std::nullopt;
  const size_t end = std::min(line.find_first_not_of(c, indent), line.size());
  const std::string_view info = trim(line.substr(end));
  if (end - indent < 3 || (c == '`' && info.find('`') != std::string_view::npos))
    return std::nullopt;
  return Marker{c, end - indent, indent, info};
}

/// The word, when it is written like the name of a file that a kernel project may hold.
std::string file_name(std::string_view word) {
  word = trim(word, "`*\"'()[]{}<>:;,");
  if (const size_t equals = word.find('='); equals != std::string_view::npos)
    word = trim(word.substr(equals + 1), "\"'");
  if (word.empty() || word.find("://") != std::string_view::npos) return "";
  const size_t dot = word.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || word[dot - 1] == '/') return "";
  static constexpr std::array<std::string_view, 14> kExtensions = {
      "cu", "cuh", "h", "hpp", "hh", "hxx", "inl", "cc", "cpp", "cxx", "c", "toml", "py", "md"};
  if (std::find(kExtensions.begin(), kExtensions.end(), lower(word.substr(dot + 1))) ==
      kExtensions.end())
    return "";
  if (word.find_first_of("`*\"'<>|&$") != std::string_view::npos) return "";
  return std::string(word);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t i = text.find_first_not_of(" \t,"); i != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(" \t,", i), text.size());
    words.push_back(text.substr(i, end - i));
    i = text.find_first_not_of(" \t,", end);
  }
  return words;
}

void read_info(std::string_view info, Fence& fence) {
  const auto words = words_of(info);
  if (words.empty()) return;
  std::string_view first = trim(words[0], "{}.");
  fence.name = file_name(words[0]);
  if (const size_t colon = first.find(':'); colon != std::string_view::npos) {
    if (fence.name.empty() || fence.name.find(':') != std::string::npos)
      fence.name = file_name(first.substr(colon + 1));
    first = first.substr(0, colon);
  }
  fence.language = lower(first);
  if (fence.name == words[0]) fence.language = lower(first.substr(first.rfind('.') + 1));
  for (size_t i = 1; i < words.size() && fence.name.empty(); ++i) fence.name = file_name(words[i]);
}

/// Drops "File:", "Filename", "1." and the like from the start of a heading.
std::string_view drop_label(std::string_view text) {
  text = trim(text, " \t#*=_-/`:");
  for (bool changed = true; changed;) {
    changed = false;
    if (const size_t digits = text.find_first_not_of("0123456789");
        digits != std::string_view::npos && digits > 0 &&
        (text[digits] == '.' || text[digits] == ')')) {
      text = trim(text.substr(digits + 1), " \t*`:");
      changed = true;
    }
    for (const std::string_view label : {"filename", "file name", "file", "path", "source"}) {
      if (lower(text.substr(0, label.size())) != label) continue;
      const std::string_view rest = text.substr(label.size());
      if (rest.empty() || std::isalnum(static_cast<unsigned char>(rest[0])) || rest[0] == '_' ||
          rest[0] == '.' || rest[0] == '/')
        continue;
      text = trim(rest, " \t*`:");
      changed = true;
      break;
    }
  }
  return text;
}

/// The name in the line before a block: the line is a name and decoration, or, before code, a
/// sentence that ends in ':' and quotes a single name.
std::string name_before(std::string_view line, bool code) {
  const auto words = words_of(drop_label(line));
  // trim() above must not eat the '/' of an absolute path: look at the raw words as well.
  if (words.size() == 1) {
    const std::string name = file_name(words[0]);
    if (name.empty()) return "";
    const size_t at = line.find(name);
    return at != std::string_view::npos && at > 0 && line[at - 1] == '/' ? "/" + name : name;
  }
  if (!code || trim(line, " \t*").empty() || trim(line, " \t*").back() != ':') return "";
  std::string found;
  for (size_t i = line.find('`'); i != std::string_view::npos;) {
    const size_t end = line.find('`', i + 1);
    if (end == std::string_view::npos) break;
    if (const std::string name = file_name(line.substr(i + 1, end - i - 1)); !name.empty()) {
      if (!found.empty()) return "";
      found = name;
    }
    i = line.find('`', end + 1);
  }
  return found;
}

/// The name in a block's first line, when that is a comment: "// file: x.cu", "# build.toml".
std::string name_inside(std::string_view text) {
  const std::string_view line = trim(text.substr(0, text.find('\n')));
  for (const std::string_view mark : {"//", "/*", "#"}) {
    if (line.substr(0, mark.size()) != mark) continue;
    std::string_view rest = line.substr(mark.size());
    if (mark == "#" && !rest.empty() && std::isalpha(static_cast<unsigned char>(rest[0])))
      return "";  // #include, #define
    const auto words = words_of(drop_label(rest));
    if (words.empty()) return "";
    const std::string name = file_name(words[0]);
    if (name.empty()) return "";
    const size_t at = rest.find(name);
    return at != std::string_view::npos && at > 0 && rest[at - 1] == '/' &&
                   rest.substr(0, 2) != "//"
               ? "/" + name
               : name;
  }
  return "";
}

}  // namespace

bool is_code_language(std::string_view language) {
  static constexpr std::array<std::string_view, 17> kLanguages = {
      "cuda", "cu", "cuh", "c++",    "cpp",      "c",        "cc",      "cxx", "h",
      "hpp",  "hh", "inl", "cuda-c", "cuda-c++", "cuda-cpp", "cudacpp", "nvcc"};
  return std::find(kLanguages.begin(), kLanguages.end(), language) != kLanguages.end();
}

Fenced split_fences(std::string_view answer) {
  Fenced result;
  std::optional<Marker> open;
  size_t nested = 0;
  std::string before;
  Fence block;
  int number = 0;

  const auto begin_block = [&](const Marker& marker) {
    open = marker;
    block = {};
    block.line = number;
    block.info = marker.info;
    nested = 0;
    read_info(marker.info, block);
    if (block.name.empty())
      block.name = name_before(before, block.language.empty() || is_code_language(block.language));
    before.clear();
  };
  const auto end_block = [&](bool closed) {
    block.closed = closed;
    if (block.name.empty()) block.name = name_inside(block.text);
    result.blocks.push_back(std::move(block));
    open.reset();
  };

  for (size_t at = 0; at < answer.size();) {
    const size_t end = std::min(answer.find('\n', at), answer.size());
    std::string_view line = answer.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    at = end + 1;
    ++number;
    const auto marker = fence_of(line);
    if (!open) {
      if (marker) {
        begin_block(*marker);
      } else {
        result.outside += std::string(line) + "\n";
        if (!trim(line).empty()) before = line;
      }
      continue;
    }
    if (marker && marker->character == open->character) {
      const bool markdown = block.language == "markdown" || block.language == "md";
      if (marker->info.empty() && marker->count >= open->count) {
        if (nested == 0) {
          end_block(true);
          continue;
        }
        --nested;
      } else if (!marker->info.empty() && markdown) {
        ++nested;
      } else if (!marker->info.empty() && marker->count >= open->count) {
        end_block(false);
        begin_block(*marker);
        continue;
      }
    }
    const size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    block.text += std::string(line.substr(std::min(indent, open->indent))) + "\n";
  }
  if (open) end_block(false);
  return result;
}

}  // namespace hone::kernel
