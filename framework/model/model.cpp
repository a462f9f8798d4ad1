#include "model/model.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstdlib>
#include <set>

#include "diagnostic/diagnostic.hpp"
#include "model/openai.hpp"

namespace hone::model {
namespace {

struct Registered {
  std::string_view name;
  const Provider& (*get)();
};
/// Sorted by name; a new wire format is one line here.
constexpr std::array kProviders{Registered{"openai", openai_provider}};

std::string base64(const std::string& text) {
  std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
  const int n = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                reinterpret_cast<const unsigned char*>(text.data()),
                                static_cast<int>(text.size()));
  out.resize(static_cast<size_t>(n));
  return out;
}

std::string url_encoded(const std::string& text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-_.~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

/// Takes a key, as it is and as it may be encoded, out of what a server said.
class Redactor {
 public:
  explicit Redactor(const std::string& key) {
    if (key.size() < 4) return;
    std::string encoded = base64(key);
    while (!encoded.empty() && encoded.back() == '=') encoded.pop_back();
    forms_ = {key, std::move(encoded), url_encoded(key)};
  }
  void apply(std::string& text) const {
    for (const auto& form : forms_)
      for (size_t at = text.find(form); at != std::string::npos; at = text.find(form, at))
        text.replace(at, form.size(), "[key]");
  }
  void apply(Answer& answer) const {
    for (std::string* text :
         {&answer.text, &answer.finish_reason, &answer.model, &answer.system_fingerprint})
      apply(*text);
    if (answer.error) apply(answer.error->message);
  }

 private:
  std::set<std::string> forms_;
};

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename T>
void get_if_there(const Json& object, const char* key, T& value) {
  if (const auto it = object.find(key); it != object.end() && !it->is_null())
    value = it->template get<T>();
}

template <typename T>
void get_if_there(const Json& object, const char* key, std::optional<T>& value) {
  if (const auto it = object.find(key); it != object.end() && !it->is_null())
    value = it->template get<T>();
}

}  // namespace

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::answered:
      return "answered";
    case Outcome::refused:
      return "refused";
    case Outcome::truncated:
      return "truncated";
    case Outcome::infrastructure_error:
      return "infrastructure-error";
  }
  return "infrastructure-error";
}

ModelConfig model_from_json(const Json& entry) {
  ModelConfig m;
  try {
    for (const auto& [key, field] : std::initializer_list<std::pair<const char*, std::string*>>{
             {"name", &m.name},
             {"provider", &m.provider},
             {"endpoint", &m.endpoint},
             {"gguf", &m.gguf},
             {"gguf_sha256", &m.gguf_sha256},
             {"base_url", &m.base_url},
             {"model", &m.model},
             {"api_key_env", &m.api_key_env},
             {"max_tokens_key", &m.max_tokens_key},
             {"effort", &m.effort}})
      get_if_there(entry, key, *field);
    get_if_there(entry, "temperature", m.temperature);
    get_if_there(entry, "top_p", m.top_p);
    get_if_there(entry, "seed", m.seed);
    get_if_there(entry, "max_tokens", m.max_tokens);
    get_if_there(entry, "context", m.context);
    get_if_there(entry, "parallel", m.parallel);
  } catch (const Json::exception& e) {
    throw Error(Exit::bad_input, "model '" + m.name + "': " + e.what());
  }
  if (m.provider.empty()) m.provider = "openai";
  if (m.max_tokens_key.empty()) m.max_tokens_key = "max_tokens";
  if (m.model.empty()) m.model = m.name;
  return m;
}

Json to_json(const Answer& a) {
  Json error = nullptr;
  if (a.error)
    error = {{"kind", a.error->kind},
             {"message", a.error->message},
             {"http_status", a.error->http_status}};
  return {{"schema", "hone.response/1"},
          {"outcome", name(a.outcome)},
          {"text", a.text},
          {"usage",
           {{"input", or_null(a.usage.input)},
            {"cached", or_null(a.usage.cached)},
            {"output", or_null(a.usage.output)},
            {"reasoning", or_null(a.usage.reasoning)}}},
          {"finish_reason", a.finish_reason},
          {"model", a.model},
          {"system_fingerprint", a.system_fingerprint},
          {"seconds", a.seconds},
          {"attempts", a.attempts},
          {"error", error},
          {"source", "live"}};
}

