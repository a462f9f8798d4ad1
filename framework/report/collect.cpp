#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/aggregate.hpp"
#include "report/clean_text.hpp"
#include "report/parallel.hpp"
#include "report/results.hpp"

namespace hone::report {
namespace {

namespace fs = std::filesystem;
using storage::Json;

// Records are read leniently: a field of another type counts as absent.

std::string text(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> real(const Json& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<long> integer(const Json& record, const char* key) {
  const auto value = real(record, key);
  if (!value || std::abs(*value) > 9e15) return std::nullopt;
  return static_cast<long>(*value);
}

Json member(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() ? *found : Json();
}

/// Reads one trial's folder.
class TrialReader {
 public:
  TrialReader(fs::path dir, Trial& trial) : dir_(std::move(dir)), trial_(trial) {}

  void read(bool kernel) {
    if (const auto request = record("request.json", "hone.request/1")) take_request(*request);
    if (broken_) return;
    take_past_turns();
    const auto response = record("response.json", "hone.response/1");
    if (!response)
      return missing(trial_.turns == 1 ? "no answer was asked for"
                                       : fmt::format("turn {} was not asked for", trial_.turns));
    take_usage(*response);
    const std::string answer = take_response(*response);
    if (answer != "answered" && answer != "truncated") return;
    const auto build = kernel ? record("build.json", "hone.build/1") : std::nullopt;
    const bool to_be_built = kernel && !build && !broken_;
    if (build) take_build(*build);
    if (broken_ || (build && trial_.outcome != "built")) return;
    const auto verify = to_be_built ? std::nullopt : record("verify.json", "hone.verify/1");
    if (broken_) return;
    if (verify) {
      take_verify(*verify);
    } else if (answer == "truncated") {
      settle(answer, "the answer was cut off by its token limit");
    } else {
      missing(to_be_built ? "answered, but not built" : "answered, but not verified");
    }
    if (trial_.passed()) take_bench();
  }

 private:
  /// A record, if its file is there; an unreadable one makes the trial an infrastructure error.
  std::optional<Json> record(const std::string& file, const char* schema) {
    const fs::path path = dir_ / file;
    std::error_code ec;
    if (broken_ || !fs::exists(path, ec)) return std::nullopt;
    try {
      Json json = storage::read_json(path);
      const std::string found = json.is_object() ? text(json, "schema") : "no object";
      if (found == schema) return json;
      broken(fmt::format("{}: schema is '{}', expected '{}'", path.string(), found, schema));
    } catch (const Error& e) {
      broken(e.what());
    }
    return std::nullopt;
  }

  void broken(const std::string& why) {
    broken_ = true;
    settle(kInfrastructureError, why);
  }

  void missing(const std::string& why) {
    if (!broken_) settle(kNotRun, why);
  }

  void settle(const std::string& outcome, const std::string& evidence) {
    trial_.outcome = outcome;
    trial_.evidence = clean_line(evidence, 600);
  }

  void add_seconds(const Json& json) {
    const double seconds = real(json, "seconds").value_or(0);
    if (seconds > 0) trial_.seconds += seconds;
  }

  /// Takes over outcome and evidence; an outcome that nobody knows is an infrastructure error.
  void judge(const Json& json, const char* file) {
    const std::string outcome = text(json, "outcome");
    if (std::find(kOutcomes.begin(), kOutcomes.end(), outcome) == kOutcomes.end()) {
      broken(fmt::format("{}: unknown outcome '{}'", (dir_ / file).string(), outcome));
    } else {
      settle(outcome, outcome == kCorrect ? "" : text(json, "evidence"));
    }
  }

  void take_request(const Json& json) {
    trial_.seed = integer(json, "seed");
    trial_.skill_digest = clean_line(text(json, "skill_digest"));
    trial_.case_digest = clean_line(text(json, "case_digest"));
    trial_.asked = clean_line(text(json, "created"));
  }

  /// What the answers before the last took: they were faulty, or there would be no further one.
  void take_past_turns() {
    std::error_code ec;
    if (!fs::exists(dir_ / "turns", ec)) return;
    while (true) {
      const std::string past = fmt::format("turns/{}/", trial_.turns);
      const auto response = record(past + "response.json", "hone.response/1");
      if (!response) return;
      take_usage(*response);
      for (const auto& [file, schema] :
           {std::pair{"build.json", "hone.build/1"}, std::pair{"verify.json", "hone.verify/1"}})
        if (const auto json = record(past + file, schema)) add_seconds(*json);
      ++trial_.turns;
    }
  }

  /// Adds a turn's tokens, cost and time.
  void take_usage(const Json& response) {
    const Json usage = member(response, "usage");
    const auto add = [&](auto& sum, const auto& part) {
      sum = trial_.turns == 1 ? part : sum && part ? std::optional(*sum + *part) : std::nullopt;
    };
    add(trial_.usage.input, integer(usage, "input"));
    add(trial_.usage.cached, integer(usage, "cached"));
    add(trial_.usage.output, integer(usage, "output"));
    add(trial_.usage.reasoning, integer(usage, "reasoning"));
    add(trial_.cost, real(response, "cost"));
    add_seconds(response);
  }

  std::string take_response(const Json& json) {
    trial_.served_model = clean_line(text(json, "model"));
    const std::string outcome = text(json, "outcome");
    if (outcome == "answered" || outcome == "truncated") return outcome;
    if (outcome == "refused") {
      settle(outcome, text(json, "text"));
    } else if (outcome == kInfrastructureError) {
      const Json error = member(json, "error");
      std::string why = error.is_object() ? text(error, "message") : "";
      if (error.is_object() && !text(error, "kind").empty()) why = text(error, "kind") + ": " + why;
      settle(outcome, why.empty() ? "the model could not be asked" : why);
    } else {
      broken(fmt::format("{}: unknown outcome '{}'", (dir_ / "response.json").string(), outcome));
    }
    return outcome;
  }

  void take_build(const Json& json) {
    add_seconds(json);
    trial_.sandbox = clean_line(text(json, "sandbox"));
    for (const auto& k : member(json, "kernels")) {
      if (!k.is_object()) continue;
      const auto count = [&](const char* key) {
        return static_cast<int>(integer(k, key).value_or(0));
      };
      trial_.kernels.push_back({clean_line(text(k, "name")), count("registers"),
                                count("spill_stores"), count("spill_loads"), count("shared_bytes"),
                                count("stack_bytes")});
    }
    if (const Json error = member(json, "first_error"); error.is_object()) {
      trial_.error_file = clean_line(text(error, "file"));
      trial_.error_line = static_cast<int>(integer(error, "line").value_or(0));
    }
    if (text(json, "outcome") == "built")
      trial_.outcome = "built";
    else
      judge(json, "build.json");
  }

  void take_verify(const Json& json) {
    add_seconds(json);
    trial_.device = clean_line(text(json, "device"));
    judge(json, "verify.json");
    take_place(trial_.evidence);
  }

  /// "… at kernel.cu:12" of a sanitizer's finding.
  void take_place(const std::string& evidence) {
    const size_t dot = evidence.rfind(".cu:");
    if (dot == std::string::npos) return;
    const size_t start = evidence.find_last_of(" (", dot) + 1;
    trial_.error_file = evidence.substr(start, dot + 3 - start);
    trial_.error_line = std::atoi(evidence.c_str() + dot + 4);
  }

  /// Timings change the outcome only where they cannot be true; what else is wrong with them is
  /// noted apart.
  void take_bench() {
    const Trial judged = trial_;
    const auto json = record("bench.json", "hone.bench/1");
    if (broken_) {
      const std::string why = trial_.evidence;
      trial_ = judged;
      trial_.bench_problem = why;
    }
    if (!json) return;
    const std::string outcome = text(*json, "outcome");
    if (outcome == "suspicious") return settle(outcome, text(*json, "evidence"));
    if (outcome != "benchmarked" && outcome != "skipped")
      trial_.bench_problem = clean_line(fmt::format("{}: {}", outcome, text(*json, "evidence")));
    trial_.time_kind = clean_line(text(*json, "time_kind"));
    const Json rows = member(*json, "benchmarks");
    if (rows.is_array()) trial_.benchmarks = clean_json(rows);
    trial_.time_ns = time_of_rows(trial_.benchmarks);
  }

  fs::path dir_;
  Trial& trial_;
  bool broken_ = false;
};

}  // namespace

double unit_ns(const std::string& unit) {
  return unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1;
}

std::optional<double> time_of_rows(const Json& rows) {
  double logs = 0;
  int count = 0;
  for (const auto& row : rows) {
    if (!row.is_object() || row.contains("error_message")) continue;
    const std::string type = text(row, "run_type");
    const auto time = real(row, "real_time");
    if ((!type.empty() && type != "iteration") || !time || *time <= 0) continue;
    logs += std::log(*time * unit_ns(text(row, "time_unit")));
    ++count;
  }
  return count > 0 ? std::optional(std::exp(logs / count)) : std::nullopt;
}

std::vector<Trial> read_trials(const ReportInput& input) {
  std::vector<Trial> trials;
  for (const auto& model : input.models) {
    for (size_t c = 0; c < input.cases.size(); ++c) {
      for (const auto arm : {stats::Arm::without_skill, stats::Arm::with_skill}) {
        for (int run = input.first_run; run < input.first_run + input.runs; ++run) {
          Trial trial;
          trial.evaluation = input.evaluation;
          trial.skill = input.skill;
          trial.model = model.name;
          trial.case_id = input.cases[c].id;
          trial.case_index = c;
          trial.arm = arm;
          trial.run = run;
          trial.outcome = kNotRun;
          const fs::path folder = fs::path(input.evaluation) / model.name / trial.case_id /
                                  stats::arm_name(arm) / std::to_string(run);
          trial.folder = folder.generic_string();
          trials.push_back(std::move(trial));
        }
      }
    }
  }
  for_each_index(trials.size(), [&](size_t i) {
    Trial& trial = trials[i];
    TrialReader(input.run_dir / trial.folder, trial)
        .read(input.cases[trial.case_index].kind == "kernel");
  });
  return trials;
}

}  // namespace hone::report
