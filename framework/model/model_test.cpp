#include "model/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "diagnostic/diagnostic.hpp"
#include "http/fake_clock.hpp"

namespace hone::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kKey = "sk-canary+0123456789/abc";

/// A real server that answers chat completions with whatever a test says.
struct ModelTest : testing::Test {
  httplib::Server server;
  std::thread thread;
  http::FakeClock clock;
  ModelConfig config;
  AskOptions options;

  std::mutex mutex;
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::string last_request;
  std::string last_authorization;
  std::atomic<int> hits{0};

  void SetUp() override {
    server.Post("/v1/chat/completions", [&](const auto& request, auto& response) {
      ++hits;
      const std::lock_guard hold(mutex);
      last_request = request.body;
      last_authorization = request.get_header_value("Authorization");
      response.status = status;
      response.set_content(body, type.c_str());
    });
    const int port = server.bind_to_any_port("127.0.0.1");
    thread = std::thread([&] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();
    config.name = "local";
    config.base_url = "http://127.0.0.1:" + std::to_string(port) + "/v1";
    config.model = "m";
    options.client.clock = &clock;
  }
  void TearDown() override {
    server.stop();
    thread.join();
    ::unsetenv("HONE_TEST_KEY");
  }
  Answer ask_one(const Question& question = {"system", "user", {}, {}}) {
    return ask(config, {&question, 1}, options).front();
  }
};

TEST_F(ModelTest, TheBodyIsWhatWasConfigured) {
  config.temperature = 0.7;
  config.top_p = 0.9;
  config.seed = 5;
  config.max_tokens = 100;
  EXPECT_EQ(
      request_body(config, {"s", "u", 7, 50}).dump(),
      R"({"model":"m","messages":[{"role":"system","content":"s"},)"
      R"({"role":"user","content":"u"}],"max_tokens":50,"temperature":0.7,"top_p":0.9,"seed":7})");
  ModelConfig bare;
  bare.model = "m";
  bare.max_tokens_key = "max_completion_tokens";
  bare.effort = "low";
  EXPECT_EQ(request_body(bare, {"", "u", {}, {}}).dump(),
            R"({"model":"m","messages":[{"role":"user","content":"u"}],)"
            R"("max_completion_tokens":512,"reasoning_effort":"low"})");
}

TEST_F(ModelTest, ReadsACompleteAnswer) {
  body = R"({"model":"m","system_fingerprint":"b1","choices":[{"finish_reason":"stop",
    "message":{"role":"assistant","content":"nine"}}],"usage":{"prompt_tokens":10,
    "completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4},
    "completion_tokens_details":{"reasoning_tokens":1}}})";
  const Answer a = ask_one();
  EXPECT_EQ(a.outcome, Outcome::answered) << (a.error ? a.error->message : "");
  EXPECT_EQ(a.text, "nine");
  EXPECT_EQ(a.finish_reason, "stop");
  EXPECT_EQ(a.model, "m");
  EXPECT_EQ(a.system_fingerprint, "b1");
  EXPECT_EQ(a.usage.input, 10);
  EXPECT_EQ(a.usage.output, 3);
  EXPECT_EQ(a.usage.cached, 4);
  EXPECT_EQ(a.usage.reasoning, 1);
  EXPECT_EQ(a.attempts, 1);
  EXPECT_GT(a.seconds, 0);
  EXPECT_FALSE(a.error);
  EXPECT_EQ(Json::parse(last_request), request_body(config, {"system", "user", {}, {}}));
  EXPECT_EQ(last_authorization, "");
}

struct Row {
  int status;
  const char* type;
  const char* body;
  Outcome outcome;
  const char* kind;     ///< of the error; "" for none
  const char* message;  ///< part of the error, or of the text
  int attempts;
};

