#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hone::author {

/// One thing that was said or done.
struct TraceEvent {
  enum class Kind { user, assistant, tool_call, tool_result };
  Kind kind = Kind::user;
  std::string text;
};

/// How a strong model solved a task.
struct Trace {
  std::string format;  ///< "claude-code", "codex", "messages", "markdown" or "text"
  std::vector<TraceEvent> events;
  size_t redactions = 0;  ///< secrets that were taken out
};

/// Reads a trace, whole: Claude Code's session JSONL, Codex' rollout JSONL, messages as JSON (an
/// array, or {"messages": […]}: upskill and fast-agent, OpenAI's and Anthropic's wire formats),
/// Markdown, plain text. Told apart by what is in them. Hidden reasoning and the messages that an
/// agent's program adds by itself are left out; secrets are redacted. Throws Error(bad_input) with
/// file:line for JSON that cannot be read, and for a trace without anything in it.
Trace read_trace(const std::filesystem::path& file);
Trace trace_of(const std::string& name, std::string_view text);

/// "## User", "## Assistant", "## Tool call", "## Tool result" and what was said.
std::string trace_text(const Trace& trace);

/// The text in pieces of at most `max_bytes` (at least 200), cut between lines where there is one
/// to cut at, never inside a character. Together they are the whole text.
std::vector<std::string> chunks_of(std::string_view text, size_t max_bytes);

}  // namespace hone::author
