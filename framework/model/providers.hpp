#pragma once
#include "model/model.hpp"

namespace hone::model {

/// Anthropic's Messages: POST <base_url>/messages, with the system text marked for the prompt
/// cache.
const Provider& anthropic_provider();

/// An external program: the texts on stdin, or in a file whose path stands for {prompt_file} in its
/// arguments; what it prints is the answer. It gets no key from our environment.
const Provider& command_provider();

/// Chat completions: POST <base_url>/chat/completions. What OpenAI, llama-server, vLLM, Ollama and
/// the Hugging Face router speak.
const Provider& openai_provider();

/// OpenAI's Responses: POST <base_url>/responses.
const Provider& responses_provider();

/// Answers from a file, for tests; every record says so. {"schema": "hone.script/1", "answers":
/// [{"case", "arm", "run", "turn", "step", "contains" (all optional conditions), "text", "outcome",
/// "finish_reason", "usage", "calls": [{"name", "arguments"}]}]}: the first that fits answers.
const Provider& scripted_provider();

}  // namespace hone::model
