#include "cases/located_json.hpp"

#include <iterator>
#include <nlohmann/json.hpp>

namespace hone::cases {
namespace {

using Kind = LocatedJson::Kind;
using Number = nlohmann::json;

/// An input iterator that tells how far the lexer has read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    *furthest_ = at_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

/// Builds the tree from the parser's events; places come from how far it has read.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string file, std::string_view text, std::vector<Diagnostic>& diagnostics)
      : file_(std::move(file)), text_(text), furthest_(text.data()), diagnostics_(diagnostics) {}

  const char** furthest() { return &furthest_; }
  LocatedJson take() { return std::move(root_); }

  bool null() override { return leaf({}, word_start()); }
  bool boolean(bool value) override {
    LocatedJson json;
    json.kind = Kind::boolean;
    json.boolean = value;
    return leaf(std::move(json), word_start());
  }
  bool number_integer(Number::number_integer_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_unsigned(Number::number_unsigned_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_float(Number::number_float_t value, const std::string&) override {
    return number(value);
  }
  bool string(std::string& value) override {
    LocatedJson json;
    json.kind = Kind::string;
    json.text = std::move(value);
    return leaf(std::move(json), string_start());
  }
  bool binary(Number::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Kind::object); }
  bool start_array(std::size_t) override { return open(Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    LocatedJson& object = *open_.back();
    const size_t offset = string_start();
    if (object.find(name) != nullptr) error(offset, "the key '" + name + "' is given twice", "");
    object.members.push_back({name, offset, {}});
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    std::string what = e.what();
    if (const auto column = what.find("column"); column != std::string::npos)
      if (const auto reason = what.find(": ", column); reason != std::string::npos)
        what = what.substr(reason + 2);
    if (const auto last = what.find("; last read"); last != std::string::npos)
      what = what.substr(0, last);
    // The lexer stands behind what it could not use.
    const auto unexpected = [&](const char* token) {
      return what.find(std::string("unexpected ") + token) != std::string::npos;
    };
    size_t at = read() > 0 ? read() - 1 : 0;
    if (unexpected("end of input"))
      at = text_.size();
    else if (unexpected("string literal"))
      at = string_start();
    else if (unexpected("number literal") || unexpected("true literal") ||
             unexpected("false literal") || unexpected("null literal"))
      at = word_start();
    error(at, "not valid JSON: " + what, "");
    return false;
  }

 private:
  static constexpr size_t kMaxDepth = 64;

  size_t read() const { return static_cast<size_t>(furthest_ - text_.data()); }

  /// Start of the string that ends where the lexer stands: a quote within it follows an odd number
  /// of backslashes, its opening quote none.
  size_t string_start() const {
    size_t at = read() - 1;
    for (;;) {
      at = text_.rfind('"', at - 1);
      size_t slashes = 0;
      while (slashes < at && text_[at - slashes - 1] == '\\') ++slashes;
      if (slashes % 2 == 0) return at;
    }
  }

  /// Start of the number or literal that the lexer has read, with up to one byte after it.
  size_t word_start() const {
    const auto in_word = [&](size_t i) {
      const char c = text_[i];
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
    };
    size_t at = read();
    if (at > 0 && !in_word(at - 1)) --at;
    while (at > 0 && in_word(at - 1)) --at;
    return at;
  }

  bool number(double value) {
    LocatedJson json;
    json.kind = Kind::number;
    json.number = value;
    return leaf(std::move(json), word_start());
  }

  LocatedJson& place() {
    if (open_.empty()) return root_;
    LocatedJson& parent = *open_.back();
    if (parent.is(Kind::object)) return parent.members.back().value;
    return parent.items.emplace_back();
  }

  bool leaf(LocatedJson json, size_t offset) {
    json.offset = offset;
    place() = std::move(json);
    return true;
  }

  bool open(Kind kind) {
    const size_t offset = read() - 1;
    if (open_.size() >= kMaxDepth) {
      error(offset, "nested deeper than " + std::to_string(kMaxDepth) + " levels", "");
      return false;
    }
    LocatedJson& json = place();
    json.kind = kind;
    json.offset = offset;
    open_.push_back(&json);  // stays put: a parent grows only after its child is closed
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  void error(size_t offset, std::string message, std::string hint) {
    diagnostics_.push_back(
        {locate(file_, text_, offset), std::move(message), std::move(hint), false});
  }

  std::string file_;
  std::string_view text_;
  const char* furthest_;
  std::vector<Diagnostic>& diagnostics_;
  LocatedJson root_;
  std::vector<LocatedJson*> open_;
};

}  // namespace

const LocatedJson::Member* LocatedJson::find(std::string_view wanted) const {
  for (const auto& member : members)
    if (member.name == wanted) return &member;
  return nullptr;
}

std::string_view name(LocatedJson::Kind kind) {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "true or false";
    case Kind::number:
      return "a number";
    case Kind::string:
      return "a string";
    case Kind::array:
      return "a list";
    case Kind::object:
      return "an object";
  }
  return "null";
}

std::optional<LocatedJson> parse_located(const std::string& file, std::string_view text,
                                         std::vector<Diagnostic>& diagnostics) {
  Builder builder(file, text, diagnostics);
  const CountingIterator begin(text.data(), builder.furthest());
  const CountingIterator end(text.data() + text.size(), builder.furthest());
  if (!nlohmann::json::sax_parse(begin, end, &builder)) return std::nullopt;
  return builder.take();
}

}  // namespace hone::cases
