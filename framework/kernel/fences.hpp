#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace hone::kernel {

/// One fenced block of a Markdown text.
struct Fence {
  std::string language;  ///< first word of the info string, lower case, without decoration
  std::string name;      ///< file name it was given, as written; or ""
  std::string text;      ///< lines between the fences, without the fence's indentation
  bool closed = true;    ///< false: the text ended first
  int line = 0;          ///< of the opening fence, from 1
  std::string info;      ///< the info string, as written
};

struct Fenced {
  std::vector<Fence> blocks;
  std::string outside;  ///< the lines outside of all blocks
};

/// Splits a model's answer at its fences. Forgiving: any indentation; a fence with an info string
/// inside a code block ends that block; in a markdown block it nests.
Fenced split_fences(std::string_view answer);

/// True for the names that models give CUDA and C++ in info strings.
bool is_code_language(std::string_view language);

}  // namespace hone::kernel
