#include "author/case_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

struct CaseWriterTest : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) / ("case_writer." + std::to_string(::getpid()));
  void TearDown() override { fs::remove_all(folder); }

  std::vector<std::string> prompts_of(const CaseSetReport& report) {
    std::vector<std::string> prompts;
    for (const auto& one : report.cases) prompts.push_back(one.c.prompt);
    return prompts;
  }
};

constexpr const char* kSms =
    R"({"prompt": "How many SMs has the H100?", "expect": {"contains": ["132"]}})";
constexpr const char* kWarp =
    R"({"prompt": "Lanes of a warp?", "expect": {"number": {"value": 32, "tolerance": 0}}})";

TEST_F(CaseWriterTest, ReadsWhatModelsWrite) {
  const std::string both = std::string(kSms) + ", " + kWarp;
  for (const std::string& answer :
       {"{\"cases\": [" + both + "]}", "```json\n{\"cases\": [" + both + "]}\n```",
        "[" + both + "]", "Here they are:\n" + both + "\nDone {x}.",
        "{\"cases\": [" + both + ", {\"prompt\": \"cut o"}) {
    const auto report = read_proposals(answer, folder);
    EXPECT_THAT(prompts_of(report), ElementsAre("How many SMs has the H100?", "Lanes of a warp?"))
        << answer;
  }
}

TEST_F(CaseWriterTest, ABrokenOneCostsNoOther) {
  const auto report =
      read_proposals("[{\"prompt\": 7}, {\"prompt\": \"No check?\", \"expect\": {}}, {\"a\": 1}, " +
                         std::string(kSms) + "]",
                     folder);
  EXPECT_THAT(prompts_of(report), ElementsAre("How many SMs has the H100?"));
  EXPECT_EQ(report.rejected.size(), 3u);
  EXPECT_THAT(report.rejected, Contains(Field(&Rejected::prompt, "No check?")));
}

TEST_F(CaseWriterTest, NoJsonIsSaid) {
  EXPECT_THAT(read_proposals("I cannot.", folder).rejected.at(0).reason,
              HasSubstr("holds no JSON object"));
}

TEST_F(CaseWriterTest, VettingTurnsDownWeakOnesAndDuplicates) {
  CaseSetReport report;
  vet(read_proposals(kSms, folder), report);
  vet(read_proposals(
          R"([{"prompt": "How many SMs has the H100!", "expect": {"contains": ["132 SMs"]}},
              {"prompt": "Say sm_90.", "expect": {"contains": ["sm_90"]}},
              {"prompt": "Say nothing.", "expect": {"not_contains": ["sm_70"]}},
              {"prompt": "Capability?", "expect": {"contains": ["9"]}}])",
          folder),
      report);
  EXPECT_THAT(prompts_of(report), ElementsAre("How many SMs has the H100?"));
  std::vector<std::string> reasons;
  for (const auto& one : report.rejected) reasons.push_back(one.reason);
  EXPECT_THAT(
      reasons,
      ElementsAre("it is asked already", "a copy of the question passes its checks",
                  "an empty answer passes its checks", HasSubstr("fewer than 3 characters")));
}

/// Writes the same cases in each round, and answers questions as it is told.
struct Author : Writer {
  std::deque<std::string> rounds;
  std::string answer;  ///< to every question
  std::vector<Task> asked;
  std::optional<std::string> write(const Task& task) override {
    asked.push_back(task);
    if (task.system.find("test questions") == std::string::npos) return answer;
    if (rounds.empty()) return std::nullopt;
    const auto round = rounds.front();
    rounds.pop_front();
    return round;
  }
  size_t room(int) const override { return 12000; }
};

TEST_F(CaseWriterTest, KeepsWhatTheAuthorItselfSolvesWithTheSkill) {
  Author author;
  author.rounds = {std::string("[") + kSms + "," + kWarp + "]"};
  author.answer = "There are 132 of them.";
  skill::Skill skill;
  skill.name = "my-skill";
  skill.body = "SMs: 132";
  const auto report = write_cases(author, {"task", {}, "", 500}, skill, 3, folder, {});
  EXPECT_THAT(prompts_of(report), ElementsAre("How many SMs has the H100?"));
  EXPECT_THAT(report.rejected,
              Contains(Field(&Rejected::reason, HasSubstr("author model itself does not solve"))));
  EXPECT_THAT(author.asked[0].user, HasSubstr("\"minItems\":1"));
  EXPECT_THAT(author.asked[1].system, HasSubstr("SMs: 132"));
  EXPECT_THAT(author.asked.back().user, HasSubstr("Do not ask again:\n- How many SMs"));
}

TEST_F(CaseWriterTest, AsksNoMoreThanFourTimes) {
  Author author;
  for (int i = 0; i < 9; ++i) author.rounds.push_back("no JSON");
  const auto report = write_cases(author, {"task", {}, "", 500}, {}, 3, folder, {});
  EXPECT_THAT(report.cases, IsEmpty());
  EXPECT_EQ(author.asked.size(), 4u);
}

}  // namespace
}  // namespace hone::author
