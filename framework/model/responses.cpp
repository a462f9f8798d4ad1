#include "model/providers.hpp"
#include "model/sse.hpp"
#include "model/wire.hpp"

namespace hone::model {
namespace {

/// The response object of a stream's last event.
Json assemble(const std::string& stream) {
  for (const auto& event : parse_events(stream)) {
    const Json json = Json::parse(event.data, nullptr, false);
    const std::string type = string_at(json, "type");
    if (type == "error") return {{"error", json}};
    if (type == "response.completed" || type == "response.incomplete" || type == "response.failed")
      return child(json, "response");
  }
  return {};
}

Json input_of(const Question& question) {
  Json input = Json::array({{{"role", "user"}, {"content", question.user}}});
  for (const auto& turn : question.turns) {
    if (turn.content.is_array())
      for (const auto& item : turn.content) input.push_back(item);
    else
      input.push_back({{"role", "assistant"}, {"content", turn.said}});
    for (const auto& [id, text] : turn.results)
      input.push_back({{"type", "function_call_output"}, {"call_id", id}, {"output", text}});
    if (!turn.user.empty()) input.push_back({{"role", "user"}, {"content", turn.user}});
  }
  return input;
}

class Responses : public HttpProvider {
 public:
  std::string url(const ModelConfig& config) const override {
    return join_url(config.base_url, "responses");
  }

  http::Headers headers(const ModelConfig& config, const std::string& key) const override {
    return wire().headers(config, key);
  }

  Json request_body(const ModelConfig& config, const Question& question) const override {
    Json body = {{"model", config.model}};
    if (!question.system.empty()) body["instructions"] = question.system;
    body["input"] = input_of(question);
    body["max_output_tokens"] = question.max_tokens.value_or(config.max_tokens);
    if (config.temperature) body["temperature"] = *config.temperature;
    if (config.top_p) body["top_p"] = *config.top_p;
    if (!config.effort.empty()) body["reasoning"] = {{"effort", config.effort}};
    if (!question.schema.is_null())
      body["text"] = {{"format",
                       {{"type", "json_schema"},
                        {"name", "answer"},
                        {"strict", true},
                        {"schema", question.schema}}}};
    for (const auto& tool : question.tools)
      body["tools"].push_back({{"type", "function"},
                               {"name", tool.name},
                               {"description", tool.description},
                               {"parameters", tool.parameters}});
    body["store"] = false;
    if (!question.tools.empty()) body["include"] = {"reasoning.encrypted_content"};
    if (config.stream.value_or(false)) body["stream"] = true;
    return body;
  }

  bool retryable(const http::Response& response) const override {
    return wire().retryable(response);
  }

  Answer read(const ModelConfig& config, const http::Response& response) const override {
    const Body body = read_body(response, assemble);
    if (body.error) return *body.error;
    const Json& output = child(body.json, "output");
    if (!output.is_array()) return failure(response, "no-content", "the answer has no output");

    Answer a = answered(response);
    std::string refusal;
    for (const auto& item : output) {
      const std::string type = string_at(item, "type");
      if (type == "function_call")
        a.calls.push_back({string_at(item, "call_id"), string_at(item, "name"),
                           parse_arguments(string_at(item, "arguments"))});
      if (type != "message" || !child(item, "content").is_array()) continue;
      for (const auto& part : item["content"]) {
        if (string_at(part, "type") == "output_text") a.text += string_at(part, "text");
        if (string_at(part, "type") == "refusal") refusal += string_at(part, "refusal");
      }
    }
    if (!a.calls.empty()) a.content = output;
    const std::string status = string_at(body.json, "status");
    const std::string reason = string_at(child(body.json, "incomplete_details"), "reason");
    a.finish_reason = reason.empty() ? status : reason;
    a.model = string_at(body.json, "model");
    const Json& usage = child(body.json, "usage");
    a.usage.input = count_at(usage, "input_tokens");
    a.usage.cached = count_at(child(usage, "input_tokens_details"), "cached_tokens");
    a.usage.output = count_at(usage, "output_tokens");
    a.usage.reasoning = count_at(child(usage, "output_tokens_details"), "reasoning_tokens");
    if (!refusal.empty() || reason == "content_filter") {
      a.outcome = Outcome::refused;
      if (a.text.empty()) a.text = refusal;
    } else if (status == "incomplete") {
      a.outcome = Outcome::truncated;
    } else if (status != "completed") {
      return failure(response, "server-error", "the response ended as '" + status + "'");
    }
    check_model(config, response, a);
    return a;
  }

 private:
  /// Keys and errors are those of the chat completions.
  static const HttpProvider& wire() { return static_cast<const HttpProvider&>(openai_provider()); }
};

}  // namespace

const Provider& responses_provider() {
  static const Responses instance;
  return instance;
}

}  // namespace hone::model
