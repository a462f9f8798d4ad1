#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/client.hpp"
#include "storage/storage.hpp"

namespace hone::model {

using storage::Json;

/// US dollars for a million tokens; what is absent is not known.
struct Price {
  std::optional<double> input, cached, cache_write, output;
};

/// A model as hone_add_model declares it (an entry of the manifest's "models").
struct ModelConfig {
  std::string name;                 ///< ours, for folders and reports
  std::string provider = "openai";  ///< key of the provider registry
  std::string endpoint;             ///< "llama-server": one is started for it; "": base_url
  std::string gguf;                 ///< model file for the endpoint
  std::string gguf_sha256;          ///< hex, with or without "sha256:"; "": not checked
  std::string base_url;             ///< e.g. "http://127.0.0.1:8080/v1"
  std::string model;                ///< the server's name for it
  std::string api_key_env;          ///< variable that holds the key; "": none is sent
  std::string max_tokens_key = "max_tokens";  ///< or "max_completion_tokens"
  std::string effort;                         ///< reasoning effort; "": not sent
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<long> seed;
  int max_tokens = 512;
  int context = 4096;                ///< tokens of one slot
  int parallel = 1;                  ///< slots of the endpoint, and requests in flight
  std::vector<std::string> command;  ///< provider command: the program and its arguments
  std::string script;                ///< provider scripted: the file with the answers
  std::optional<bool> stream;        ///< absent: where the provider asks for it
  double requests_per_minute = 0;    ///< 0: no limit but the server's
  double tokens_per_minute = 0;      ///< 0: no limit but the server's
  Price price;

