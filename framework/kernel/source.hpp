#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace hone::kernel {

/// One file of an answer or a project. `name` is relative, with '/' between folders.
struct SourceFile {
  std::string name;
  std::string text;
};

/// Bounds on what an answer may hold.
struct FileLimits {
  size_t files = 64;
  size_t file_bytes = 1 << 20;
  size_t total_bytes = 4 << 20;
  size_t name_bytes = 200;
  size_t depth = 8;  ///< folders in a name
};

/// Why `name` may not be used as a file name below a folder ("absolute path", "leaves its folder
/// by '..'" …), or "" when it may.
std::string unsafe_name(std::string_view name, const FileLimits& limits = {});

/// Why these files may not be written (a name, a clash, a size, a count), or "".
std::string unsafe_files(const std::vector<SourceFile>& files, const FileLimits& limits = {});

/// True for .cu .cc .cpp .cxx .c: what is compiled; other files can only be included.
bool is_translation_unit(std::string_view name);

}  // namespace hone::kernel
