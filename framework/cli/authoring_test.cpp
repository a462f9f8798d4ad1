// The program itself, from a sentence to an installed skill, and as users of upskill call it.
// Models are scripted, or a server in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <unistd.h>

#include <thread>

#include "process/run.hpp"
#include "storage/storage.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;
using storage::Json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFacts =
    "SMs: one hundred and thirty-two. Lanes: thirty-two. L2: fifty MiB. Shared: 227 KiB.";

struct AuthoringTest : testing::Test {
  fs::path root = fs::path(testing::TempDir()) / ("authoring." + std::to_string(::getpid()));
  std::map<std::string, std::string> environment;

  void SetUp() override { fs::create_directories(root); }
  void TearDown() override { fs::remove_all(root); }

  process::Result hone(std::vector<std::string> arguments) const {
    process::Command command;
    command.argv = {HONE_PROGRAM};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.directory = root;
    command.environment = environment;
    command.environment["HOME"] = (root / "home").string();
    command.environment["PATH"] = std::getenv("PATH");
    return process::run(command);
  }
  void write(const fs::path& file, const std::string& text) const {
    storage::write_atomically(root / file, text);
  }
  std::string read(const fs::path& file) const { return storage::read_file(root / file); }
};

/// A project with a scripted teacher, who writes a skill and cases, and scripted students.
struct ScriptedProject : AuthoringTest {
  Json teacher = Json::array(), student = Json::array();

  static Json case_of(const char* prompt, const char* text) {
    return {{"prompt", prompt}, {"expect", {{"contains", Json::array({text})}}}};
  }

  void SetUp() override {
    AuthoringTest::SetUp();
    const Json cases = {{"cases",
                         {case_of("How many SMs has the H100?", "one hundred and thirty-two"),
                          case_of("How many lanes has a warp?", "thirty-two"),
                          case_of("How many MiB has the L2 cache of the H100?", "fifty"),
                          case_of("How many KiB of shared memory may a block use?", "227 KiB")}}};
    const Json usage = {{"input", 100}, {"output", 20}};
    teacher = {{{"contains", "In one sentence"}, {"text", "Limits of the H100."}},
               {{"contains", "is part"}, {"text", "- 132 SMs, says the record"}},
               {{"contains", "questions that test"}, {"text", cases.dump()}},
               {{"contains", "body of the skill"}, {"text", std::string("# Facts\n") + kFacts}},
               {{"contains", "still failed"}, {"text", std::string("# Mended\n") + kFacts}},
               {{"text", kFacts}}};
    for (auto& answer : teacher) answer["usage"] = usage;
    student = {{{"arm", "with_skill"}, {"text", kFacts}, {"usage", usage}},
               {{"text", "I am not sure."}, {"usage", usage}}};
  }

  /// Writes the project; the environment then names it.
  void declare() {
    Json models = Json::array();
    for (const auto& [name, answers] : {std::pair{"teacher", &teacher}, {"student", &student}}) {
      write(std::string(name) + ".json",
            Json{{"schema", "hone.script/1"}, {"answers", *answers}}.dump());
      models.push_back({{"name", name},
                        {"provider", "scripted"},
                        {"model", name},
                        {"script", (root / (std::string(name) + ".json")).string()}});
    }
    const std::string build = (root / "build").string();
    write("build/hone/manifest.json", Json{{"schema", "hone.manifest/1"},
                                           {"source_dir", root.string()},
                                           {"binary_dir", build},
                                           {"run_dir", build + "/hone/runs"},
                                           {"cache_dir", build + "/hone/cache"},
                                           {"reports_dir", build + "/reports"},
                                           {"baselines_dir", root.string() + "/reports/baselines"},
                                           {"hone", HONE_PROGRAM},
                                           {"models", models}}
                                          .dump());
  }

  process::Result generate(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        "generate", "know the H100", "-m",      "teacher", "--eval-model", "student",
        "-o",       "skills/h100",   "--cases", "4",       "-n",           "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hone(arguments);
  }
};

TEST_F(ScriptedProject, FromASentenceToAnInstalledSkill) {
  declare();
  const auto generated = generate();
  ASSERT_EQ(generated.exit_code, 0) << generated.out << generated.err;
  EXPECT_THAT(generated.out, HasSubstr("skills/h100: version 1 of 1; stopped: the target is"));
  EXPECT_THAT(generated.out, HasSubstr("without   0 %   first 100 %   best 100 %"));
  EXPECT_THAT(read("skills/h100/SKILL.md"), HasSubstr("description: \"Limits of the H100.\""));
  EXPECT_THAT(read("skills/h100/CMakeLists.txt"), HasSubstr("MODELS student RUNS 2"));

  const auto lint = hone({"lint", "skills/h100", "--no-build"});
  EXPECT_EQ(lint.exit_code, 0) << lint.out << lint.err;
  const auto evaluated = hone({"eval", "skills/h100", "-m", "student", "--runs", "2"});
  EXPECT_THAT(evaluated.out, HasSubstr("4 cases x 2 runs"));
  EXPECT_THAT(evaluated.out, HasSubstr("+100.0 points"));
  const auto installed = hone({"install", "skills/h100", "--agent", "claude"});
  EXPECT_EQ(installed.exit_code, 0) << installed.err;
  EXPECT_EQ(read(".claude/skills/h100/SKILL.md"), read("skills/h100/SKILL.md"));
  EXPECT_FALSE(fs::exists(root / ".claude/skills/h100/cases"));
}

