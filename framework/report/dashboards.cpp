#include <fmt/format.h>

#include <cmath>
#include <map>

#include "report/aggregate.hpp"
#include "report/clean_text.hpp"
#include "report/writers.hpp"
#include "stats/timings.hpp"

namespace hone::report {
namespace {

using stats::Arm;
using storage::Json;

/// The rows of one benchmark over the runs of its case and arm, times in its unit.
struct Series {
  Json row;  ///< of the first run
  std::vector<double> real, cpu;
};

double row_unit_ns(const Json& row) { return unit_ns(row.value("time_unit", "ns")); }

bool is_time(const Json& row) {
  return row.is_object() && row.contains("name") && row["name"].is_string() &&
         !row.contains("error_message") && !row.contains("error_occurred") &&
         (!row.contains("run_type") || row["run_type"] == "iteration") &&
         row.contains("real_time") && row["real_time"].is_number() &&
         row["real_time"].get<double>() > 0;
}

/// By name, in the order of the trials.
std::vector<std::pair<std::string, Series>> series_of(const Results& results) {
  std::vector<std::pair<std::string, Series>> all;
  std::map<std::string, size_t> known;
  for (const auto& evaluation : results.evaluations) {
    for (const auto& t : evaluation.trials) {
      for (const auto& row : t.benchmarks) {
        if (!is_time(row)) continue;
        const std::string name =
            fmt::format("{}/{}/{}/{}/{}", t.evaluation, t.model, t.case_id, stats::arm_name(t.arm),
                        row["name"].get<std::string>());
        const auto [found, fresh] = known.emplace(name, all.size());
        if (fresh) all.push_back({name, {row, {}, {}}});
        auto& s = all[found->second].second;
        const double scale = row_unit_ns(row) / row_unit_ns(s.row);
        s.real.push_back(row["real_time"].get<double>() * scale);
        if (row.contains("cpu_time") && row["cpu_time"].is_number())
          s.cpu.push_back(row["cpu_time"].get<double>() * scale);
      }
    }
  }
  return all;
}

double rounded(double value) { return std::strtod(fmt::format("{:.9g}", value).c_str(), nullptr); }

std::string dump(const Json& json) {
  return clean_json(json).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The context of Google Benchmark's JSON.
Json context_of(const Environment& e) {
  return {
      {"date", e.generated},     {"host_name", e.host},       {"executable", "hone"},
      {"num_cpus", e.cpus},      {"mhz_per_cpu", e.cpu_mhz},  {"cpu_scaling_enabled", false},
      {"caches", Json::array()}, {"load_avg", Json::array()}, {"library_build_type", "release"}};
}

template <typename Use>
void each_model(const Results& results, Use use) {
  for (const auto& e : results.evaluations)
    for (const auto& m : e.models) use(e.input.evaluation + "/" + m.info.name, m);
}

}  // namespace

std::string write_benchmarks_json(const Results& results) {
  Json rows = Json::array();
  std::string time_kind, device;
  for (const auto& evaluation : results.evaluations) {
    for (const auto& t : evaluation.trials) {
      const std::string prefix = fmt::format("{}/{}/{}/{}/{}/", t.evaluation, t.model, t.case_id,
                                             stats::arm_name(t.arm), t.run);
      for (const auto& original : t.benchmarks) {
        if (!original.is_object() || !original.contains("name") || !original["name"].is_string())
          continue;
        Json row = original;
        for (const char* key : {"name", "run_name"})
          if (row.contains(key) && row[key].is_string())
            row[key] = prefix + row[key].get<std::string>();
        rows.push_back(std::move(row));
        if (time_kind.empty()) time_kind = t.time_kind;
        if (device.empty()) device = t.device;
      }
    }
  }
  Json context = context_of(results.environment);
  context["hone_device"] = device;
  context["hone_time_kind"] = time_kind;
  return dump({{"context", std::move(context)}, {"benchmarks", std::move(rows)}});
}

std::string write_dashboard_json(const Results& results) {
  Json rows = Json::array();
  for (auto& [name, s] : series_of(results)) {
    Json row = s.row;
    row["name"] = row["run_name"] = name;
    row["repetitions"] = 1;
    row["repetition_index"] = 0;
    row["real_time"] = rounded(stats::median(s.real));
    row["cpu_time"] = s.cpu.empty() ? row["real_time"] : Json(rounded(stats::median(s.cpu)));
    rows.push_back(std::move(row));
  }
  return dump({{"context", context_of(results.environment)}, {"benchmarks", std::move(rows)}});
}

std::string write_bmf_json(const Results& results) {
  Json all = Json::object();
  for (auto& [name, s] : series_of(results)) {
    const double scale = row_unit_ns(s.row);
    const auto [low, high] = std::minmax_element(s.real.begin(), s.real.end());
    all[name]["latency"] = {{"value", rounded(scale * stats::median(s.real))},
                            {"lower_value", rounded(scale * *low)},
                            {"upper_value", rounded(scale * *high)}};
  }
  each_model(results, [&](const std::string& name, const ModelResult& m) {
    for (const Arm arm : {Arm::without_skill, Arm::with_skill}) {
      const auto& a = m.of(arm);
      Json& entry = all[name + "/" + stats::arm_name(arm)];
      if (a.pass_rate) {
        entry["pass_rate"]["value"] = rounded(*a.pass_rate);
        if (a.interval) {
          entry["pass_rate"]["lower_value"] = rounded(a.interval->low);
          entry["pass_rate"]["upper_value"] = rounded(a.interval->high);
        }
      }
      if (a.tokens_per_trial) entry["tokens"]["value"] = rounded(*a.tokens_per_trial);
      if (entry.is_null()) all.erase(name + "/" + stats::arm_name(arm));
    }
    if (!m.lift) return;
    all[name]["lift"]["value"] = rounded(*m.lift);
    if (m.lift_t) {
      all[name]["lift"]["lower_value"] = rounded(m.lift_t->interval.low);
      all[name]["lift"]["upper_value"] = rounded(m.lift_t->interval.high);
    }
  });
  return dump(all);
}

std::string write_pass_rate_json(const Results& results) {
  Json all = Json::array();
  const auto add = [&](const std::string& name, const std::string& unit, double value,
                       const std::optional<stats::Interval>& interval) {
    Json entry = {{"name", name}, {"unit", unit}, {"value", rounded(100 * value)}};
    if (interval)
      entry["range"] = fmt::format("{:.1f} to {:.1f}", 100 * interval->low, 100 * interval->high);
    all.push_back(std::move(entry));
  };
  each_model(results, [&](const std::string& name, const ModelResult& m) {
    for (const Arm arm : {Arm::without_skill, Arm::with_skill})
      if (const auto& a = m.of(arm); a.pass_rate)
        add(fmt::format("{}/{} pass rate", name, stats::arm_name(arm)), "%", *a.pass_rate,
            a.interval);
    if (m.lift)
      add(name + " lift", "points", *m.lift,
          m.lift_t ? std::optional(m.lift_t->interval) : std::nullopt);
  });
  return dump(all);
}

}  // namespace hone::report
