#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/clean_text.hpp"
#include "report/writers.hpp"

namespace hone::report {
namespace {

using storage::Json;

struct Rule {
  const char* id;
  const char* text;
};

constexpr std::array kRules = {
    Rule{"compile-error", "nvcc rejects the answer"},
    Rule{"memory-fault", "a kernel reads or writes outside its memory, or reads what nobody wrote"},
    Rule{"race", "threads access one location without order, one of them writing"},
    Rule{"sync-fault", "a barrier is used where not all threads reach it"},
    Rule{"launch-error", "a kernel cannot be launched as the answer asks"}};

Json location(const Trial& t) {
  const std::string file = t.error_file.empty() ? "kernel.cu" : t.error_file;
  Json place = {{"artifactLocation",
                 {{"uri", clean_line(t.folder, 500) + "/answer/" + file}, {"uriBaseId", "RUNS"}}}};
  if (t.error_line > 0) place["region"] = {{"startLine", t.error_line}};
  return {{"physicalLocation", std::move(place)}};
}

}  // namespace

std::string write_sarif(const Results& results) {
  Json rules = Json::array(), found = Json::array();
  for (const auto& rule : kRules)
    rules.push_back({{"id", rule.id}, {"shortDescription", {{"text", rule.text}}}});
  std::string run_dir;
  for (const auto& e : results.evaluations) {
    run_dir = e.input.run_dir.string();
    for (const auto& t : e.trials) {
      const auto rule = std::find_if(kRules.begin(), kRules.end(),
                                     [&](const Rule& r) { return r.id == t.outcome; });
      if (rule == kRules.end()) continue;
      found.push_back(
          {{"ruleId", rule->id},
           {"ruleIndex", rule - kRules.begin()},
           {"level", t.arm == stats::Arm::with_skill ? "error" : "note"},
           {"message",
            {{"text", fmt::format("{}, {}, run {}: {}", t.case_id, stats::arm_name(t.arm), t.run,
                                  t.evidence.empty() ? t.outcome : t.evidence)}}},
           {"locations", Json::array({location(t)})},
           {"partialFingerprints",
            {{"trial/v1", storage::sha256(t.folder + "|" + t.outcome).substr(7, 32)}}}});
    }
  }
  Json run = {
      {"tool",
       {{"driver",
         {{"name", "Hone"},
          {"version",
           results.environment.hone_version.empty() ? "0" : results.environment.hone_version},
          {"rules", std::move(rules)}}}}},
      {"columnKind", "utf16CodeUnits"},
      {"results", std::move(found)}};
  if (!run_dir.empty())
    run["originalUriBaseIds"] = {
        {"RUNS", {{"description", {{"text", "the run folder, " + clean_line(run_dir, 500)}}}}}};
  return clean_json({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", Json::array({std::move(run)})}})
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace hone::report
