#include <fmt/format.h>

#include "report/clean_text.hpp"
#include "report/writers.hpp"

namespace hone::report {

using storage::Json;

std::string write_benchmarks_json(const Results& results) {
  const auto& e = results.environment;
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
  const Json json = {{"context",
                      {{"date", e.generated},
                       {"host_name", e.host},
                       {"executable", "hone"},
                       {"num_cpus", e.cpus},
                       {"mhz_per_cpu", e.cpu_mhz},
                       {"cpu_scaling_enabled", false},
                       {"caches", Json::array()},
                       {"load_avg", Json::array()},
                       {"library_build_type", "release"},
                       {"hone_device", device},
                       {"hone_time_kind", time_kind}}},
                     {"benchmarks", std::move(rows)}};
  return clean_json(json).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hone::report
