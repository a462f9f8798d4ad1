#include "model/providers.hpp"
#include "model/sse.hpp"
#include "model/wire.hpp"

namespace hone::model {
namespace {

constexpr const char* kVersion = "2023-06-01";
/// Above this the API asks for streaming, as its SDKs do.
constexpr int kMaxTokensUnstreamed = 21333;

/// Adds a content_block_delta to its block; tool arguments are gathered as text under "partial".
void add_delta(const Json& delta, Json& block) {
  const std::string type = string_at(delta, "type");
  const auto append = [&](const char* to, const char* from) {
    block[to] = string_at(block, to) + string_at(delta, from);
  };
  if (type == "text_delta") append("text", "text");
  if (type == "thinking_delta") append("thinking", "thinking");
  if (type == "signature_delta") append("signature", "signature");
  if (type == "input_json_delta") append("partial", "partial_json");
}

/// What a stream of Messages events would have been in one piece.
Json assemble(const std::string& stream) {
  Json message;
  for (const auto& event : parse_events(stream)) {
    const Json json = Json::parse(event.data, nullptr, false);
    const std::string type = string_at(json, "type");
    if (type == "error") return json;
    if (type == "message_start") {
      message = child(json, "message");
      if (!message.is_object()) return {};
      message["content"] = Json::array();
      continue;
    }
    if (!message.is_object()) continue;
    Json& content = message["content"];
    const auto index = static_cast<size_t>(count_at(json, "index").value_or(0));
    if (type == "content_block_start") {
      content.push_back(child(json, "content_block"));
    } else if (type == "content_block_delta" && index < content.size()) {
      add_delta(child(json, "delta"), content[index]);
    } else if (type == "content_block_stop" && index < content.size() &&
               content[index].contains("partial")) {
      content[index]["input"] = parse_arguments(string_at(content[index], "partial"));
      content[index].erase("partial");
    } else if (type == "message_delta") {
      message["stop_reason"] = child(child(json, "delta"), "stop_reason");
      const Json& usage = child(json, "usage");
      if (usage.is_object())
        for (const auto& [key, value] : usage.items()) message["usage"][key] = value;
    } else if (type == "message_stop") {
      return message;
    }
  }
  return {};
}

Json messages_of(const Question& question) {
  Json messages = Json::array({{{"role", "user"}, {"content", question.user}}});
  for (const auto& turn : question.turns) {
    messages.push_back({{"role", "assistant"},
                        {"content", turn.content.is_array() ? turn.content : Json(turn.said)}});
    Json blocks = Json::array();
    for (const auto& [id, text] : turn.results)
      blocks.push_back({{"type", "tool_result"}, {"tool_use_id", id}, {"content", text}});
    if (!turn.user.empty() && !blocks.empty())
      blocks.push_back({{"type", "text"}, {"text", turn.user}});
    messages.push_back({{"role", "user"}, {"content", blocks.empty() ? Json(turn.user) : blocks}});
  }
  return messages;
}

class Anthropic : public HttpProvider {
 public:
  std::string url(const ModelConfig& config) const override {
    return join_url(config.base_url, "messages");
  }
  std::string version() const override { return std::string("anthropic-version: ") + kVersion; }
  bool caches_prefix() const override { return true; }

  http::Headers headers(const ModelConfig&, const std::string& key) const override {
    http::Headers headers{{"Content-Type", "application/json"},
                          {"Accept", "application/json, text/event-stream"},
                          {"anthropic-version", kVersion}};
    if (!key.empty()) headers.emplace_back("x-api-key", key);
    return headers;
  }

  Json request_body(const ModelConfig& config, const Question& question) const override {
    const int max_tokens = question.max_tokens.value_or(config.max_tokens);
    Json body = {{"model", config.model}, {"max_tokens", max_tokens}};
    if (!question.system.empty())
      body["system"] = Json::array({{{"type", "text"},
                                     {"text", question.system},
                                     {"cache_control", {{"type", "ephemeral"}}}}});
    body["messages"] = messages_of(question);
    if (config.temperature) body["temperature"] = *config.temperature;
    if (config.top_p) body["top_p"] = *config.top_p;
    if (!config.effort.empty()) body["output_config"]["effort"] = config.effort;
    if (!question.schema.is_null())
      body["output_config"]["format"] = {{"type", "json_schema"}, {"schema", question.schema}};
    for (const auto& tool : question.tools)
      body["tools"].push_back({{"name", tool.name},
                               {"description", tool.description},
                               {"input_schema", tool.parameters}});
    if (config.stream.value_or(max_tokens > kMaxTokensUnstreamed)) body["stream"] = true;
    return body;
  }

  bool retryable(const http::Response& response) const override {
    if (!http::is_transient(response)) return false;
    if (response.error != http::ErrorKind::none) return true;
    const Json json = Json::parse(response.body, nullptr, false);
    return string_at(child(child(json, "error"), "details"), "error_code") !=
           "enforced_spend_limit_reached";
  }

  Answer read(const ModelConfig& config, const http::Response& response) const override {
    const Body body = read_body(response, assemble);
    if (body.error) return *body.error;
    const Json& content = child(body.json, "content");
    if (!content.is_array()) return failure(response, "no-content", "the answer has no content");

    Answer a = answered(response);
    for (const auto& block : content) {
      const std::string type = string_at(block, "type");
      if (type == "text") a.text += string_at(block, "text");
      if (type == "tool_use")
        a.calls.push_back(
            {string_at(block, "id"), string_at(block, "name"), child(block, "input")});
    }
    if (!a.calls.empty()) a.content = content;
    a.finish_reason = string_at(body.json, "stop_reason");
    a.model = string_at(body.json, "model");
    read_usage(child(body.json, "usage"), a.usage);
    if (a.finish_reason == "refusal")
      a.outcome = Outcome::refused;
    else if (a.finish_reason == "max_tokens" || a.finish_reason == "model_context_window_exceeded")
      a.outcome = Outcome::truncated;
    else if (a.finish_reason == "pause_turn")
      return failure(response, "pause-turn",
                     "the server paused the turn, as only its own tools do");
    check_model(config, response, a);
    return a;
  }

 private:
  /// The input is the sum of three counts, each of which may be null.
  static void read_usage(const Json& json, Usage& usage) {
    usage.output = count_at(json, "output_tokens");
    usage.cached = count_at(json, "cache_read_input_tokens");
    usage.cache_write = count_at(json, "cache_creation_input_tokens");
    if (const auto fresh = count_at(json, "input_tokens"))
      usage.input = *fresh + usage.cached.value_or(0) + usage.cache_write.value_or(0);
  }
};

}  // namespace

const Provider& anthropic_provider() {
  static const Anthropic instance;
  return instance;
}

}  // namespace hone::model
