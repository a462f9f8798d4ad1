#include "author/refine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "skill/skill.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Writes "version N" with N counting up, long enough to be a skill.
struct CountingAuthor : Writer {
  int version = 1;
  std::vector<Task> asked;
  std::string answer;  ///< instead, when set
  std::optional<std::string> write(const Task& task) override {
    asked.push_back(task);
    if (!answer.empty()) return answer;
    return "version " + std::to_string(++version) + " of a body that is long enough to be one";
  }
  size_t room(int) const override { return 12000; }
};

/// Does as well with version N as the test says.
struct ScriptedStudent : Student {
  Split split;
  std::vector<std::pair<double, double>> rates;  ///< train, held-out, by version from 1
  std::vector<std::string> labels;

  std::vector<std::string> case_ids() override { return {}; }
  Measurement with(const fs::path& dir, const std::string& label) override {
    labels.push_back(label);
    std::vector<Diagnostic> warnings;
    const std::string body = skill::load_skill(dir, warnings).body;
    const auto at = static_cast<size_t>(std::stoi(body.substr(8))) - 1;
    Measurement m;
    m.tokens = 10;
    const auto add = [&](const std::set<std::string>& ids, double rate) {
      for (const auto& id : ids)
        m.scores.push_back({"local", id, "What is " + id + "?", static_cast<int>(rate * 10), 10,
                            rate < 1 ? "wrong: contains: " + id : "", "an answer"});
    };
    add(split.train, rates.at(at).first);
    add(split.held_out, rates.at(at).second);
    return m;
  }
  Measurement without(const fs::path&) override { return {}; }
};

struct RefineTest : testing::Test {
  fs::path dir = fs::path(testing::TempDir()) / ("refine." + std::to_string(::getpid()));
  CountingAuthor author;
  ScriptedStudent student;
  Spending spending;
  Split split{{"train-a", "train-b"}, {"held-c"}};
  RefineOptions options;
  Draft first{"my-skill", "d", "version 1 of a body that is long enough to be one", ""};

  void SetUp() override {
    student.split = split;
    options.dir = dir;
    options.max_attempts = 5;
  }
  void TearDown() override { fs::remove_all(dir); }
  Refined run() {
    return refine(author, student, spending, first, {"task", {}, "", 500}, split, options);
  }
};

TEST_F(RefineTest, AFirstVersionAtZeroIsRefined) {
  student.rates = {{0, 0}, {1, 1}};
  const auto refined = run();
  EXPECT_EQ(refined.versions[refined.best].number, 2);
  EXPECT_EQ(refined.stopped, "the target is reached");
}

TEST_F(RefineTest, TheBestByHeldOutIsKeptNotTheLast) {
  student.rates = {{.2, .2}, {.5, .8}, {.9, .4}, {.9, .7}};
  const auto refined = run();
  EXPECT_EQ(refined.versions.size(), 4u);
  EXPECT_EQ(refined.versions[refined.best].number, 2);
  EXPECT_EQ(refined.stopped, "2 attempts in a row brought nothing");
}

TEST_F(RefineTest, ATieGoesToTrainThenToTheEarlier) {
  student.rates = {{.2, .5}, {.5, .5}, {.5, .5}, {.4, .5}};
  const auto refined = run();
  EXPECT_EQ(refined.versions[refined.best].number, 2);
}

TEST_F(RefineTest, AttemptsAreLimited) {
  options.max_attempts = 1;
  student.rates = {{.1, .1}, {.2, .2}};
  EXPECT_EQ(run().stopped, "1 attempts were made");
  options.max_attempts = 0;
  fs::remove_all(dir);
  EXPECT_EQ(run().versions.size(), 1u);
}

TEST_F(RefineTest, TheBudgetEndsIt) {
  spending.limit = 25;
  student.rates = {{.1, .1}, {.2, .2}, {.3, .3}};
  const auto refined = run();
  EXPECT_EQ(refined.stopped, "the budget does not suffice to measure another version");
  EXPECT_EQ(refined.versions.size(), 2u);
  EXPECT_LE(spending.tokens, 25);
}

