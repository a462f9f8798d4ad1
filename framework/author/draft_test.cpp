#include "author/draft.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>

#include "author/trace.hpp"
#include "skill/lint.hpp"
#include "storage/storage.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Answers what a test says, in order, and keeps what it was asked.
struct ScriptedWriter : Writer {
  std::deque<std::string> answers;
  std::vector<Task> asked;
  size_t bytes = 12000;

  std::optional<std::string> write(const Task& task) override {
    asked.push_back(task);
    if (answers.empty()) return std::nullopt;
    auto answer = answers.front();
    answers.pop_front();
    return answer;
  }
  size_t room(int) const override { return bytes; }
};

const std::string kBody = "## Facts\n- Compute capability: 9.0.\n- Warp: 32 lanes.";
const Material kMaterial{"write CUDA kernels for H100", {"Write a saxpy."}, "use -arch=sm_90", 300};

TEST(DraftTest, NamesAreTheSpecifications) {
  EXPECT_EQ(name_for("write optimised CUDA kernels for H100"), "write-optimised-cuda-kernels-h100");
  EXPECT_EQ(name_for("  (É) ../!"), "skill");
  for (const char* task :
       {"A b", "x-y--z", "ONE two three four five six seven eight",
        "llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"})
    EXPECT_TRUE(skill::is_spec_name(name_for(task))) << name_for(task);
}

TEST(DraftTest, FrontMatterHoldsAnyDescription) {
  const fs::path dir =
      fs::path(testing::TempDir()) / ("draft." + std::to_string(::getpid())) / "my-skill";
  Draft draft{"my-skill", "Use it: for \"x\" \\ # and 'y'", kBody, ""};
  storage::write_atomically(dir / "SKILL.md", skill_md(draft));
  std::vector<Diagnostic> warnings;
  const auto loaded = skill::load_skill(dir, warnings);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(loaded.description, draft.description);
  EXPECT_EQ(loaded.body, kBody);
  fs::remove_all(dir.parent_path());
}

TEST(DraftTest, ARoundTripKeepsTheFrontMatter) {
  const fs::path dir =
      fs::path(testing::TempDir()) / ("draft2." + std::to_string(::getpid())) / "my-skill";
  const std::string text =
      "---\nname: my-skill\ndescription: d  # why\nlicense: MIT\nmetadata:\n  a: b\n---\n\n" +
      kBody + "\n";
  storage::write_atomically(dir / "SKILL.md", text);
  std::vector<Diagnostic> warnings;
  auto draft = draft_of(skill::load_skill(dir, warnings));
  EXPECT_EQ(skill_md(draft), text);
  draft.body = "new body";
  EXPECT_THAT(skill_md(draft), HasSubstr("license: MIT\nmetadata:\n  a: b\n---\n\nnew body\n"));
  fs::remove_all(dir.parent_path());
}

TEST(DraftTest, WritesFromTaskExamplesAndNotes) {
  ScriptedWriter writer;
  writer.answers = {"Description: CUDA kernels for the <H100>.\n\nMore.",
                    "```markdown\n---\nname: x\n---\n" + kBody + "\n```"};
  const auto written = write_draft(writer, "my-skill", kMaterial);
  ASSERT_TRUE(written.draft) << written.problem;
  EXPECT_EQ(written.draft->description, "CUDA kernels for the H100.");
  EXPECT_EQ(written.draft->body, kBody);
  for (const char* part :
       {"write CUDA kernels for H100", "Write a saxpy.", "use -arch=sm_90", "about 300 tokens"})
    EXPECT_THAT(writer.asked[1].user, HasSubstr(part));
}

TEST(DraftTest, AnInvalidAnswerIsAskedForAgainWithWhatIsWrong) {
  ScriptedWriter writer;
  writer.answers = {"About it.", "", std::string(25000, 'x'), kBody};
  const auto written = write_draft(writer, "my-skill", kMaterial);
  ASSERT_TRUE(written.draft);
  EXPECT_EQ(written.attempts, 3);
  EXPECT_THAT(writer.asked[2].user, HasSubstr("the skill's body is empty"));
  EXPECT_THAT(writer.asked[3].user, HasSubstr("at most 5000 are allowed"));
  EXPECT_NE(writer.asked[3].seed, writer.asked[2].seed);
}

TEST(DraftTest, AWeakAuthorIsReportedNotBelieved) {
  ScriptedWriter writer;
  writer.answers = {"About it.", "no", "no", "no", "never asked"};
  const auto written = write_draft(writer, "my-skill", kMaterial);
  EXPECT_FALSE(written.draft);
  EXPECT_EQ(written.attempts, 3);
  EXPECT_THAT(written.problem, HasSubstr("it says nothing"));
}

TEST(DraftTest, AUsedUpBudgetEndsIt) {
  ScriptedWriter writer;
  EXPECT_EQ(write_draft(writer, "my-skill", kMaterial).problem, "the budget is used up");
}

TEST(DraftTest, RewritingSendsTheWholeSkillAndTheEvidence) {
  ScriptedWriter writer;
  writer.answers = {kBody + "\n- SMs: 132."};
  Draft draft{"my-skill", "d", kBody + std::string(3000, '.') + " the end", ""};
  const auto written = rewrite_draft(writer, draft, kMaterial, "- Asked: How many SMs?", 7);
  ASSERT_TRUE(written.draft);
  EXPECT_EQ(written.draft->description, "d");
  EXPECT_THAT(writer.asked[0].user, HasSubstr(draft.body));
  EXPECT_THAT(writer.asked[0].user, HasSubstr("- Asked: How many SMs?"));
  EXPECT_EQ(writer.asked[0].seed, 7);
}

TEST(DraftTest, NotesComeFromTheWholeTrace) {
  ScriptedWriter writer;
  writer.bytes = 2800;
  std::string trace;
  for (int i = 0; i < 100; ++i) trace += "line " + std::to_string(i) + std::string(80, '.') + "\n";
  for (int i = 0; i < 10; ++i) writer.answers.push_back("note " + std::to_string(i));
  const auto notes = notes_of(writer, "task", trace, {});
  ASSERT_TRUE(notes);
  EXPECT_EQ(writer.asked.size(), chunks_of(trace, 2000).size());
  std::string seen;
  for (const auto& task : writer.asked) seen += task.user;
  for (int i = 0; i < 100; ++i)
    EXPECT_THAT(seen, HasSubstr("line " + std::to_string(i) + ".")) << i;
  EXPECT_THAT(*notes, HasSubstr("note 0\nnote 1\n"));
}

TEST(DraftTest, LongNotesAreCondensed) {
  ScriptedWriter writer;
  writer.bytes = 2800;
  const std::string trace(5000, 'x');
  for (int i = 0; i < 3; ++i) writer.answers.push_back(std::string(900, 'n'));
  writer.answers.insert(writer.answers.end(), {"short", "short", "short"});
  EXPECT_EQ(notes_of(writer, "task", trace, {}).value_or(""), "short\nshort\n");
}

TEST(DraftTest, UnfencedTakesOffTheOuterFenceOnly) {
  EXPECT_EQ(unfenced("\n```markdown\na\n```cuda\nx\n```\n```\n"), "a\n```cuda\nx\n```");
  EXPECT_EQ(unfenced("```json\n{}"), "{}");
  EXPECT_EQ(unfenced("```cuda\nx\n```"), "```cuda\nx\n```");
  EXPECT_EQ(unfenced("text\n```\nx\n```"), "text\n```\nx\n```");
}

}  // namespace
}  // namespace hone::author
