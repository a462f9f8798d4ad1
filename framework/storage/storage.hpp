#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hone::storage {

/// Insertion-ordered JSON, so that files read as they were written.
using Json = nlohmann::ordered_json;

/// Whole content of a file. Throws Error(bad_input) naming the file when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Writes a temporary file beside `path`, syncs and renames it over `path`; makes parent folders.
/// Throws Error(infrastructure) with the system's reason (disk full, read-only …); a file that was
/// at `path` before is then unharmed.
void write_atomically(const std::filesystem::path& path, std::string_view content);

/// Reads a JSON file. Throws Error(bad_input) with file:line:column on a syntax error.
Json read_json(const std::filesystem::path& path);

/// The same of a text; `name` stands for the file in errors.
Json parse_json(std::string_view text, const std::string& name);

/// Writes JSON indented by two spaces and a newline, atomically. Invalid UTF-8 is replaced.
void write_json(const std::filesystem::path& path, const Json& value);

/// "sha256:<64 hex digits>" of the bytes.
std::string sha256(std::string_view bytes);

/// The same of a file's content, read in pieces. Throws Error(bad_input) when it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

/// Base64 (RFC 4648), padded.
std::string base64(std::string_view bytes);

/// Now, as "2026-01-31T12:34:56Z".
std::string utc_now();

}  // namespace hone::storage
