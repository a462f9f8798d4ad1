#include "kernel/extract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernel/fences.hpp"

namespace hone::kernel {
namespace {

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool holds_identifier(std::string_view text, std::string_view name) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t i = text.find(name); i != std::string_view::npos; i = text.find(name, i + 1)) {
    const size_t end = i + name.size();
    if ((i == 0 || !word(text[i - 1])) && (end == text.size() || !word(text[end]))) return true;
  }
  return false;
}

bool looks_like_code(std::string_view text) {
  return contains(text, "__global__") || contains(text, "<<<") ||
         (contains(text, "#include") && contains(text, "{")) ||
         (contains(text, "extern \"C\"") && contains(text, "{"));
}

struct Judge {
  const ExtractOptions& options;
  bool has_entry(std::string_view text) const {
    return !options.entry.empty() && holds_identifier(text, options.entry);
  }
  bool has_kernel(std::string_view text) const { return contains(text, "__global__"); }
  bool complete(std::string_view text) const {
    return has_kernel(text) && (options.entry.empty() || has_entry(text));
  }
};

bool is_candidate(const Fence& block) {
  if (blank(block.text)) return false;
  if (!block.name.empty() || is_code_language(block.language)) return true;
  if (block.language == "toml") return contains(block.text, "[general]");
  static constexpr std::array<std::string_view, 12> kOther = {"python", "py",       "bash", "sh",
                                                              "shell",  "console",  "json", "yaml",
                                                              "cmake",  "makefile", "diff", "ptx"};
  if (std::find(kOther.begin(), kOther.end(), block.language) != kOther.end()) return false;
  return looks_like_code(block.text);
}

/// False for files that no build reads (README.md, setup.py): they are kept, but cannot spoil an
/// answer.
bool is_source(std::string_view name) { return !name.ends_with(".md") && !name.ends_with(".py"); }

/// The code of an answer without fences: from its first line of code to its last.
std::string bare_code(std::string_view text) {
  static constexpr std::array<std::string_view, 15> kStarts = {
      "#include",   "#define",  "#pragma", "#if",   "//",     "/*",        "extern",   "__global__",
      "__device__", "template", "static",  "using", "struct", "namespace", "constexpr"};
  size_t begin = std::string_view::npos, last = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (begin == std::string_view::npos &&
        std::any_of(kStarts.begin(), kStarts.end(),
                    [&](std::string_view start) { return line.substr(0, start.size()) == start; }))
      begin = at;
    const size_t tail = line.find_last_not_of(" \t\r");
    if (begin != std::string_view::npos && tail != std::string_view::npos &&
        (line[tail] == '}' || line[tail] == ';' || line[0] == '#' || line[tail] == '/'))
      last = end;
    at = end + 1;
  }
  if (begin == std::string_view::npos || last <= begin) return "";
  return std::string(text.substr(begin, last - begin)) + "\n";
}

void put(std::vector<SourceFile>& files, const Judge& judge, std::string name, std::string text) {
  for (auto& file : files) {
    if (file.name != name) continue;
    // A later version counts, but not a mere excerpt of a complete earlier one.
    if (judge.complete(text) || !judge.complete(file.text)) file.text = std::move(text);
    return;
  }
  files.push_back({std::move(name), std::move(text)});
}

Extraction finish(std::vector<SourceFile> files, std::string evidence,
                  const ExtractOptions& options) {
  Extraction result;
  if (const std::string why = unsafe_files(files, options.limits); !why.empty()) {
    result.outcome = ExtractOutcome::extract_error;
    result.evidence = why;
    return result;
  }
  result.outcome = ExtractOutcome::extracted;
  result.files = std::move(files);
  result.evidence = std::move(evidence);
  return result;
}

Extraction nothing(std::string evidence) {
  return {ExtractOutcome::no_code, {}, std::move(evidence)};
}

}  // namespace