TEST_F(ScriptedProject, TheSameCommandAsksNothingAgain) {
  declare();
  const auto first = generate();
  teacher = Json::array();
  for (const char* model : {"teacher", "student"})
    fs::remove(root / (std::string(model) + ".json"));
  environment["HONE_RECORD"] = "replay";
  declare();
  const auto again = generate();
  // What the teacher wrote is on record as files, so that its empty script is not missed.
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("version 1 of 1"));
}

TEST_F(ScriptedProject, ASkillThatDoesNotHelpIsToldAndExitsWith1) {
  student = Json::array({{{"text", "I am not sure."}}});
  declare();
  const auto result = generate({"--max-refine", "2"});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("v3: train 0 %, held out 0 %"));
  EXPECT_THAT(result.out, HasSubstr("The skill did not pass: on held-out cases it is no better"));
}

TEST_F(ScriptedProject, AnAuthorWithoutUsableCasesIsToldAsThat) {
  teacher[2]["text"] =
      R"({"cases": [{"prompt": "Say sm_90.", "expect": {"contains": ["sm_90"]}}]})";
  declare();
  const auto result = generate();
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("turned down: a copy of the question passes its checks"));
  EXPECT_THAT(result.out, HasSubstr("too few usable cases"));
  EXPECT_TRUE(fs::exists(root / "skills/h100/SKILL.md"));
}

TEST_F(ScriptedProject, TheBudgetEndsRefinement) {
  student = Json::array({{{"text", "no"}, {"usage", {{"input", 100}, {"output", 20}}}}});
  declare();
  const auto result = generate({"--budget", "3000"});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("the budget does not suffice to measure another version"));
}

TEST_F(ScriptedProject, FromATraceWithoutEvaluation) {
  declare();
  write("trace.md", "## User\nHow many SMs?\n## Assistant\n132, by key sk-ant-api03-" +
                        std::string(40, 'a') + "\n");
  const auto result = generate({"--from", "trace.md", "--no-eval"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("trace: markdown"));
  EXPECT_THAT(result.out, HasSubstr("1 secrets redacted"));
  EXPECT_THAT(result.out, HasSubstr("stopped: not evaluated"));
}

TEST_F(ScriptedProject, TakesItsDefaultsFromUpskillsConfiguration) {
  declare();
  write("upskill.config.yaml",
        "model: teacher\neval_model: student\nskills_dir: ./made\nmax_refine_attempts: 1\n"
        "auto_eval: false\n");
  const auto result = hone({"generate", "know the H100"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("defaults of "));
  EXPECT_TRUE(fs::exists(root / "made/know-h100/SKILL.md"));
  EXPECT_THAT(hone({"list", "-d", "made"}).out, HasSubstr("know-h100: Limits of the H100."));
}

TEST_F(AuthoringTest, AKernelProjectIsBuiltAndToldWhatItExports) {
  if (!fs::exists(HONE_NVCC)) GTEST_SKIP() << "no nvcc";
  write("twice/build.toml",
        "[general]\nname = \"twice\"\nbackends = [\"cuda\"]\n\n[kernel.twice]\nbackend = \"cuda\"\n"
        "cuda-capabilities = [\"9.0\"]\nsrc = [\"kernel_src/twice.cu\"]\n");
  write("twice/kernel_src/twice.cu",
        "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n");
  const auto built = hone({"kernel", "build", "twice", "-o", "twice.so", "--toolkit", HONE_CUDA});
  EXPECT_EQ(built.exit_code, 0) << built.out << built.err;
  EXPECT_THAT(built.out, HasSubstr("twice: built"));
  const auto missing = hone(
      {"kernel", "build", "twice", "-o", "twice.so", "--entry", "thrice", "--toolkit", HONE_CUDA});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("thrice"));
}

/// No project at all: a folder with a skill, and a server that knows what the skill says.
struct WithoutProject : AuthoringTest {
  httplib::Server server;
  std::thread thread;
  std::string url;

  void SetUp() override {
    AuthoringTest::SetUp();
    write("skills/h100/SKILL.md",
          "---\nname: h100\ndescription: Limits of the H100\n---\n" + std::string(kFacts) + "\n");
    write("skills/h100/skill_meta.json", R"({"metadata": {}, "tests": [
        {"input": "How many SMs has the H100?",
         "expected": {"contains": "one hundred and thirty-two"}},
        {"input": "Who sells it?", "expected": {"contains": ["NVIDIA"]}}]})");
    server.Post("/v1/chat/completions", [](const auto& request, auto& response) {
      const Json body = Json::parse(request.body);
      const std::string system = body["messages"][0]["content"];
      const bool knows = system.find(kFacts) != std::string::npos;
      const Json message = {{"role", "assistant"}, {"content", knows ? kFacts : "Not sure."}};
      response.set_content(
          Json{{"model", body["model"]},
               {"choices", Json::array({{{"finish_reason", "stop"}, {"message", message}}})},
               {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 5}}}}
              .dump(),
          "application/json");
    });
    url = "http://127.0.0.1:" + std::to_string(server.bind_to_any_port("127.0.0.1")) + "/v1";
    thread = std::thread([&] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();
  }
  void TearDown() override {
    server.stop();
    thread.join();
    AuthoringTest::TearDown();
  }
};

