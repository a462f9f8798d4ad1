#pragma once
#include <map>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace hone::model {

/// A service that models can be named at without declaring them.
struct Service {
  std::string_view name, provider, base_url, api_key_env, max_tokens_key;
};

/// anthropic, hf, ollama, openai, openai-responses.
std::span<const Service> services();

/// Short names for service.model: haiku, sonnet, opus, gpt, kimi. Users' own come before them.
const std::map<std::string, std::string>& default_aliases();

/// The model that a name on the command line means: an alias, or service.model[.effort] with
/// effort one of none, minimal, low, medium, high, xhigh, max. Throws Error(usage) saying what is
/// known.
ModelConfig model_named(const std::string& name, const std::map<std::string, std::string>& aliases);

/// Fills in what a declared model leaves to its service: base URL, key variable, parameter names.
void complete_from_service(ModelConfig& model);

/// Every variable that may hold a key: those of the services and of all models read so far. None of
/// them is handed to a child process.
std::vector<std::string> key_variables();
void add_key_variable(const std::string& variable);

/// Takes the keys out of this process's environment, so that no child inherits one; api_key still
/// finds them.
void hide_keys();
/// The value of a variable in the environment or hidden from it; "" when unset.
std::string key_in(const std::string& variable);

}  // namespace hone::model
