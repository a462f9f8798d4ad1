#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kernel/source.hpp"

namespace hone::kernel {

struct ExtractOptions {
  std::string entry;  ///< symbol that the answer must define, e.g. "layernorm_forward"
  std::string default_name = "kernel.cu";  ///< for code without a file name
  FileLimits limits;
};

enum class ExtractOutcome { extracted, no_code, extract_error };

/// What a model's answer holds.
struct Extraction {
  ExtractOutcome outcome = ExtractOutcome::no_code;
  std::vector<SourceFile> files;  ///< empty unless extracted
  std::string evidence;           ///< one line: what was taken, or why nothing was
};

/// Finds the code in an answer.
/// - Fenced blocks (``` or ~~~, closed or cut off by the end) whose info string's first word is
///   cuda, cu, c++, cpp, c … or a file name, or that have no word and look like code. Blocks of
///   other languages (bash, python, text) count only with a file name.
/// - A block's file name comes from its info string ("```cuda kernel.cu", "```kernel.cu"), the line
///   before it ("**kernel_src/x.cu**", "### `x.cu`:"), or its first line ("// file: x.cu").
/// - Named files, when they hold the entry: those (a later block replaces an earlier one of the
///   same name). Otherwise the last block that holds the entry and a __global__; otherwise, when
///   the parts are spread over blocks, all unnamed blocks joined in order.
/// - No fence at all: the answer itself from its first line of code, when it looks like code.
Extraction extract(std::string_view answer, const ExtractOptions& options);

}  // namespace hone::kernel