  /// Where answers come from, the same on every machine: the base URL, or the served file's digest.
  std::string source() const;
};

/// Reads a manifest entry. Throws Error(bad_input) on a wrong type.
ModelConfig model_from_json(const Json& entry);

/// A function that the model may ask for.
struct Tool {
  std::string name, description;
  Json parameters;  ///< JSON schema of the arguments
};

struct ToolCall {
  std::string id, name;
  Json arguments;
};

struct Answer;

/// One exchange that came before: what the model said, and what it was told then.
struct Turn {
  std::string said;                                          ///< the answer's text
  std::vector<ToolCall> calls;                               ///< what it asked for
  Json content;                                              ///< Answer::content
  std::vector<std::pair<std::string, std::string>> results;  ///< call id and what it gave
  std::string user;                                          ///< the next message; "" with results
};

/// What an answer belongs to. The case, run and turn tell otherwise equal requests apart; the rest
/// only says why a recorded answer no longer fits.
struct Label {
  std::string case_id, arm, case_digest, skill_digest;
  int run = 0;
  int turn = 1;  ///< counts repair turns
  int step = 0;  ///< counts tool calls within a turn
};

struct Question {
  std::string system;
  std::string user;
  std::optional<long> seed;       ///< overrides the model's
  std::optional<int> max_tokens;  ///< overrides the model's
  std::vector<Turn> turns = {};   ///< what followed the first message
  std::vector<Tool> tools = {};
  Json schema = nullptr;  ///< JSON schema that the answer must have, or null
  Label label = {};
};

struct Usage {  ///< tokens; absent is absent, never 0
  std::optional<long> input;
  std::optional<long> cached;       ///< part of input
  std::optional<long> cache_write;  ///< part of input
  std::optional<long> output;
  std::optional<long> reasoning;  ///< part of output
};

enum class Outcome { answered, refused, truncated, infrastructure_error };
/// "answered", "refused", "truncated", "infrastructure-error".
std::string_view name(Outcome outcome);

struct AnswerError {
  std::string kind;     ///< "connect", "timeout", "http-status", "bad-json", "wrong-model", …
  std::string message;  ///< one line, sanitised, without keys
  int http_status = 0;
};

struct Answer {
  Outcome outcome = Outcome::infrastructure_error;
  std::string text;  ///< kept when truncated, too
  Usage usage;
  std::string finish_reason;
  std::string model;  ///< as the server names it
  std::string system_fingerprint;
  double seconds = 0;
  int attempts = 0;
  std::optional<AnswerError> error;
  std::vector<ToolCall> calls;
  Json content;                 ///< with calls: what the provider wants back, as it came
  std::optional<double> cost;   ///< US dollars; absent where usage or price is
  std::string source = "live";  ///< "live", "recorded" or "scripted"
  std::string asked;            ///< when it was answered, UTC
};

/// What an answer costs: absent unless both the price and the tokens of all parts are known.
std::optional<double> cost_of(const Price& price, const Usage& usage);

/// hone.response/1, see the run folder's documentation.
Json to_json(const Answer& answer);
/// The inverse. Throws Error(bad_input) on another schema or a wrong type.
Answer answer_from_json(const Json& response);

/// A source of answers.
struct Provider {
  virtual ~Provider() = default;
  /// All that is asked: goes out as it is, and identifies a recorded answer.
  virtual Json request_body(const ModelConfig& config, const Question& question) const = 0;
  /// Throws Error(bad_input) for a setting that is missing.
  virtual void check(const ModelConfig& config) const = 0;
  /// What besides the body changes the meaning of a request, such as a version header.
  virtual std::string version() const { return ""; }
};

/// One wire format over HTTP.
struct HttpProvider : Provider {
  virtual std::string url(const ModelConfig& config) const = 0;
  /// Headers of a request; `key` is "" where the model names no variable.
  virtual http::Headers headers(const ModelConfig& config, const std::string& key) const = 0;
  virtual Answer read(const ModelConfig& config, const http::Response& response) const = 0;
  /// Whether asking again may help.
  virtual bool retryable(const http::Response& response) const = 0;
  /// Whether a system text must have been sent once before its copies cost less.
  virtual bool caches_prefix() const { return false; }
  void check(const ModelConfig& config) const override;
};

/// Answers made on this machine.
struct DirectProvider : Provider {
  /// May be called by several threads at once. Never throws for what a program does.
  virtual Answer answer(const ModelConfig& config, const Question& question) const = 0;
};

/// By name. Throws Error(bad_input) quoting an unknown name and listing the known ones.
const Provider& provider(std::string_view name);
std::vector<std::string> provider_names();

/// The exact body that `ask` sends.
Json request_body(const ModelConfig& config, const Question& question);

/// The key of the model's variable, "" when it names none. Throws Error(inconclusive) naming the
/// variable when it is unset or empty, so that a test skips.
std::string api_key(const ModelConfig& config);

class AnswerStore;
class Budget;

/// How far `ask` is.
struct AskProgress {
  size_t total = 0, done = 0, in_flight = 0, recorded = 0, errors = 0, retries = 0;
  long tokens = 0;
  double cost = 0;
};

struct AskOptions {
  int in_flight = 1;
  http::ClientOptions client;  ///< `retryable` is the provider's
  http::Timeouts timeouts;
  AnswerStore* store = nullptr;  ///< answers on record are used, new ones recorded
  Budget* budget = nullptr;      ///< what would pass it is not asked
  /// Called as each answer arrives, so that it can be stored at once.
  std::function<void(size_t index, const Answer&)> on_answer;
  std::function<void(const AskProgress&)> on_progress;
};

/// Asks all questions, in_flight at a time; answers in their order. What servers do becomes an
/// Answer; throws only for what no request could mend: unknown provider (bad_input), no base URL
/// (bad_input), missing key (inconclusive), a store that cannot be read or written.
std::vector<Answer> ask(const ModelConfig& config, std::span<const Question> questions,
                        const AskOptions& options);

/// The same for `count` questions that are made when they are needed, perhaps more than once, so
/// that few exist at a time; the answers go to on_answer alone.
void ask_each(const ModelConfig& config, size_t count,
              const std::function<Question(size_t)>& question, const AskOptions& options);
std::vector<Answer> ask(const ModelConfig& config, std::span<const Question> questions,
                        int in_flight = 1);

}  // namespace hone::model
