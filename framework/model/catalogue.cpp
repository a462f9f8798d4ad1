#include "model/catalogue.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <set>

#include "diagnostic/diagnostic.hpp"

namespace hone::model {
namespace {

constexpr std::array kServices{
    Service{"anthropic", "anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", ""},
    Service{"hf", "openai", "https://router.huggingface.co/v1", "HF_TOKEN", "max_tokens"},
    Service{"ollama", "openai", "http://127.0.0.1:11434/v1", "", "max_tokens"},
    Service{"openai", "openai", "https://api.openai.com/v1", "OPENAI_API_KEY",
            "max_completion_tokens"},
    Service{"openai-responses", "openai-responses", "https://api.openai.com/v1", "OPENAI_API_KEY",
            ""}};

constexpr std::array<std::string_view, 7> kEfforts{"none", "minimal", "low", "medium",
                                                   "high", "xhigh",   "max"};

struct Variables {
  std::mutex mutex;
  std::map<std::string, std::string> hidden;
  std::set<std::string> names{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "HF_TOKEN",
                              "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY"};
};
Variables& variables() {
  static Variables instance;
  return instance;
}

/// "a/b:c" is fit for a folder as "a-b-c".
std::string as_folder(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '_')
      c = '-';
  return name;
}

}  // namespace

std::span<const Service> services() { return kServices; }

const std::map<std::string, std::string>& default_aliases() {
  static const std::map<std::string, std::string> aliases{
      {"haiku", "anthropic.claude-haiku-4-5"},
      {"sonnet", "anthropic.claude-sonnet-4-5"},
      {"opus", "anthropic.claude-opus-4-5"},
      {"gpt", "openai.gpt-5"},
      {"kimi", "hf.moonshotai/Kimi-K2-Instruct"}};
  return aliases;
}

ModelConfig model_named(const std::string& name,
                        const std::map<std::string, std::string>& aliases) {
  std::string meant = name;
  std::vector<std::string> known;
  for (const auto* table : {&aliases, &default_aliases()}) {
    for (const auto& [alias, full] : *table) {
      known.push_back(alias);
      if (alias == name && meant == name) meant = full;
    }
  }
  const size_t dot = meant.find('.');
  const std::string service = meant.substr(0, dot);
  const auto found = std::find_if(kServices.begin(), kServices.end(),
                                  [&](const Service& s) { return s.name == service; });
  if (found == kServices.end() || dot == std::string::npos || dot + 1 == meant.size()) {
    std::string services, names;
    for (const auto& s : kServices)
      services += (services.empty() ? "" : ", ") + std::string(s.name);
    for (const auto& alias : known) names += (names.empty() ? "" : ", ") + alias;
    const std::string near = nearest(name, known);
    throw Error(
        Exit::usage,
        {Diagnostic{{},
                    "unknown model '" + name + "'; name a declared one, an alias (" + names +
                        ") or service.model[.effort] with a service of: " + services,
                    near.empty() ? "" : "did you mean '" + near + "'?"}});
  }
  ModelConfig model;
  model.name = as_folder(name);
  model.provider = found->provider;
  model.base_url = found->base_url;
  model.api_key_env = found->api_key_env;
  if (!found->max_tokens_key.empty()) model.max_tokens_key = found->max_tokens_key;
  model.model = meant.substr(dot + 1);
  const size_t last = model.model.rfind('.');
  if (last != std::string::npos &&
      std::find(kEfforts.begin(), kEfforts.end(), model.model.substr(last + 1)) != kEfforts.end()) {
    model.effort = model.model.substr(last + 1);
    model.model.resize(last);
  }
  model.max_tokens = 4096;
  model.parallel = 8;
  return model;
}

void complete_from_service(ModelConfig& model) {
  if (!model.base_url.empty() || !model.endpoint.empty()) return;
  for (const auto& service : kServices) {
    if (service.name != model.provider) continue;
    model.base_url = service.base_url;
    if (model.api_key_env.empty()) model.api_key_env = service.api_key_env;
    if (!service.max_tokens_key.empty() && model.max_tokens_key.empty())
      model.max_tokens_key = service.max_tokens_key;
  }
}

std::vector<std::string> key_variables() {
  const std::lock_guard hold(variables().mutex);
  return {variables().names.begin(), variables().names.end()};
}

void hide_keys() {
  const std::lock_guard hold(variables().mutex);
  for (const auto& variable : variables().names) {
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr) continue;
    variables().hidden[variable] = value;
    ::unsetenv(variable.c_str());
  }
}

std::string key_in(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  if (value != nullptr) return value;
  const std::lock_guard hold(variables().mutex);
  const auto hidden = variables().hidden.find(variable);
  return hidden == variables().hidden.end() ? "" : hidden->second;
}

void add_key_variable(const std::string& variable) {
  if (variable.empty()) return;
  const std::lock_guard hold(variables().mutex);
  variables().names.insert(variable);
}

}  // namespace hone::model
