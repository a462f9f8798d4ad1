// The real llama-server with the real model, where bootstrap.sh brought them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "diagnostic/diagnostic.hpp"
#include "model/llama_server.hpp"
#include "model/model.hpp"
#include "process/child.hpp"

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

TEST_F(LocalModelTest, RequestsAtOnceGetWhatTheyGetOneByOne) {
  model.temperature = 0;
  model.max_tokens = 8;
  std::vector<Question> questions;
  for (const char* country : {"France", "Italy", "Japan", "Egypt", "Peru", "Norway"})
    questions.push_back(
        {"Answer in one word.", std::string("What is the capital of ") + country + "?", {}, {}});
  const auto one_by_one = ask(model, questions, 1), at_once = ask(model, questions, 6);
  for (size_t i = 0; i < questions.size(); ++i) {
    ASSERT_NE(at_once[i].outcome, Outcome::infrastructure_error) << at_once[i].error->message;
    EXPECT_EQ(at_once[i].attempts, 1);
    EXPECT_EQ(at_once[i].text, one_by_one[i].text) << questions[i].user;
  }
  EXPECT_THAT(at_once[2].text, HasSubstr("Tokyo"));
}

TEST_F(LocalModelTest, EachWireFormatOverHttpIsSpoken) {
  model.temperature = 0;
  const Question question{"Answer in one word.", "What is the capital of France?", {}, {}};
  for (const char* provider : {"openai", "anthropic", "openai-responses"})
    for (const bool stream : {false, true}) {
      model.provider = provider;
      model.stream = stream;
      const Answer a = ask(model, {&question, 1}).front();
      ASSERT_FALSE(a.error) << provider << (stream ? ", streamed: " : ": ") << a.error->message;
      EXPECT_THAT(a.text, HasSubstr("Paris")) << provider << stream;
      EXPECT_GT(a.usage.output.value_or(0), 0) << provider << stream;
      EXPECT_EQ(name(a.outcome), "answered") << provider << stream;
    }
}

TEST_F(LocalModelTest, AWrongKeyIsRefusedAtOnceAndTheRightOneIsNot) {
  const int port = 20000 + static_cast<int>(::getpid() % 20000);
  process::Command command;
  command.argv = {"sh",
                  "-c",
                  "exec \"$0\" \"$@\" >/dev/null 2>&1",
                  from_environment("HONE_LLAMA_SERVER", HONE_DEFAULT_LLAMA_SERVER),
                  "-m",
                  from_environment("HONE_GGUF", HONE_DEFAULT_GGUF),
                  "--host",
                  "127.0.0.1",
                  "--port",
                  std::to_string(port),
                  "-c",
                  "512",
                  "--alias",
                  "student",
                  "--api-key",
                  "the-right-key"};
  command.inherit_environment = true;
  auto server = process::Child::start(command);
  model.base_url = "http://127.0.0.1:" + std::to_string(port) + "/v1";
  model.api_key_env = "HONE_TEST_KEY";
  const Question question{"", "Hello", {}, 1};
  const auto ask_with = [&](const char* key) {
    ::setenv("HONE_TEST_KEY", key, 1);
    AskOptions options;
    options.client.retry.max_attempts = 30;  // while it loads
    return ask(model, {&question, 1}, options).front();
  };
  const Answer right = ask_with("the-right-key");
  const Answer wrong = ask_with("a-wrong-key");
  ::unsetenv("HONE_TEST_KEY");
  server.kill();
  ASSERT_FALSE(right.error) << right.error->message;
  ASSERT_TRUE(wrong.error);
  EXPECT_EQ(wrong.error->http_status, 401);
  EXPECT_EQ(wrong.attempts, 1);
  EXPECT_THAT(wrong.error->message, testing::Not(HasSubstr("wrong-key")));
}

}  // namespace
}  // namespace hone::model
