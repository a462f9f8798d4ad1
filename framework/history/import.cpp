#include "history/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/clean_text.hpp"

namespace hone::history {
namespace {

namespace fs = std::filesystem;
using storage::Json;

[[noreturn]] void fail(const fs::path& path, const std::string& message, const std::string& hint) {
  throw Error(Exit::bad_input, {Diagnostic{{path.string(), 0, 0}, message, hint}});
}

std::string text(const Json& in, const char* key) {
  const auto found = in.find(key);
  if (found == in.end()) return "";
  if (found->is_string()) return report::clean_line(found->get<std::string>(), 200);
  return found->is_number_integer() ? std::to_string(found->get<long long>()) : "";
}

double real(const Json& in, const char* key) {
  const auto found = in.find(key);
  return found != in.end() && found->is_number() ? found->get<double>() : 0;
}

const Json& object(const fs::path& file, const Json& in, const char* key) {
  const auto found = in.find(key);
  if (found == in.end() || !found->is_object())
    fail(file, fmt::format("'{}' should be an object", key), "");
  return *found;
}

/// A mean that is fed value by value; nothing when it got none.
struct Mean {
  double sum = 0;
  int n = 0;
  void add(double value) {
    sum += value;
    ++n;
  }
  std::optional<double> value() const { return n > 0 ? std::optional(sum / n) : std::nullopt; }
};

/// "2026-01-22T13:10:45.370438" and the like as "2026-01-22T13:10:45Z".
std::string iso(const std::string& time) {
  return time.size() >= 19 ? time.substr(0, 19) + "Z" : time;
}

/// The run folders run_N of a batch, in the order of N.
std::vector<fs::path> runs_of_batch(const fs::path& batch) {
  std::vector<fs::path> runs;
  for (const auto& entry : fs::directory_iterator(batch))
    if (entry.is_directory() && entry.path().filename().string().starts_with("run_"))
      runs.push_back(entry.path());
  const auto number = [](const fs::path& p) { return std::atoi(p.filename().c_str() + 4); };
  std::sort(runs.begin(), runs.end(),
            [&](const fs::path& a, const fs::path& b) { return number(a) < number(b); });
  return runs;
}

struct UpskillArm {
  ArmNumbers numbers;
  Mean input, output;
};

struct UpskillBatch {
  Snapshot snapshot;
  UpskillArm with, without;
};

void add_upskill_run(const fs::path& file, std::map<std::string, UpskillBatch>& models,
                     const std::string& batch_name) {
  const Json run = storage::read_json(file);
  if (!run.is_object()) fail(file, "a run result should be an object", "");
  const Json& metadata = object(file, run, "metadata");
  const std::string model = text(metadata, "model");
  auto& batch = models[model];
  auto& from = batch.snapshot.from;
  from.source = "upskill";
  from.model = from.model_id = model;
  from.evaluation = text(run, "skill_name").empty() ? batch_name : text(run, "skill_name");
  from.skill = text(run, "skill_name");
  from.time = std::max(from.time, iso(text(metadata, "timestamp")));
  if (batch.snapshot.cases.empty()) {
    batch.snapshot.cases.emplace_back();
    batch.snapshot.cases.back().name = text(metadata, "task");
  }
  auto& arm = text(run, "run_type") == "baseline" ? batch.without : batch.with;
  const int passed = static_cast<int>(real(run, "assertions_passed"));
  const int total = static_cast<int>(real(run, "assertions_total"));
  if (!text(run, "error_message").empty() || total <= 0) {
    ++arm.numbers.infrastructure_errors;
    return;
  }
  if (passed < 0 || passed > total)
    fail(file, fmt::format("assertions_passed is {} of {}", passed, total), "at most the total");
  arm.numbers.tally += {passed, total};
  const Json& stats = object(file, run, "stats");
  // The file counts all cases of the run together.
  if (real(stats, "input_tokens") > 0) arm.input.add(real(stats, "input_tokens") / total);
  if (real(stats, "output_tokens") > 0) arm.output.add(real(stats, "output_tokens") / total);
}

void import_batch(const fs::path& batch, Imported& imported) {
  std::map<std::string, UpskillBatch> models;
  for (const auto& run : runs_of_batch(batch)) {
    const fs::path file = run / "run_result.json";
    try {
      if (!fs::exists(file)) fail(run, "no run_result.json: the run did not end", "left out");
      add_upskill_run(file, models, batch.filename().string());
    } catch (const Error& e) {
      for (Diagnostic d : e.diagnostics()) {
        d.warning = true;
        imported.problems.push_back(std::move(d));
      }
      if (e.diagnostics().empty()) imported.problems.push_back({{}, e.what(), "", true});
    }
  }
  for (auto& [name, b] : models) {
    auto& c = b.snapshot.cases.front();
    for (auto [arm, numbers] :
         {std::pair{&b.with, &c.with_skill}, std::pair{&b.without, &c.without_skill}}) {
      *numbers = arm->numbers;
      numbers->input_tokens = arm->input.value();
      numbers->output_tokens = arm->output.value();
    }
    b.snapshot.runs = std::max(c.with_skill.tally.n, c.without_skill.tally.n);
    imported.snapshots.push_back(std::move(b.snapshot));
  }
}

struct CreatorCase {
  CaseNumbers numbers;
  Mean tokens[2];
};

}  // namespace

Imported import_upskill(const fs::path& folder) {
  Imported imported;
  if (!runs_of_batch(folder).empty()) {
    import_batch(folder, imported);
  } else {
    std::vector<fs::path> batches;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_directory()) batches.push_back(entry.path());
    std::sort(batches.begin(), batches.end());
    for (const auto& batch : batches) import_batch(batch, imported);
  }
  if (imported.snapshots.empty() && imported.problems.empty())
    fail(folder, "no run of upskill in this folder", "runs/<stamp>/run_N/run_result.json");
  return imported;
}

