#include "author/code_blocks.hpp"

#include <stdlib.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "kernel/build.hpp"
#include "kernel/fences.hpp"
#include "process/run.hpp"
#include "storage/storage.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "hone_lint_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw Error(Exit::infrastructure,
                  "cannot make a folder in " + fs::temp_directory_path().string() + ": " +
                      std::error_code(errno, std::generic_category()).message());
    path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ec;
    fs::remove_all(path, ec);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  fs::path path;
};

/// The numbers of the architectures that nvcc builds for (90 of compute_90); empty when it does not
/// say.
std::set<int> architectures_of(const kernel::Toolkit& toolkit) {
  process::Command command;
  command.argv = {toolkit.nvcc.string(), "--list-gpu-arch"};
  command.inherit_environment = true;
  std::istringstream lines(process::run(command).out);
  std::set<int> known;
  for (std::string line; std::getline(lines, line);)
    if (const size_t at = line.find('_'); at != std::string::npos)
      known.insert(std::atoi(line.c_str() + at + 1));
  return known;
}

bool is_cuda(const kernel::Fence& fence) {
  static const std::set<std::string> kLanguages = {"cuda",     "cu",      "cuda-c", "cuda-c++",
                                                   "cuda-cpp", "cudacpp", "nvcc"};
  return kLanguages.count(fence.language) > 0;
}

bool is_fragment(const kernel::Fence& fence) {
  std::istringstream words(fence.info);
  for (std::string word; words >> word;)
    if (word == "fragment") return true;
  return false;
}

class Checker {
 public:
  Checker(const LintOptions& options, LintReport& report) : options_(options), report_(report) {
    if (options.toolkit) architectures_ = architectures_of(*options.toolkit);
  }

  void file(const fs::path& path) {
    const auto text = storage::read_file(path);
    for (const auto& fence : kernel::split_fences(text).blocks) {
      check_architectures(path, fence);
      if (is_cuda(fence) && !is_fragment(fence) && options_.toolkit && report_.not_built.empty())
        build(path, fence);
    }
  }

 private:
  void build(const fs::path& path, const kernel::Fence& fence) {
    kernel::BuildRequest request;
    request.files = {{"block.cu", fence.text}};
    request.library = folder_.path / "block.so";
    request.cache_dir = options_.cache_dir;
    request.toolkit = options_.toolkit;
    request.capabilities = {options_.capability};
    const auto built = kernel::build(request);
    if (built.outcome == kernel::BuildOutcome::infrastructure_error) {
      report_.not_built = built.evidence;
      return;
    }
    ++report_.blocks;
    if (built.outcome == kernel::BuildOutcome::built) return;
    Location where{path.string(), fence.line, 1};
    std::string message = built.evidence;
    if (built.first_error && built.first_error->line > 0) {
      where.line += built.first_error->line;
      message = built.first_error->message;
    }
    const bool whole = fence.text.find("__global__") != std::string::npos ||
                       fence.text.find("extern \"C\"") != std::string::npos;
    report_.findings.push_back(
        {"cuda-block",
         {where,
          "this code does not compile for capability " + options_.capability + ": " + message,
          whole ? "" : "complete it, or mark it as a part: ```cuda fragment", !whole}});
  }

  /// sm_NN and compute_NN anywhere in a block, and the strings of cuda-capabilities.
  void check_architectures(const fs::path& path, const kernel::Fence& fence) {
    if (architectures_.empty()) return;
    static const std::regex kFlag("\\b(?:sm|compute)_([0-9]+)[af]?\\b");
    static const std::regex kCapability("\"([0-9]+)\\.([0-9])[af]?\"");
    std::istringstream lines(fence.text);
    int number = fence.line;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      for (std::sregex_iterator it(line.begin(), line.end(), kFlag), end; it != end; ++it)
        check(path, number, it->position() + 1, it->str(), it->str(1));
      if (line.find("cuda-capabilities") == std::string::npos) continue;
      for (std::sregex_iterator it(line.begin(), line.end(), kCapability), end; it != end; ++it)
        check(path, number, it->position() + 1, it->str(), it->str(1) + it->str(2));
    }
  }

  void check(const fs::path& path, int line, long column, const std::string& written,
             const std::string& architecture) {
    if (architectures_.count(std::atoi(architecture.c_str())) > 0) return;
    report_.findings.push_back(
        {"toolkit-arch",
         {{path.string(), line, static_cast<int>(column)},
          "CUDA " + options_.toolkit->version + " does not build for " + written,
          "it builds for compute_" + std::to_string(*architectures_.begin()) + " to compute_" +
              std::to_string(*architectures_.rbegin()),
          true}});
  }

  const LintOptions& options_;
  LintReport& report_;
  std::set<int> architectures_;
  TemporaryFolder folder_;
};

}  // namespace

void check_code_blocks(const fs::path& skill_dir, const LintOptions& options, LintReport& report) {
  if (!options.toolkit) report.not_built = "no CUDA toolkit";
  Checker checker(options, report);
  std::vector<Diagnostic> ignored;
  std::vector<std::string> files = {"SKILL.md"};
  try {
    for (const auto& file : skill::load_skill(skill_dir, ignored).files)
      if (file.ends_with(".md")) files.push_back(file);
  } catch (const Error&) {
    // Reported by skill::lint_text; its SKILL.md may be readable all the same.
  }
  for (const auto& file : files)
    if (fs::is_regular_file(skill_dir / file)) checker.file(skill_dir / file);
}

}  // namespace hone::author
