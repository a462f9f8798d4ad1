#include "cases/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>

namespace hone::cases {
namespace {

constexpr size_t kMaxRegexText = 32 << 10;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

/// One printable line of at most `limit` bytes, cut at a character's border.
std::string shown(std::string_view text, size_t limit = 60) {
  std::string out;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    const char printable = byte < 0x20 || byte == 0x7f ? ' ' : c;
    if (printable == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += printable;
  }
  if (text.size() > limit) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0) out.pop_back();
    out += "…";
  }
  return out;
}

std::string answer_begins(std::string_view answer) {
  const std::string line = shown(answer, 80);
  return line.empty() ? "the answer is empty" : "the answer begins: " + line;
}

std::string around(std::string_view answer, size_t at, size_t length) {
  size_t from = at > 20 ? at - 20 : 0;
  while (from > 0 && (static_cast<unsigned char>(answer[from]) & 0xC0) == 0x80) --from;
  return "found in: " + shown(answer.substr(from, at - from + length + 20), 100);
}

/// The states of this matcher grow with the pattern only, so no pattern takes exponential time or
/// deep recursion; back references are what it cannot do.
std::regex compile(std::string_view pattern, bool icase) {
  auto flags = std::regex::ECMAScript | std::regex::nosubs;
#ifdef __GLIBCXX__
  flags |= std::regex_constants::__polynomial;
#endif
  if (icase) flags |= std::regex::icase;
  return std::regex(pattern.begin(), pattern.end(), flags);
}

/// Whether the pattern matches somewhere. Matches the whole text with anything around the pattern:
/// one pass, where a search would begin anew at each character. Throws std::regex_error.
bool found_in(std::string_view text, std::string_view pattern) {
  const bool icase = pattern.starts_with("(?i)");
  if (icase) pattern.remove_prefix(4);
  compile(pattern, icase);  // valid by itself, not only between the parentheses
  const std::string whole = "[\\s\\S]*(?:" + std::string(pattern) + ")[\\s\\S]*";
  return std::regex_match(text.begin(), text.end(), compile(whole, icase));
}

CheckResult check_contains(const std::string& wanted, std::string_view answer,
                           const std::string& folded) {
  const bool found = folded.find(lower(wanted)) != std::string::npos;
  return {"contains: " + shown(wanted), found, found ? "" : answer_begins(answer)};
}

CheckResult check_contains_any(const std::vector<std::string>& wanted, std::string_view answer,
                               const std::string& folded) {
  std::string list;
  bool found = false;
  for (const auto& one : wanted) {
    list += (list.empty() ? "" : " | ") + shown(one, 30);
    found = found || folded.find(lower(one)) != std::string::npos;
  }
  return {"contains any: " + list, found, found ? "" : answer_begins(answer)};
}

CheckResult check_not_contains(const std::string& unwanted, std::string_view answer,
                               const std::string& folded) {
  const size_t at = folded.find(lower(unwanted));
  const bool absent = at == std::string::npos;
  return {"not contains: " + shown(unwanted), absent,
          absent ? "" : around(answer, at, unwanted.size())};
}

CheckResult check_matches(const std::string& pattern, std::string_view answer) {
  CheckResult result{"matches: " + shown(pattern), false, ""};
  const std::string_view text = answer.substr(0, kMaxRegexText);
  try {
    result.passed = found_in(text, pattern);
    if (!result.passed) result.evidence = answer_begins(answer);
    if (!result.passed && answer.size() > text.size())
      result.evidence += fmt::format(" (only its first {} bytes were searched)", kMaxRegexText);
  } catch (const std::regex_error& e) {
    result.evidence = std::string("the pattern cannot be used: ") + e.what();
  }
  return result;
}

