#include "kernel/diagnostics.hpp"

#include <algorithm>
#include <cstdlib>

#include "kernel/symbols.hpp"
#include "process/terminal.hpp"

namespace hone::kernel {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (size_t i = text.find(what); !what.empty() && i != std::string::npos;
       i = text.find(what, i + by.size()))
    text.replace(i, what.size(), by);
}

/// "/tmp/tmpxft_00005b2a_00000000-6_kernel.ptx" becomes "kernel.ptx".
void drop_temporary_names(std::string& text) {
  for (size_t i = text.find("tmpxft_"); i != std::string::npos; i = text.find("tmpxft_", i)) {
    size_t begin = i;
    while (begin > 0 &&
           std::string_view(" \t\n\"'(`").find(text[begin - 1]) == std::string_view::npos)
      --begin;
    size_t end = text.find_first_not_of("0123456789abcdef_-", i + 7);
    if (end == std::string::npos) end = text.size();
    const size_t underscore = text.rfind('_', end - 1);
    text.erase(begin, std::max(i + 7, underscore + 1) - begin);
    i = begin;
  }
}

int64_t number_before(std::string_view line, std::string_view unit) {
  const size_t at = line.find(unit);
  if (at == std::string_view::npos || at == 0) return 0;
  size_t begin = at;
  while (begin > 0 && line[begin - 1] == ' ') --begin;
  const size_t end = begin;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return std::strtoll(std::string(line.substr(begin, end - begin)).c_str(), nullptr, 10);
}

std::string quoted(std::string_view line) {
  const size_t begin = line.find('\'');
  const size_t end = begin == std::string_view::npos ? begin : line.find('\'', begin + 1);
  return end == std::string_view::npos ? "" : std::string(line.substr(begin + 1, end - begin - 1));
}

bool starts(std::string_view line, std::string_view what) {
  return line.substr(0, what.size()) == what;
}

/// Takes ptxas' -v lines; true when `line` was one.
class PtxasReader {
 public:
  explicit PtxasReader(std::vector<KernelFacts>& kernels) : kernels_(kernels) {}

  bool take(std::string_view line) {
    if (properties_ && starts(line, "    ")) {
      properties_ = false;
      if (in_entry_) {
        KernelFacts& facts = kernels_.back();
        facts.stack_bytes = number_before(line, "bytes stack frame");
        facts.spill_stores = number_before(line, "bytes spill stores");
        facts.spill_loads = number_before(line, "bytes spill loads");
      }
      return true;
    }
    if (!starts(line, "ptxas info")) return false;
    if (line.find("Compiling entry function") != std::string_view::npos) {
      entry_ = quoted(line);
      kernels_.push_back({demangle(entry_)});
    } else if (const size_t at = line.find("Function properties for ");
               at != std::string_view::npos) {
      properties_ = true;
      in_entry_ = !kernels_.empty() && line.substr(at + 24) == entry_;
    } else if (line.find(" registers") != std::string_view::npos && !kernels_.empty()) {
      kernels_.back().registers = static_cast<int>(number_before(line, "registers"));
      kernels_.back().shared_bytes = number_before(line, "bytes smem");
    }
    return true;
  }

 private:
  std::vector<KernelFacts>& kernels_;
  std::string entry_;
  bool properties_ = false, in_entry_ = false;
};

std::string_view after_colon(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  text.remove_prefix(colon + 1);
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

/// Splits the number off the end of "file:12" or "file(12", by `mark`; -1 when there is none.
int split_number(std::string_view& text, char mark) {
  const size_t at = text.rfind(mark);
  if (at == std::string_view::npos || at + 1 == text.size() || text.size() - at > 9 ||
      text.find_first_not_of("0123456789", at + 1) != std::string_view::npos)
    return -1;
  const int number = std::atoi(std::string(text.substr(at + 1)).c_str());
  text = text.substr(0, at);
  return number;
}

FirstError make_error(std::string_view file, int line, std::string_view message) {
  return {std::string(file), line, std::string(message)};
}

/// "k.cu(2): error: message", "k.cu(2): error #20-D: message".
std::optional<FirstError> cudafe_error(std::string_view line) {
  for (const std::string_view mark : {"): error", "): catastrophic error"}) {
    const size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    std::string_view file = line.substr(0, at);
    const int number = split_number(file, '(');
    if (number >= 0) return make_error(file, number, after_colon(line.substr(at + mark.size())));
  }
  return std::nullopt;
}

/// "k.cu:2:7: error: message", "collect2: error: message", and the assembler's "k.s:2: Error: …".
std::optional<FirstError> gcc_error(std::string_view line) {
  for (const std::string_view mark : {": error: ", ": fatal error: ", ": Error: "}) {
    const size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    std::string_view file = line.substr(0, at);
    const std::string_view message = line.substr(at + mark.size());
    const int last = split_number(file, ':');
    if (last < 0) return make_error("", 0, message);
    const int first = split_number(file, ':');
    return make_error(file, first < 0 ? last : first, message);
  }
  return std::nullopt;
}

/// "ptxas k.ptx, line 21; error   : message", "ptxas error   : message", "nvcc fatal   : message".
std::optional<FirstError> tool_error(std::string_view line) {
  const size_t comma = line.find(", line ");
  if (starts(line, "ptxas ") && comma != std::string_view::npos) {
    const size_t end = line.find(';', comma);
    const std::string_view kind = line.substr(std::min(end, line.size() - 1) + 1);
    if (end != std::string_view::npos && (starts(kind, " error") || starts(kind, " fatal")))
      return make_error(line.substr(6, comma - 6), static_cast<int>(number_before(line, ";")),
                        after_colon(kind));
  }
  for (const std::string_view tool : {"ptxas", "nvlink", "nvcc", "cicc", "fatbinary"})
    for (const std::string_view kind : {" error", " fatal"})
      if (starts(line, tool) && starts(line.substr(tool.size()), kind))
        return make_error("", 0, after_colon(line));
  if (starts(line, "error: ") || starts(line, "fatal error: "))
    return make_error("", 0, after_colon(line));
  return std::nullopt;
}

/// The error in a line of cudafe++, gcc, ptxas, nvlink, ld or nvcc.
std::optional<FirstError> error_of(std::string_view line) {
  if (line.size() > 4000) return std::nullopt;
  for (const auto reader : {cudafe_error, gcc_error, tool_error})
    if (auto error = reader(line)) return error;
  for (const std::string_view sign :
       {"undefined reference to", "multiple definition of", "died due to signal",
        "Segmentation fault", "out of memory", "virtual memory exhausted", "annot allocate memory",
        "No space left on device"})
    if (const size_t at = line.find(sign); at != std::string_view::npos)
      return make_error("", 0, line.substr(at));
  return std::nullopt;
}

}  // namespace

CompilerOutput read_output(std::string_view raw,
                           const std::vector<std::pair<std::string, std::string>>& paths,
                           size_t max_bytes) {
  CompilerOutput output;
  std::string text = process::sanitise(raw, raw.size());
  for (const auto& [prefix, replacement] : paths) replace_all(text, prefix, replacement);
  drop_temporary_names(text);
  PtxasReader ptxas(output.kernels);
  std::string kept;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (ptxas.take(line)) continue;
    if (!output.first_error) output.first_error = error_of(line);
    if (!line.empty() || !kept.empty()) kept += line + "\n";
  }
  if (output.first_error) {
    output.first_error->file = output.first_error->file.substr(0, 200);
    output.first_error->message = process::first_line(output.first_error->message);
  }
  output.text = process::sanitise(kept, max_bytes);
  return output;
}

}  // namespace hone::kernel
