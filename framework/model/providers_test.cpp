// Each wire format against its documentation: the exact request, the documented answers.
#include "model/providers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "diagnostic/diagnostic.hpp"
#include "model/catalogue.hpp"
#include "model/sse.hpp"
#include "model/store.hpp"

namespace hone::model {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const HttpProvider& http_provider(const char* name) {
  return dynamic_cast<const HttpProvider&>(provider(name));
}

ModelConfig config_of(const std::string& provider) {
  ModelConfig c;
  c.name = "x";
  c.provider = provider;
  c.base_url = "https://api.example/v1/";
  c.model = "m";
  c.max_tokens = 100;
  return c;
}

http::Response said(const std::string& body, const std::string& type = "application/json",
                    int status = 200) {
  http::Response r;
  r.status = status;
  r.headers = {{"content-type", type}};
  r.body = body;
  r.attempts = 1;
  return r;
}

Question full_question() {
  Question q;
  q.system = "sys";
  q.user = "ask";
  q.seed = 4;
  q.tools = {{"read", "Reads.", Json::parse(R"({"type":"object"})")}};
  q.schema = Json::parse(R"({"type":"object"})");
  Turn turn;
  turn.calls = {{"id1", "read", Json::parse(R"({"a":1})")}};
  turn.results = {{"id1", "text"}};
  q.turns = {turn};
  return q;
}

TEST(Anthropic, RequestAsDocumented) {
  auto c = config_of("anthropic");
  c.temperature = 0.5;
  c.top_p = 0.9;
  c.effort = "high";
  c.seed = 3;
  auto q = full_question();
  q.turns[0].content =
      Json::parse(R"([{"type":"tool_use","id":"id1","name":"read","input":{"a":1}}])");
  const auto& wire = http_provider("anthropic");
  EXPECT_EQ(wire.url(c), "https://api.example/v1/messages");
  http::Headers wanted{{"Content-Type", "application/json"},
                       {"Accept", "application/json, text/event-stream"},
                       {"anthropic-version", "2023-06-01"},
                       {"x-api-key", "k"}};
  EXPECT_EQ(wire.headers(c, "k"), wanted);
  EXPECT_EQ(wire.request_body(c, q), Json::parse(R"({"model":"m","max_tokens":100,
    "system":[{"type":"text","text":"sys","cache_control":{"type":"ephemeral"}}],
    "messages":[{"role":"user","content":"ask"},
      {"role":"assistant","content":[{"type":"tool_use","id":"id1","name":"read","input":{"a":1}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"id1","content":"text"}]}],
    "temperature":0.5,"top_p":0.9,
    "output_config":{"effort":"high","format":{"type":"json_schema","schema":{"type":"object"}}},
    "tools":[{"name":"read","description":"Reads.","input_schema":{"type":"object"}}]})"));
  q.max_tokens = 21334;
  EXPECT_EQ(wire.request_body(c, q)["stream"], true);
}

TEST(Responses, RequestAsDocumented) {
  auto c = config_of("openai-responses");
  c.temperature = 0.5;
  c.effort = "low";
  auto q = full_question();
  q.turns[0].content = Json::parse(R"([{"type":"function_call","call_id":"id1"}])");
  const auto& wire = http_provider("openai-responses");
  EXPECT_EQ(wire.url(c), "https://api.example/v1/responses");
  EXPECT_EQ(wire.request_body(c, q), Json::parse(R"({"model":"m","instructions":"sys",
    "input":[{"role":"user","content":"ask"},{"type":"function_call","call_id":"id1"},
      {"type":"function_call_output","call_id":"id1","output":"text"}],
    "max_output_tokens":100,"temperature":0.5,"reasoning":{"effort":"low"},
    "text":{"format":{"type":"json_schema","name":"answer","strict":true,"schema":{"type":"object"}}},
    "tools":[{"type":"function","name":"read","description":"Reads.","parameters":{"type":"object"}}],
    "store":false,"include":["reasoning.encrypted_content"]})"));
}

TEST(OpenAi, ToolsSchemaAndTurnsAsDocumented) {
  const auto body = http_provider("openai").request_body(config_of("openai"), full_question());
  EXPECT_EQ(body["messages"], Json::parse(R"([{"role":"system","content":"sys"},
    {"role":"user","content":"ask"},
    {"role":"assistant","content":"","tool_calls":[{"id":"id1","type":"function",
      "function":{"name":"read","arguments":"{\"a\":1}"}}]},
    {"role":"tool","tool_call_id":"id1","content":"text"}])"));
  EXPECT_EQ(body["tools"], Json::parse(R"([{"type":"function","function":{"name":"read",
    "description":"Reads.","parameters":{"type":"object"}}}])"));
  EXPECT_EQ(body["response_format"], Json::parse(R"({"type":"json_schema","json_schema":
    {"name":"answer","strict":true,"schema":{"type":"object"}}})"));
}

