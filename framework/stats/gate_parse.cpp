#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "stats/gate.hpp"

namespace hone::stats {
namespace {

constexpr const char* kOperators[] = {">=", "<=", "==", ">", "<"};
constexpr std::pair<const char*, double> kTimes[] = {
    {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr int kDeepest = 32;

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
  }

  Gate parse() {
    if (text_.empty()) fail(0, "an empty gate", "e.g. lift >= 0.1, or no-regression");
    Gate gate = joined(Gate::Kind::any);
    blanks();
    if (at_ < text_.size())
      fail(at_, fmt::format("unexpected '{}'", text_.substr(at_)),
           "comparisons are joined by and, or");
    return gate;
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

  /// The keyword, when it comes next.
  bool take_word(std::string_view word) {
    const size_t before = at_;
    if (identifier() == word) return true;
    at_ = before;
    return false;
  }

  /// A plain number.
  double number() {
    blanks();
    const size_t start = at_;
    if (peek() == '+') ++at_;
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value))
      fail(start, "a number is expected here", "e.g. 0.6 or 60%");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  /// A number with the suffix that fits the quantity: % or a unit of time.
  double amount(const Quantity& quantity) {
    blanks();
    const size_t start = at_;
    const double value = number();
    if (take('%')) {
      if (!is_share(quantity))
        fail(start, quantity.name() + " is no share, so % does not fit", "a plain number");
      return value / 100;
    }
    if (quantity.unit != Quantity::Unit::time) return value;
    for (const auto& [unit, ns] : kTimes)
      if (take_word(unit)) return value * ns;
    fail(at_, "a unit of time is expected here", "ns, us, ms or s, as in 5.2us");
  }

  static bool is_share(const Quantity& quantity) {
    return quantity.unit == Quantity::Unit::rate || quantity.unit == Quantity::Unit::points;
  }

  /// Parts joined by "or" (any) or, one level below, by "and" (all).
  Gate joined(Gate::Kind kind) {
    blanks();
    const size_t start = at_;
    Gate gate;
    gate.kind = kind;
    do {
      gate.parts.push_back(kind == Gate::Kind::any ? joined(Gate::Kind::all) : one());
    } while (take_word(kind == Gate::Kind::any ? "or" : "and"));
    if (gate.parts.size() == 1) {
      Gate only = std::move(gate.parts.front());
      return only;
    }
    gate.text = trimmed(start);
    return gate;
  }

  std::string trimmed(size_t start) const {
    std::string_view text = text_.substr(start, at_ - start);
    return std::string(text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
  }

  Gate one() {
    blanks();
    const size_t start = at_;
    if (take('(')) {
      if (++depth_ > kDeepest) fail(start, "parentheses are nested too deeply", "fewer of them");
      Gate gate = joined(Gate::Kind::any);
      if (!take(')'))
        fail(at_, "')' is missing", "it closes the '(' at column " + std::to_string(start + 1));
      --depth_;
      gate.text = trimmed(start);
      return gate;
    }
    gate_ = {};
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
    gate_.text = trimmed(start);
    return gate_;
  }

  void no_regression() {
    gate_.kind = Gate::Kind::no_regression;
    gate_.quantity = "no-regression";
    if (!take('(')) return;
    const size_t start = at_;
    gate_.alpha = number();
    if (take('%')) gate_.alpha /= 100;
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
    bound(*quantity);
  }

  void bound(const Quantity& quantity) {
    blanks();
    const size_t start = at_;
    if (take_word("baseline")) {
      gate_.factor = 1;
    } else if (is_factor()) {
      gate_.factor = number();
      take('*');
      blanks();
      if (!take_word("baseline")) fail(at_, "'baseline' is expected here", "as in 1.05 * baseline");
      if (!(*gate_.factor > 0)) fail(start, "the baseline's factor lies above 0", "e.g. 1.05");
    }
    if (gate_.factor) {
      blanks();
      const char sign = peek();
      if (sign != '+' && sign != '-') return;
      ++at_;
      gate_.threshold = (sign == '-' ? -1 : 1) * amount(quantity);
      return;
    }
    gate_.threshold = amount(quantity);
    const double low = quantity.unit == Quantity::Unit::points ? -1 : 0;
    if (is_share(quantity) && (gate_.threshold < low || gate_.threshold > 1))
      fail(start, fmt::format("{} lies between {} and 1", quantity.name(), low), "e.g. 0.6 or 60%");
  }

  /// Whether a number and '*' come next.
  bool is_factor() {
    const size_t before = at_;
    if (peek() == '+') ++at_;
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    at_ = static_cast<size_t>(end - text_.data());
    const bool factor = error == std::errc() && take('*');
    at_ = before;
    return factor;
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
    const std::string form = quantity.usage;
    const std::string parameters = quantity.parameters();
    if (parameters.empty()) {
      if (take('('))
        fail(at_ - 1, quantity.name() + " takes no arguments", "write " + quantity.name());
      return;
    }
    if (!take('(')) fail(at_, quantity.name() + " needs its arguments", "write " + form);
    blanks();
    const size_t start = at_;
    if (parameters == "p") {
      const double p = number();
      if (p < 0) fail(start, "a speedup lies at 0 or above", "e.g. fast_p(1)");
      gate_.arguments.push_back(fmt::format("{}", p));
    } else if (parameters == "case" || parameters == "name") {
      gate_.arguments.push_back(name_argument());
      if (gate_.arguments[0].empty())
        fail(start,
             fmt::format("the name of a case{} is expected here",
                         parameters == "name" ? " or suite" : ""),
             "write " + form);
    } else {
      gate_.arguments.push_back(identifier());
      if (gate_.arguments[0] != arm_name(Arm::with_skill) &&
          gate_.arguments[0] != arm_name(Arm::without_skill))
        fail(start, "unknown arm '" + gate_.arguments[0] + "'", "with_skill or without_skill");
      if (parameters == "arm, k") draws(form);
    }
    if (!take(')')) fail(at_, "')' is missing", "write " + form);
  }

  /// Of a case or suite: letters, digits, '-', '_', '.'.
  std::string name_argument() {
    const size_t start = at_;
    while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '_' || peek() == '-' ||
           peek() == '.')
      ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  void draws(const std::string& form) {
    if (!take(',')) fail(at_, "the number of draws is missing", "write " + form);
    blanks();
    const size_t start = at_;
    const std::string k = identifier();
    int count = 0;
    const auto [end, error] = std::from_chars(k.data(), k.data() + k.size(), count);
    if (error != std::errc() || end != k.data() + k.size() || count < 1)
      fail(start, "'" + k + "' is no number of draws", "a whole number from 1, at most RUNS");
    gate_.arguments.push_back(k);
  }

  std::string_view text_;
  Location where_;
  size_t at_ = 0;
  int depth_ = 0;
  Gate gate_;  ///< the comparison being read
};

}  // namespace

bool Gate::needs_baseline() const {
  return kind == Kind::no_regression || factor.has_value() ||
         std::any_of(parts.begin(), parts.end(), [](const Gate& g) { return g.needs_baseline(); });
}

Gate parse_gate(std::string_view text, const Location& where) {
  return Parser(text, where).parse();
}

}  // namespace hone::stats
