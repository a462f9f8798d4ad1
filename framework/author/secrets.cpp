#include "author/secrets.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace hone::author {
namespace {

constexpr std::string_view kMark = "[redacted]";
constexpr size_t kLeastValue = 6;

struct Prefix {
  std::string_view text;
  size_t least;  ///< characters that must follow
};

constexpr std::array<Prefix, 21> kPrefixes = {{
    {"sk-", 16},  {"sk_live_", 10}, {"sk_test_", 10}, {"rk_live_", 10},    {"ghp_", 20},
    {"gho_", 20}, {"ghs_", 20},     {"ghu_", 20},     {"github_pat_", 20}, {"glpat-", 16},
    {"hf_", 20},  {"xoxb-", 10},    {"xoxp-", 10},    {"AKIA", 16},        {"ASIA", 16},
    {"AIza", 30}, {"nvapi-", 20},   {"npm_", 30},     {"pypi-", 30},       {"gsk_", 20},
    {"eyJ", 30},
}};

bool is_token(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

bool names_a_secret(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kEndings = {
      "APIKEY", "API_KEY", "API-KEY",  "ACCESS_KEY", "SECRET_KEY",
      "TOKEN",  "SECRET",  "PASSWORD", "PASSWD",     "CREDENTIAL"};
  const std::string capital = upper(name);
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return capital.ends_with(ending); });
}

/// A stretch of the text.
struct Span {
  size_t begin = 0, end = 0;
};

void known_prefixes(const std::string& text, std::vector<Span>& out) {
  for (const auto& prefix : kPrefixes)
    for (size_t at = text.find(prefix.text); at != std::string::npos;
         at = text.find(prefix.text, at + 1)) {
      if (at > 0 && is_word(text[at - 1])) continue;
      size_t end = at + prefix.text.size();
      while (end < text.size() && is_token(text[end])) ++end;
      while (end > at && text[end - 1] == '.') --end;
      if (end - at >= prefix.text.size() + prefix.least) out.push_back({at, end});
    }
}

void private_keys(const std::string& text, std::vector<Span>& out) {
  constexpr std::string_view kEnd = "PRIVATE KEY-----";
  for (size_t at = text.find("-----BEGIN "); at != std::string::npos;
       at = text.find("-----BEGIN ", at + 1)) {
    const size_t head = text.find(kEnd, at);
    if (head == std::string::npos || head - at > 40) continue;
    const size_t tail = text.find(kEnd, head + kEnd.size());
    out.push_back({at, tail == std::string::npos ? text.size() : tail + kEnd.size()});
  }
}

void bearers(const std::string& text, std::vector<Span>& out) {
  const std::string capital = upper(text);
  for (const std::string_view word : {"BEARER ", "BASIC "})
    for (size_t at = capital.find(word); at != std::string::npos; at = capital.find(word, at + 1)) {
      const size_t begin = at + word.size();
      size_t end = begin;
      while (end < text.size() && (is_token(text[end]) || text[end] == '+' || text[end] == '/' ||
                                   text[end] == '=' || text[end] == '~'))
        ++end;
      if (end - begin >= 16) out.push_back({begin, end});
    }
}

/// scheme://user:password@host
void url_passwords(const std::string& text, std::vector<Span>& out) {
  for (size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 1)) {
    const size_t end = std::min(text.find_first_of(" \t\r\n\"'`<>/", at + 3), text.size());
    const size_t host = text.find('@', at + 3);
    const size_t colon = text.find(':', at + 3);
    if (host < end && colon < host && host - colon > 1) out.push_back({colon + 1, host});
  }
}

/// NAME=value, "name": "value", name: value; the value to the end of its quotes or word.
void assignments(const std::string& text, std::vector<Span>& out) {
  for (size_t at = text.find_first_of("=:"); at != std::string::npos;
       at = text.find_first_of("=:", at + 1)) {
    size_t name_end = at;
    while (name_end > 0 && (text[name_end - 1] == ' ' || text[name_end - 1] == '"' ||
                            text[name_end - 1] == '\'' || text[name_end - 1] == '\\'))
      --name_end;
    size_t name_begin = name_end;
    while (name_begin > 0 && (is_word(text[name_begin - 1]) || text[name_begin - 1] == '-'))
      --name_begin;
    if (!names_a_secret(std::string_view(text).substr(name_begin, name_end - name_begin))) continue;
    size_t begin = at + 1;
    while (begin < text.size() && (text[begin] == ' ' || text[begin] == '\\')) ++begin;
    size_t end = 0;
    if (begin < text.size() && (text[begin] == '"' || text[begin] == '\'')) {
      ++begin;
      end = std::min(text.find_first_of("\"'\n", begin), text.size());
      while (end > begin && text[end - 1] == '\\') --end;
    } else {
      end = std::min(text.find_first_of(" \t\r\n\"'`,;)}&\\", begin), text.size());
    }
    const std::string_view value = std::string_view(text).substr(begin, end - begin);
    const bool code = value.find_first_of("$(<{[") != std::string_view::npos;  // names no value
    const bool number = value.find_first_not_of("0123456789.") == std::string_view::npos;
    if (value.size() >= kLeastValue && !code && !number) out.push_back({begin, end});
  }
}

void own_environment(const std::string& text, std::vector<Span>& out) {
  for (char** variable = ::environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view entry = *variable;
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos || !names_a_secret(entry.substr(0, equals))) continue;
    const std::string_view value = entry.substr(equals + 1);
    if (value.size() < 8) continue;
    for (size_t at = text.find(value); at != std::string::npos; at = text.find(value, at + 1))
      out.push_back({at, at + value.size()});
  }
}

}  // namespace

size_t redact(std::string& text) {
  std::vector<Span> spans;
  for (const auto find :
       {known_prefixes, private_keys, bearers, url_passwords, assignments, own_environment})
    find(text, spans);
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::string out;
  size_t count = 0;
  size_t done = 0;  ///< of the text
  for (const auto& span : spans) {
    if (span.end <= done) continue;
    if (span.begin >= done) {
      out.append(text, done, span.begin - done).append(kMark);
      ++count;
    }
    done = span.end;
  }
  out.append(text, std::min(done, text.size()), std::string::npos);
  text = std::move(out);
  return count;
}

}  // namespace hone::author
