// The main of every <op>_bench: Google Benchmark with the device's time.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <sstream>

#include "diagnostic/diagnostic.hpp"
#include "oracle/device.hpp"
#include "oracle/timing.hpp"
#include "process/sandbox.hpp"
#include "storage/storage.hpp"

namespace {

using namespace hone::oracle;
using hone::Exit;
using hone::storage::Json;

/// Prints to the terminal and keeps the JSON rows.
class Recorder : public benchmark::BenchmarkReporter {
 public:
  Recorder() { json_.SetOutputStream(&rows_); }
  bool ReportContext(const Context& context) override {
    json_.ReportContext(context);
    console_.SetOutputStream(&GetOutputStream());
    // Its context speaks of this machine's CPU, which does not matter here.
    console_.SetErrorStream(&unseen_);
    return console_.ReportContext(context);
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    json_.ReportRuns(runs);
    console_.ReportRuns(runs);
  }
  void Finalize() override {
    json_.Finalize();
    console_.Finalize();
  }
  Json rows() const {
    const Json parsed = Json::parse(rows_.str(), nullptr, false);
    return parsed.is_object() ? parsed.value("benchmarks", Json::array()) : Json::array();
  }

 private:
  std::ostringstream rows_, unseen_;
  benchmark::ConsoleReporter console_{benchmark::ConsoleReporter::OO_None};
  benchmark::JSONReporter json_;
};

struct Options {
  std::string candidate, json, device = "auto", runner, cudasim;
  std::uint64_t seed = 0;
  double timeout = 60;
};

void time_shape(benchmark::State& state, Timer& timer, const Shape& shape) {
  Timing timing;
  for (auto _ : state) {
    timing = timer.time(shape);
    if (!timing.finding.correct()) {
      state.SkipWithError(
          fmt::format("{}: {}", name_of(timing.finding.outcome), timing.finding.evidence).c_str());
      return;
    }
    state.SetIterationTime(timing.seconds);
  }
  for (const auto& [name, value] : timing.counters) state.counters[name] = value;
  state.SetLabel(timing.label);
}

int bench(const Options& options) {
  const Operation operation = hone_operation();
  const Device device = resolve_device(options.device);
  if (!std::filesystem::exists(options.candidate)) {
    throw hone::Error(Exit::bad_input,
                      fmt::format("the candidate {} is not there", options.candidate));
  }
  Session session({.library = options.candidate,
                   .device = device,
                   .installation = Installation::find(device, options.runner, options.cudasim),
                   .checks = "",  // they slow cudasim down and change no counter
                   .call_seconds = options.timeout},
                  operation.signature);
  Finding finding = session.start();
  Recorder recorder;
  if (finding.correct()) {
    benchmark::AddCustomContext("device", session.device_name());
    benchmark::AddCustomContext("time_kind", std::string(time_kind(device)));
    std::cout << fmt::format("{} on {}; times: {}\n", operation.name, session.device_name(),
                             time_kind(device));
    Timer timer(operation, session, device, options.seed);
    for (const Shape& shape : operation.bench_shapes) {
      auto* registered = benchmark::RegisterBenchmark(
          fmt::format("{}/{}", operation.name, shape.name()).c_str(),
          [&timer, shape](benchmark::State& state) { time_shape(state, timer, shape); });
      registered->UseManualTime()->Unit(benchmark::kMicrosecond);
      // The model's bound is the same each time; a measured time is the mean of so many calls, each
      // with its own data and verified.
      registered->Iterations(device == Device::sim ? 1 : 50);
    }
    benchmark::RunSpecifiedBenchmarks(&recorder);
    finding = timer.first_failure();
  }

  const bool infrastructure = finding.outcome == Outcome::infrastructure_error;
  const char* outcome = finding.correct()                        ? "benchmarked"
                        : infrastructure                         ? "infrastructure-error"
                        : finding.outcome == Outcome::suspicious ? "suspicious"
                                                                 : "failed";
  if (!options.json.empty()) {
    Json json{{"schema", "hone.bench/1"},     {"outcome", outcome},
              {"evidence", finding.evidence}, {"device", nullptr},
              {"sandbox", session.tier()},    {"time_kind", time_kind(device)},
              {"seed", options.seed},         {"benchmarks", recorder.rows()}};
    if (!session.device_name().empty()) json["device"] = session.device_name();
    hone::storage::write_json(options.json, json);
  }
  if (!finding.correct()) {
    std::cerr << fmt::format("{}: {}: {}\n", operation.name, outcome, finding.evidence);
    return static_cast<int>(infrastructure ? Exit::infrastructure : Exit::judged_bad);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
#ifndef __OPTIMIZE__
  std::cerr << "refused: this is a debug build; its times say nothing. Build RelWithDebInfo or "
               "Release.\n";
  return static_cast<int>(Exit::infrastructure);
#endif
  Options options;
  CLI::App app{
      "Times a candidate: a shared library that defines the operation's entry. Exit codes: "
      "0 timed, 1 not correct, 4 nothing could be measured. Google Benchmark's "
      "--benchmark_… flags work too."};
  app.add_option("--candidate", options.candidate, "The candidate's shared library")->required();
  app.add_option("--json", options.json, "Write the record (hone.bench/1) here");
  auto* seed =
      app.add_option("--seed", options.seed, "Seed of the inputs (default: drawn, recorded)");
  app.add_option("--device", options.device, "auto, gpu or sim")->envname("HONE_DEVICE");
  app.add_option("--runner", options.runner, "Path of hone-candidate");
  app.add_option("--cudasim", options.cudasim, "Folder of cudasim's libcudart.so.13");
  app.add_option_function<std::string>("--allow-execution", hone::process::allow_execution,
                                       "unsandboxed: run the candidate even where no sandbox holds")
      ->check(CLI::IsMember({"unsandboxed"}));
  app.add_option("--timeout", options.timeout, "Seconds that one call may take")
      ->check(CLI::PositiveNumber);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--help") {
      std::cout << app.help();
      return 0;
    }
  }
  benchmark::Initialize(&argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(Exit::usage);
  }
  if (seed->count() == 0) options.seed = draw_seed();
  try {
    return bench(options);
  } catch (const hone::Error& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(error.code());
  }
}
