#include "author/upskill_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "storage/storage.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct UpskillConfigTest : testing::Test {
  fs::path dir = fs::path(testing::TempDir()) / ("upskill." + std::to_string(::getpid()));
  std::vector<Diagnostic> warnings;

  void SetUp() override {
    ::unsetenv("UPSKILL_CONFIG");
    ::setenv("HOME", (dir / "home").c_str(), 1);
  }
  void TearDown() override { fs::remove_all(dir); }
  UpskillConfig read(const std::string& text) {
    storage::write_atomically(dir / "upskill.config.yaml", text);
    return read_upskill_config(dir / "upskill.config.yaml", warnings);
  }
  std::string error(const std::string& text) {
    try {
      read(text);
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Exit::bad_input);
      return e.diagnostics().at(0).str();
    }
  }
};

TEST_F(UpskillConfigTest, ReadsEveryKey) {
  const auto config = read(
      "# project\nskill_generation_model: sonnet\neval_model: \"haiku\"\ntest_gen_model: opus\n"
      "skills_dir: ./skills\nruns_dir: /tmp/runs\nauto_eval: false\nmax_refine_attempts: 2\n");
  EXPECT_EQ(config.model, "sonnet");
  EXPECT_EQ(config.eval_model, "haiku");
  EXPECT_EQ(config.test_gen_model, "opus");
  EXPECT_EQ(config.skills_dir, "./skills");
  EXPECT_EQ(config.runs_dir, "/tmp/runs");
  EXPECT_EQ(config.auto_eval, false);
  EXPECT_EQ(config.max_refine_attempts, 2);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(UpskillConfigTest, TakesTheOldNameOfTheModelAndWhatIsLeftOut) {
  const auto config = read("model: kimi\neval_model:\n");
  EXPECT_EQ(config.model, "kimi");
  EXPECT_EQ(config.eval_model, "");
  EXPECT_FALSE(config.max_refine_attempts);
  EXPECT_EQ(read("").model, "");
}

TEST_F(UpskillConfigTest, WarnsOfWhatMeansNothingHere) {
  read("fastagent_config: ./f.yaml\neval_modle: haiku\n");
  ASSERT_THAT(warnings, SizeIs(2));
  EXPECT_THAT(warnings[1].str(), HasSubstr("upskill.config.yaml:2:1"));
  EXPECT_THAT(warnings[1].str(), HasSubstr("did you mean 'eval_model'?"));
}

TEST_F(UpskillConfigTest, SaysWhereItIsWrong) {
  EXPECT_THAT(error("model: sonnet\nmax_refine_attempts: many\n"),
              HasSubstr("upskill.config.yaml:2:22"));
  EXPECT_THAT(error("max_refine_attempts: -1\n"), HasSubstr("at least 0"));
  EXPECT_THAT(error("model: [a]\n"), HasSubstr("the name of a model"));
  EXPECT_THAT(error("auto_eval: perhaps\n"), HasSubstr("true or false"));
  EXPECT_THAT(error("- model\n"), HasSubstr("a map of keys"));
  EXPECT_THAT(error("model: \"open\neval_model: a\n"), HasSubstr("the name of a model"));
  EXPECT_THAT(error("model: sonnet\nruns_dir: {\n"), HasSubstr("not valid YAML"));
}

TEST_F(UpskillConfigTest, IsFoundWhereUpskillFindsIt) {
  EXPECT_EQ(find_upskill_config(dir), "");
  storage::write_atomically(dir / "home/.config/upskill/config.yaml", "model: a\n");
  EXPECT_EQ(find_upskill_config(dir), dir / "home/.config/upskill/config.yaml");
  storage::write_atomically(dir / "upskill.config.yaml", "model: b\n");
  EXPECT_EQ(find_upskill_config(dir), dir / "upskill.config.yaml");
  ::setenv("UPSKILL_CONFIG", "/elsewhere.yaml", 1);
  EXPECT_EQ(find_upskill_config(dir), "/elsewhere.yaml");
  ::unsetenv("UPSKILL_CONFIG");
}

}  // namespace
}  // namespace hone::author