CheckResult check_number(const ExpectedNumber& wanted, std::string_view answer) {
  CheckResult result;
  result.name = wanted.tolerance == 0
                    ? fmt::format("number: {}", wanted.value)
                    : fmt::format("number: {} ± {}", wanted.value, wanted.tolerance);
  const auto found = numbers_in(answer);
  const double slack = wanted.tolerance + 1e-12 * std::abs(wanted.value);
  for (const double x : found) result.passed = result.passed || std::abs(x - wanted.value) <= slack;
  if (result.passed) return result;
  if (found.empty()) {
    result.evidence = "no number in the answer; " + answer_begins(answer);
    return result;
  }
  result.evidence = "numbers in the answer:";
  for (size_t i = 0; i < std::min<size_t>(found.size(), 8); ++i)
    result.evidence += fmt::format(" {}", found[i]);
  if (found.size() > 8) result.evidence += " …";
  return result;
}

/// Length of the run of digits at `at`.
size_t digits(std::string_view text, size_t at) {
  size_t n = 0;
  while (at + n < text.size() && is_digit(text[at + n])) ++n;
  return n;
}

/// Reads the number that starts at `at` (a digit, or a point before one) and moves `at` past it.
double read_number(std::string_view text, size_t& at) {
  const size_t whole = digits(text, at);
  if (whole == 1 && text[at] == '0' && at + 2 < text.size() && lower(text[at + 1]) == 'x' &&
      std::isxdigit(static_cast<unsigned char>(text[at + 2])) != 0) {
    size_t end = at + 2;
    while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    const std::string hex(text.substr(at, end - at));
    at = end;
    return static_cast<double>(std::strtoull(hex.c_str(), nullptr, 16));
  }
  std::string plain(text.substr(at, whole));
  at += whole;
  if (whole >= 1 && whole <= 3) {  // 1,024 and 1'024
    const char mark = at < text.size() ? text[at] : '\0';
    while ((mark == ',' || mark == '\'') && at < text.size() && text[at] == mark &&
           digits(text, at + 1) == 3) {
      plain += text.substr(at + 1, 3);
      at += 4;
    }
  }
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    const size_t n = digits(text, at + 1);
    plain += text.substr(at, n + 1);
    at += n + 1;
  }
  if (at < text.size() && lower(text[at]) == 'e') {
    size_t exponent = at + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    if (const size_t n = digits(text, exponent); n > 0 && n <= 4) {
      plain += text.substr(at, exponent + n - at);
      at = exponent + n;
    }
  }
  return std::strtod(plain.c_str(), nullptr);
}

}  // namespace

std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> found;
  for (size_t at = 0; at < text.size();) {
    const bool starts =
        is_digit(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]));
    if (!starts) {
      ++at;
      continue;
    }
    const char before = at > 0 ? text[at - 1] : ' ';
    const char before_that = at > 1 ? text[at - 2] : ' ';
    const bool emphasis = before == '_' && !is_word(before_that);
    if (is_word(before) && !emphasis) {  // sm_90, H100: the whole word is none
      while (at < text.size() && (is_word(text[at]) || text[at] == '.')) ++at;
      continue;
    }
    const bool negative = before == '-' && !is_word(before_that) && before_that != '-';
    const double value = read_number(text, at);
    // A further ".1" makes it a version or an address.
    const bool dotted = at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1]);
    if (dotted) {
      while (at < text.size() && (is_digit(text[at]) || text[at] == '.')) ++at;
      continue;
    }
    while (at < text.size() && is_word(text[at])) ++at;  // a unit: 228KB
    if (std::isfinite(value)) found.push_back(negative ? -value : value);
  }
  return found;
}

std::string regex_error(const std::string& pattern) {
  try {
    found_in("", pattern);
    return "";
  } catch (const std::regex_error& e) {
    return e.what();
  }
}

std::vector<CheckResult> check_text(const Expect& expect, std::string_view answer) {
  const std::string folded = lower(answer);
  std::vector<CheckResult> results;
  for (const auto& wanted : expect.contains)
    results.push_back(check_contains(wanted, answer, folded));
  if (!expect.contains_any.empty())
    results.push_back(check_contains_any(expect.contains_any, answer, folded));
  for (const auto& unwanted : expect.not_contains)
    results.push_back(check_not_contains(unwanted, answer, folded));
  for (const auto& pattern : expect.matches) results.push_back(check_matches(pattern, answer));
  if (expect.number) results.push_back(check_number(*expect.number, answer));
  return results;
}

}  // namespace hone::cases
