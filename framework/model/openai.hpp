#pragma once
#include "model/model.hpp"

namespace hone::model {

/// Chat completions: POST <base_url>/chat/completions. What OpenAI, llama-server, vLLM, Ollama and
/// the Hugging Face router speak.
const Provider& openai_provider();

}  // namespace hone::model
