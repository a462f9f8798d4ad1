#include "author/generate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <unistd.h>

#include <mutex>
#include <thread>

#include "author/lint.hpp"
#include "cases/case.hpp"
#include "skill/skill.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using storage::Json;
using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

struct InstantClock : http::Clock {
  TimePoint time{};
  TimePoint now() override { return time; }
  void sleep_until(TimePoint when) override { time = when; }
  double random() override { return 0; }
};

/// A real server on a loopback port that plays both models. As an author it writes a first skill
/// that lacks a fact, cases (good, leaking, known by everybody, and one that it cannot solve), and
/// adds the fact once it is told what went wrong. As a student it knows what the system text says.
struct GenerateTest : testing::Test {
  httplib::Server server;
  std::thread thread;
  InstantClock clock;
  fs::path root = fs::path(testing::TempDir()) / ("generate." + std::to_string(::getpid()));
  trial::Manifest manifest;
  GenerateSettings settings;
  Spending spending;
  std::vector<std::string> said;

  std::mutex mutex;
  std::vector<std::string> asked;  ///< user texts sent to the author
  bool learns = true;              ///< whether the author mends the skill
  bool writes = true;              ///< whether it writes skills at all

  static constexpr const char* kQuestions[] = {"How many SMs has the H100?",
                                               "How many lanes has a warp?",
                                               "How many MiB has the L2 cache of the H100?",
                                               "How many KiB of shared memory may a block use?"};
  static constexpr const char* kAnswers[] = {"132", "thirty-two lanes", "50 MiB", "227 KiB"};

  std::string cases_text() const {
    Json list = Json::array();
    for (size_t i = 0; i < 4; ++i)
      list.push_back(
          {{"prompt", kQuestions[i]}, {"expect", {{"contains", Json::array({kAnswers[i]})}}}});
    for (const auto& [prompt, text] : {std::pair{"Say sm_90 please.", "sm_90"},
                                       std::pair{"What is the sum of one and one?", "two"},
                                       std::pair{"What is unknown to all?", "mystery"}})
      list.push_back({{"prompt", prompt}, {"expect", {{"contains", Json::array({text})}}}});
    return Json{{"cases", list}}.dump();
  }

  std::string reply(const std::string& system, const std::string& user) {
    if (system.starts_with("You write agent skills")) {
      asked.push_back(user);
      if (user.find("In one sentence") != std::string::npos) return "Limits of the H100.";
      if (user.find("is part") != std::string::npos) return "- nvcc needs -arch=sm_90";
      if (!writes) return "no";
      std::string body = "## Facts of the H100\n- A warp has thirty-two lanes.\n";
      if (user.find("still failed") != std::string::npos && learns)
        body += "- SMs: 132. L2: 50 MiB. A block: 227 KiB.\n";
      return body;
    }
    if (system.starts_with("You write test questions")) return cases_text();
    std::string answer = "I know: two.";
    for (const char* fact : kAnswers)
      if (system.find(fact) != std::string::npos) answer += std::string(" ") + fact;
    // The author solves its cases: it reads the skill with more knowledge of its own.
    return answer;
  }

