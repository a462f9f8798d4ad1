#pragma once
#include <optional>

#include "model/model.hpp"

namespace hone::model {

/// Money and tokens that may be spent. Before a request goes out the most that it can take is
/// reserved (a token is at least a byte until the first answers tell the model's rate), so that
/// the limits are never passed.
class Budget {
 public:
  std::optional<double> max_cost;  ///< US dollars
  std::optional<long> max_tokens;  ///< input and output

  struct Reserve {
    double cost = 0;
    long tokens = 0;
    size_t bytes = 0;
  };
  /// None when the request could pass a limit. Throws Error(bad_input) for a limit on cost and a
  /// model whose price is not known.
  std::optional<Reserve> reserve(const ModelConfig& model, size_t body_bytes, int max_output);
  /// Gives a reserve back and counts what was used.
  void settle(const Reserve& reserve, const Answer& answer);

  double cost() const { return cost_; }
  long tokens() const { return tokens_; }

 private:
  double cost_ = 0, reserved_cost_ = 0, tokens_per_byte_ = 0;
  long tokens_ = 0, reserved_tokens_ = 0;
};

}  // namespace hone::model