TEST_F(WithoutProject, EvaluatesAFolderWithSeveralModelsAndABaseline) {
  const auto result = hone({"eval", "skills/h100/", "-m", "org/small:q4", "-m", "large", "--runs",
                            "2", "--base-url", url, "-v"});
  EXPECT_THAT(result.out, HasSubstr("org-small-q4"));
  EXPECT_THAT(result.out, HasSubstr("2 cases x 2 runs"));
  EXPECT_THAT(result.out, HasSubstr("+50.0 points")) << result.err;
  EXPECT_THAT(result.out, HasSubstr("large skill_meta-2 with_skill run 0: wrong"));
  EXPECT_THAT(result.out, HasSubstr("  | SMs: one hundred"));
  EXPECT_TRUE(fs::exists(root / ".hone/reports/report.html"));
  const auto runs = hone({"runs", "-s", "h100", "-m", "large", "--csv", "runs.csv"});
  EXPECT_EQ(runs.exit_code, 0) << runs.err;
  EXPECT_THAT(read("runs.csv"), HasSubstr("large"));
  EXPECT_THAT(read("runs.csv"), Not(HasSubstr("org-small")));
}

TEST_F(WithoutProject, LeavesTheBaselineOutWhenToldTo) {
  const auto result =
      hone({"eval", "skills/h100", "-m", "generic.large", "--base-url", url, "--no-baseline"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("nothing scored"));
  EXPECT_FALSE(fs::exists(root / ".hone/hone/runs/h100/large/skill_meta-1/without_skill"));
}

TEST_F(WithoutProject, BenchmarkIsEvalWithThreeRuns) {
  const auto result =
      hone({"benchmark", "skills/h100", "-m", "large", "--base-url", url, "-o", "out"});
  EXPECT_THAT(result.out, HasSubstr("2 cases x 3 runs")) << result.err;
  EXPECT_TRUE(fs::exists(root / "out/results.json"));
}

TEST_F(WithoutProject, SaysWhatIsMissing) {
  EXPECT_THAT(hone({"eval", "skills/h100"}).err, HasSubstr("no model: name one with -m"));
  EXPECT_THAT(hone({"eval", "skills/h100", "-m", "generic.x"}).err, HasSubstr("GENERIC_BASE_URL"));
  EXPECT_THAT(hone({"eval", "skills/none", "-m", "x"}).err, HasSubstr("it has no SKILL.md"));
  EXPECT_THAT(hone({"eval", "none", "-m", "x"}).err, HasSubstr("no build/hone/manifest.json"));
  fs::remove(root / "skills/h100/skill_meta.json");
  const auto result = hone({"eval", "skills/h100", "-m", "large", "--base-url", url});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("name a file with -t"));
}

TEST_F(WithoutProject, ShowsWhatUpskillLeftOnDisk) {
  for (const auto& [number, type, passed] : {std::tuple{1, "baseline", 1}, {2, "with_skill", 3}})
    write("runs/2026_01_22_13_10/run_" + std::to_string(number) + "/run_result.json",
          Json{{"metadata",
                {{"model", "haiku"},
                 {"task", "t"},
                 {"batch_id", "b"},
                 {"run_number", number},
                 {"timestamp", "2026-01-22T13:10:00"}}},
               {"stats", {{"total_tokens", 10}, {"input_tokens", 6}, {"output_tokens", 4}}},
               {"passed", true},
               {"assertions_passed", passed},
               {"assertions_total", 4},
               {"run_type", type},
               {"skill_name", "old"}}
              .dump());
  const auto runs = hone({"runs", "-d", "runs", "-m", "haiku"});
  EXPECT_EQ(runs.exit_code, 0) << runs.err;
  EXPECT_THAT(runs.out, HasSubstr("old"));
}

}  // namespace
}  // namespace hone::cli
