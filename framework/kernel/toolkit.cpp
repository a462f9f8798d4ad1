#include "kernel/toolkit.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "process/run.hpp"
#include "process/terminal.hpp"

namespace hone::kernel {
namespace {

namespace fs = std::filesystem;

/// "13.0.88" out of "release 13.0, V13.0.88".
std::string version_of(const std::string& text) {
  const size_t at = text.find(", V");
  if (at == std::string::npos) return "";
  const size_t end = text.find_first_not_of("0123456789.", at + 3);
  return text.substr(at + 3, end == std::string::npos ? end : end - at - 3);
}

std::optional<Toolkit> look_at(const fs::path& given, std::string& why) {
  std::error_code ec;
  const fs::path root = fs::absolute(given, ec).lexically_normal();
  Toolkit toolkit;
  toolkit.root = root;
  toolkit.nvcc = root / "bin/nvcc";
  if (!fs::exists(toolkit.nvcc, ec)) {
    why += (why.empty() ? "" : "; ") + ("no " + toolkit.nvcc.string());
    return std::nullopt;
  }
  process::Command command;
  command.argv = {toolkit.nvcc.string(), "--version"};
  command.inherit_environment = true;
  command.limits.wall_seconds = 20;
  const process::Result result = process::run(command);
  toolkit.version = version_of(result.out);
  if (!result.ok() || toolkit.version.empty()) {
    why += (why.empty() ? "" : "; ") + toolkit.nvcc.string() + " does not run: " +
           (result.err.empty() ? result.str() : process::first_line(result.err));
    return std::nullopt;
  }
  for (const char* folder : {"include", "include/cccl"})
    if (fs::is_directory(root / folder, ec)) toolkit.include.push_back(root / folder);
  for (const char* folder :
       {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
    if (!fs::exists(root / folder / "libcudart.so", ec) &&
        !fs::exists(root / folder / "libcudart.so.13", ec))
      continue;
    toolkit.library_dir = root / folder;
    break;
  }
  return toolkit;
}

fs::path nvcc_in_path() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const fs::path nvcc = fs::path(rest.substr(0, end)) / "nvcc";
    std::error_code ec;
    if (end > 0 && ::access(nvcc.c_str(), X_OK) == 0) return fs::canonical(nvcc, ec);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace

std::optional<Toolkit> find_toolkit(const fs::path& hint, std::string* reason) {
  std::vector<fs::path> roots;
  const char* configured = std::getenv("HONE_CUDA_ROOT");
  if (!hint.empty()) {
    roots = {hint};
  } else if (configured != nullptr && *configured != '\0') {
    roots = {configured};
  } else {
    if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0')
      roots.emplace_back(home);
    roots.emplace_back("/usr/local/cuda");
    if (const fs::path nvcc = nvcc_in_path(); !nvcc.empty())
      roots.push_back(nvcc.parent_path().parent_path());
  }
  std::string why;
  for (const auto& root : roots)
    if (auto toolkit = look_at(root, why)) return toolkit;
  if (reason != nullptr) *reason = why;
  return std::nullopt;
}

}  // namespace hone::kernel
