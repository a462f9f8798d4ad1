#pragma once
#include <string>
#include <string_view>

namespace hone::report {

/// Answers, and evidence quoted from them, are hostile text. These make them fit for a document.

/// Valid UTF-8 (bad bytes become U+FFFD) without control characters: tabs and newlines stay, C0,
/// C1, DEL, bidirectional overrides and XML's non-characters go, ANSI escapes go whole; cut at
/// `limit` bytes with a note of how many are missing.
std::string clean_text(std::string_view text, size_t limit = 4000);

/// The same on one line: runs of blanks and newlines become one space.
std::string clean_line(std::string_view text, size_t limit = 300);

/// Cleaned and escaped for XML text and attributes (newlines as &#10; within attributes).
std::string xml_text(std::string_view text, size_t limit = 4000);
std::string xml_attribute(std::string_view text, size_t limit = 300);

/// Columns that UTF-8 text takes on a terminal (wide East Asian characters take two).
size_t display_width(std::string_view text);

/// Cut to at most `columns`, ending in "…" when cut; padded with blanks when `pad`.
std::string fit(std::string_view text, size_t columns, bool pad = true);

}  // namespace hone::report
