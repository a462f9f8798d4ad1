#include "cases/case.hpp"

#include <algorithm>
#include <map>

#include "cases/case_reader.hpp"
#include "storage/storage.hpp"

namespace hone::cases {
namespace {

std::string digest_of(const Case& c) {
  storage::Json context = storage::Json::array();
  for (const auto& file : c.context) context.push_back({file.name, file.text});
  storage::Json number = nullptr;
  if (c.expect.number) number = {c.expect.number->value, c.expect.number->tolerance};
  storage::Json all = {{"prompt", c.prompt},
                       {"context", context},
                       {"suite", c.suite},
                       {"contains", c.expect.contains},
                       {"contains_any", c.expect.contains_any},
                       {"not_contains", c.expect.not_contains},
                       {"matches", c.expect.matches},
                       {"number", number},
                       {"kernel", c.expect.kernel},
                       {"max_tokens", c.max_tokens.value_or(0)}};
  // Only where they are given: the digest of a case without them stays what it was.
  if (!c.expect.forbid.empty()) all["forbid"] = c.expect.forbid;
  if (c.turns != 1) all["turns"] = c.turns;
  return storage::sha256(all.dump(-1, ' ', false, storage::Json::error_handler_t::replace));
}

/// A run of backquotes longer than any in the text.
std::string fence_for(const std::string& text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max<size_t>(3, longest + 1), '`');
}

}  // namespace

bool CaseSet::has_errors() const {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return !d.warning; });
}

CaseSet load_cases(const std::vector<std::filesystem::path>& files, const CaseOptions& options) {
  CaseSet set;
  std::vector<Case> found;
  for (const auto& file : files) read_case_file(file, options, found, set.diagnostics);

  std::map<std::string, Location> first;
  for (auto& c : found) {
    const auto [it, is_new] = first.emplace(c.id, c.where);
    if (!is_new) {
      set.diagnostics.push_back(
          {c.where, "a second case '" + c.id + "'; the first is at " + it->second.str(), "",
           false});
      continue;
    }
    c.digest = digest_of(c);
    set.cases.push_back(std::move(c));
  }
  if (files.empty()) set.diagnostics.push_back({{}, "no case files", "", false});
  return set;
}

std::string prompt_text(const Case& c, const std::vector<ContextFile>& extra) {
  std::string text = c.prompt;
  const auto add = [&](const ContextFile& file) {
    const std::string fence = fence_for(file.text);
    text += "\n\nFile `" + file.name + "`:\n" + fence + "\n" + file.text;
    if (!file.text.empty() && file.text.back() != '\n') text += '\n';
    text += fence;
  };
  for (const auto& file : c.context) add(file);
  for (const auto& file : extra) add(file);
  return text;
}

}  // namespace hone::cases