TEST_F(ModelTest, WhatAServerSaysBecomesAnOutcome) {
  constexpr const char* kJson = "application/json";
  constexpr auto kInfra = Outcome::infrastructure_error;
  for (const Row& row : std::initializer_list<Row>{
           {200, kJson, R"({"choices":[{"message":{"content":"x"}}]})", Outcome::answered, "", "x",
            1},
           {200, kJson, R"({"choices":[{"message":{"content":""},"finish_reason":"stop"}]})",
            Outcome::answered, "", "", 1},
           {200, kJson, R"({"choices":[{"message":{"content":[{"type":"text","text":"a"},
             {"type":"other"},{"type":"text","text":"b"}]}}]})",
            Outcome::answered, "", "ab", 1},
           {200, kJson, R"({"choices":[{"message":{"content":"half"},"finish_reason":"length"}]})",
            Outcome::truncated, "", "half", 1},
           {200, kJson,
            R"({"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]})",
            Outcome::refused, "", "", 1},
           {200, kJson, R"({"choices":[{"message":{"content":null,"refusal":"I can't"}}]})",
            Outcome::refused, "", "I can't", 1},
           {200, kJson, R"({"model":"m-2026-01-31","choices":[{"message":{"content":"x"}}]})",
            Outcome::answered, "", "x", 1},
           {200, kJson, R"({"model":"other","choices":[{"message":{"content":"x"}}]})", kInfra,
            "wrong-model", "asked for model 'm', but 'other' answered", 1},
           {200, kJson, R"({"model":"m-large","choices":[{"message":{"content":"x"}}]})", kInfra,
            "wrong-model", "'m-large'", 1},
           {200, kJson, R"({"choices":[]})", kInfra, "no-choices", "no choices", 1},
           {200, kJson, R"({})", kInfra, "no-choices", "no choices", 1},
           {200, kJson, R"([1])", kInfra, "no-choices", "no choices", 1},
           {200, kJson, R"({"choices":[{}]})", kInfra, "no-content", "no message content", 1},
           {200, kJson, R"({"choices":[{"message":{"content":7}}]})", kInfra, "no-content", "", 1},
           {200, kJson, R"({"choices":[3]})", kInfra, "no-content", "", 1},
           {200, kJson, R"({"error":{"message":"overloaded"}})", kInfra, "server-error",
            "overloaded", 1},
           {200, kJson, "{\"choices\": [", kInfra, "bad-json", "not JSON", 1},
           {200, kJson, "", kInfra, "bad-json", "not JSON", 1},
           {200, "text/html", "<html>login</html>", kInfra, "wrong-content-type", "login", 1},
           {302, "text/html", "moved", kInfra, "http-status", "HTTP 302: moved", 1},
           {400, kJson, R"({"error":{"message":"too long","type":"exceed_context_size_error",
             "n_prompt_tokens":5000,"n_ctx":4096}})",
            kInfra, "http-status", "HTTP 400: too long (prompt 5000 tokens, context 4096)", 1},
           {401, kJson, R"({"error":{"message":"bad key"}})", kInfra, "http-status", "bad key", 1},
           {404, "text/plain", "no such page", kInfra, "http-status", "no such page", 1},
           {413, kJson, R"({"type":"error","error":{"message":"too large"}})", kInfra,
            "http-status", "too large", 1},
           {429, kJson, R"({"error":{"message":"slow down","code":"rate_limit"}})", kInfra,
            "http-status", "HTTP 429: slow down", 6},
           {429, kJson, R"({"error":{"message":"pay","code":"insufficient_quota"}})", kInfra,
            "http-status", "pay", 1},
           {500, kJson, R"({"error":"boom"})", kInfra, "http-status", "HTTP 500: boom", 6},
           {503, kJson, R"({"error":{"message":"Loading model"}})", kInfra, "http-status",
            "Loading model", 6},
           {500, "text/plain", "", kInfra, "http-status", "HTTP 500: no body", 6}}) {
    {
      const std::lock_guard hold(mutex);
      status = row.status;
      type = row.type;
      body = row.body;
    }
    const Answer a = ask_one();
    EXPECT_EQ(name(a.outcome), name(row.outcome)) << row.body;
    EXPECT_EQ(a.error ? a.error->kind : "", row.kind) << row.body;
    EXPECT_THAT(a.error ? a.error->message : a.text, HasSubstr(row.message));
    EXPECT_EQ(a.attempts, row.attempts) << row.body;
    if (a.error) {
      EXPECT_EQ(a.error->http_status, row.status);
    }
  }
}

TEST_F(ModelTest, NoServerIsAnInfrastructureErrorOfEachQuestion) {
  config.base_url = "http://127.0.0.1:1/v1";
  const std::vector<Question> questions(3);
  options.in_flight = 2;
  for (const Answer& a : ask(config, questions, options)) {
    EXPECT_EQ(a.outcome, Outcome::infrastructure_error);
    ASSERT_TRUE(a.error);
    EXPECT_EQ(a.error->kind, "connect");
    EXPECT_THAT(a.error->message, HasSubstr("127.0.0.1:1"));
  }
}

TEST_F(ModelTest, UsageThatIsAbsentIsAbsent) {
  body = R"({"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":null}})";
  const Json json = to_json(ask_one());
  for (const char* key : {"input", "cached", "output", "reasoning"})
    EXPECT_TRUE(json["usage"][key].is_null());
}

