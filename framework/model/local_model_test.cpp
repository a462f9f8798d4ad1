// The real llama-server with the real model, where bootstrap.sh brought them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "diagnostic/diagnostic.hpp"
#include "model/llama_server.hpp"
#include "model/model.hpp"

namespace hone::model {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

fs::path from_environment(const char* variable, const char* otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

struct LocalModelTest : testing::Test {
  static fs::path state_dir() {
    return fs::path(testing::TempDir()) / ("local_model_test." + std::to_string(::getpid()));
  }
  ModelConfig model;

  void SetUp() override {
    LlamaServerConfig server;
    server.program = from_environment("HONE_LLAMA_SERVER", HONE_DEFAULT_LLAMA_SERVER);
    server.gguf = from_environment("HONE_GGUF", HONE_DEFAULT_GGUF);
    for (const auto& file : {server.program, server.gguf})
      if (!fs::exists(file)) GTEST_SKIP() << "no " << file.string() << ": run ./bootstrap.sh deps";
    server.alias = "student";
    server.context = 1024;
    server.owner = ::getpid();
    server.state_dir = state_dir();
    const Endpoint endpoint = start(server);
    model.name = "local";
    model.base_url = endpoint.base_url;
    model.model = endpoint.model;
    model.temperature = 0.7;
    model.seed = 1;
    model.max_tokens = 24;
  }
  static void TearDownTestSuite() {
    stop(state_dir(), "student");
    fs::remove_all(state_dir());
  }
};

TEST_F(LocalModelTest, AnswersWithUsageAndRepeatsItself) {
  const std::vector<Question> questions{
      {"Answer in one word.", "What is the capital of France?", {}, {}},
      {"Answer in one word.", "What is the capital of France?", {}, {}}};
  const auto answers = ask(model, questions);
  for (const auto& a : answers) {
    ASSERT_NE(a.outcome, Outcome::infrastructure_error) << a.error->message;
    EXPECT_THAT(a.text, HasSubstr("Paris"));
    EXPECT_GT(a.usage.input.value_or(0), 10);
    EXPECT_GT(a.usage.output.value_or(0), 0);
    EXPECT_EQ(a.model, "student");
  }
  EXPECT_EQ(answers[0].text, answers[1].text);
}

TEST_F(LocalModelTest, AnAnswerCutByItsLimitIsTruncatedAndKept) {
  const Question question{"", "Count from 1 to 100 in words.", {}, 5};
  const Answer a = ask(model, {&question, 1}).front();
  EXPECT_EQ(name(a.outcome), "truncated");
  EXPECT_EQ(a.usage.output, 5);
  EXPECT_FALSE(a.text.empty());
}

TEST_F(LocalModelTest, AnUnknownModelIsNoticed) {
  model.model = "another";
  const Question question{"", "Hello", {}, 1};
  const Answer a = ask(model, {&question, 1}).front();
  EXPECT_EQ(name(a.outcome), "infrastructure-error");
  ASSERT_TRUE(a.error);
  EXPECT_EQ(a.error->kind, "wrong-model");
}

TEST_F(LocalModelTest, APromptThatIsTooLongSaysSo) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "word ";
  const Question question{"", text, {}, 1};
  const Answer a = ask(model, {&question, 1}).front();
  EXPECT_EQ(name(a.outcome), "infrastructure-error");
  ASSERT_TRUE(a.error);
  EXPECT_THAT(a.error->message, HasSubstr("context 1024"));
}

}  // namespace
}  // namespace hone::model
