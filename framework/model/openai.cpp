#include "model/providers.hpp"
#include "model/sse.hpp"
#include "model/wire.hpp"

namespace hone::model {
namespace {

/// Text of a message's content: a string, or parts of which those of type text count.
std::optional<std::string> content_text(const Json& message) {
  const Json& content = child(message, "content");
  if (content.is_string()) return content.get<std::string>();
  if (content.is_null())
    return message.is_object() && message.contains("content") ? std::optional("") : std::nullopt;
  if (!content.is_array()) return std::nullopt;
  std::string text;
  for (const auto& part : content)
    if (string_at(part, "type") == "text") text += string_at(part, "text");
  return text;
}

/// Adds the fragments of a streamed tool call to the message's.
void add_call_fragments(const Json& fragments, Json& calls) {
  for (const auto& fragment : fragments) {
    const auto index = static_cast<size_t>(std::max(0L, count_at(fragment, "index").value_or(0)));
    if (index > 64) continue;
    while (calls.size() <= index)
      calls.push_back(
          {{"id", ""}, {"type", "function"}, {"function", {{"name", ""}, {"arguments", ""}}}});
    Json& call = calls[index];
    if (const auto id = string_at(fragment, "id"); !id.empty()) call["id"] = id;
    const Json& function = child(fragment, "function");
    for (const char* key : {"name", "arguments"})
      call["function"][key] = string_at(call["function"], key) + string_at(function, key);
  }
}

/// What a stream of chat.completion.chunk would have been in one piece.
Json assemble(const std::string& stream) {
  Json answer = Json::object();
  Json message = {{"role", "assistant"}, {"content", ""}};
  Json calls = Json::array(), finish;
  bool done = false;
  for (const auto& event : parse_events(stream)) {
    if (event.data == "[DONE]") {
      done = true;
      break;
    }
    const Json chunk = Json::parse(event.data, nullptr, false);
    if (!child(chunk, "error").is_null()) return chunk;
    for (const char* key : {"model", "system_fingerprint", "usage"})
      if (!child(chunk, key).is_null()) answer[key] = chunk[key];
    const Json& choices = child(chunk, "choices");
    if (!choices.is_array() || choices.empty()) continue;
    const Json& delta = child(choices.front(), "delta");
    message["content"] = string_at(message, "content") + string_at(delta, "content");
    if (const auto refusal = string_at(delta, "refusal"); !refusal.empty())
      message["refusal"] = string_at(message, "refusal") + refusal;
    if (child(delta, "tool_calls").is_array()) add_call_fragments(delta["tool_calls"], calls);
    if (!child(choices.front(), "finish_reason").is_null())
      finish = choices.front()["finish_reason"];
  }
  if (!done || finish.is_null()) return {};
  if (!calls.empty()) message["tool_calls"] = calls;
  answer["choices"] = Json::array({{{"message", message}, {"finish_reason", finish}}});
  return answer;
}

Json messages_of(const Question& question) {
  Json messages = Json::array();
  if (!question.system.empty())
    messages.push_back({{"role", "system"}, {"content", question.system}});
  messages.push_back({{"role", "user"}, {"content", question.user}});
  for (const auto& turn : question.turns) {
    Json said = {{"role", "assistant"}, {"content", turn.said}};
    if (!turn.calls.empty()) {
      said["tool_calls"] = Json::array();
      for (const auto& call : turn.calls)
        said["tool_calls"].push_back(
            {{"id", call.id},
             {"type", "function"},
             {"function", {{"name", call.name}, {"arguments", call.arguments.dump()}}}});
    }
    messages.push_back(std::move(said));
    for (const auto& [id, text] : turn.results)
      messages.push_back({{"role", "tool"}, {"tool_call_id", id}, {"content", text}});
    if (!turn.user.empty()) messages.push_back({{"role", "user"}, {"content", turn.user}});
  }
  return messages;
}

class OpenAi : public HttpProvider {
 public:
  std::string url(const ModelConfig& config) const override {
    return join_url(config.base_url, "chat/completions");
  }

  http::Headers headers(const ModelConfig&, const std::string& key) const override {
    http::Headers headers{{"Content-Type", "application/json"},
                          {"Accept", "application/json, text/event-stream"}};
    if (!key.empty()) headers.emplace_back("Authorization", "Bearer " + key);
    return headers;
  }

  Json request_body(const ModelConfig& config, const Question& question) const override {
    Json body = {{"model", config.model}, {"messages", messages_of(question)}};
    body[config.max_tokens_key] = question.max_tokens.value_or(config.max_tokens);
    if (config.temperature) body["temperature"] = *config.temperature;
    if (config.top_p) body["top_p"] = *config.top_p;
    if (const auto seed = question.seed ? question.seed : config.seed) body["seed"] = *seed;
    if (!config.effort.empty()) body["reasoning_effort"] = config.effort;
    if (!question.schema.is_null())
      body["response_format"] = {
          {"type", "json_schema"},
          {"json_schema", {{"name", "answer"}, {"strict", true}, {"schema", question.schema}}}};
    for (const auto& tool : question.tools)
      body["tools"].push_back({{"type", "function"},
                               {"function",
                                {{"name", tool.name},
                                 {"description", tool.description},
                                 {"parameters", tool.parameters}}}});
    if (config.stream.value_or(false)) {
      body["stream"] = true;
      body["stream_options"] = {{"include_usage", true}};
    }
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
    Body body = read_body(response, assemble);
    if (body.error) return *body.error;
    const Json& choices = child(body.json, "choices");
    if (!choices.is_array() || choices.empty())
      return failure(response, "no-choices", "the answer has no choices");
    return read_choice(config, response, body.json, choices.front());
  }

 private:
  static Answer read_choice(const ModelConfig& config, const http::Response& response,
                            const Json& json, const Json& choice) {
    const Json& message = child(choice, "message");
    const auto text = content_text(message);
    const std::string refusal = string_at(message, "refusal");
    const Json& calls = child(message, "tool_calls");
    const bool has_calls = calls.is_array() && !calls.empty();
    if (!text && refusal.empty() && !has_calls)
      return failure(response, "no-content", "the answer's choice has no message content");

    Answer a = answered(response);
    a.text = text.value_or("");
    if (has_calls)
      for (const auto& call : calls)
        a.calls.push_back({string_at(call, "id"), string_at(child(call, "function"), "name"),
                           parse_arguments(string_at(child(call, "function"), "arguments"))});
    a.finish_reason = string_at(choice, "finish_reason");
    a.model = string_at(json, "model");
    a.system_fingerprint = string_at(json, "system_fingerprint");
    const Json& usage = child(json, "usage");
    a.usage.input = count_at(usage, "prompt_tokens");
    a.usage.output = count_at(usage, "completion_tokens");
    a.usage.cached = count_at(child(usage, "prompt_tokens_details"), "cached_tokens");
    a.usage.reasoning = count_at(child(usage, "completion_tokens_details"), "reasoning_tokens");

    if (!refusal.empty() || a.finish_reason == "content_filter") {
      a.outcome = Outcome::refused;
      if (a.text.empty()) a.text = refusal;
    } else if (a.finish_reason == "length") {
      a.outcome = Outcome::truncated;
    }
    check_model(config, response, a);
    return a;
  }
};

}  // namespace

const Provider& openai_provider() {
  static const OpenAi instance;
  return instance;
}

}  // namespace hone::model
