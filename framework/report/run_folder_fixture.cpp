#include "report/run_folder_fixture.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

namespace hone::report {
namespace {

namespace fs = std::filesystem;
using stats::Arm;
using storage::Json;

/// As storage::write_json, without waiting for the disk.
void write(const fs::path& path, const Json& json) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << json.dump(2);
}

}  // namespace

RunFolder::RunFolder() {
  static std::atomic<int> serial{0};
  dir_ = fs::path(testing::TempDir()) /
         ("report_test." + std::to_string(::getpid()) + "." + std::to_string(serial++));
  input.evaluation = "demo";
  input.skill = "cuda-kernels";
  input.skill_digest = "sha256:5c11";
  input.run_dir = dir_ / "runs";
  input.models = {{"local", "openai", "coder-0.5b.gguf", "sha256:90de1", {{"temperature", 0.7}}}};
  input.runs = 3;
  input.baseline = dir_ / "baselines/demo.json";
}

RunFolder::~RunFolder() {
  std::error_code ec;
  fs::remove_all(dir_, ec);
}

void RunFolder::add_text_case(const std::string& id) {
  const int line = 1 + static_cast<int>(input.cases.size());
  input.cases.push_back({id, "cases/facts.json", line, "", "text", "sha256:ca5e", {}});
}

void RunFolder::add_kernel_case(const std::string& id, const std::string& suite) {
  input.cases.push_back(
      {id, "suites/" + suite + "/cases/" + id + ".json", 1, suite, "kernel", "sha256:ca5e", {}});
}

fs::path RunFolder::trial(const std::string& id, Arm arm, int run) const {
  return input.run_dir / input.evaluation / "local" / id / stats::arm_name(arm) /
         std::to_string(run);
}

void RunFolder::respond(const std::string& id, Arm arm, int run, const std::string& outcome) {
  const bool with = arm == Arm::with_skill;
  write(trial(id, arm, run) / "request.json",
        {{"schema", "hone.request/1"},
         {"seed", 100 + run},
         {"skill_digest", with ? Json("sha256:5c11") : Json(nullptr)},
         {"case_digest", "sha256:ca5e"},
         {"created", "2026-01-31T12:00:00Z"}});
  const bool failed = outcome == kInfrastructureError;
  write(trial(id, arm, run) / "response.json",
        {{"schema", "hone.response/1"},
         {"outcome", outcome},
         {"text", outcome == "refused" ? "I cannot help with that." : "answer"},
         {"usage",
          {{"input", failed ? Json(nullptr) : Json(with ? 700 : 200)},
           {"cached", nullptr},
           {"output", failed ? Json(nullptr) : Json(with ? 100 : 150)},
           {"reasoning", nullptr}}},
         {"model", "coder"},
         {"seconds", 1.5},
         {"error", failed ? Json{{"kind", "http-status"}, {"message", "429 after 4 attempts"}}
                          : Json(nullptr)}});
}

void RunFolder::judge(const std::string& id, Arm arm, int run, const std::string& outcome,
                      const std::string& evidence) {
  respond(id, arm, run);
  write(trial(id, arm, run) / "verify.json", {{"schema", "hone.verify/1"},
                                              {"outcome", outcome},
                                              {"evidence", evidence},
                                              {"seconds", 0.25}});
}

void RunFolder::build(const std::string& id, Arm arm, int run, const std::string& outcome,
                      const std::string& evidence) {
  respond(id, arm, run);
  const bool built =
      outcome != "no-code" && outcome != "extract-error" && outcome != "compile-error";
  write(trial(id, arm, run) / "build.json",
        {{"schema", "hone.build/1"},
         {"outcome", built ? "built" : outcome},
         {"kernels", built ? Json::array({{{"name", "gelu_kernel"},
                                           {"registers", 32},
                                           {"spill_stores", 0},
                                           {"spill_loads", 0},
                                           {"shared_bytes", 1024},
                                           {"stack_bytes", 0}}})
                           : Json::array()},
         {"first_error", outcome == "compile-error"
                             ? Json{{"file", "gelu.cu"}, {"line", 3}, {"message", evidence}}
                             : Json(nullptr)},
         {"evidence", built ? "" : evidence},
         {"seconds", 2},
         {"sandbox", "strong"}});
  if (!built) return;
  write(trial(id, arm, run) / "verify.json", {{"schema", "hone.verify/1"},
                                              {"outcome", outcome},
                                              {"evidence", evidence},
                                              {"device", "cudasim (model of H100 SXM5)"},
                                              {"seconds", 0.5}});
  if (outcome != kCorrect) return;
  write(trial(id, arm, run) / "bench.json", {{"schema", "hone.bench/1"},
                                             {"outcome", "benchmarked"},
                                             {"evidence", ""},
                                             {"device", "cudasim (model of H100 SXM5)"},
                                             {"time_kind", "model bound"},
                                             {"benchmarks",
                                              {{{"name", "gelu/n=1024/manual_time"},
                                                {"run_name", "gelu/n=1024/manual_time"},
                                                {"run_type", "iteration"},
                                                {"iterations", 1},
                                                {"real_time", 2.5},
                                                {"cpu_time", 900.0},
                                                {"time_unit", "us"},
                                                {"bytes", 8192.0}}}}});
}

