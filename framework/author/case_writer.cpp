#include "author/case_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "author/weakness.hpp"
#include "cases/check.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using storage::Json;

constexpr int kRounds = 4;
constexpr size_t kPerRound = 6;
constexpr int kAnswerTokens = 400;

/// The JSON objects that stand at the outermost level of a text, or in its outermost list: what
/// is left when an answer was cut off, too.
std::vector<Json> objects_in(const std::string& text) {
  std::vector<Json> found;
  for (size_t at = text.find('{'); at != std::string::npos;) {
    int depth = 0;
    bool quoted = false;
    size_t end = at;
    for (; end < text.size(); ++end) {
      const char c = text[end];
      if (quoted) {
        if (c == '\\')
          ++end;
        else if (c == '"')
          quoted = false;
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{') {
        ++depth;
      } else if (c == '}' && --depth == 0) {
        break;
      }
    }
    if (end < text.size()) {
      Json object = Json::parse(text.substr(at, end + 1 - at), nullptr, false);
      if (!object.is_discarded()) {
        found.push_back(std::move(object));
        at = text.find('{', end);
        continue;
      }
    }
    at = text.find('{', at + 1);  // cut off, or no JSON: what is within may still be
  }
  return found;
}

std::string id_for(const std::string& prompt, const std::set<std::string>& taken) {
  const std::string base = name_for(prompt);
  std::string id = base;
  for (int n = 2; taken.count(id) > 0; ++n) id = base + "-" + std::to_string(n);
  return id;
}

bool solved(const cases::Case& c, const std::string& answer) {
  const auto checks = cases::check_text(c.expect, answer);
  return std::all_of(checks.begin(), checks.end(), [](const auto& check) { return check.passed; });
}

std::string request_for(const Material& material, const CaseSetReport& so_far, size_t count) {
  std::string text = "The task: " + material.task + "\n";
  for (const auto& example : material.examples)
    text += "Example of what is asked: " + example + "\n";
  if (!material.notes.empty()) text += "\nNotes about it:\n" + material.notes + "\n";
  text += fmt::format(
      "\nWrite {} questions that test whether a model can do this task, each with a check that a "
      "right answer passes and a wrong one fails. A check is one of: \"contains\" (texts that the "
      "answer must hold), \"number\" ({{\"value\", \"tolerance\"}}). The question must not hold "
      "the answer. Answer with JSON only, by this schema:\n{}\n",
      count, case_schema().dump());
  if (!so_far.cases.empty()) {
    text += "Do not ask again:\n";
    for (const auto& one : so_far.cases) text += "- " + one.c.prompt + "\n";
  }
  return text;
}

}  // namespace

Json case_schema() {
  // All members are required and no others allowed, as services that enforce schemas want it.
  const auto object = [](const Json& properties) {
    Json required = Json::array();
    for (const auto& [key, unused] : properties.items()) required.push_back(key);
    return Json{{"type", "object"},
                {"properties", properties},
                {"required", required},
                {"additionalProperties", false}};
  };
  const Json text = {{"type", "string"}};
  const Json amount = {{"type", "number"}};
  const Json texts = {{"type", "array"}, {"items", text}, {"minItems", 1}};
  const Json expect = {
      {"anyOf",
       {object({{"contains", texts}}),
        object({{"number", object({{"value", amount}, {"tolerance", amount}})}})}}};
  const Json one = object({{"prompt", text}, {"expect", expect}});
  return object({{"cases", {{"type", "array"}, {"items", one}}}});
}

CaseSetReport read_proposals(const std::string& answer, const fs::path& folder) {
  CaseSetReport report;
  std::vector<Json> proposals;
  for (auto& object : objects_in(answer)) {
    const auto list = object.find("cases");
    if (list != object.end() && list->is_array())
      for (auto& one : *list) proposals.push_back(std::move(one));
    else
      proposals.push_back(std::move(object));
  }
  if (proposals.empty()) report.rejected.push_back({"", "the answer holds no JSON object"});
  std::set<std::string> taken;
  const fs::path file = folder / "proposal.json";
  for (auto& one : proposals) {
    const bool asks = one.is_object() && one.contains("prompt") && one["prompt"].is_string();
    const std::string prompt = asks ? one["prompt"].get<std::string>() : "";
    if (asks) {
      one["id"] = id_for(prompt, taken);
      // A kernel is judged by a suite; here there is none.
      if (one.contains("expect") && one["expect"].is_object()) one["expect"].erase("kernel");
    }
    storage::write_json(file, one);
    auto set = cases::load_cases({file});
    if (set.has_errors() || set.cases.size() != 1) {
      report.rejected.push_back(
          {prompt, set.diagnostics.empty() ? "not one case" : set.diagnostics[0].message});
      continue;
    }
    taken.insert(set.cases[0].id);
    report.cases.push_back({std::move(one), std::move(set.cases[0])});
  }
  fs::remove(file);
  return report;
}

void vet(CaseSetReport proposals, CaseSetReport& report) {
  report.rejected.insert(report.rejected.end(), proposals.rejected.begin(),
                         proposals.rejected.end());
  std::set<std::string> taken;
  std::vector<cases::Case> known;
  for (const auto& one : report.cases) {
    taken.insert(one.c.id);
    known.push_back(one.c);
  }
  for (auto& one : proposals.cases) {
    if (const auto weak = weaknesses_of(one.c); !weak.empty()) {
      report.rejected.push_back({one.c.prompt, weak.front().reason});
      continue;
    }
    known.push_back(one.c);
    if (!duplicates_in(known).empty()) {
      report.rejected.push_back({one.c.prompt, "it is asked already"});
      known.pop_back();
      continue;
    }
    const std::string id = id_for(one.c.prompt, taken);
    one.json["id"] = id;
    one.c.id = id;
    taken.insert(id);
    report.cases.push_back(std::move(one));
  }
}

CaseSetReport write_cases(Writer& writer, const Material& material, const skill::Skill& skill,
                          size_t wanted, const fs::path& folder,
                          const std::function<void(const std::string&)>& progress) {
  CaseSetReport report;
  for (int round = 0; round < kRounds && report.cases.size() < wanted; ++round) {
    const size_t count = std::min(wanted - report.cases.size() + 1, kPerRound);
    const auto answer =
        writer.write({"You write test questions. You answer with JSON only.",
                      request_for(material, report, count), 1200, 1L + round, case_schema()});
    if (!answer) break;
    const size_t before = report.cases.size();
    vet(read_proposals(*answer, folder), report);
    for (size_t i = before; i < report.cases.size();) {
      const auto& c = report.cases[i].c;
      const auto tried =
          writer.write({skill::system_text(&skill), cases::prompt_text(c), kAnswerTokens, 1});
      if (tried && solved(c, *tried)) {
        ++i;
        continue;
      }
      report.rejected.push_back(
          {c.prompt, tried ? "the author model itself does not solve it, with the skill"
                           : "the budget is used up"});
      report.cases.erase(report.cases.begin() + static_cast<long>(i));
    }
    if (report.cases.size() > wanted)
      report.cases.erase(report.cases.begin() + static_cast<long>(wanted), report.cases.end());
    if (progress)
      progress(fmt::format("cases, round {}: {} of {} good, {} turned down", round + 1,
                           report.cases.size(), wanted, report.rejected.size()));
  }
  return report;
}

}  // namespace hone::author
