#pragma once
#include <string>
#include <string_view>

#include "storage/storage.hpp"

namespace hone::report {

/// Answers, and evidence quoted from them, are hostile text. These make them fit for a document.

/// process::sanitise (no escapes, controls or reordering marks; valid UTF-8; cut to `limit` bytes)
/// without Unicode's non-characters, which XML forbids.
std::string clean_text(std::string_view text, size_t limit = 4000);

/// The same on one line: runs of blanks and newlines become one space.
std::string clean_line(std::string_view text, size_t limit = 300);

/// Every string and key in `value` as clean_text of at most `limit` bytes.
storage::Json clean_json(const storage::Json& value, size_t limit = 4000);

/// Cleaned and escaped for XML text, and for attributes (there on one line).
std::string xml_text(std::string_view text, size_t limit = 4000);
std::string xml_attribute(std::string_view text, size_t limit = 300);

/// Cleaned, on one line and escaped so that GitHub's Markdown shows it as it is, in a table too.
std::string markdown_text(std::string_view text, size_t limit = 300);

/// Columns that clean UTF-8 text takes on a terminal: wide East Asian characters and emoji take
/// two, combining marks none.
size_t display_width(std::string_view text);

/// Cut to at most `columns`, ending in "…" when cut; padded with blanks when `pad`.
std::string fit(std::string_view text, size_t columns, bool pad = true);

}  // namespace hone::report
