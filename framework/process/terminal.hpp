#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace hone::process {

/// Text of an untrusted child made fit for a terminal or a report: escape sequences and control
/// characters but newline and tab are removed, invalid UTF-8 is replaced, and what exceeds
/// `max_bytes` is cut out of the middle with a note of how much.
std::string sanitise(std::string_view text, size_t max_bytes = 16384);

/// The first line of the text with anything in it, sanitised and cut to `max_bytes`.
std::string first_line(std::string_view text, size_t max_bytes = 300);

}  // namespace hone::process
