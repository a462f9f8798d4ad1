#include "kernel/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "diagnostic/diagnostic.hpp"
#include "kernel/project.hpp"
#include "process/run.hpp"
#include "process/terminal.hpp"

namespace hone::kernel {
namespace {

namespace fs = std::filesystem;

bool blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

/// Flags that a build.toml may ask for: they tune code, and reach no file and no program.
bool allowed_flag(const std::string& flag) {
  static constexpr std::array<const char*, 8> kExact = {
      "--use_fast_math", "-use_fast_math",    "-lineinfo",        "--expt-relaxed-constexpr",
      "-rdc=true",       "--extended-lambda", "-extended-lambda", "--expt-extended-lambda"};
  static constexpr std::array<const char*, 12> kPrefixes = {
      "-O",          "--fmad=",         "-fmad=",         "--ftz=",
      "-ftz=",       "--prec-div=",     "-prec-div=",     "--prec-sqrt=",
      "-prec-sqrt=", "--maxrregcount=", "-maxrregcount=", "-std=c++"};
  if (flag.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=+-") !=
      std::string::npos)
    return false;
  if (flag.rfind("-D", 0) == 0 && flag.size() > 2) return true;
  return std::find(kExact.begin(), kExact.end(), flag) != kExact.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](const char* prefix) { return flag.rfind(prefix, 0) == 0; });
}

std::vector<std::string> gencode(const std::vector<std::string>& capabilities) {
  std::vector<std::string> flags;
  for (const auto& capability : capabilities) {
    std::string number = capability;
    number.erase(std::remove(number.begin(), number.end(), '.'), number.end());
    flags.push_back("-gencode");
    flags.push_back(fmt::format("arch=compute_{0},code=[sm_{0},compute_{0}]", number));
  }
  return flags;
}

void apply_project(Recipe& recipe, const std::string& build_toml) {
  std::vector<std::string> present;
  for (const auto& file : recipe.files) present.push_back(file.name);
  Project project;
  try {
    project = parse_project(build_toml, "build.toml", present);
  } catch (const Error& e) {
    recipe.note = " (build.toml was ignored: " + process::first_line(e.what(), 200) + ")";
    return;
  }
  std::set<std::string> units, include;
  for (const auto& kernel : project.kernels) {
    for (const auto& name : kernel.src)
      if (is_translation_unit(name)) units.insert(name);
    include.insert(kernel.include.begin(), kernel.include.end());
    for (const auto& flag : kernel.cuda_flags) {
      if (!allowed_flag(flag))
        recipe.problem =
            fmt::format("build.toml: the flag '{}' is not allowed", process::first_line(flag, 80));
      else
        recipe.flags.push_back(flag);
    }
  }
  recipe.units.assign(units.begin(), units.end());
  recipe.include.assign(include.begin(), include.end());
}

/// Version of the compiler that nvcc uses for host code.
const std::string& host_compiler() {
  static const std::string version = [] {
    process::Command command;
    command.argv = {"g++", "-dumpfullversion"};
    command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    command.limits.wall_seconds = 10;
    return process::first_line(process::run(command).out);
  }();
  return version;
}

}  // namespace

Recipe make_recipe(const BuildRequest& request) {
  Recipe recipe;
  recipe.flags = gencode(request.capabilities);
  const bool linkable = !request.toolkit || request.toolkit->library_dir.empty() ||
                        fs::exists(request.toolkit->library_dir / "libcudart.so");
  for (const char* flag : {"-O3", "-lineinfo", "--cudart", linkable ? "shared" : "none",
                           "-Xcompiler", "-fPIC", "-shared", "-Xptxas", "-v"})
    recipe.flags.push_back(flag);
  recipe.flags.insert(recipe.flags.end(), request.extra_flags.begin(), request.extra_flags.end());
  const std::string* build_toml = nullptr;
  for (const auto& file : request.files) {
    const std::string base = file.name.substr(file.name.rfind('/') + 1);
    if (std::none_of(request.headers.begin(), request.headers.end(),
                     [&](const SourceFile& header) { return header.name == base; }))
      recipe.files.push_back(file);
  }
  for (const auto& file : recipe.files)
    if (file.name == "build.toml") build_toml = &file.text;
  if (build_toml != nullptr) apply_project(recipe, *build_toml);
  if (recipe.units.empty())
    for (const auto& file : recipe.files)
      if (is_translation_unit(file.name) && file.name.rfind("torch-ext/", 0) != 0 &&
          !blank(file.text))
        recipe.units.push_back(file.name);
  return recipe;
}

std::string digest_of(const Recipe& recipe, const BuildRequest& request) {
  std::string all = "hone.build/1\n" + request.toolkit->version + "\n" + host_compiler() + "\n";
  const auto add = [&](const std::string& text) {
    all += std::to_string(text.size()) + ":" + text + "\n";
  };
  for (const auto* list : {&recipe.flags, &recipe.include, &recipe.units}) {
    add(std::to_string(list->size()));
    for (const auto& item : *list) add(item);
  }
  for (const auto* list : {&request.headers, &recipe.files}) {
    std::vector<SourceFile> sorted = *list;
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    add(std::to_string(sorted.size()));
    for (const auto& file : sorted) {
      add(file.name);
      add(file.text);
    }
  }
  return storage::sha256(all);
}

}  // namespace hone::kernel
