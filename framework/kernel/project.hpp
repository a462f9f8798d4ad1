#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "kernel/source.hpp"

namespace hone::kernel {

/// One [kernel.<name>] of a build.toml.
struct ProjectKernel {
  std::string name;
  std::vector<std::string> src;      ///< relative to the project
  std::vector<std::string> include;  ///< folders, relative to the project
  std::vector<std::string> depends;
  std::vector<std::string> cuda_capabilities;  ///< "9.0"; the project's when not given
  std::vector<std::string> cuda_flags;
};

/// A kernel project: a folder with a build.toml.
struct Project {
  std::filesystem::path dir;
  std::string name;
  std::vector<std::string> backends;
  std::vector<std::string> cuda_capabilities;
  std::vector<std::string> torch_src;
  std::vector<ProjectKernel> kernels;
};

/// Reads `<dir>/build.toml` (or the file itself). Throws Error(bad_input) with every diagnostic as
/// file:line:column: syntax, unknown keys (with the nearest right one), wrong types, missing keys,
/// sources that do not exist.
Project load_project(const std::filesystem::path& path);

/// The same of a build.toml's text; `file` names it in diagnostics, and `present` are the files
/// that exist beside it.
Project parse_project(const std::string& text, const std::string& file,
                      const std::vector<std::string>& present);

/// The files of the project that a build needs: sources of its kernels and all headers below it.
std::vector<SourceFile> project_files(const Project& project);

}  // namespace hone::kernel