Imported import_skill_creator(const fs::path& file) {
  const Json json = storage::read_json(file);
  if (!json.is_object() || !json.contains("runs") || !json["runs"].is_array())
    fail(file, "'runs' should be a list", "benchmark.json of skill-creator");
  const Json& metadata = object(file, json, "metadata");
  Snapshot s;
  s.from.source = "skill-creator";
  s.from.evaluation = s.from.skill = text(metadata, "skill_name");
  s.from.model = s.from.model_id = text(metadata, "executor_model");
  s.from.time = iso(text(metadata, "timestamp"));
  std::map<std::string, size_t> known;
  std::vector<CreatorCase> cases;
  for (size_t i = 0; i < json["runs"].size(); ++i) {
    const Json& run = json["runs"][i];
    const std::string at = fmt::format("runs[{}]", i);
    if (!run.is_object() || !run.contains("result") || !run["result"].is_object())
      fail(file, at + ".result should be an object", "");
    const Json& result = run["result"];
    const std::string id = text(run, "eval_id"), name = text(run, "eval_name");
    const auto [found, fresh] = known.emplace(id, cases.size());
    if (fresh) {
      cases.emplace_back();
      cases.back().numbers.name = name.empty() ? "eval-" + id : name;
    }
    const std::string configuration = text(run, "configuration");
    const bool with = configuration == "with_skill" || configuration == "new_skill";
    auto& c = cases[found->second];
    auto& arm = with ? c.numbers.with_skill : c.numbers.without_skill;
    if (real(result, "total") <= 0 && real(result, "errors") > 0) {
      ++arm.infrastructure_errors;
      continue;
    }
    arm.tally += {real(result, "pass_rate") >= 1 ? 1 : 0, 1};
    if (real(result, "tokens") > 0) c.tokens[with].add(real(result, "tokens"));
    s.runs = std::max(s.runs, arm.tally.n);
  }
  for (auto& c : cases) {
    // Only a sum is recorded; it stands as input, so that totals and differences are right.
    for (const bool with : {false, true}) {
      auto& arm = with ? c.numbers.with_skill : c.numbers.without_skill;
      arm.input_tokens = c.tokens[with].value();
      if (arm.input_tokens) arm.output_tokens = 0;
    }
    s.cases.push_back(std::move(c.numbers));
  }
  if (s.cases.empty()) fail(file, "'runs' is empty", "nothing to import");
  return {{std::move(s)}, {}};
}

Imported import(const fs::path& path) {
  if (!fs::exists(path)) fail(path, "is not there", "upskill's runs folder, or a benchmark.json");
  return fs::is_directory(path) ? import_upskill(path) : import_skill_creator(path);
}

}  // namespace hone::history
