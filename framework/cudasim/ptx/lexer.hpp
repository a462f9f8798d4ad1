#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cudasim {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    word,        ///< identifier, register or label: letters, digits, _ $ %
    dot_word,    ///< .word, with :: parts; text is without the dot
    integer,     ///< value
    real32,      ///< value holds the bits
    real64,      ///< value holds the bits
    string,      ///< text without quotes
    punctuation  ///< one character
  };
  Kind kind = Kind::end;
  std::string_view text;
  std::int64_t value = 0;
  int line = 1;
  int column = 1;
  bool glued = false;  ///< no blank before it

  bool is(char c) const { return kind == Kind::punctuation && text[0] == c; }
  bool is_word(std::string_view word) const { return kind == Kind::word && text == word; }
  bool is_dot(std::string_view word) const { return kind == Kind::dot_word && text == word; }
};

/// Splits PTX text into tokens, one ahead. Throws ParseError.
class Lexer {
 public:
  explicit Lexer(std::string_view text);
  const Token& peek() const { return token_; }
  /// The current token; moves on.
  Token next();
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] static void fail_at(const Token& token, const std::string& message);
  /// Consumes `c` or fails naming it.
  void expect(char c);
  /// Consumes `c` when it is next.
  bool accept(char c);
  /// Text from a token's start up to the current token.
  std::string_view text_from(const Token& first) const;

 private:
  void advance();
  bool skip_blanks();
  void read_number();
  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  Token token_;
};

}  // namespace cudasim