TEST_F(ModelTest, AnswersKeepTheOrderOfTheQuestionsAndArriveOneByOne) {
  server.Post("/echo/chat/completions", [](const auto& request, auto& response) {
    const auto asked = Json::parse(request.body)["messages"][0]["content"];
    const Json message = {{"content", asked}};
    response.set_content(Json{{"choices", Json::array({{{"message", message}}})}}.dump(),
                         "application/json");
  });
  config.base_url.replace(config.base_url.size() - 2, 2, "echo/");
  std::vector<Question> questions(20);
  for (size_t i = 0; i < questions.size(); ++i) questions[i].user = std::to_string(i);
  size_t arrived = 0;
  options.in_flight = 8;
  options.on_answer = [&](size_t i, const Answer& a) {
    ++arrived;
    EXPECT_EQ(a.text, std::to_string(i));
  };
  const auto answers = ask(config, questions, options);
  EXPECT_EQ(arrived, 20u);
  for (size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i].text, std::to_string(i));
}

TEST_F(ModelTest, TheKeyIsSentAndNeverComesBack) {
  ::setenv("HONE_TEST_KEY", kKey, 1);
  config.api_key_env = "HONE_TEST_KEY";
  status = 401;
  body = R"({"error":{"message":"Incorrect API key provided: )" + std::string(kKey) +
         R"(, base64 c2stY2FuYXJ5KzAxMjM0NTY3ODkvYWJj, url sk-canary%2B0123456789%2Fabc"}})";
  const std::string json = to_json(ask_one()).dump();
  EXPECT_EQ(last_authorization, std::string("Bearer ") + kKey);
  EXPECT_THAT(json, Not(HasSubstr("canary")));
  EXPECT_THAT(json, Not(HasSubstr("c2stY2FuYXJ5")));
  EXPECT_THAT(json, HasSubstr("Incorrect API key provided: [key], base64 [key], url [key]"));
}

TEST_F(ModelTest, AMissingKeySkips) {
  config.api_key_env = "HONE_TEST_KEY";
  try {
    ask_one();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::inconclusive);
    EXPECT_THAT(e.what(), HasSubstr("HONE_TEST_KEY is not set"));
  }
  EXPECT_EQ(hits, 0);
}

TEST_F(ModelTest, UnknownProvidersAreQuotedWithTheKnownOnes) {
  config.provider = "opnai";
  try {
    ask_one();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::bad_input);
    EXPECT_THAT(e.what(),
                HasSubstr("unknown provider 'opnai'; known: anthropic, command, openai, "));
    EXPECT_THAT(e.what(), HasSubstr("did you mean 'openai'?"));
  }
  config.provider = "openai";
  config.base_url = "";
  EXPECT_THROW(ask_one(), Error);
}

TEST(AnswerRecord, SurvivesTheRoundTrip) {
  Answer a;
  a.outcome = Outcome::truncated;
  a.text = "t";
  a.usage.input = 5;
  a.finish_reason = "length";
  a.model = "m";
  a.system_fingerprint = "f";
  a.seconds = 1.5;
  a.attempts = 2;
  EXPECT_EQ(to_json(answer_from_json(to_json(a))), to_json(a));
  a.error = AnswerError{"connect", "refused", 0};
  EXPECT_EQ(to_json(answer_from_json(to_json(a))), to_json(a));
  EXPECT_EQ(to_json(a)["schema"], "hone.response/1");
  for (const char* bad : {R"({})", R"([])", R"({"schema":"hone.response/2","outcome":"answered"})",
                          R"({"schema":"hone.response/1","outcome":"great"})",
                          R"({"schema":"hone.response/1","outcome":"answered","text":3})"})
    EXPECT_THROW(answer_from_json(Json::parse(bad)), Error) << bad;
}

TEST(ModelFromJson, ReadsTheManifestsEntry) {
  const ModelConfig m = model_from_json(Json::parse(
      R"({"name":"local","provider":"openai","endpoint":"llama-server","gguf":"/x.gguf",
          "gguf_sha256":"ab","base_url":"","model":"","api_key_env":"","context":2048,"parallel":2,
          "temperature":0.7,"max_tokens":256,"seed":1,"later":true})"));
  EXPECT_EQ(m.model, "local");
  EXPECT_EQ(m.endpoint, "llama-server");
  EXPECT_EQ(m.context, 2048);
  EXPECT_EQ(m.parallel, 2);
  EXPECT_EQ(m.temperature, 0.7);
  EXPECT_EQ(m.seed, 1);
  EXPECT_THROW(model_from_json(Json::parse(R"({"name":"x","context":"many"})")), Error);
}

}  // namespace
}  // namespace hone::model