void RunFolder::put_turn_before(const std::string& id, Arm arm, int run) {
  const fs::path dir = trial(id, arm, run);
  fs::create_directories(dir / "turns/1");
  for (const char* file : {"request.json", "response.json", "verify.json"})
    fs::copy_file(dir / file, dir / "turns/1" / file);
  Json verify = storage::read_json(dir / "verify.json");
  verify["outcome"] = "wrong";
  verify["evidence"] = "contains: 9.0: not found";
  write(dir / "turns/1/verify.json", verify);
}

void RunFolder::judge_runs(const std::string& id, Arm arm, int passes) {
  for (int run = 0; run < input.runs; ++run)
    judge(id, arm, run, run < passes ? "correct" : "wrong",
          run < passes ? "" : "contains: 9.0: not found");
}

Results showcase(RunFolder& f) {
  const int with[] = {3, 3, 3, 2, 3, 3}, without[] = {0, 1, 0, 2, 0, 0};
  for (size_t i = 0; i < 6; ++i) {
    const std::string id = "fact-" + std::string(1, static_cast<char>('a' + i));
    f.add_text_case(id);
    f.judge_runs(id, Arm::with_skill, with[i]);
    f.judge_runs(id, Arm::without_skill, without[i]);
  }
  f.input.cases[1].turns = 2;
  f.put_turn_before("fact-b", Arm::with_skill, 2);
  f.add_text_case("refusing");
  f.input.cases.back().require = 0.5;
  f.judge("refusing", Arm::with_skill, 0, "correct");
  f.respond("refusing", Arm::with_skill, 1, "refused");
  f.respond("refusing", Arm::with_skill, 2, "truncated");
  f.judge_runs("refusing", Arm::without_skill, 0);
  f.add_text_case("server-down");
  f.judge("server-down", Arm::with_skill, 0, "correct");
  f.respond("server-down", Arm::with_skill, 1, kInfrastructureError);
  f.judge("server-down", Arm::with_skill, 2, "correct");
  f.add_kernel_case("gelu-basic", "gelu");
  f.input.cases.back().require = 0.9;
  f.build("gelu-basic", Arm::with_skill, 0, "correct");
  f.build(
      "gelu-basic", Arm::with_skill, 1, "memory-fault",
      "gelu_kernel wrote 4 bytes past y at element 1024 \x1b[31m<b>&\"quoted\"</b> ]]> 漢字\x07");
  f.build("gelu-basic", Arm::with_skill, 2, "compile-error",
          "gelu.cu:3: identifier \"erff2\" is undefined");
  f.build("gelu-basic", Arm::without_skill, 0, "no-code", "the answer has no code block");
  f.build("gelu-basic", Arm::without_skill, 1, "timeout", "ran past 10 s");
  f.build("gelu-basic", Arm::without_skill, 2, "wrong", "y[0] is 0, expected 0.8412");
  f.input.gates = {"pass_rate(with_skill) >= 0.6", "lift_low > 0", "tokens_saved >= 0",
                   "no-regression"};
  Environment e;
  e.hone_version = "0.1.0";
  e.git_commit = "0123456789abcdef0123456789abcdef01234567";
  e.git_dirty = true;
  e.host = "builder";
  e.device = "cudasim (model of H100 SXM5)";
  e.sandbox = "strong";
  e.toolkit = "CUDA 13.0";
  e.cpus = 2;
  e.cpu_mhz = 2000;
  e.generated = "2026-01-31T12:34:56Z";
  f.input.baseline = "reports/baselines/demo.json";
  Results results{e, {collect(f.input)}};
  results.evaluations[0].input.run_dir = "build/hone/runs";
  return results;
}

void expect_baseline(const std::string& name, const std::string& text) {
  const fs::path path = fs::path(HONE_REPORT_DIR) / "baselines" / name;
  if (std::getenv("HONE_UPDATE_BASELINES") != nullptr) storage::write_atomically(path, text);
  EXPECT_EQ(text, storage::read_file(path))
      << "to accept: HONE_UPDATE_BASELINES=1 hone_report_test, see baselines/README.md";
}

std::string python_with(const std::string& module) {
  for (const std::string python : {"/usr/bin/python3", "python3"})
    if (std::system((python + " -c 'import " + module + "' >/dev/null 2>&1").c_str()) == 0)
      return python;
  return "";
}

}  // namespace hone::report