  void SetUp() override {
    server.Post("/v1/chat/completions", [&](const auto& request, auto& response) {
      const Json body = Json::parse(request.body);
      const std::string model = body["model"];
      const std::string system = body["messages"][0]["content"];
      const std::string user = body["messages"][1]["content"];
      const std::lock_guard hold(mutex);
      std::string text = reply(system, user);
      const bool own_question = !system.starts_with("You write");
      if (model == "teacher" && own_question)
        text = "132 thirty-two lanes 50 MiB 227 KiB two sm_90";
      const Json answer = {
          {"model", model},
          {"choices", Json::array({{{"finish_reason", "stop"},
                                    {"message", {{"role", "assistant"}, {"content", text}}}}})},
          {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 5}}}};
      response.set_content(answer.dump(), "application/json");
    });
    const int port = server.bind_to_any_port("127.0.0.1");
    thread = std::thread([&] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();
    for (const char* name : {"teacher", "student"}) {
      model::ModelConfig config;
      config.name = name;
      config.model = name;
      config.base_url = "http://127.0.0.1:" + std::to_string(port) + "/v1";
      manifest.models.push_back(config);
    }
    manifest.binary_dir = root;
    settings.task = "know the limits of the H100";
    settings.name = "h100-limits";
    settings.out = root / "skills/h100-limits";
    settings.cases_wanted = 5;
    settings.eval_models = {"student"};
    settings.runs = 2;
    settings.progress = [&](const std::string& line) { said.push_back(line); };
  }
  void TearDown() override {
    server.stop();
    thread.join();
    fs::remove_all(root);
  }

  Generated run() {
    model::AskOptions options;
    options.client.clock = &clock;
    ModelWriter author(manifest.model("teacher"), spending, options);
    TrialSettings trial;
    trial.models = settings.eval_models;
    trial.cases = {(cases_of(settings.out) / "*.json").string()};
    trial.runs = settings.runs;
    trial.run_dir = settings.out / ".hone/runs";
    TrialStudent student(manifest, trial);
    return generate(settings, {author, author, student, spending});
  }
};

TEST_F(GenerateTest, FromATaskToASkillThatHelpsTheStudent) {
  const auto result = run();
  EXPECT_EQ(result.cases, 4u);
  EXPECT_EQ(result.version, 2);
  EXPECT_EQ(result.stopped, "the target is reached");
  ASSERT_TRUE(result.held_out);
  EXPECT_EQ(result.held_out->without, 0);
  EXPECT_EQ(result.held_out->best, 1);
  EXPECT_TRUE(result.passed());
  EXPECT_GT(spending.tokens, 0);

  for (const auto& [prompt, reason] :
       {std::pair{"Say sm_90 please.", "a copy of the question passes"},
        std::pair{"What is the sum of one and one?", "solves it without the skill"},
        std::pair{"What is unknown to all?", "author model itself does not solve it"}})
    EXPECT_THAT(result.rejected, Contains(AllOf(Field(&Rejected::prompt, prompt),
                                                Field(&Rejected::reason, HasSubstr(reason)))));

  std::vector<Diagnostic> warnings;
  const auto skill = skill::load_skill(settings.out, warnings);
  EXPECT_EQ(skill.name, "h100-limits");
  EXPECT_THAT(skill.body, HasSubstr("SMs: 132"));
  const auto set =
      cases::load_cases({settings.out / "cases/train.json", settings.out / "cases/held-out.json"});
  EXPECT_FALSE(set.has_errors());
  EXPECT_EQ(set.cases.size(), 4u);
  EXPECT_EQ(result.train->cases + result.held_out->cases, 4u);
  EXPECT_THAT(lint(settings.out, {}).findings, testing::IsEmpty());

  const auto meta = storage::read_json(settings.out / "skill_meta.json");
  EXPECT_EQ(meta["tests"].size(), 4u);
  EXPECT_EQ(meta["metadata"]["test_pass_rate"], 1.0);
  EXPECT_THAT(storage::read_file(settings.out / "CMakeLists.txt"),
              AllOf(HasSubstr("hone_add_skill(h100-limits)"), HasSubstr("MODELS student RUNS 2"),
                    HasSubstr("CASES cases/*.json")));
}

TEST_F(GenerateTest, TheAuthorIsNeverToldAHeldOutQuestion) {
  run();
  const auto held_out = cases::load_cases({settings.out / "cases/held-out.json"});
  ASSERT_FALSE(held_out.cases.empty());
  for (const auto& user : asked)
    for (const auto& c : held_out.cases) EXPECT_THAT(user, Not(HasSubstr(c.prompt)));
}

