#include "author/writer.hpp"

#include "diagnostic/diagnostic.hpp"

namespace hone::author {
namespace {

/// Bytes of a token, taken low so that what should fit does: code and numbers have short tokens.
constexpr size_t kBytesOfToken = 3;
constexpr size_t kLeastRoom = 1200;

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

}  // namespace

ModelWriter::ModelWriter(model::ModelConfig config, Spending& spending, model::AskOptions options)
    : config_(std::move(config)), spending_(spending), options_(std::move(options)) {}

std::optional<std::string> ModelWriter::write(const Task& task) {
  if (spending_.used_up()) return std::nullopt;
  model::Question question;
  question.system = task.system;
  question.user = task.user;
  question.seed = task.seed;
  question.max_tokens = task.max_tokens;
  question.schema = task.schema;
  question.label.case_id = "author";
  const auto answer = model::ask(config_, {&question, 1}, options_).front();
  if (options_.client.cancelled && options_.client.cancelled())
    throw Error(Exit::interrupted, "interrupted: the same command goes on from here");
  spending_.tokens += answer.usage.input.value_or(0) + answer.usage.output.value_or(0);
  if (answer.outcome == model::Outcome::infrastructure_error)
    throw Error(Exit::infrastructure,
                config_.name + ": " + (answer.error ? answer.error->message : "no answer"));
  return answer.text;
}

size_t ModelWriter::room(int max_tokens) const {
  const size_t all = static_cast<size_t>(config_.context) * kBytesOfToken;
  const size_t answer = static_cast<size_t>(max_tokens) * kBytesOfToken;
  return all > answer + kLeastRoom ? all - answer : kLeastRoom;
}

std::string unfenced(const std::string& text) {
  const std::string all = trimmed(text);
  if (!all.starts_with("```")) return all;
  const size_t line = all.find('\n');
  if (line == std::string::npos) return all;
  const std::string info = trimmed(all.substr(3, line - 3));
  const bool wrapper = info.empty() || info == "markdown" || info == "md" || info == "json";
  if (!wrapper) return all;
  // Only a fence around everything: the last line closes it, or the answer was cut off.
  const bool closed = all.size() > line + 3 && all.ends_with("\n```");
  return trimmed(all.substr(line, closed ? all.size() - 3 - line : std::string::npos));
}

}  // namespace hone::author
