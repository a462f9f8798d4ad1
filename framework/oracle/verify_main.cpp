// The main of every <op>_verify: a GoogleTest program with one test a shape.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <optional>

#include "diagnostic/diagnostic.hpp"
#include "oracle/operation.hpp"
#include "oracle/session.hpp"
#include "oracle/verifier.hpp"
#include "process/sandbox.hpp"

namespace {

using namespace hone::oracle;
using hone::Exit;

struct Options {
  std::string candidate, entry, json, device = "auto", runner, cudasim;
  std::uint64_t seed = 0;
  double timeout = 20;
  bool expect_incorrect = false;
};

/// What the tests share: GoogleTest makes them, so they find it here.
struct Run {
  Operation operation;
  std::optional<Session> session;
  std::optional<Verifier> verifier;
  Record record;
  bool stopped = false;  ///< after a timeout, or when nothing can be judged
};

Run& run() {
  static Run instance;
  return instance;
}

class ShapeTest : public testing::Test {
 public:
  explicit ShapeTest(const Shape& shape) : shape_(shape) {}
  void TestBody() override {
    if (run().stopped) GTEST_SKIP() << "not run after the failure above";
    const ShapeResult result = run().verifier->verify(shape_);
    run().record.shapes.push_back(result);
    RecordProperty("outcome", std::string(name_of(result.finding.outcome)));
    RecordProperty("max_error", fmt::format("{:.3g}", result.max_error));
    if (result.finding.correct()) return;
    run().stopped = result.finding.outcome == Outcome::timeout ||
                    result.finding.outcome == Outcome::infrastructure_error ||
                    result.finding.outcome == Outcome::compile_error;
    ADD_FAILURE_AT(shape_.where.file_name(), static_cast<int>(shape_.where.line()))
        << name_of(result.finding.outcome) << ": " << result.finding.evidence;
  }

 private:
  Shape shape_;
};

void register_tests() {
  const Operation& operation = run().operation;
  for (const Shape& shape : operation.shapes) {
    testing::RegisterTest(operation.name.c_str(), shape.name().c_str(), nullptr, nullptr,
                          shape.where.file_name(), static_cast<int>(shape.where.line()),
                          [shape]() -> testing::Test* { return new ShapeTest(shape); });
  }
}

int verify(const Options& options) {
  Run& state = run();
  const Device device = resolve_device(options.device);
  if (!options.entry.empty()) state.operation.signature.entry = options.entry;
  if (!std::filesystem::exists(options.candidate)) {
    throw hone::Error(Exit::bad_input,
                      fmt::format("the candidate {} is not there", options.candidate));
  }
  SessionOptions session{
      .library = options.candidate,
      .device = device,
      .installation = Installation::find(device, options.runner, options.cudasim),
      .deferred_streams = true,
      .checks = "memcheck,racecheck,initcheck,synccheck",
      .call_seconds = options.timeout};
  state.session.emplace(session, state.operation.signature);
  state.record.seed = options.seed;
  state.verifier.emplace(state.operation, *state.session, options.seed,
                         device == Device::gpu ? 1024 : 0);
  const auto begin = std::chrono::steady_clock::now();
  const bool passed = RUN_ALL_TESTS() == 0;
  state.record.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  state.record.device = state.session->device_name();
  state.record.sandbox = state.session->tier();

  if (!options.json.empty()) hone::storage::write_json(options.json, state.record.to_json());
  const Finding verdict = state.record.verdict();
  std::cout << fmt::format("{}: {}{}{} (seed {}, {})\n", state.operation.name,
                           name_of(verdict.outcome), verdict.correct() ? "" : ": ",
                           verdict.evidence, options.seed, state.record.device);
  if (verdict.outcome == Outcome::infrastructure_error) {
    return static_cast<int>(Exit::infrastructure);
  }
  const bool good = (verdict.correct() && passed) != options.expect_incorrect;
  return static_cast<int>(good ? Exit::good : Exit::judged_bad);
}

}  // namespace

int main(int argc, char** argv) {
  run().operation = hone_operation();
  register_tests();

  Options options;
  CLI::App app{
      fmt::format("Judges a candidate of {} ({}): a shared library that defines {}.\n"
                  "Exit codes: 0 correct, 1 judged and not correct, 4 nothing could be "
                  "judged. GoogleTest's --gtest_… flags work too.",
                  run().operation.name, argv[0], run().operation.signature.entry)};
  auto* candidate =
      app.add_option("--candidate", options.candidate, "The candidate's shared library");
  app.add_option("--entry", options.entry, "Call this function in place of the operation's");
  app.add_option("--json", options.json, "Write the record (hone.verify/1) here");
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
  app.add_flag("--expect-incorrect", options.expect_incorrect,
               "Succeed exactly when the candidate is judged and not correct");
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--help") {
      std::cout << app.help();
      return 0;
    }
  }
  testing::InitGoogleTest(&argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(Exit::usage);
  }
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  if (candidate->count() == 0) {
    std::cerr << "--candidate=LIBRARY is required; see --help\n";
    return static_cast<int>(Exit::usage);
  }
  if (seed->count() == 0) options.seed = draw_seed();
  try {
    return verify(options);
  } catch (const hone::Error& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(error.code());
  }
}
