#include "author/weakness.hpp"

#include <algorithm>
#include <set>

#include "cases/check.hpp"

namespace hone::author {
namespace {

constexpr size_t kLeastText = 3;
constexpr double kSameWords = 0.9;

bool passes(const cases::Expect& expect, std::string_view answer) {
  const auto checks = cases::check_text(expect, answer);
  return std::all_of(checks.begin(), checks.end(), [](const auto& c) { return c.passed; });
}

/// Whether some check asks for more than the presence of a one- or two-character text.
bool has_a_strong_check(const cases::Expect& expect) {
  const auto strong = [](const std::string& text) { return text.size() >= kLeastText; };
  const bool any_of = !expect.contains_any.empty() &&
                      std::all_of(expect.contains_any.begin(), expect.contains_any.end(), strong);
  return expect.number || !expect.matches.empty() || any_of ||
         std::any_of(expect.contains.begin(), expect.contains.end(), strong);
}

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : std::string(text) + ' ') {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      words.insert(word);
      word.clear();
    }
  }
  return words;
}

double likeness(const std::set<std::string>& a, const std::set<std::string>& b) {
  size_t both = 0;
  for (const auto& word : a) both += b.count(word);
  const size_t all = a.size() + b.size() - both;
  return all == 0 ? 1 : static_cast<double>(both) / static_cast<double>(all);
}

}  // namespace

std::vector<Weakness> weaknesses_of(const cases::Case& c) {
  if (c.expect.kernel) return {};
  for (const char* null : {"", "I don't know.", "Sorry, I cannot help with that."})
    if (passes(c.expect, null))
      return {{"weak-case", *null == '\0'
                                ? std::string("an empty answer passes its checks")
                                : "the answer \"" + std::string(null) + "\" passes its checks"}};
  std::vector<Weakness> found;
  if (passes(c.expect, cases::prompt_text(c)))
    found.push_back({"prompt-leak", "a copy of the question passes its checks"});
  if (!has_a_strong_check(c.expect))
    found.push_back(
        {"weak-case", "its checks hang on fewer than 3 characters, which most answers hold"});
  return found;
}

std::vector<Duplicate> duplicates_in(const std::vector<cases::Case>& cases) {
  std::vector<Duplicate> found;
  std::vector<std::set<std::string>> words;
  for (const auto& c : cases) words.push_back(words_of(cases::prompt_text(c)));
  for (size_t i = 0; i < cases.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (cases[i].suite == cases[j].suite && likeness(words[i], words[j]) >= kSameWords) {
        found.push_back({i, j});
        break;
      }
  return found;
}

}  // namespace hone::author
