#pragma once
#include <functional>
#include <optional>
#include <string>

#include "model/model.hpp"

namespace hone::author {

/// One thing that the author model is asked to write.
struct Task {
  std::string system, user;
  int max_tokens = 1024;
  long seed = 1;                   ///< another one for another attempt
  storage::Json schema = nullptr;  ///< JSON schema that the answer must have, or null
};

/// Who writes skills and cases. This is all that authoring knows of models.
class Writer {
 public:
  virtual ~Writer() = default;
  /// What was written; nothing when the budget is used up. Throws Error(infrastructure) when no
  /// answer could be had, with what the server said.
  virtual std::optional<std::string> write(const Task& task) = 0;
  /// Bytes of a task that fit into the model's context beside an answer of `max_tokens`, about.
  virtual size_t room(int max_tokens) const = 0;
};

/// Tokens that may be spent, and those that were.
struct Spending {
  std::optional<long> limit;
  long tokens = 0;
  bool used_up() const { return limit && tokens >= *limit; }
  bool has(long wanted) const { return !limit || tokens + wanted <= *limit; }
};

/// Asks a model. `spending` is checked before each request and added to after it.
class ModelWriter : public Writer {
 public:
  ModelWriter(model::ModelConfig config, Spending& spending, model::AskOptions options = {});
  std::optional<std::string> write(const Task& task) override;
  size_t room(int max_tokens) const override;

 private:
  model::ModelConfig config_;
  Spending& spending_;
  model::AskOptions options_;
};

/// The text without a fence around all of it, without blanks at the ends.
std::string unfenced(const std::string& text);

}  // namespace hone::author
