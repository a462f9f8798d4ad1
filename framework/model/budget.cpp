#include "model/budget.hpp"

#include <algorithm>
#include <cmath>

#include "diagnostic/diagnostic.hpp"

namespace hone::model {

std::optional<Budget::Reserve> Budget::reserve(const ModelConfig& model, size_t body_bytes,
                                               int max_output) {
  Reserve r;
  r.bytes = body_bytes;
  const double rate = tokens_per_byte_ > 0 ? std::min(1.0, 1.25 * tokens_per_byte_) : 1.0;
  const long input = 64 + std::lround(rate * static_cast<double>(body_bytes));
  r.tokens = input + max_output;
  if (max_cost) {
    const Price& price = model.price;
    if (!price.input || !price.output)
      throw Error(Exit::bad_input, "a limit on cost needs the price of model '" + model.name +
                                       "': PRICE in hone_add_model, or [prices] in hone.toml");
    const double dearest =
        std::max({*price.input, price.cached.value_or(0), price.cache_write.value_or(0)});
    r.cost =
        (static_cast<double>(input) * dearest + static_cast<double>(max_output) * *price.output) /
        1e6;
    if (cost_ + reserved_cost_ + r.cost > *max_cost) return std::nullopt;
  }
  if (max_tokens && tokens_ + reserved_tokens_ + r.tokens > *max_tokens) return std::nullopt;
  reserved_cost_ += r.cost;
  reserved_tokens_ += r.tokens;
  return r;
}

void Budget::settle(const Reserve& r, const Answer& answer) {
  reserved_cost_ -= r.cost;
  reserved_tokens_ -= r.tokens;
  if (answer.outcome == Outcome::infrastructure_error && !answer.usage.output) return;
  // What a server does not tell counts as what was reserved.
  const bool told = answer.usage.input && answer.usage.output;
  tokens_ += told ? *answer.usage.input + *answer.usage.output : r.tokens;
  cost_ += answer.cost.value_or(r.cost);
  if (told && r.bytes > 0)
    tokens_per_byte_ = std::max(
        tokens_per_byte_, static_cast<double>(*answer.usage.input) / static_cast<double>(r.bytes));
}

}  // namespace hone::model
