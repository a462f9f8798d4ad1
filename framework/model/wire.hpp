#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "model/model.hpp"

namespace hone::model {

/// Reading of what servers say: a field that is absent or of another type is "", none or null.
std::string string_at(const Json& object, const char* key);
std::optional<long> count_at(const Json& object, const char* key);
const Json& child(const Json& object, const char* key);

/// One line of printable text, cut at `limit` bytes at a character's border.
std::string one_line(std::string_view text, size_t limit = 300);

/// An infrastructure error of this kind, with the response's attempts, time and status.
Answer failure(const http::Response& response, std::string kind, std::string_view message);

/// An answer with the response's attempts and time.
Answer answered(const http::Response& response);

/// The server's own words in an error body, or the body's beginning.
std::string error_text(const std::string& body);

/// `base` and `path` with one slash between them.
std::string join_url(std::string base, std::string_view path);

/// The JSON of a good response, or what went wrong: transport, status, content type, syntax. A
/// stream of server-sent events goes through `assemble`, which makes of it what the same answer
/// would have been without streaming, or null when it is not complete.
struct Body {
  Json json;
  std::optional<Answer> error;
};
Body read_body(const http::Response& response, Json (*assemble)(const std::string& stream));

/// Turns the answer into an error of kind wrong-model unless the asked model, or a dated snapshot
/// of it, answered.
void check_model(const ModelConfig& config, const http::Response& response, Answer& answer);

/// Tool arguments that come as text; null when they are no JSON.
Json parse_arguments(const std::string& text);

}  // namespace hone::model
