#include "kernel/uses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <set>

namespace hone::kernel {
namespace {

/// First folder, or file, of an include, of libraries with device code.
constexpr std::array kLibraries = {"thrust", "cub",   "cutlass", "cute",     "cublas",
                                   "cudnn",  "cufft", "curand",  "cusolver", "cusparse",
                                   "npp",    "nccl",  "torch",   "ATen",     "c10",
                                   "mkl",    "cblas", "Eigen",   "tbb",      "execution"};

/// Shared libraries that any CUDA program has.
constexpr std::array kPlainLibraries = {"libcudart.so", "libc.so",     "libm.so",
                                        "libstdc++.so", "libgcc_s.so", "libpthread.so",
                                        "libdl.so",     "librt.so",    "ld-linux-x86-64.so"};

struct NamedUse {
  std::string_view symbol, kind;
};
constexpr NamedUse kSymbols[] = {
    {"dlopen", "loading"}, {"dlsym", "loading"},      {"dlmopen", "loading"},
    {"dlvsym", "loading"}, {"system", "system"},      {"popen", "system"},
    {"fork", "system"},    {"vfork", "system"},       {"execve", "system"},
    {"execvp", "system"},  {"execl", "system"},       {"execlp", "system"},
    {"execv", "system"},   {"clone", "system"},       {"socket", "system"},
    {"ptrace", "system"},  {"posix_spawn", "system"}, {"posix_spawnp", "system"},
    {"syscall", "system"}};

bool starts_with_any(std::string_view text, const auto& prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view p) { return text.starts_with(p); });
}

/// The text with comments and the insides of literals blanked, lines kept. Includes in quotes stay:
/// they are not literals.
std::string code_of(std::string_view text) {
  std::string code(text);
  enum class In { plain, line, block, literal } in = In::plain;
  char quote = 0;
  bool directive = false;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i], next = i + 1 < code.size() ? code[i + 1] : '\0';
    switch (in) {
      case In::plain:
        if (c == '\n') directive = false;
        if (c == '#') directive = true;
        if (c == '/' && next == '/') in = In::line;
        if (c == '/' && next == '*') in = In::block;
        if (in != In::plain) {
          code[i] = code[i + 1] = ' ';
          ++i;
        } else if ((c == '"' || c == '\'') && !directive) {
          in = In::literal;
          quote = c;
        }
        break;
      case In::line:
        if (c == '\n') {
          in = In::plain;
          directive = false;
        } else {
          code[i] = ' ';
        }
        break;
      case In::block:
        if (c == '*' && next == '/') {
          in = In::plain;
          code[++i] = ' ';
        }
        if (c != '\n') code[i] = ' ';
        break;
      case In::literal:
        if (c == quote || c == '\n') {
          in = In::plain;
        } else if (c == '\\' && next != '\0' && next != '\n') {
          code[i] = code[i + 1] = ' ';
          ++i;
        } else {
          code[i] = ' ';
        }
        break;
    }
  }
  return code;
}

}  // namespace

std::string Use::text() const {
  return file.empty() ? what : fmt::format("{} ({}:{})", what, file, line);
}

std::vector<Use> find_uses(const std::vector<SourceFile>& files, const Symbols& library) {
  std::vector<Use> uses;
  std::set<std::string> seen;
  const auto add = [&](Use use) {
    if (seen.insert(use.what).second) uses.push_back(std::move(use));
  };
  static const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  static const std::regex assembly(R"(\b(asm|__asm__|__asm)\b)");
  for (const SourceFile& file : files) {
    const std::string code = code_of(file.text);
    int line = 0;
    for (std::size_t begin = 0; begin < code.size(); ++line) {
      const std::size_t end = std::min(code.find('\n', begin), code.size());
      const std::string text = code.substr(begin, std::min<std::size_t>(end - begin, 400));
      begin = end + 1;
      std::smatch match;
      if (std::regex_search(text, match, include)) {
        const std::string name = match[1];
        if (starts_with_any(name, kLibraries)) {
          add({"libraries", "includes <" + name + ">", file.name, line + 1});
        }
      } else if (std::regex_search(text, assembly)) {
        add({"inline-ptx", "writes inline PTX", file.name, line + 1});
      }
    }
  }
  for (const std::string& name : library.needed) {
    if (!starts_with_any(name, kPlainLibraries)) add({"libraries", "links " + name, "", 0});
  }
  for (const std::string& name : library.undefined) {
    for (const NamedUse& known : kSymbols) {
      if (name == known.symbol) add({std::string(known.kind), "calls " + name, "", 0});
    }
  }
  return uses;
}

}  // namespace hone::kernel
