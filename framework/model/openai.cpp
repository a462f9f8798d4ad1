#include "model/openai.hpp"

#include <algorithm>

namespace hone::model {
namespace {

/// One line of printable text, cut at `limit` bytes at a character's border.
std::string one_line(std::string_view text, size_t limit = 300) {
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

Answer failure(const http::Response& response, std::string kind, std::string_view message) {
  Answer a;
  a.seconds = response.seconds;
  a.attempts = response.attempts;
  a.error = AnswerError{std::move(kind), one_line(message), response.status};
  return a;
}

std::string string_at(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::optional<long> count_at(const Json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number_integer()) return std::nullopt;
  return it->get<long>();
}

const Json& child(const Json& object, const char* key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto it = object.find(key);
  return it == object.end() ? nothing : *it;
}

/// The server's own words in an error body, or the body's beginning.
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

/// Text of a message's content: a string, or parts of which those of type text count.
std::optional<std::string> content_text(const Json& message) {
  const Json& content = child(message, "content");
  if (content.is_string()) return content.get<std::string>();
  if (content.is_null()) return message.contains("content") ? std::optional("") : std::nullopt;
  if (!content.is_array()) return std::nullopt;
  std::string text;
  for (const auto& part : content)
    if (string_at(part, "type") == "text") text += string_at(part, "text");
  return text;
}

class OpenAi : public Provider {
 public:
  std::string url(const ModelConfig& config) const override {
    std::string base = config.base_url;
    while (!base.empty() && base.back() == '/') base.pop_back();
    return base + "/chat/completions";
  }

  http::Headers headers(const ModelConfig&, const std::string& key) const override {
    http::Headers headers{{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    if (!key.empty()) headers.emplace_back("Authorization", "Bearer " + key);
    return headers;
  }

  Json request_body(const ModelConfig& config, const Question& question) const override {
    Json messages = Json::array();
    if (!question.system.empty())
      messages.push_back({{"role", "system"}, {"content", question.system}});
    messages.push_back({{"role", "user"}, {"content", question.user}});
    Json body = {{"model", config.model}, {"messages", std::move(messages)}};
    body[config.max_tokens_key] = question.max_tokens.value_or(config.max_tokens);
    if (config.temperature) body["temperature"] = *config.temperature;
    if (config.top_p) body["top_p"] = *config.top_p;
    if (const auto seed = question.seed ? question.seed : config.seed) body["seed"] = *seed;
    if (!config.effort.empty()) body["reasoning_effort"] = config.effort;
    return body;
  }

  bool retryable(const http::Response& response) const override {
    if (!http::is_transient(response)) return false;
    if (response.error != http::ErrorKind::none) return true;
    const Json json = Json::parse(response.body, nullptr, false);
    const Json& error = child(json, "error");
    return string_at(error, "code") != "insufficient_quota" &&
           string_at(error, "type") != "insufficient_quota";
  }

  Answer read(const ModelConfig& config, const http::Response& response) const override {
    if (response.error != http::ErrorKind::none)
      return failure(response, std::string(http::name(response.error)), response.message);
    if (!response.ok())
      return failure(response, "http-status",
                     "HTTP " + std::to_string(response.status) + ": " + error_text(response.body));
    const std::string type(response.header("content-type"));
    if (type.find("json") == std::string::npos)
      return failure(response, "wrong-content-type",
                     "expected JSON, not '" + type + "': " + response.body.substr(0, 300));
    const Json json = Json::parse(response.body, nullptr, false);
    if (json.is_discarded())
      return failure(response, "bad-json", "not JSON: " + response.body.substr(0, 300));
    if (!child(json, "error").is_null())
      return failure(response, "server-error", error_text(response.body));
    const Json& choices = child(json, "choices");
    if (!choices.is_array() || choices.empty())
      return failure(response, "no-choices", "the answer has no choices");
    return read_choice(config, response, json, choices.front());
  }

 private:
  static Answer read_choice(const ModelConfig& config, const http::Response& response,
                            const Json& json, const Json& choice) {
    const Json& message = child(choice, "message");
    const auto text = content_text(message);
    const std::string refusal = string_at(message, "refusal");
    if (!text && refusal.empty())
      return failure(response, "no-content", "the answer's choice has no message content");

    Answer a;
    a.outcome = Outcome::answered;
    a.text = text.value_or("");
    a.finish_reason = string_at(choice, "finish_reason");
    a.model = string_at(json, "model");
    a.system_fingerprint = string_at(json, "system_fingerprint");
    a.seconds = response.seconds;
    a.attempts = response.attempts;
    const Json& usage = child(json, "usage");
    a.usage.input = count_at(usage, "prompt_tokens");
    a.usage.output = count_at(usage, "completion_tokens");
    a.usage.cached = count_at(child(usage, "prompt_tokens_details"), "cached_tokens");
    a.usage.reasoning = count_at(child(usage, "completion_tokens_details"), "reasoning_tokens");

    if (!a.model.empty() && !same_model(config.model, a.model)) {
      a.outcome = Outcome::infrastructure_error;
      a.error = AnswerError{
          "wrong-model",
          one_line("asked for model '" + config.model + "', but '" + a.model + "' answered"),
          response.status};
    } else if (!refusal.empty() || a.finish_reason == "content_filter") {
      a.outcome = Outcome::refused;
      if (a.text.empty()) a.text = refusal;
    } else if (a.finish_reason == "length") {
      a.outcome = Outcome::truncated;
    }
    return a;
  }
};

}  // namespace

const Provider& openai_provider() {
  static const OpenAi instance;
  return instance;
}

}  // namespace hone::model
