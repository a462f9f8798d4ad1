#pragma once
#include <string_view>
#include <vector>

namespace hone::cli {

/// A file of examples/own-repository, which `hone init` writes.
struct TemplateFile {
  std::string_view path;  ///< relative
  std::string_view text;
};
std::vector<TemplateFile> template_files();

}  // namespace hone::cli
