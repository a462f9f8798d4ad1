#include "author/trace.hpp"

#include <algorithm>
#include <sstream>

#include "author/secrets.hpp"
#include "author/trace_formats.hpp"
#include "diagnostic/diagnostic.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLeastChunk = 200;

std::string_view heading(TraceEvent::Kind kind) {
  switch (kind) {
    case TraceEvent::Kind::user:
      return "## User";
    case TraceEvent::Kind::assistant:
      return "## Assistant";
    case TraceEvent::Kind::tool_call:
      return "## Tool call";
    case TraceEvent::Kind::tool_result:
      break;
  }
  return "## Tool result";
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

[[noreturn]] void refuse(const std::string& name, int line, std::string what, std::string hint) {
  throw Error(Exit::bad_input,
              {Diagnostic{{name, line, 0}, std::move(what), std::move(hint), false}});
}

/// The JSON values of a text that holds one a line; a last line that was cut off is left out, as
/// the program that wrote it may still run.
std::vector<Json> lines_of(const std::string& name, std::string_view text) {
  std::vector<Json> values;
  int number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (is_blank(line)) continue;
    Json value = Json::parse(line, nullptr, false);
    if (!value.is_discarded())
      values.push_back(std::move(value));
    else if (end < text.size())
      refuse(name, number, "not JSON", "a trace in JSONL has one value a line");
  }
  return values;
}

/// The whole text as one JSON value, or its lines, or nothing when it is no JSON.
std::vector<Json> values_of(const std::string& name, std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return {};
  if (Json whole = Json::parse(text, nullptr, false); !whole.is_discarded()) {
    if (whole.is_array()) return whole.get<std::vector<Json>>();
    return {std::move(whole)};
  }
  // A Markdown link may start a text, too; a line of JSONL is a value by itself.
  const auto line = text.substr(first, std::min(text.find('\n', first), text.size()) - first);
  if (!Json::accept(line)) {
    const fs::path extension = fs::path(name).extension();
    if (extension == ".json" || extension == ".jsonl")
      refuse(name, 0, "not JSON", "neither one value nor one value a line");
    return {};
  }
  return lines_of(name, text);
}

}  // namespace

Trace trace_of(const std::string& name, std::string_view text) {
  Trace trace;
  const auto values = values_of(name, text);
  if (!values.empty()) {
    trace = read_events(values);
    if (trace.format.empty())
      refuse(name, 0, "JSON of no trace format that is known",
             "Claude Code's or Codex' JSONL, or messages with role and content");
  } else {
    const std::string extension = fs::path(name).extension().string();
    trace.format = extension == ".md" || extension == ".markdown" ? "markdown" : "text";
    trace.events.push_back({TraceEvent::Kind::user, std::string(text)});
  }
  std::erase_if(trace.events, [](const TraceEvent& event) { return is_blank(event.text); });
  if (trace.events.empty()) refuse(name, 0, "there is nothing in this trace", "");
  for (auto& event : trace.events) trace.redactions += redact(event.text);
  return trace;
}

Trace read_trace(const fs::path& file) { return trace_of(file.string(), storage::read_file(file)); }

std::string trace_text(const Trace& trace) {
  if (trace.format == "markdown" || trace.format == "text") return trace.events.front().text;
  std::string text;
  for (const auto& event : trace.events) {
    text += heading(event.kind);
    text += "\n" + event.text + (event.text.ends_with('\n') ? "\n" : "\n\n");
  }
  return text;
}

std::vector<std::string> chunks_of(std::string_view text, size_t max_bytes) {
  max_bytes = std::max(max_bytes, kLeastChunk);
  std::vector<std::string> chunks;
  while (text.size() > max_bytes) {
    // Where an event starts, else at a line, in the last half; else between two characters.
    size_t cut = text.rfind("\n## ", max_bytes - 1);
    if (cut == std::string_view::npos || cut < max_bytes / 2) cut = text.rfind('\n', max_bytes - 1);
    if (cut == std::string_view::npos || cut < max_bytes / 2) {
      cut = max_bytes;
      while (cut > 1 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
    } else {
      ++cut;
    }
    chunks.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut);
  }
  if (!text.empty()) chunks.emplace_back(text);
  return chunks;
}

}  // namespace hone::author