TEST_F(RefineTest, TheAuthorNeverSeesAHeldOutCase) {
  student.rates = {{.1, .1}, {.2, .2}, {.2, .2}, {.2, .2}};
  run();
  ASSERT_THAT(author.asked, Not(IsEmpty()));
  for (const auto& task : author.asked) {
    EXPECT_THAT(task.user, HasSubstr("train-a"));
    EXPECT_THAT(task.user, Not(HasSubstr("held-c")));
  }
}

TEST_F(RefineTest, RefinesTheBestVersionWithAnotherSeed) {
  student.rates = {{.5, .5}, {.1, .1}, {.1, .1}};
  run();
  ASSERT_EQ(author.asked.size(), 2u);
  EXPECT_THAT(author.asked[1].user, HasSubstr("version 1 of"));
  EXPECT_NE(author.asked[0].seed, author.asked[1].seed);
}

TEST_F(RefineTest, NothingToLearnFromEndsIt) {
  student.rates = {{1, .5}};
  EXPECT_EQ(run().stopped, "no train case fails any more");
}

TEST_F(RefineTest, AnAuthorThatWritesNoSkillIsAnAttempt) {
  author.answer = "no";
  student.rates = {{.1, .1}};
  const auto refined = run();
  EXPECT_EQ(refined.versions.size(), 1u);
  EXPECT_EQ(refined.failed_attempts.size(), 2u);
  EXPECT_EQ(refined.stopped, "2 attempts in a row brought nothing");
}

TEST_F(RefineTest, VersionsOnRecordAreUsedAgain) {
  student.rates = {{.1, .1}, {.3, .3}, {.2, .2}, {.2, .2}};
  run();
  const auto scores = storage::read_json(dir / "v2/scores.json");
  EXPECT_EQ(scores["held_out"], .3);
  EXPECT_EQ(scores["cases"][2]["side"], "held-out");
  author.asked.clear();
  const auto again = run();
  EXPECT_THAT(author.asked, IsEmpty());
  EXPECT_EQ(again.versions.size(), 4u);
}

TEST_F(RefineTest, VersionsKeepTheReferences) {
  student.rates = {{.1, .1}, {1, 1}};
  storage::write_atomically(dir / "v1/my-skill/SKILL.md", skill_md(first));
  storage::write_atomically(dir / "v1/my-skill/references/a.md", "a");
  run();
  EXPECT_EQ(storage::read_file(dir / "v2/my-skill/references/a.md"), "a");
}

TEST(SplitTest, BothSidesHaveOneAndStayStable) {
  EXPECT_THROW(split_of({"a"}), Error);
  for (const auto& ids : {std::vector<std::string>{"a", "b"}, {"x", "y", "z"}}) {
    const auto split = split_of(ids);
    EXPECT_THAT(split.train, Not(IsEmpty()));
    EXPECT_THAT(split.held_out, Not(IsEmpty()));
  }
  std::vector<std::string> ids;
  for (int i = 0; i < 60; ++i) ids.push_back("case-" + std::to_string(i));
  const auto split = split_of(ids);
  EXPECT_GT(split.held_out.size(), 10u);
  EXPECT_LT(split.held_out.size(), 30u);
  ids.push_back("one more");
  const auto more = split_of(ids);
  for (const auto& id : split.held_out) EXPECT_EQ(more.held_out.count(id), 1u);
}

TEST(EvidenceTest, EachFailureOfTrainHasItsShare) {
  Measurement m;
  m.scores = {{"local", "a", "Ask a?", 1, 3, "compile-error: " + std::string(9000, 'x'), "code"},
              {"local", "b", "Ask b?", 0, 3, "wrong: y[3] is 1, expected 2", "answer b"},
              {"local", "c", "Ask c?", 3, 3, "", ""},
              {"local", "d", "Ask d?", 0, 3, "wrong: held out", ""}};
  const auto text = evidence_of(m, {{"a", "b", "c"}, {"d"}}, 2000);
  EXPECT_LE(text.size(), 2200u);
  for (const char* part : {"Ask a?", "Right in 1 of 3 runs. Went wrong: compile-error", "Ask b?",
                           "y[3] is 1, expected 2", "It answered: answer b"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("Ask c?")));
  EXPECT_THAT(text, Not(HasSubstr("held out")));
  EXPECT_LT(text.find("Ask b?"), text.find("Ask a?")) << "the worst first";
}

}  // namespace
}  // namespace hone::author
