#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>

#include "stats/gate.hpp"

namespace hone::stats {
namespace {

constexpr const char* kOperators[] = {">=", "<=", "==", ">", "<"};

const Quantity* find_quantity(const std::string& name) {
  for (const auto& q : gate_quantities())
    if (q.name() == name) return &q;
  return nullptr;
}

class Parser {
 public:
  Parser(std::string_view text, const Location& where) : where_(where) {
    const auto first = text.find_first_not_of(" \t\r\n");
    const auto last = text.find_last_not_of(" \t\r\n");
    if (first != std::string_view::npos) text_ = text.substr(first, last - first + 1);
    gate_.text = text_;
  }

  Gate parse() {
    if (text_.empty()) fail(0, "an empty gate", "e.g. lift >= 0.1, or no-regression");
    const size_t start = at_;
    std::string name = identifier();
    if (name.empty())
      fail(start, "a gate starts with a quantity", "e.g. pass_rate(with_skill) >= 0.6");
    if (name == "no" && peek() == '-') {
      ++at_;
      name += "-" + identifier();
    }
    if (name == "no-regression" || name == "no_regression") {
      no_regression();
    } else {
      comparison(name, start);
    }
    blanks();
    if (at_ < text_.size())
      fail(at_, fmt::format("unexpected '{}'", text_.substr(at_)), "one gate holds one comparison");
    return gate_;
  }

 private:
  [[noreturn]] void fail(size_t column, const std::string& message, const std::string& hint) const {
    throw Error(
        Exit::bad_input,
        {Diagnostic{where_, fmt::format("gate \"{}\", column {}: {}", text_, column + 1, message),
                    hint}});
  }

  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::string identifier() {
    blanks();
    const size_t start = at_;
    while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '_') ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  bool take(char c) {
    blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  /// A number with an optional % sign.
  double number(bool* percent) {
    blanks();
    const size_t start = at_;
    if (peek() == '+') ++at_;
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value))
      fail(start, "a number is expected here", "e.g. 0.6 or 60%");
    at_ = static_cast<size_t>(end - text_.data());
    *percent = take('%');
    return *percent ? value / 100 : value;
  }

  void no_regression() {
    gate_.kind = Gate::Kind::no_regression;
    gate_.quantity = "no-regression";
    if (!take('(')) return;
    const size_t start = at_;
    bool percent = false;
    gate_.alpha = number(&percent);
    if (!(gate_.alpha > 0 && gate_.alpha <= 0.5))
      fail(start, "alpha lies between 0 and 0.5", "e.g. no-regression(0.01)");
    if (!take(')')) fail(at_, "')' is missing", "e.g. no-regression(0.01)");
  }

  void comparison(const std::string& name, size_t start) {
    const Quantity* quantity = find_quantity(name);
    if (quantity == nullptr) unknown(name, start);
    gate_.quantity = name;
    arguments(*quantity);
    blanks();
    const size_t op_at = at_;
    for (const char* op : kOperators) {
      if (text_.substr(at_).starts_with(op)) {
        gate_.op = op;
        break;
      }
    }
    if (gate_.op.empty())
      fail(op_at, "a comparison is expected here",
           fmt::format("one of >=, >, <=, <, as in {} >= 0", quantity->usage));
    at_ += gate_.op.size();
    if (gate_.op == "==" && quantity->unit != Quantity::Unit::count)
      fail(op_at, "'==' suits counts only", "use >= or <=");
    blanks();
    const size_t number_at = at_;
    bool percent = false;
    gate_.threshold = number(&percent);
    const bool ratio =
        quantity->unit == Quantity::Unit::rate || quantity->unit == Quantity::Unit::points;
    if (percent && !ratio)
      fail(number_at, name + " is no share, so % does not fit", "a plain number");
    const double low = quantity->unit == Quantity::Unit::points ? -1 : 0;
    if (ratio && (gate_.threshold < low || gate_.threshold > 1))
      fail(number_at, fmt::format("{} lies between {} and 1", name, low), "e.g. 0.6 or 60%");
  }

  [[noreturn]] void unknown(const std::string& name, size_t start) const {
    std::vector<std::string> names = {"no-regression"};
    std::string known;
    for (const auto& q : gate_quantities()) {
      names.push_back(q.name());
      known += q.usage + ", ";
    }
    const std::string near = nearest(name, names);
    fail(start, "unknown quantity '" + name + "'",
         (near.empty() ? "" : "did you mean '" + near + "'? ") + "known: " + known +
             "no-regression");
  }

  void arguments(const Quantity& quantity) {
    if (quantity.parameters().empty()) {
      if (take('('))
        fail(at_ - 1, quantity.name() + " takes no arguments", "write " + quantity.name());
      return;
    }
    const std::string form = quantity.usage;
    if (!take('(')) fail(at_, quantity.name() + " needs its arguments", "write " + form);
    blanks();
    size_t start = at_;
    const std::string arm = identifier();
    if (arm != arm_name(Arm::with_skill) && arm != arm_name(Arm::without_skill))
      fail(start, "unknown arm '" + arm + "'", "with_skill or without_skill");
    gate_.arguments.push_back(arm);
    if (quantity.parameters() == "arm, k") {
      if (!take(',')) fail(at_, "the number of draws is missing", "write " + form);
      blanks();
      start = at_;
      const std::string k = identifier();
      int draws = 0;
      const auto [end, error] = std::from_chars(k.data(), k.data() + k.size(), draws);
      if (error != std::errc() || end != k.data() + k.size() || draws < 1)
        fail(start, "'" + k + "' is no number of draws", "a whole number from 1, at most RUNS");
      gate_.arguments.push_back(k);
    }
    if (!take(')')) fail(at_, "')' is missing", "write " + form);
  }

  std::string_view text_;
  Location where_;
  size_t at_ = 0;
  Gate gate_;
};

}  // namespace

const std::vector<Quantity>& gate_quantities() {
  using Unit = Quantity::Unit;
  static const std::vector<Quantity> quantities = {
      {"pass_rate(arm)", "share of runs that are correct, mean over cases", Unit::rate},
      {"pass_rate_low(arm)", "its guaranteed lower bound (Clopper-Pearson 95 % of the totals)",
       Unit::rate},
      {"lift", "pass_rate(with_skill) - pass_rate(without_skill), mean over cases", Unit::points},
      {"lift_low", "lower end of the lift's 95 % t interval over cases", Unit::points},
      {"lift_high", "upper end of the lift's 95 % t interval over cases", Unit::points},
      {"normalised_gain", "lift as a share of what was left to gain", Unit::points},
      {"pass_at_k(arm, k)", "probability that one of k runs is correct, mean over cases",
       Unit::rate},
      {"pass_hat_k(arm, k)", "probability that all of k runs are correct, mean over cases",
       Unit::rate},
      {"tokens_saved", "tokens a trial, without the skill minus with it", Unit::tokens},
      {"tokens(arm)", "input and output tokens a trial", Unit::tokens},
      {"input_tokens(arm)", "input tokens a trial", Unit::tokens},
      {"output_tokens(arm)", "output tokens a trial", Unit::tokens},
      {"tokens_per_correct(arm)", "all tokens of the arm for each correct answer", Unit::tokens},
      {"flaky_cases(arm)", "cases of which some runs are correct and some not", Unit::count},
      {"infrastructure_errors", "trials that could not be measured", Unit::count},
  };
  return quantities;
}

Gate parse_gate(std::string_view text, const Location& where) {
  return Parser(text, where).parse();
}

}  // namespace hone::stats
