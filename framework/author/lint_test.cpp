#include "author/lint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "storage/storage.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct LintTest : testing::Test {
  fs::path root = fs::path(testing::TempDir()) / ("author_lint." + std::to_string(::getpid()));
  fs::path dir = root / "my-skill";
  LintOptions options;
  LintReport report;

  void TearDown() override { fs::remove_all(root); }
  void write(const std::string& name, const std::string& text) {
    storage::write_atomically(dir / name, text);
  }
  /// "rule line" of each finding, "rule! line" of an error; the body starts in line 5.
  std::vector<std::string> lint_body(const std::string& body) {
    write("SKILL.md", "---\nname: my-skill\ndescription: d\n---\n" + body);
    report = lint(dir, options);
    std::vector<std::string> said;
    for (const auto& f : report.findings)
      said.push_back(f.rule + (f.diagnostic.warning ? " " : "! ") +
                     std::to_string(f.diagnostic.where.line));
    return said;
  }
  void use_toolkit() {
    std::string reason;
    options.toolkit = kernel::find_toolkit({}, &reason);
    if (!options.toolkit) GTEST_SKIP() << reason;
  }
};

TEST_F(LintTest, CodeBlocksAreBuilt) {
  use_toolkit();
  if (IsSkipped()) return;
  EXPECT_THAT(lint_body("```cuda\n__global__ void k(float* x) { x[0] = 1; }\n```\n"
                        "```cuda\n\n__global__ void k(float* x) { x[0] = y; }\n```\n"
                        "```cuda\nx[i] *= 2;\n```\n"
                        "```cuda fragment\nx[i] *= 2;\n```\n"
                        "```cpp\nnot looked at\n```\n"),
              ElementsAre("cuda-block! 10", "cuda-block 13"));
  EXPECT_EQ(report.blocks, 3u);
  EXPECT_EQ(report.not_built, "");
  EXPECT_THAT(report.findings[0].diagnostic.message, HasSubstr("identifier \"y\" is undefined"));
  EXPECT_THAT(report.findings[1].diagnostic.hint, HasSubstr("```cuda fragment"));
}

TEST_F(LintTest, BlocksOfReferencesAreBuilt) {
  use_toolkit();
  if (IsSkipped()) return;
  write("references/a.md", "text\n```cu\n__global__ void k() { no; }\n```\n");
  EXPECT_THAT(lint_body("references/a.md\n"), ElementsAre("cuda-block! 3"));
  EXPECT_THAT(report.findings[0].diagnostic.where.file, HasSubstr("references/a.md"));
}

TEST_F(LintTest, ArchitecturesThatTheToolkitDoesNotKnow) {
  use_toolkit();
  if (IsSkipped()) return;
  EXPECT_THAT(lint_body("```bash\nnvcc -arch=sm_90a x.cu\nnvcc -arch=sm_35 x.cu\n```\n"
                        "```toml\ncuda-capabilities = [\"9.0\", \"3.5\"]\n```\n"),
              ElementsAre("toolkit-arch 7", "toolkit-arch 10"));
  EXPECT_THAT(report.findings[0].diagnostic.message, HasSubstr("does not build for sm_35"));
}

TEST_F(LintTest, WithoutAToolkitNothingIsHeldAgainstTheCode) {
  EXPECT_THAT(lint_body("```cuda\nnonsense\n```\n"), IsEmpty());
  EXPECT_EQ(report.blocks, 0u);
  EXPECT_EQ(report.not_built, "no CUDA toolkit");
}

TEST_F(LintTest, CasesOfTheSkill) {
  write("cases/a.json", R"([
{"id": "good", "prompt": "How many SMs has an H100?", "expect": {"number": {"value": 132, "tolerance": 0}}},
{"id": "again", "prompt": "How many SMs, has an H100?", "expect": {"contains": "132"}},
{"id": "leak", "prompt": "Say sm_90.", "expect": {"contains": "sm_90"}},
{"id": "null", "prompt": "Anything?", "expect": {"not_contains": "sm_70"}},
{"id": "broken", "prompt": "x", "expect": {}}
])");
  EXPECT_THAT(lint_body("text\n"),
              ElementsAre("case! 6", "prompt-leak 4", "weak-case 5", "duplicate-case 3"));
  EXPECT_EQ(report.cases, 4u);
}

TEST_F(LintTest, ASkillThatCannotBeReadIsAFinding) {
  write("SKILL.md", "no front matter");
  report = lint(dir, options);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].rule, "spec");
}

}  // namespace
}  // namespace hone::author
