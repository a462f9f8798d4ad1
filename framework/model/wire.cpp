#include "model/wire.hpp"

#include <algorithm>
#include <cctype>

namespace hone::model {
namespace {

/// The answered name is the asked one, or a dated snapshot of it ("m" -> "m-2026-01-31").
bool same_model(std::string asked, std::string answered) {
  const auto fold = [](std::string& text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    text = text.substr(0, text.find(':'));  // ":provider" of the Hugging Face router
  };
  fold(asked);
  fold(answered);
  if (answered == asked) return true;
  return answered.size() > asked.size() + 1 && answered.starts_with(asked) &&
         answered[asked.size()] == '-' && std::isdigit(answered[asked.size() + 1]) != 0;
}

}  // namespace

std::string string_at(const Json& object, const char* key) {
  const Json& value = child(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<long> count_at(const Json& object, const char* key) {
  const Json& value = child(object, key);
  return value.is_number_integer() ? std::optional(value.get<long>()) : std::nullopt;
}

const Json& child(const Json& object, const char* key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto it = object.find(key);
  return it == object.end() ? nothing : *it;
}

std::string one_line(std::string_view text, size_t limit) {
  std::string out;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  if (text.size() > limit) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0) out.pop_back();
    out += "…";
  }
  return out;
}

Answer answered(const http::Response& response) {
  Answer a;
  a.outcome = Outcome::answered;
  a.seconds = response.seconds;
  a.attempts = response.attempts;
  return a;
}

Answer failure(const http::Response& response, std::string kind, std::string_view message) {
  Answer a = answered(response);
  a.outcome = Outcome::infrastructure_error;
  a.error = AnswerError{std::move(kind), one_line(message), response.status};
  return a;
}

std::string error_text(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  const Json& error = child(json, "error");
  if (error.is_string()) return error.get<std::string>();
  std::string text = string_at(error, "message");
  if (text.empty()) text = string_at(json, "message");
  if (text.empty()) return body.empty() ? "no body" : body;
  const auto prompt = count_at(error, "n_prompt_tokens");
  const auto context = count_at(error, "n_ctx");
  if (prompt && context)
    text += " (prompt " + std::to_string(*prompt) + " tokens, context " + std::to_string(*context) +
            ")";
  return text;
}

std::string join_url(std::string base, std::string_view path) {
  while (!base.empty() && base.back() == '/') base.pop_back();
  return base + "/" + std::string(path);
}

Body read_body(const http::Response& response, Json (*assemble)(const std::string& stream)) {
  if (response.error != http::ErrorKind::none)
    return {{}, failure(response, std::string(http::name(response.error)), response.message)};
  if (!response.ok())
    return {{},
            failure(response, "http-status",
                    "HTTP " + std::to_string(response.status) + ": " + error_text(response.body))};
  const std::string type(response.header("content-type"));
  Json json;
  if (type.find("text/event-stream") != std::string::npos) {
    json = assemble(response.body);
    if (json.is_null())
      return {{}, failure(response, "cut-stream", "the stream ended before the answer did")};
  } else if (type.find("json") == std::string::npos) {
    return {{},
            failure(response, "wrong-content-type",
                    "expected JSON, not '" + type + "': " + response.body.substr(0, 300))};
  } else {
    json = Json::parse(response.body, nullptr, false);
    if (json.is_discarded())
      return {{}, failure(response, "bad-json", "not JSON: " + response.body.substr(0, 300))};
  }
  if (!child(json, "error").is_null())
    return {{},
            failure(response, "server-error",
                    error_text(json.dump(-1, ' ', false, Json::error_handler_t::replace)))};
  return {std::move(json), std::nullopt};
}

void check_model(const ModelConfig& config, const http::Response& response, Answer& answer) {
  if (answer.model.empty() || same_model(config.model, answer.model)) return;
  answer.outcome = Outcome::infrastructure_error;
  answer.error = AnswerError{
      "wrong-model",
      one_line("asked for model '" + config.model + "', but '" + answer.model + "' answered"),
      response.status};
}

Json parse_arguments(const std::string& text) {
  Json json = Json::parse(text.empty() ? "{}" : text, nullptr, false);
  return json.is_discarded() ? Json() : json;
}

}  // namespace hone::model
