#include "author/trace_formats.hpp"

#include <algorithm>

namespace hone::author {
namespace {

using Kind = TraceEvent::Kind;
using Events = std::vector<TraceEvent>;

std::string string_of(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

const Json& member(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto it = object.find(key);
  return it != object.end() ? *it : kNothing;
}

/// What a text, a list of blocks or an object with content says.
std::string text_of(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  if (content.is_object()) {
    if (content.contains("text")) return text_of(content["text"]);
    if (content.contains("content")) return text_of(content["content"]);
    return content.contains("output") ? text_of(content["output"]) : "";
  }
  std::string text;
  if (content.is_array())
    for (const auto& block : content) {
      const std::string one = text_of(block);
      if (!one.empty()) text += (text.empty() ? "" : "\n") + one;
    }
  return text;
}

/// The arguments of a call: a command or a text as it is, anything else as JSON.
std::string arguments_of(Json arguments) {
  if (arguments.is_string()) {
    Json parsed = Json::parse(arguments.get<std::string>(), nullptr, false);
    if (parsed.is_discarded()) return arguments.get<std::string>();
    arguments = std::move(parsed);
  }
  if (arguments.is_object() && arguments.size() == 1 && arguments.begin()->is_string())
    return arguments.begin()->get<std::string>();
  return arguments.is_null() ? "" : arguments.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void add_call(Events& events, const std::string& name, const Json& arguments) {
  events.push_back({Kind::tool_call, name + ": " + arguments_of(arguments)});
}

/// Blocks of Anthropic's format: text, tool_use, tool_result; thinking is left out.
void add_blocks(Events& events, Kind kind, const Json& content) {
  if (content.is_string()) {
    events.push_back({kind, content.get<std::string>()});
    return;
  }
  if (!content.is_array()) return;
  for (const auto& block : content) {
    const std::string type = string_of(block, "type");
    if (type == "tool_use")
      add_call(events, string_of(block, "name"), member(block, "input"));
    else if (type == "tool_result")
      events.push_back({Kind::tool_result, text_of(member(block, "content"))});
    else if (type == "text" || type == "input_text" || type == "output_text")
      events.push_back({kind, string_of(block, "text")});
  }
}

/// A message with a role: Anthropic's blocks, OpenAI's tool_calls (a list) and role "tool",
/// fast-agent's tool_calls and tool_results (by id).
void add_message(Events& events, const Json& message) {
  const std::string role = string_of(message, "role");
  if (role == "system" || role == "developer") return;
  if (role == "tool") {
    events.push_back({Kind::tool_result, text_of(member(message, "content"))});
    return;
  }
  add_blocks(events, role == "assistant" ? Kind::assistant : Kind::user,
             member(message, "content"));
  for (const auto& call : member(message, "tool_calls")) {
    const Json& what = call.contains("function") ? call["function"]
                       : call.contains("params") ? call["params"]
                                                 : call;
    add_call(events, string_of(what, "name"), member(what, "arguments"));
  }
  for (const auto& result : member(message, "tool_results"))
    events.push_back({Kind::tool_result, text_of(result)});
}

void add_claude_code(Events& events, const Json& line) {
  const std::string type = string_of(line, "type");
  if (type != "user" && type != "assistant") return;
  if (member(line, "isMeta") == true) return;  // written by the program, not by a person
  const Json& message = member(line, "message");
  add_blocks(events, type == "assistant" ? Kind::assistant : Kind::user,
             member(message, "content"));
}

/// What Codex puts in front of a conversation by itself.
bool is_preamble(const std::string& text) {
  return text.starts_with("<environment_context>") || text.starts_with("<user_instructions>") ||
         text.starts_with("# AGENTS.md instructions");
}

void add_codex(Events& events, const Json& line) {
  // Sessions of early versions have the items themselves on their lines.
  const bool wrapped = string_of(line, "type") == "response_item";
  const Json& item = wrapped ? member(line, "payload") : line;
  const std::string type = string_of(item, "type");
  if (type == "message") {
    const std::string role = string_of(item, "role");
    const std::string text = text_of(member(item, "content"));
    if ((role == "user" || role == "assistant") && !is_preamble(text))
      events.push_back({role == "user" ? Kind::user : Kind::assistant, text});
  } else if (type == "function_call") {
    add_call(events, string_of(item, "name"), member(item, "arguments"));
  } else if (type == "custom_tool_call") {
    add_call(events, string_of(item, "name"), member(item, "input"));
  } else if (type == "local_shell_call") {
    add_call(events, "shell", member(member(item, "action"), "command"));
  } else if (type == "function_call_output" || type == "custom_tool_call_output") {
    Json output = member(item, "output");
    if (output.is_string())
      if (Json inner = Json::parse(output.get<std::string>(), nullptr, false); inner.is_object())
        output = std::move(inner);
    events.push_back({Kind::tool_result, text_of(output)});
  }
}

bool any_line(const std::vector<Json>& values, bool (*is)(const Json&)) {
  return std::any_of(values.begin(), values.end(), is);
}

bool is_claude_code(const Json& line) {
  const std::string type = string_of(line, "type");
  return (type == "user" || type == "assistant") && member(line, "message").is_object();
}

bool is_codex(const Json& line) {
  const std::string type = string_of(line, "type");
  return ((type == "session_meta" || type == "response_item") &&
          member(line, "payload").is_object()) ||
         (type == "message" && line.contains("role")) || type == "function_call";
}

bool is_message(const Json& value) {
  return value.is_object() && !string_of(value, "role").empty() &&
         (value.contains("content") || value.contains("tool_calls"));
}

}  // namespace

Trace read_events(const std::vector<Json>& values) {
  Trace trace;
  if (values.size() == 1 && member(values[0], "messages").is_array())
    return read_events(values[0]["messages"].get<std::vector<Json>>());
  void (*add)(Events&, const Json&) = nullptr;
  if (any_line(values, is_claude_code)) {
    trace.format = "claude-code";
    add = add_claude_code;
  } else if (any_line(values, is_codex)) {
    trace.format = "codex";
    add = add_codex;
  } else if (any_line(values, is_message)) {
    trace.format = "messages";
    add = add_message;
  }
  if (add != nullptr)
    for (const auto& value : values) add(trace.events, value);
  return trace;
}

}  // namespace hone::author