struct AnswerRow {
  const char* provider;
  const char* body;
  const char* outcome;
  const char* text_or_error;
};
void PrintTo(const AnswerRow& row, std::ostream* os) { *os << row.provider << " " << row.outcome; }
struct Answers : testing::TestWithParam<AnswerRow> {};
TEST_P(Answers, BecomeOutcomes) {
  const auto& row = GetParam();
  const auto a = http_provider(row.provider).read(config_of(row.provider), said(row.body));
  EXPECT_EQ(name(a.outcome), row.outcome);
  EXPECT_THAT(a.error ? a.error->kind + ": " + a.error->message : a.text,
              HasSubstr(row.text_or_error));
}
INSTANTIATE_TEST_SUITE_P(
    Documented, Answers,
    testing::Values(
        AnswerRow{"anthropic", R"({"model":"m-20260101","stop_reason":"end_turn","content":[
    {"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},{"type":"text","text":"b"}]})",
                  "answered", "ab"},
        AnswerRow{
            "anthropic",
            R"({"model":"m","stop_reason":"max_tokens","content":[{"type":"text","text":"ha"}]})",
            "truncated", "ha"},
        AnswerRow{"anthropic",
                  R"({"model":"m","stop_reason":"model_context_window_exceeded","content":[]})",
                  "truncated", ""},
        AnswerRow{"anthropic", R"({"model":"m","stop_reason":"refusal","content":[]})", "refused",
                  ""},
        AnswerRow{"anthropic", R"({"model":"m","stop_reason":"pause_turn","content":[]})",
                  "infrastructure-error", "pause-turn"},
        AnswerRow{"anthropic", R"({"model":"n","stop_reason":"end_turn","content":[]})",
                  "infrastructure-error", "wrong-model"},
        AnswerRow{"anthropic",
                  R"({"type":"error","error":{"type":"overloaded_error","message":"busy"}})",
                  "infrastructure-error", "busy"},
        AnswerRow{"anthropic", R"({"model":"m"})", "infrastructure-error", "no-content"},
        AnswerRow{"openai-responses",
                  R"({"model":"m","status":"completed","output":[{"type":"reasoning"},
    {"type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}]})",
                  "answered", "ab"},
        AnswerRow{
            "openai-responses",
            R"({"model":"m","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},
    "output":[{"type":"message","content":[{"type":"output_text","text":"ha"}]}]})",
            "truncated", "ha"},
        AnswerRow{
            "openai-responses",
            R"({"model":"m","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]})",
            "refused", ""},
        AnswerRow{
            "openai-responses",
            R"({"model":"m","status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]})",
            "refused", "no"},
        AnswerRow{
            "openai-responses",
            R"({"model":"m","status":"failed","error":{"code":"server_error","message":"boom"},"output":[]})",
            "infrastructure-error", "boom"},
        AnswerRow{"openai-responses", R"({"model":"m","status":"queued","output":[]})",
                  "infrastructure-error", "queued"},
        AnswerRow{"openai-responses", R"({"error":null,"model":"m"})", "infrastructure-error",
                  "no-content"}));

