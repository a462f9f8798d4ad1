#include "author/writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "diagnostic/diagnostic.hpp"
#include "model/store.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A scripted model that answers "yes", at ten tokens each.
struct WriterTest : testing::Test {
  fs::path dir = fs::path(testing::TempDir()) / ("writer." + std::to_string(::getpid()));
  model::ModelConfig config;
  Spending spending;

  void SetUp() override {
    fs::create_directories(dir);
    config.name = config.model = "scripted";
    config.provider = "scripted";
    config.script = dir / "script.json";
    script(R"({"text": "yes", "usage": {"input": 8, "output": 2}})");
  }
  void TearDown() override { fs::remove_all(dir); }
  void script(const std::string& answers) {
    std::ofstream(config.script) << R"({"schema": "hone.script/1", "answers": [)" << answers
                                 << "]}";
  }
};

TEST_F(WriterTest, CountsWhatItSpendsAndEndsWithTheBudget) {
  spending.limit = 15;
  ModelWriter writer(config, spending);
  EXPECT_EQ(writer.write({"s", "u"}), "yes");
  EXPECT_EQ(spending.tokens, 10);
  EXPECT_TRUE(spending.has(5));
  EXPECT_FALSE(spending.has(6));
  EXPECT_EQ(writer.write({"s", "u"}), "yes");
  EXPECT_EQ(writer.write({"s", "u"}), std::nullopt);
}

TEST_F(WriterTest, NoAnswerIsAnInfrastructureErrorThatNamesTheModel) {
  script("");
  ModelWriter writer(config, spending);
  try {
    writer.write({"s", "u"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::infrastructure);
    EXPECT_THAT(e.what(), HasSubstr("scripted: "));
  }
}

TEST_F(WriterTest, AnAnswerOnRecordIsNotAskedAgain) {
  config.provider = "command";
  config.command = {"sh", "-c", "echo once; echo x >>" + (dir / "asked").string()};
  model::AnswerStore store(dir / "answers", model::RecordMode::record);
  model::AskOptions options;
  options.store = &store;
  ModelWriter writer(config, spending, options);
  for (int i = 0; i < 2; ++i) EXPECT_THAT(*writer.write({"s", "u"}), HasSubstr("once"));
  EXPECT_EQ(storage::read_file(dir / "asked"), "x\n");
}

TEST_F(WriterTest, AnInterruptEndsIt) {
  model::AskOptions options;
  options.client.cancelled = [] { return true; };
  ModelWriter writer(config, spending, options);
  try {
    writer.write({"s", "u"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::interrupted);
  }
}

TEST(WriterTextTest, AFenceAroundEverythingIsTakenAway) {
  EXPECT_EQ(unfenced(" ```markdown\n# A\n```\n"), "# A");
  EXPECT_EQ(unfenced("```json\n{}"), "{}") << "cut off";
  EXPECT_EQ(unfenced("```cuda\nint x;\n```"), "```cuda\nint x;\n```") << "code is the answer";
}

}  // namespace
}  // namespace hone::author
