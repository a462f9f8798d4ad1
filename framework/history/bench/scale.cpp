// Measures the reports of 10 000 trials and the listing of 1 000 runs against what is asked of
// them:
//   hone_scale_bench [trials]        exit 1 when a limit is passed
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "history/runs_table.hpp"
#include "history/store.hpp"
#include "report/report.hpp"

namespace {

namespace fs = std::filesystem;
using namespace hone;
using storage::Json;

constexpr double kReportSeconds = 3;
constexpr double kReportMegabytes = 300;
constexpr double kListMilliseconds = 100;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of all threads: tells a slow report from a busy machine.
double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void write(const fs::path& file, const Json& json) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << json.dump(2);
}

std::string prose(size_t length, size_t seed) {
  static constexpr const char* kWords[] = {"__global__", "void",     "kernel", "float",
                                           "x[i]",       "=",        "return", "threadIdx.x",
                                           "blockIdx.x", "stream;\n"};
  std::string text;
  while (text.size() < length) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    text += kWords[(seed >> 33) % std::size(kWords)];
    text += ' ';
  }
  return text;
}

/// Trials like those of a real evaluation: a 3 kB skill in the with-skill arm's system prompt,
/// answers of 1.5 kB, every fifth case a kernel with build, shapes and benchmarks.
report::ReportInput make_runs(const fs::path& dir, size_t trials) {
  report::ReportInput input;
  input.evaluation = "scale";
  input.skill = "skill";
  input.run_dir = dir;
  input.runs = 3;
  input.gates = {"lift_low > 0", "no-regression"};
  input.models = {{"small", "openai", "small.gguf", "", {}},
                  {"large", "openai", "large.gguf", "", {}}};
  const size_t cases = (trials + 11) / 12;
  const std::string skill = prose(3000, 1);
  for (size_t c = 0; c < cases; ++c) {
    const bool kernel = c % 5 == 0;
    input.cases.push_back({fmt::format("case-{:04}", c),
                           "cases.json",
                           1,
                           kernel ? "gelu" : "",
                           kernel ? "kernel" : "text",
                           "sha256:1",
                           {}});
    for (const auto& model : input.models)
      for (const char* arm : {"with_skill", "without_skill"})
        for (int run = 0; run < input.runs; ++run) {
          const size_t seed =
              c * 1000 + static_cast<size_t>(run) + (model.name == "small" ? 7 : 11);
          const bool with = std::string(arm) == "with_skill";
          const bool correct = seed * 2654435761u % 100 < (with ? 60u : 20u);
          const fs::path trial =
              dir / "scale" / model.name / input.cases.back().id / arm / std::to_string(run);
          write(trial / "request.json",
                {{"schema", "hone.request/1"},
                 {"seed", run},
                 {"skill_digest", with ? Json("sha256:2") : Json(nullptr)},
                 {"case_digest", "sha256:1"},
                 {"created", "2026-01-31T12:00:00Z"},
                 {"body",
                  {{"messages",
                    {{{"role", "system"}, {"content", "Answer." + (with ? skill : "")}},
                     {{"role", "user"}, {"content", prose(600, c)}}}}}}});
          write(trial / "response.json", {{"schema", "hone.response/1"},
                                          {"outcome", "answered"},
                                          {"text", prose(1500, seed)},
                                          {"usage", {{"input", with ? 900 : 200}, {"output", 400}}},
                                          {"seconds", 1.0}});
          Json shapes = Json::array(), rows = Json::array();
          if (kernel) {
            write(trial / "build.json", {{"schema", "hone.build/1"},
                                         {"outcome", "built"},
                                         {"sandbox", "bubblewrap"},
                                         {"kernels", {{{"name", "k"}, {"registers", 32}}}}});
            for (int s = 0; s < 12; ++s)
              shapes.push_back({{"name", fmt::format("n={}", 1 << s)},
                                {"outcome", "correct"},
                                {"max_error", 1e-7},
                                {"evidence", ""}});
            for (int s = 0; s < 3; ++s)
              rows.push_back({{"name", fmt::format("gelu/n={}", 1 << s)},
                              {"run_type", "iteration"},
                              {"real_time", 2.5 + s},
                              {"cpu_time", 3.5},
                              {"time_unit", "us"},
                              {"of_roofline", .3},
                              {"label", "model bound"}});
            if (correct)
              write(trial / "bench.json", {{"schema", "hone.bench/1"},
                                           {"outcome", "benchmarked"},
                                           {"time_kind", "model bound"},
                                           {"benchmarks", rows}});
          }
          write(trial / "verify.json", {{"schema", "hone.verify/1"},
                                        {"outcome", correct ? "correct" : "wrong"},
                                        {"evidence", correct ? "" : "contains: 9.0: not found"},
                                        {"shapes", shapes},
                                        {"device", "cudasim"}});
        }
  }
  return input;
}

bool check(const std::string& what, double value, double limit, const char* unit) {
  fmt::print("{:<34} {:8.2f} {} (limit {} {}){}\n", what, value, unit, limit, unit,
             value <= limit ? "" : "  PASSED THE LIMIT");
  return value <= limit;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t trials = argc > 1 ? static_cast<size_t>(std::atol(argv[1])) : 10000;
  const fs::path dir = fs::temp_directory_path() / fmt::format("hone-scale-{}", ::getpid());
  const auto input = make_runs(dir / "runs", trials);
  bool good = true;

  auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  const auto results = report::collect_all({input}, {});
  fmt::print("{} trials\n  {:<20} {:8.2f} s\n", results.evaluations[0].trials.size(),
             "read and judge", seconds_since(start));
  for (const auto& format : report::formats()) {
    if (format.file.empty()) continue;
    const auto begin = std::chrono::steady_clock::now();
    const std::string text = report::write_format(format.name, results, {});
    storage::write_atomically(dir / format.file, text);
    fmt::print("  {:<20} {:8.2f} s {:8.1f} MB\n", format.name, seconds_since(begin),
               static_cast<double>(text.size()) / 1e6);
  }
  good = check("report of all formats", seconds_since(start), kReportSeconds, "s") && good;
  fmt::print("{:<34} {:8.2f} s on {} cores\n", "CPU time of that", cpu_seconds() - cpu,
             std::thread::hardware_concurrency());
  good = check("peak memory", peak_megabytes(), kReportMegabytes, "MB") && good;

  {
    history::Store store(dir / "history.sqlite");
    auto snapshot = history::snapshots_of(results).front();
    snapshot.cases.resize(std::min<size_t>(snapshot.cases.size(), 18));
    for (int i = 0; i < 1000; ++i) {
      snapshot.from.time =
          fmt::format("2026-02-{:02}T{:02}:{:02}:00Z", 1 + i / 600, i / 60 % 10, i % 60);
      store.add(snapshot);
    }
  }
  start = std::chrono::steady_clock::now();
  const auto rows = history::Store(dir / "history.sqlite").list();
  const std::string table = history::runs_table(rows, history::Metric::lift);
  good = check(fmt::format("listing of {} runs", rows.size()), 1000 * seconds_since(start),
               kListMilliseconds, "ms") &&
         good;
  fs::remove_all(dir);
  return good ? 0 : 1;
}