TEST(Usage, IsTheSumForAnthropicAndAbsentWhereAbsent) {
  auto a =
      http_provider("anthropic").read(config_of("anthropic"), said(R"({"model":"m","content":[],
    "usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":null,"output_tokens":7}})"));
  EXPECT_EQ(a.usage.input, 25);
  EXPECT_EQ(a.usage.cache_write, 20);
  EXPECT_FALSE(a.usage.cached);
  EXPECT_EQ(a.usage.output, 7);
  EXPECT_FALSE(a.usage.reasoning);
  a = http_provider("openai-responses").read(config_of("openai-responses"), said(R"({"model":"m",
    "status":"completed","output":[],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},
    "output_tokens":7,"output_tokens_details":{"reasoning_tokens":6}}})"));
  EXPECT_EQ(a.usage.input, 9);
  EXPECT_EQ(a.usage.cached, 4);
  EXPECT_EQ(a.usage.reasoning, 6);
}

TEST(ToolCalls, AreReadFromEachFormat) {
  for (const auto& [provider_name, body] : std::vector<std::pair<const char*, const char*>>{
           {"anthropic", R"({"model":"m","stop_reason":"tool_use","content":[
             {"type":"tool_use","id":"i","name":"read","input":{"a":1}}]})"},
           {"openai",
            R"({"model":"m","choices":[{"finish_reason":"tool_calls","message":{"content":null,
             "tool_calls":[{"id":"i","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}}]}}]})"},
           {"openai-responses", R"({"model":"m","status":"completed","output":[
             {"type":"function_call","call_id":"i","name":"read","arguments":"{\"a\":1}"}]})"}}) {
    const auto a = http_provider(provider_name).read(config_of(provider_name), said(body));
    EXPECT_EQ(name(a.outcome), "answered") << provider_name;
    ASSERT_EQ(a.calls.size(), 1u) << provider_name;
    EXPECT_EQ(a.calls[0].id, "i");
    EXPECT_EQ(a.calls[0].name, "read");
    EXPECT_EQ(a.calls[0].arguments, Json::parse(R"({"a":1})"));
    EXPECT_EQ(to_json(answer_from_json(to_json(a))), to_json(a));
  }
}

TEST(Retries, NeverWhereTheMoneyIsUsedUp) {
  const auto again = [](const char* p, int status, const char* body) {
    return http_provider(p).retryable(said(body, "application/json", status));
  };
  EXPECT_TRUE(again("anthropic", 429, R"({"error":{"type":"rate_limit_error"}})"));
  EXPECT_TRUE(again("anthropic", 529, R"({"error":{"type":"overloaded_error"}})"));
  EXPECT_TRUE(again("anthropic", 504, ""));
  EXPECT_FALSE(again("anthropic", 413, ""));
  EXPECT_FALSE(again("anthropic", 429,
                     R"({"error":{"details":{"error_code":"enforced_spend_limit_reached"}}})"));
  EXPECT_FALSE(again("openai-responses", 429, R"({"error":{"code":"insufficient_quota"}})"));
}

constexpr const char* kAnthropicStream =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\","
    "\"content\":[],\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n"
    "event: ping\ndata: {\"type\": \"ping\"}\n\n"
    "event: content_block_start\r\ndata: {\"type\":\"content_block_start\",\"index\":0,"
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\r\n\r\n"
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
    "\"text\":\"gr\xC3\xBC\"}}\n\n: a comment\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":0,\ndata: "
    "\"delta\":{\"type\":\"text_delta\","
    "\"text\":\"n\"}}\n\n"
    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\","
    "\"id\":\"i\",\"name\":\"read\",\"input\":{}}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\","
    "\"partial_json\":\"{\\\"a\\\":\"}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\","
    "\"partial_json\":\"1}\"}}\n\n"
    "data: {\"type\":\"content_block_stop\",\"index\":1}\n\n"
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},"
    "\"usage\":{\"output_tokens\":9}}\n\n"
    "data: {\"type\":\"message_stop\"}\n\n";
constexpr const char* kOpenAiStream =
    "data: "
    "{\"model\":\"m\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"gr\xC3\xBC\"}}]"
    "}\n\n"
    "data: "
    "{\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"n\",\"tool_calls\":[{\"index\":0,"
    "\"id\":\"i\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"a\\\":\"}}]}}]}\n\n"
    "data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":"
    "{\"arguments\":\"1}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"
    "data: "
    "{\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":9}}\n\n"
    "data: [DONE]\n\n";
