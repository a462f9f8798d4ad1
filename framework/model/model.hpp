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
  int context = 4096;  ///< tokens of one slot
  int parallel = 1;    ///< slots of the endpoint, and requests in flight
};

/// Reads a manifest entry. Throws Error(bad_input) on a wrong type.
ModelConfig model_from_json(const Json& entry);

struct Question {
  std::string system;
  std::string user;
  std::optional<long> seed;       ///< overrides the model's
  std::optional<int> max_tokens;  ///< overrides the model's
};

struct Usage {  ///< tokens; absent is absent, never 0
  std::optional<long> input;
  std::optional<long> cached;  ///< part of input
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
};

/// hone.response/1 (see the run folder's documentation) with source "live".
Json to_json(const Answer& answer);
/// The inverse. Throws Error(bad_input) on another schema or a wrong type.
Answer answer_from_json(const Json& response);

/// One wire format.
struct Provider {
  virtual ~Provider() = default;
  virtual std::string url(const ModelConfig& config) const = 0;
  /// Headers of a request; `key` is "" where the model names no variable.
  virtual http::Headers headers(const ModelConfig& config, const std::string& key) const = 0;
  virtual Json request_body(const ModelConfig& config, const Question& question) const = 0;
  virtual Answer read(const ModelConfig& config, const http::Response& response) const = 0;
  /// Whether asking again may help.
  virtual bool retryable(const http::Response& response) const = 0;
};

/// By name. Throws Error(bad_input) quoting an unknown name and listing the known ones.
const Provider& provider(std::string_view name);
std::vector<std::string> provider_names();

/// The exact body that `ask` sends.
Json request_body(const ModelConfig& config, const Question& question);

/// The key of the model's variable, "" when it names none. Throws Error(inconclusive) naming the
/// variable when it is unset or empty, so that a test skips.
std::string api_key(const ModelConfig& config);

struct AskOptions {
  int in_flight = 1;
  http::ClientOptions client;  ///< `retryable` is the provider's
  http::Timeouts timeouts;
  /// Called as each answer arrives, so that it can be stored at once.
  std::function<void(size_t index, const Answer&)> on_answer;
};

/// Asks all questions, in_flight at a time; answers in their order. What servers do becomes an
/// Answer; throws only for what no request could mend: unknown provider (bad_input), no base URL
/// (bad_input), missing key (inconclusive).
std::vector<Answer> ask(const ModelConfig& config, std::span<const Question> questions,
                        const AskOptions& options);
std::vector<Answer> ask(const ModelConfig& config, std::span<const Question> questions,
                        int in_flight = 1);

}  // namespace hone::model