Answer answer_from_json(const Json& response) {
  Answer a;
  try {
    if (response.at("schema") != "hone.response/1")
      throw Error(Exit::bad_input, "not a hone.response/1 record: " + response.at("schema").dump());
    const auto outcome = response.at("outcome").get<std::string>();
    bool known = false;
    for (const auto o :
         {Outcome::answered, Outcome::refused, Outcome::truncated, Outcome::infrastructure_error}) {
      if (name(o) != outcome) continue;
      a.outcome = o;
      known = true;
    }
    if (!known) throw Error(Exit::bad_input, "unknown outcome '" + outcome + "' in a response");
    get_if_there(response, "text", a.text);
    if (const auto usage = response.find("usage"); usage != response.end() && usage->is_object()) {
      get_if_there(*usage, "input", a.usage.input);
      get_if_there(*usage, "cached", a.usage.cached);
      get_if_there(*usage, "output", a.usage.output);
      get_if_there(*usage, "reasoning", a.usage.reasoning);
    }
    get_if_there(response, "finish_reason", a.finish_reason);
    get_if_there(response, "model", a.model);
    get_if_there(response, "system_fingerprint", a.system_fingerprint);
    get_if_there(response, "seconds", a.seconds);
    get_if_there(response, "attempts", a.attempts);
    if (const auto error = response.find("error"); error != response.end() && error->is_object()) {
      a.error.emplace();
      get_if_there(*error, "kind", a.error->kind);
      get_if_there(*error, "message", a.error->message);
      get_if_there(*error, "http_status", a.error->http_status);
    }
  } catch (const Json::exception& e) {
    throw Error(Exit::bad_input, std::string("not a hone.response/1 record: ") + e.what());
  }
  return a;
}

const Provider& provider(std::string_view wanted) {
  for (const auto& entry : kProviders)
    if (entry.name == wanted) return entry.get();
  std::string known;
  for (const auto& n : provider_names()) known += (known.empty() ? "" : ", ") + n;
  const std::string near = nearest(wanted, provider_names());
  throw Error(Exit::bad_input,
              {Diagnostic{{},
                          "unknown provider '" + std::string(wanted) + "'; known: " + known,
                          near.empty() ? "" : "did you mean '" + near + "'?"}});
}

std::vector<std::string> provider_names() {
  std::vector<std::string> names;
  for (const auto& entry : kProviders) names.emplace_back(entry.name);
  return names;
}

Json request_body(const ModelConfig& config, const Question& question) {
  return provider(config.provider).request_body(config, question);
}

std::string api_key(const ModelConfig& config) {
  if (config.api_key_env.empty()) return "";
  const char* key = std::getenv(config.api_key_env.c_str());
  if (key == nullptr || *key == '\0')
    throw Error(Exit::inconclusive, "model '" + config.name + "' needs a key: the variable " +
                                        config.api_key_env + " is not set");
  const std::string_view view(key);
  if (view.find_first_of("\r\n") != std::string_view::npos)
    throw Error(Exit::inconclusive,
                "the key in the variable " + config.api_key_env + " holds a line break");
  return key;
}

std::vector<Answer> ask(const ModelConfig& config, std::span<const Question> questions,
                        const AskOptions& options) {
  const Provider& wire = provider(config.provider);
  if (config.base_url.empty())
    throw Error(Exit::bad_input, "model '" + config.name + "' has no base URL");
  const std::string key = api_key(config);
  const Redactor redactor(key);

  http::Request request;
  request.method = "POST";
  request.url = wire.url(config);
  request.headers = wire.headers(config, key);
  request.timeouts = options.timeouts;
  std::vector<http::Request> requests(questions.size(), request);
  for (size_t i = 0; i < questions.size(); ++i)
    requests[i].body = wire.request_body(config, questions[i])
                           .dump(-1, ' ', false, Json::error_handler_t::replace);

  http::ClientOptions client_options = options.client;
  client_options.retryable = [&](const http::Response& r) { return wire.retryable(r); };
  http::Client client(std::move(client_options));
  std::vector<Answer> answers(questions.size());
  client.fetch_each(requests, static_cast<size_t>(std::max(options.in_flight, 1)),
                    [&](size_t i, const http::Response& response) {
                      answers[i] = wire.read(config, response);
                      redactor.apply(answers[i]);
                      if (options.on_answer) options.on_answer(i, answers[i]);
                    });
  return answers;
}

std::vector<Answer> ask(const ModelConfig& config, std::span<const Question> questions,
                        int in_flight) {
  AskOptions options;
  options.in_flight = in_flight;
  return ask(config, questions, options);
}

}  // namespace hone::model