constexpr const char* kResponsesStream =
    "event: response.output_text.delta\ndata: "
    "{\"type\":\"response.output_text.delta\",\"delta\":\"gr\"}\n\n"
    "event: response.completed\ndata: "
    "{\"type\":\"response.completed\",\"response\":{\"model\":\"m\","
    "\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_"
    "text\","
    "\"text\":\"gr\xC3\xBCn\"}]},{\"type\":\"function_call\",\"call_id\":\"i\",\"name\":\"read\","
    "\"arguments\":\"{\\\"a\\\":1}\"}],\"usage\":{\"input_tokens\":5,\"output_tokens\":9}}}\n\n";
const std::vector<std::pair<const char*, const char*>> kStreams{
    {"anthropic", kAnthropicStream},
    {"openai", kOpenAiStream},
    {"openai-responses", kResponsesStream}};

TEST(Streams, AreReadAsOneAnswer) {
  for (const auto& [name_of, stream] : kStreams) {
    const auto a =
        http_provider(name_of).read(config_of(name_of), said(stream, "text/event-stream"));
    ASSERT_EQ(name(a.outcome), "answered") << name_of << (a.error ? a.error->message : "");
    EXPECT_EQ(a.text, "gr\xC3\xBCn") << name_of;
    EXPECT_EQ(a.usage.input, 5) << name_of;
    EXPECT_EQ(a.usage.output, 9) << name_of;
    ASSERT_EQ(a.calls.size(), 1u) << name_of;
    EXPECT_EQ(a.calls[0].arguments, Json::parse(R"({"a":1})"));
  }
}

TEST(Streams, CutAtAnyByteAreErrorsNeverAnswers) {
  for (const auto& [name_of, stream] : kStreams) {
    const std::string whole = stream;
    for (size_t cut = 0; cut + 1 < whole.size(); ++cut) {
      const auto a = http_provider(name_of).read(config_of(name_of),
                                                 said(whole.substr(0, cut), "text/event-stream"));
      ASSERT_EQ(a.outcome, Outcome::infrastructure_error) << name_of << " at " << cut;
    }
  }
}

TEST(Streams, AnErrorAfterTheStatusIsAnError) {
  const auto a = http_provider("anthropic")
                     .read(config_of("anthropic"),
                           said("event: error\ndata: "
                                "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                                "\"message\":\"Overloaded\"}}\n\n",
                                "text/event-stream"));
  EXPECT_EQ(a.outcome, Outcome::infrastructure_error);
  EXPECT_THAT(a.error->message, HasSubstr("Overloaded"));
}

