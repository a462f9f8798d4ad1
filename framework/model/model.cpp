#include "model/model.hpp"

#include <array>
#include <cstdlib>

#include "diagnostic/diagnostic.hpp"
#include "model/catalogue.hpp"
#include "model/providers.hpp"

namespace hone::model {
namespace {

struct Registered {
  std::string_view name;
  const Provider& (*get)();
};
/// Sorted by name; a new wire format is one line here.
constexpr std::array kProviders{
    Registered{"anthropic", anthropic_provider}, Registered{"command", command_provider},
    Registered{"openai", openai_provider}, Registered{"openai-responses", responses_provider},
    Registered{"scripted", scripted_provider}};

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

std::string ModelConfig::source() const {
  if (!endpoint.empty()) return endpoint + ":" + gguf_sha256;
  std::string url = base_url;
  while (!url.empty() && url.back() == '/') url.pop_back();
  return url;
}

void HttpProvider::check(const ModelConfig& config) const {
  if (config.base_url.empty())
    throw Error(Exit::bad_input, "model '" + config.name + "' has no base URL");
}

std::optional<double> cost_of(const Price& price, const Usage& usage) {
  const long cached = usage.cached.value_or(0), written = usage.cache_write.value_or(0);
  if (!usage.input || !usage.output || !price.input || !price.output) return std::nullopt;
  const auto part = [](long tokens, double dollars) {
    return static_cast<double>(tokens) * dollars;
  };
  return (part(*usage.input - cached - written, *price.input) +
          part(cached, price.cached.value_or(*price.input)) +
          part(written, price.cache_write.value_or(*price.input)) +
          part(*usage.output, *price.output)) /
         1e6;
}

ModelConfig model_from_json(const Json& entry) {
  ModelConfig m;
  m.max_tokens_key.clear();
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
             {"script", &m.script},
             {"effort", &m.effort}})
      get_if_there(entry, key, *field);
    get_if_there(entry, "temperature", m.temperature);
    get_if_there(entry, "top_p", m.top_p);
    get_if_there(entry, "seed", m.seed);
    get_if_there(entry, "max_tokens", m.max_tokens);
    get_if_there(entry, "context", m.context);
    get_if_there(entry, "parallel", m.parallel);
    get_if_there(entry, "command", m.command);
    get_if_there(entry, "stream", m.stream);
    get_if_there(entry, "requests_per_minute", m.requests_per_minute);
    get_if_there(entry, "tokens_per_minute", m.tokens_per_minute);
    if (const auto price = entry.find("price"); price != entry.end() && price->is_object()) {
      get_if_there(*price, "input", m.price.input);
      get_if_there(*price, "cached", m.price.cached);
      get_if_there(*price, "cache_write", m.price.cache_write);
      get_if_there(*price, "output", m.price.output);
    }
  } catch (const Json::exception& e) {
    throw Error(Exit::bad_input, "model '" + m.name + "': " + e.what());
  }
  if (m.provider.empty()) m.provider = "openai";
  complete_from_service(m);
  add_key_variable(m.api_key_env);
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
  Json json = {{"schema", "hone.response/1"},
               {"outcome", name(a.outcome)},
               {"text", a.text},
               {"usage",
                {{"input", or_null(a.usage.input)},
                 {"cached", or_null(a.usage.cached)},
                 {"cache_write", or_null(a.usage.cache_write)},
                 {"output", or_null(a.usage.output)},
                 {"reasoning", or_null(a.usage.reasoning)}}},
               {"cost", or_null(a.cost)},
               {"finish_reason", a.finish_reason},
               {"model", a.model},
               {"system_fingerprint", a.system_fingerprint},
               {"seconds", a.seconds},
               {"attempts", a.attempts},
               {"error", error},
               {"source", a.source},
               {"asked", a.asked}};
  if (!a.calls.empty()) {
    json["calls"] = Json::array();
    for (const auto& call : a.calls)
      json["calls"].push_back(
          {{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
    if (!a.content.is_null()) json["content"] = a.content;
  }
  return json;
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
      get_if_there(*usage, "cache_write", a.usage.cache_write);
      get_if_there(*usage, "output", a.usage.output);
      get_if_there(*usage, "reasoning", a.usage.reasoning);
    }
    get_if_there(response, "finish_reason", a.finish_reason);
    get_if_there(response, "model", a.model);
    get_if_there(response, "system_fingerprint", a.system_fingerprint);
    get_if_there(response, "seconds", a.seconds);
    get_if_there(response, "attempts", a.attempts);
    get_if_there(response, "cost", a.cost);
    get_if_there(response, "source", a.source);
    get_if_there(response, "asked", a.asked);
    for (const auto& call : response.value("calls", Json::array()))
      a.calls.push_back({call.value("id", ""), call.at("name"), call.value("arguments", Json())});
    if (const auto content = response.find("content"); content != response.end())
      a.content = *content;
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
  const std::string key = key_in(config.api_key_env);
  if (key.empty())
    throw Error(Exit::inconclusive, "model '" + config.name + "' needs a key: the variable " +
                                        config.api_key_env + " is not set");
  if (key.find_first_of("\r\n") != std::string::npos)
    throw Error(Exit::inconclusive,
                "the key in the variable " + config.api_key_env + " holds a line break");
  return key;
}

}  // namespace hone::model
