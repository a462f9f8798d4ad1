// The query stage over 10 000 trials, 64 in flight, every answer stored: memory, CPU time and wall
// time. And the same again, with everything on record.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "http/slow_service.hpp"
#include "storage/storage.hpp"
#include "trial/stages.hpp"

namespace hone::trial {
namespace {

namespace fs = std::filesystem;
using storage::Json;

constexpr int kCases = 1667, kRuns = 3;  // in two arms: 10 002 trials

/// A skill of 3 kB, answers of 1.5 kB.
Manifest make_project(const fs::path& dir, const std::string& base_url) {
  storage::write_atomically(dir / "skill/SKILL.md", "---\nname: skill\ndescription: helps\n---\n" +
                                                        std::string(3000, 'x') + "\n");
  Json cases = Json::array();
  for (int i = 0; i < kCases; ++i)
    cases.push_back({{"id", "case-" + std::to_string(i)},
                     {"prompt", "Question " + std::to_string(i) + std::string(500, '?')},
                     {"expect", {{"contains", "x"}}}});
  storage::write_json(dir / "cases.json", cases);
  Manifest m;
  m.run_dir = dir / "runs";
  m.cache_dir = dir / "cache";
  m.baselines_dir = dir / "reports/baselines";
  model::ModelConfig c;
  c.name = c.model = "m";
  c.base_url = base_url + "/v1";
  c.parallel = 64;
  m.models.push_back(c);
  m.skills.push_back({"skill", (dir / "skill").string()});
  m.evaluations.push_back(
      {"e", "skill", {}, {(dir / "cases.json").string()}, {"m"}, {}, kRuns, ""});
  return m;
}

void ten_thousand_trials(benchmark::State& state) {
  const http::SlowService service(
      "/v1/chat/completions", std::chrono::milliseconds(20), [](const httplib::Request&) {
        return Json{{"choices", {{{"message", {{"content", std::string(1500, 'x')}}}}}},
                    {"usage", {{"prompt_tokens", 900}, {"completion_tokens", 400}}}}
            .dump();
      });
  const fs::path dir = fs::temp_directory_path() / ("hone-run-bench-" + std::to_string(::getpid()));
  const Manifest m = make_project(dir, service.url());
  const Plan plan = make_plan(m, "e");
  std::vector<Selection> selections;
  for (const Arm arm : kArms)
    for (const auto& c : plan.cases) selections.push_back({&c, arm});
  for (auto unused : state)
    for (const char* round : {"asked", "on_record"}) {
      const auto start = std::chrono::steady_clock::now();
      const double cpu = http::cpu_seconds();
      const auto result = query(plan, m.models.front(), selections, {});
      if (result.recorded != 2 * kCases * kRuns) state.SkipWithError("not all were answered");
      const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
      const std::string what = round;
      state.counters[what + "_s"] = wall.count();
      state.counters[what + "_cpu_ms_per_trial"] =
          1000 * (http::cpu_seconds() - cpu) / result.recorded;
    }
  state.counters["peak_MB"] = http::peak_megabytes();
  fs::remove_all(dir);
}
BENCHMARK(ten_thousand_trials)->Iterations(1)->UseRealTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace hone::trial

BENCHMARK_MAIN();