TEST(Streams, ArrivingByteByByteOverHttpAreTheSame) {
  httplib::Server server;
  server.Post("/v1/messages", [](const auto&, auto& response) {
    response.set_chunked_content_provider("text/event-stream",
                                          [](size_t at, httplib::DataSink& sink) {
                                            const std::string_view all = kAnthropicStream;
                                            if (at < all.size())
                                              sink.write(all.data() + at, 1);
                                            else
                                              sink.done();
                                            return true;
                                          });
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  auto c = config_of("anthropic");
  c.base_url = "http://127.0.0.1:" + std::to_string(port) + "/v1";
  const Question q{"s", "u", {}, {}};
  const auto a = ask(c, {&q, 1}, AskOptions{}).front();
  server.stop();
  thread.join();
  EXPECT_EQ(a.text, "gr\xC3\xBCn") << (a.error ? a.error->message : "");
}

struct Programs : testing::Test {
  fs::path dir = fs::path(testing::TempDir()) / ("programs_test." + std::to_string(::getpid()));
  ModelConfig config;
  void SetUp() override {
    fs::create_directories(dir);
    config.name = "x";
    config.model = "agent";
    config.provider = "command";
  }
  void TearDown() override {
    fs::remove_all(dir);
    ::unsetenv("HONE_TEST_KEY");
  }
  Answer ask_one(const std::string& arm = "with_skill") {
    Question q{"sys", "ask", {}, {}};
    q.label.case_id = "c";
    q.label.arm = arm;
    return ask(config, {&q, 1}, AskOptions{}).front();
  }
};

TEST_F(Programs, ACommandGetsThePromptOnStdinOrInAFile) {
  config.command = {"cat"};
  EXPECT_EQ(ask_one().text, "sys\n\nask\n");
  config.command = {"sh", "-c", "test -z \"$(cat)\" && cat \"$0\"", "{prompt_file}"};
  const auto a = ask_one();
  EXPECT_EQ(a.text, "sys\n\nask\n") << (a.error ? a.error->message : "");
  EXPECT_EQ(a.source, "live");
}

TEST_F(Programs, ACommandThatFailsIsNoAnswer) {
  config.command = {"sh", "-c", "echo partial; echo not logged in >&2; exit 3"};
  auto a = ask_one();
  EXPECT_EQ(a.outcome, Outcome::infrastructure_error);
  EXPECT_THAT(a.error->message, HasSubstr("exited with code 3: not logged in"));
  config.command = {"true"};
  EXPECT_EQ(ask_one().error->kind, "no-content");
  config.command = {"/nonexistent/agent"};
  EXPECT_EQ(ask_one().outcome, Outcome::infrastructure_error);
  config.command = {};
  EXPECT_THROW(ask_one(), Error);
}

TEST_F(Programs, ACommandSeesNoKey) {
  ::setenv("HONE_TEST_KEY", "sk-canary", 1);
  add_key_variable("HONE_TEST_KEY");
  config.command = {"env"};
  EXPECT_THAT(ask_one().text, testing::Not(HasSubstr("canary")));
  hide_keys();
  EXPECT_EQ(std::getenv("HONE_TEST_KEY"), nullptr);
  EXPECT_EQ(key_in("HONE_TEST_KEY"), "sk-canary");
  config.api_key_env = "HONE_TEST_KEY";
  EXPECT_THROW(ask_one(), Error);
}

TEST_F(Programs, AScriptAnswersWhatFitsFirstAndSaysSo) {
  config.provider = "scripted";
  config.script = (dir / "script.json").string();
  std::ofstream(config.script) << R"({"schema":"hone.script/1","answers":[
    {"case":"d","text":"no"},{"arm":"with_skill","text":"yes","usage":{"output":3}},
    {"contains":"ask","outcome":"refused","text":"never"}]})";
  auto a = ask_one();
  EXPECT_EQ(a.text, "yes");
  EXPECT_EQ(a.usage.output, 3);
  EXPECT_EQ(to_json(a)["source"], "scripted");
  a = ask_one("without_skill");
  EXPECT_EQ(a.outcome, Outcome::refused);
  std::ofstream(config.script) << R"({"schema":"hone.script/1","answers":[]})";
  EXPECT_EQ(ask_one().error->kind, "not-scripted");
  std::ofstream(config.script) << "{}";
  EXPECT_THROW(ask_one(), Error);
}

TEST(Names, StandForServiceModelAndEffort) {
  const std::map<std::string, std::string> own{{"fast", "openai.gpt-4.1.low"},
                                               {"haiku", "ollama.h"}};
  auto m = model_named("anthropic.claude-x-4.5.high", own);
  EXPECT_EQ(m.provider, "anthropic");
  EXPECT_EQ(m.model, "claude-x-4.5");
  EXPECT_EQ(m.effort, "high");
  EXPECT_EQ(m.api_key_env, "ANTHROPIC_API_KEY");
  EXPECT_EQ(m.name, "anthropic.claude-x-4.5.high");
  m = model_named("fast", own);
  EXPECT_EQ(m.model, "gpt-4.1");
  EXPECT_EQ(m.effort, "low");
  EXPECT_EQ(m.max_tokens_key, "max_completion_tokens");
  EXPECT_EQ(model_named("haiku", own).model, "h");
  m = model_named("hf.org/Name:host", own);
  EXPECT_EQ(m.model, "org/Name:host");
  EXPECT_EQ(m.name, "hf.org-Name-host");
  EXPECT_EQ(m.api_key_env, "HF_TOKEN");
  for (const auto& [alias, full] : default_aliases())
    EXPECT_FALSE(model_named(alias, {}).model.empty());
  for (const char* wrong : {"hiaku", "openai", "openai.", "nobody.m", ""})
    EXPECT_THROW(model_named(wrong, {}), Error) << wrong;
}

}  // namespace
}  // namespace hone::model
