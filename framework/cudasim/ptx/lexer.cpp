#include "cudasim/ptx/lexer.hpp"

#include <bit>
#include <cctype>
#include <cstdlib>

#include "cudasim/ptx/module.hpp"

namespace cudasim {
namespace {

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) {
  if (const auto zero = text_.find('\0'); zero != std::string_view::npos) {
    text_ = text_.substr(0, zero);
  }
  advance();
}

Token Lexer::next() {
  Token token = token_;
  advance();
  return token;
}

void Lexer::fail(const std::string& message) const { fail_at(token_, message); }

void Lexer::fail_at(const Token& token, const std::string& message) {
  std::string found =
      token.kind == Token::Kind::end ? "end of text" : "'" + std::string(token.text) + "'";
  if (found.size() > 80) found = found.substr(0, 80) + "…'";
  throw ParseError(token.line, token.column, message + ", found " + found);
}

void Lexer::expect(char c) {
  if (!token_.is(c)) fail(std::string("expected '") + c + "'");
  advance();
}

bool Lexer::accept(char c) {
  if (!token_.is(c)) return false;
  advance();
  return true;
}

std::string_view Lexer::text_from(const Token& first) const {
  const char* end =
      token_.kind == Token::Kind::end ? text_.data() + text_.size() : token_.text.data();
  return {first.text.data(), static_cast<std::size_t>(end - first.text.data())};
}

bool Lexer::skip_blanks() {
  const std::size_t before = position_;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++position_;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else if (text_.substr(position_, 2) == "/*") {
      position_ += 2;
      while (position_ < text_.size() && text_.substr(position_, 2) != "*/") {
        if (text_[position_] == '\n') {
          ++line_;
          line_start_ = position_ + 1;
        }
        ++position_;
      }
      position_ = std::min(position_ + 2, text_.size());
    } else {
      break;
    }
  }
  return position_ != before;
}

void Lexer::read_number() {
  const std::size_t start = position_;
  auto hex_bits = [&](std::size_t digits) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const char c = position_ < text_.size() ? text_[position_] : ' ';
      if (!std::isxdigit(static_cast<unsigned char>(c))) fail("expected hexadecimal digits");
      bits = bits << 4 | static_cast<unsigned>(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
      ++position_;
    }
    return bits;
  };
  const char second = position_ + 1 < text_.size() ? text_[position_ + 1] : ' ';
  if (text_[position_] == '0' && (second | 32) == 'f') {
    position_ += 2;
    token_.kind = Token::Kind::real32;
    token_.value = static_cast<std::int64_t>(hex_bits(8));
  } else if (text_[position_] == '0' && (second | 32) == 'd') {
    position_ += 2;
    token_.kind = Token::Kind::real64;
    token_.value = static_cast<std::int64_t>(hex_bits(16));
  } else {
    unsigned base = 10;
    if (text_[position_] == '0') {
      if ((second | 32) == 'x')
        base = 16;
      else if ((second | 32) == 'b')
        base = 2;
      else if (is_digit(second))
        base = 8;
    }
    if (base == 16 || base == 2) position_ += 2;
    std::uint64_t value = 0;
    while (position_ < text_.size() &&
           std::isxdigit(static_cast<unsigned char>(text_[position_]))) {
      const char c = text_[position_];
      const unsigned digit = static_cast<unsigned>(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
      if (digit >= base) break;
      value = value * base + digit;
      ++position_;
    }
    const char c = position_ < text_.size() ? text_[position_] : ' ';
    const char after = position_ + 1 < text_.size() ? text_[position_ + 1] : ' ';
    if (base != 16 && base != 2 && ((c == '.' && is_digit(after)) || (c | 32) == 'e')) {
      const std::string copy(text_.substr(start, 64));
      char* end = nullptr;
      const double real = std::strtod(copy.c_str(), &end);
      position_ = start + static_cast<std::size_t>(end - copy.c_str());
      token_.kind = Token::Kind::real64;
      token_.value = std::bit_cast<std::int64_t>(real);
    } else {
      if ((c | 32) == 'u') ++position_;
      token_.kind = Token::Kind::integer;
      token_.value = static_cast<std::int64_t>(value);
    }
  }
  token_.text = text_.substr(start, position_ - start);
}

void Lexer::advance() {
  const bool blank = skip_blanks();
  token_ = Token{};
  token_.glued = !blank;
  token_.line = line_;
  token_.column = static_cast<int>(position_ - line_start_) + 1;
  if (position_ >= text_.size()) return;
  const std::size_t start = position_;
  const char c = text_[start];
  token_.text = text_.substr(start, 1);
  if (starts_word(c)) {
    while (position_ < text_.size() && in_word(text_[position_])) ++position_;
    token_.kind = Token::Kind::word;
    token_.text = text_.substr(start, position_ - start);
  } else if (is_digit(c)) {
    read_number();
  } else if (c == '.' && start + 1 < text_.size() && (in_word(text_[start + 1]))) {
    ++position_;
    while (position_ < text_.size() &&
           (in_word(text_[position_]) || text_.substr(position_, 2) == "::")) {
      position_ += text_[position_] == ':' ? 2 : 1;
    }
    token_.kind = Token::Kind::dot_word;
    token_.text = text_.substr(start + 1, position_ - start - 1);
  } else if (c == '"') {
    ++position_;
    while (position_ < text_.size() && text_[position_] != '"' && text_[position_] != '\n') {
      position_ += text_[position_] == '\\' ? 2 : 1;
    }
    position_ = std::min(position_, text_.size());
    if (position_ >= text_.size() || text_[position_] != '"') fail("string without an end");
    token_.kind = Token::Kind::string;
    token_.text = text_.substr(start + 1, position_ - start - 1);
    ++position_;
  } else {
    token_.kind = Token::Kind::punctuation;
    ++position_;
  }
}

}  // namespace cudasim