TEST_F(GenerateTest, ASkillThatDoesNotHelpIsReportedAsThat) {
  learns = false;
  settings.max_attempts = 2;
  const auto result = run();
  EXPECT_EQ(result.version, 1);
  EXPECT_THAT(result.stopped, HasSubstr("2 attempts"));
  ASSERT_TRUE(result.held_out);
  EXPECT_LT(result.held_out->best, 1);
  EXPECT_EQ(result.passed(), result.held_out->best > result.held_out->without);
  EXPECT_TRUE(fs::exists(settings.out / "SKILL.md"));
}

TEST_F(GenerateTest, AnAuthorThatCannotWriteEndsIt) {
  writes = false;
  try {
    run();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::judged_bad);
    EXPECT_THAT(e.what(), HasSubstr("wrote no valid skill in 3 attempts: it says nothing"));
  }
  EXPECT_FALSE(fs::exists(settings.out / "SKILL.md"));
}

TEST_F(GenerateTest, GoesOnWhereItEndedWithoutAskingAgain) {
  run();
  const size_t before = asked.size();
  const auto again = run();
  EXPECT_EQ(asked.size(), before);
  EXPECT_EQ(again.version, 2);
  EXPECT_EQ(again.rejected.size(), 3u);
}

TEST_F(GenerateTest, FromATrace) {
  storage::write_atomically(root / "trace.md", "Written by hand for this test: nvcc -arch=sm_90");
  settings.from = root / "trace.md";
  settings.evaluate = false;
  const auto result = run();
  EXPECT_FALSE(result.held_out);
  EXPECT_THAT(asked.front(), HasSubstr("nvcc -arch=sm_90"));
  EXPECT_THAT(asked.back(), HasSubstr("- nvcc needs -arch=sm_90"));
  EXPECT_TRUE(fs::exists(settings.out / "SKILL.md"));
}

TEST_F(GenerateTest, ImprovesASkillThatExists) {
  const fs::path from = root / "old/h100-limits";
  storage::write_atomically(from / "SKILL.md",
                            "---\nname: h100-limits\ndescription: d\nlicense: MIT\n---\n"
                            "A warp has thirty-two lanes. See references/a.md.\n");
  storage::write_atomically(from / "references/a.md", "a");
  settings.from = from;
  const auto result = run();
  EXPECT_EQ(result.version, 2);
  EXPECT_THAT(storage::read_file(settings.out / "SKILL.md"), HasSubstr("license: MIT"));
  EXPECT_EQ(storage::read_file(settings.out / "references/a.md"), "a");
  EXPECT_THAT(asked.front(), HasSubstr("still failed")) << "the first version is the given skill";
}

TEST_F(GenerateTest, AFolderOfAnothersIsLeftAlone) {
  storage::write_atomically(settings.out / "SKILL.md", "mine");
  EXPECT_THROW(run(), Error);
  EXPECT_EQ(storage::read_file(settings.out / "SKILL.md"), "mine");
}

TEST_F(GenerateTest, AnotherRequestNeedsAnotherFolderOrFresh) {
  settings.evaluate = false;
  run();
  settings.task = "something else";
  try {
    run();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::usage);
    EXPECT_THAT(e.what(), HasSubstr("--fresh"));
  }
  settings.fresh = true;
  run();
}

TEST_F(GenerateTest, TheBudgetIsKept) {
  spending.limit = 40;
  settings.cases_wanted = 0;
  settings.evaluate = true;
  const auto result = run();
  EXPECT_THAT(result.stopped, HasSubstr("0 usable cases"));
  EXPECT_LE(spending.tokens, 45);
}

TEST_F(GenerateTest, AServerThatFailsIsAnInfrastructureError) {
  manifest.models[0].base_url = "http://127.0.0.1:1/v1";
  try {
    run();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::infrastructure);
    EXPECT_THAT(e.what(), HasSubstr("teacher: "));
  }
}

}  // namespace
}  // namespace hone::author
