#include "skill/lint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "skill/links.hpp"
#include "skill/sarif.hpp"
#include "storage/storage.hpp"

namespace hone::skill {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

struct SkillLintTest : testing::Test {
  fs::path root = fs::path(testing::TempDir()) / ("skill_lint." + std::to_string(::getpid()));
  fs::path dir = root / "my-skill";

  void TearDown() override { fs::remove_all(root); }
  void write(const std::string& name, const std::string& text) {
    storage::write_atomically(dir / name, text);
  }
  /// "rule line:column" of each finding; the body starts in line 5.
  std::vector<std::string> lint(const std::string& body) {
    write("SKILL.md", "---\nname: my-skill\ndescription: d\n---\n" + body);
    std::vector<std::string> said;
    for (const auto& f : lint_text(dir)) {
      const auto& where = f.diagnostic.where;
      said.push_back(f.rule + (f.diagnostic.warning ? " " : "! ") + std::to_string(where.line) +
                     ":" + std::to_string(where.column));
    }
    return said;
  }
};

TEST_F(SkillLintTest, AGoodSkillHasNoFindings) {
  write("references/a.md", "text");
  write("scripts/run.sh", "true");
  EXPECT_THAT(lint("See references/a.md, [the script](scripts/run.sh) and "
                   "[a page](https://example.org/references/x.md), [here](#top).\n"),
              IsEmpty());
}

TEST_F(SkillLintTest, WhatLoadingSaysIsTheRuleSpec) {
  write("SKILL.md", "---\nname: other\n---\nb");
  const auto found = lint_text(dir);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].rule, "spec");
  EXPECT_THAT(lint_text(root / "nowhere"), testing::SizeIs(1));
}

TEST_F(SkillLintTest, MissingReferences) {
  EXPECT_THAT(lint("See [it](references/a.md).\nAnd references/b.md.\n"),
              ElementsAre("missing-reference! 5:10", "missing-reference! 6:5"));
}

TEST_F(SkillLintTest, CodeBlocksAndInlineCodeHoldNoLinks) {
  EXPECT_THAT(
      lint("`[](int x)` is a lambda\n```cpp\nauto f = [](int x) {};  // scripts/no.sh\n```\n"),
      IsEmpty());
}

TEST_F(SkillLintTest, PathsThatLeaveTheSkill) {
  EXPECT_THAT(lint("[a](../other/a.md) [b](/etc/passwd)\n"),
              ElementsAre("outside-reference! 5:5", "outside-reference! 5:24"));
}

TEST_F(SkillLintTest, ReferencesOfReferences) {
  write("references/a.md", "[b](b.md) and [top](../SKILL.md)");
  write("references/b.md", "b");
  EXPECT_THAT(lint("references/a.md\n"), ElementsAre("nested-reference 1:5"));
}

TEST_F(SkillLintTest, FilesThatNothingNames) {
  write("references/a.md", "a");
  EXPECT_THAT(lint("text\n"), ElementsAre("unused-file 1:0"));
}

TEST_F(SkillLintTest, AFenceThatStaysOpen) {
  EXPECT_THAT(lint("text\n```cuda\nint x;\n"), ElementsAre("unclosed-fence 6:1"));
  EXPECT_THAT(lint("````md\n```cuda\nint x;\n```\n````\n"), IsEmpty());
}

TEST_F(SkillLintTest, ABodyThatIsTooLong) {
  EXPECT_THAT(lint(std::string(4 * kMaxBodyTokens, 'x')), IsEmpty());
  EXPECT_THAT(lint(std::string(4 * kMaxBodyTokens + 1, 'x')), ElementsAre("body-size 1:0"));
}

TEST_F(SkillLintTest, Sarif) {
  lint("See references/no such.md\n");
  const auto log = to_sarif(lint_text(dir), root);
  EXPECT_EQ(log["version"], "2.1.0");
  const auto& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["rules"][0]["id"], "missing-reference");
  const auto& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "missing-reference");
  EXPECT_EQ(result["level"], "error");
  EXPECT_THAT(result["message"]["text"].get<std::string>(),
              StartsWith("there is no 'references/no'"));
  const auto& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "my-skill/SKILL.md");
  EXPECT_EQ(place["region"]["startLine"], 5);
  EXPECT_EQ(place["region"]["startColumn"], 5);
}

TEST_F(SkillLintTest, SarifOfACleanSkillHasAnEmptyRun) {
  EXPECT_EQ(to_sarif({}, root)["runs"][0]["results"], storage::Json::array());
}

}  // namespace
}  // namespace hone::skill
