#include "kernel/diagnostics.hpp"

#include <algorithm>
#include <cstdlib>
#include <regex>

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

/// The error in a line of cudafe++, gcc, ptxas, nvlink, ld or nvcc.
std::optional<FirstError> error_of(const std::string& line) {
  if (line.size() > 2000) return std::nullopt;
  static const std::regex kCudafe(
      R"(^([^():]+)\((\d+)\): (?:catastrophic error|error)(?: #[0-9A-Za-z-]+)?\s*: (.*)$)");
  static const std::regex kGcc(R"(^([^:]+):(\d+)(?::\d+)?: (?:fatal )?error: (.*)$)");
  static const std::regex kPtxas(R"(^ptxas ([^,]+), line (\d+); (?:error|fatal)\s*: (.*)$)");
  static const std::regex kTool(
      R"(^(?:ptxas fatal|ptxas error|nvlink error|nvlink fatal|nvcc fatal|nvcc error|fatal error|cicc error)\s*: (.*)$)");
  static const std::regex kAny(R"(^(?:[^:]*: )?(?:fatal error|error)\s*: (.*)$)");
  std::smatch match;
  for (const std::regex* place : {&kCudafe, &kGcc, &kPtxas})
    if (std::regex_match(line, match, *place))
      return FirstError{match[1], std::atoi(match[2].str().c_str()), match[3]};
  for (const std::regex* plain : {&kTool, &kAny})
    if (std::regex_match(line, match, *plain)) return FirstError{"", 0, match[1]};
  for (const char* sign : {"undefined reference to", "multiple definition of", "died due to signal",
                           "Segmentation fault", "out of memory", "virtual memory exhausted",
                           "annot allocate memory", "No space left on device"})
    if (const size_t at = line.find(sign); at != std::string::npos)
      return FirstError{"", 0, line.substr(at)};
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