Extraction extract(std::string_view answer, const ExtractOptions& options) {
  const Judge judge{options};
  if (blank(answer)) return nothing("the answer is empty");
  const Fenced fenced = split_fences(answer);

  std::vector<SourceFile> named;
  std::vector<const Fence*> unnamed;
  bool cut = false;
  for (const auto& block : fenced.blocks) {
    if (!is_candidate(block)) continue;
    if (!block.closed) cut = &block == &fenced.blocks.back();
    if (!block.name.empty() && !is_source(block.name) && !unsafe_name(block.name).empty()) continue;
    if (!block.name.empty())
      put(named, judge, block.name, block.text);
    else if (block.language == "toml")
      put(named, judge, "build.toml", block.text);
    else
      unnamed.push_back(&block);
  }
  const std::string note = cut ? " (the answer ends inside it)" : "";

  const auto is_unit = [](const SourceFile& file) { return is_translation_unit(file.name); };
  const bool named_hold = std::any_of(named.begin(), named.end(), [&](const SourceFile& file) {
    return is_unit(file) && (options.entry.empty() || judge.has_entry(file.text));
  });
  const bool any_unit = std::any_of(named.begin(), named.end(), is_unit);
  const bool unnamed_matter = std::any_of(unnamed.begin(), unnamed.end(), [&](const Fence* block) {
    return judge.has_entry(block->text) || judge.has_kernel(block->text);
  });
  if (named_hold || (any_unit && !unnamed_matter)) {
    const std::string what =
        named.size() == 1 ? named[0].name : fmt::format("{} files", named.size());
    return finish(std::move(named), "took " + what + note, options);
  }

  // Code without a name: one block that holds everything, or what is spread over several.
  const auto take = [&](std::string text, const std::string& how) {
    std::vector<SourceFile> files = std::move(named);
    std::string name = options.default_name;
    while (std::any_of(files.begin(), files.end(), [&](const auto& f) { return f.name == name; }))
      name = "answer_" + name;
    files.push_back({name, std::move(text)});
    return finish(std::move(files), how + note, options);
  };
  const auto last = [&](auto&& wanted) -> const Fence* {
    const auto it = std::find_if(unnamed.rbegin(), unnamed.rend(),
                                 [&](const Fence* block) { return wanted(block->text); });
    return it == unnamed.rend() ? nullptr : *it;
  };
  const size_t count = unnamed.size();
  if (const Fence* block = last([&](const auto& text) { return judge.complete(text); })) {
    named.erase(std::remove_if(named.begin(), named.end(), is_unit), named.end());
    return take(block->text, count == 1
                                 ? "took the only block"
                                 : fmt::format("took the last complete one of {} blocks", count));
  }
  if (count == 1) return take(unnamed[0]->text, "took the only block");
  if (count > 1) {
    if (!last([&](const auto& text) { return judge.has_entry(text); })) {
      const Fence* block = last([&](const auto& text) { return judge.has_kernel(text); });
      return take((block != nullptr ? block : unnamed.back())->text,
                  fmt::format("took one of {} blocks; none holds {}", count, options.entry));
    }
    std::string joined;
    for (const Fence* block : unnamed)
      if (judge.has_entry(block->text) || judge.has_kernel(block->text) ||
          !holds_identifier(block->text, "main"))
        joined += block->text + "\n";
    return take(std::move(joined), fmt::format("joined {} blocks", count));
  }
  if (any_unit) return finish(std::move(named), "took the named files" + note, options);

  const std::string bare = bare_code(fenced.outside);
  if (fenced.blocks.empty() ? looks_like_code(bare) : judge.complete(bare))
    return take(bare, "took the answer's text: it has no fence around its code");
  if (!named.empty()) return nothing("no source file, only " + named[0].name.substr(0, 80));
  if (fenced.blocks.empty()) return nothing("the answer holds no code block");
  const bool empty = std::all_of(fenced.blocks.begin(), fenced.blocks.end(),
                                 [](const Fence& block) { return blank(block.text); });
  return nothing(empty ? "the answer's code block is empty"
                       : fmt::format("{} code block{}, but none of CUDA or C++",
                                     fenced.blocks.size(), fenced.blocks.size() == 1 ? "" : "s"));
}

}  // namespace hone::kernel
