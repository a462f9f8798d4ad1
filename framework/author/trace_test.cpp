#include "author/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "author/secrets.hpp"
#include "diagnostic/diagnostic.hpp"

// All traces here are written by hand for these tests; no session of a person is among them.
namespace hone::author {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// "format: user|… call|…" of a trace.
std::string events_of(const std::string& name, const std::string& text) {
  static const char* const kKinds[] = {"user", "assistant", "call", "result"};
  const Trace trace = trace_of(name, text);
  std::string said = trace.format + ":";
  for (const auto& event : trace.events)
    said += std::string(" ") + kKinds[static_cast<int>(event.kind)] + "|" + event.text;
  return said;
}

std::string refusal_of(const std::string& name, const std::string& text) {
  try {
    trace_of(name, text);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::bad_input);
    return e.what();
  }
}

TEST(TraceTest, ClaudeCode) {
  const std::string text =
      R"({"type":"summary","summary":"Kernel","leafUuid":"1"}
{"type":"user","isMeta":true,"message":{"role":"user","content":"Caveat: by the program"}}
{"type":"user","uuid":"a","cwd":"/w","message":{"role":"user","content":"Write a kernel"}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I build it."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"nvcc -arch=sm_90 k.cu"}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"k.cu(3): error"}],"is_error":true}]},"toolUseResult":{}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"k.cu","old_string":"a","new_string":"b"}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"done"}]}}
)";
  EXPECT_EQ(events_of("s.jsonl", text),
            "claude-code: user|Write a kernel assistant|I build it. call|Bash: nvcc -arch=sm_90 "
            "k.cu result|k.cu(3): error call|Edit: "
            R"({"file_path":"k.cu","old_string":"a","new_string":"b"} result|done)");
}

TEST(TraceTest, ALastLineThatWasCutOffIsLeftOut) {
  const std::string good = R"({"type":"user","message":{"role":"user","content":"Hello"}})";
  EXPECT_EQ(events_of("s.jsonl", good + "\n" + R"({"type":"assis)"), "claude-code: user|Hello");
  EXPECT_THAT(refusal_of("s.jsonl", good + "\n{\"type\":\n" + good + "\n"),
              HasSubstr("s.jsonl:2: error: not JSON"));
}

TEST(TraceTest, CodexRollout) {
  const std::string text =
      R"({"timestamp":"t","type":"session_meta","payload":{"id":"1","cwd":"/w"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Write a kernel"}]}}
{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"Write a kernel"}}
{"timestamp":"t","type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"zzz"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":\"ls\"}","call_id":"c"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"k.cu\\n\",\"metadata\":{\"exit_code\":0}}"}}
{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"d"}}
{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"d","output":"ok"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}
)";
  EXPECT_EQ(events_of("rollout.jsonl", text),
            "codex: user|Write a kernel call|shell: ls result|k.cu\n call|apply_patch: *** Begin "
            "Patch result|ok assistant|Done.");
}

TEST(TraceTest, CodexOfEarlyVersions) {
  EXPECT_EQ(events_of("r.jsonl", R"({"id":"1","timestamp":"t","instructions":null}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}
{"type":"local_shell_call","action":{"type":"exec","command":["ls","-l"]}}
)"),
            R"(codex: user|Hello call|shell: ["ls","-l"])");
}

TEST(TraceTest, FastAgentMessages) {
  EXPECT_EQ(events_of("history.json", R"({"messages":[
    {"role":"user","content":[{"type":"text","text":"Write a kernel"}],"tool_results":null},
    {"role":"assistant","content":[{"type":"text","text":"I build it."}],
     "tool_calls":{"c1":{"method":"tools/call","params":{"name":"bash","arguments":{"command":"ls"}}}}},
    {"role":"user","content":[],
     "tool_results":{"c1":{"content":[{"type":"text","text":"k.cu"}],"isError":false}}}]})"),
            "messages: user|Write a kernel assistant|I build it. call|bash: ls result|k.cu");
}

TEST(TraceTest, OpenAiMessages) {
  EXPECT_EQ(events_of("m.json", R"([{"role":"system","content":"rules"},
    {"role":"user","content":"Write"},
    {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",
     "function":{"name":"run","arguments":"{\"a\":1,\"b\":2}"}}]},
    {"role":"tool","tool_call_id":"c","content":"3"}])"),
            R"(messages: user|Write call|run: {"a":1,"b":2} result|3)");
}

TEST(TraceTest, MarkdownAndTextStayAsTheyAre) {
  const std::string text = "# How I did it\n\n[a link](x)\n";
  EXPECT_EQ(trace_text(trace_of("notes.md", text)), text);
  EXPECT_EQ(trace_of("notes.md", text).format, "markdown");
  EXPECT_EQ(trace_of("session.log", "$ ls\nk.cu\n").format, "text");
  EXPECT_EQ(trace_of("notes.md", "[a link] starts it\nmore").format, "markdown");
}

TEST(TraceTest, TextOfATrace) {
  EXPECT_EQ(trace_text(trace_of("m.json", R"([{"role":"user","content":"Write"},
                                              {"role":"assistant","content":"Done."}])")),
            "## User\nWrite\n\n## Assistant\nDone.\n\n");
}

TEST(TraceTest, WhatIsNoTrace) {
  EXPECT_THAT(refusal_of("a.txt", " \n"), HasSubstr("a.txt: error: there is nothing"));
  EXPECT_THAT(refusal_of("a.json", R"({"a":1})"), HasSubstr("no trace format that is known"));
  EXPECT_THAT(refusal_of("a.json", "{\"a\":\n"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of("a.json", R"([{"role":"system","content":"rules"}])"),
              HasSubstr("there is nothing"));
}

TEST(TraceTest, UnexpectedTypesArePassedOver) {
  EXPECT_EQ(events_of("s.jsonl", R"({"type":"user","message":{"role":"user","content":"Hello"}}
{"type":"user","message":{"role":"user","content":7}}
{"type":"assistant","message":null}
{"type":"assistant","message":{"content":[null,3,{"type":"text","text":5},{"type":"tool_use"}]}}
[1]
7
)"),
            "claude-code: user|Hello call|: ");
}

TEST(TraceTest, SecretsAreTakenOut) {
  const Trace trace =
      trace_of("m.json", R"([{"role":"user","content":"export OPENAI_API_KEY=abcdef123"},
    {"role":"tool","content":"ghp_0123456789abcdefghij0123456789abcdef"}])");
  EXPECT_EQ(trace.redactions, 2u);
  EXPECT_EQ(trace_text(trace),
            "## User\nexport OPENAI_API_KEY=[redacted]\n\n## Tool result\n[redacted]\n\n");
}

std::string redacted(std::string text) {
  redact(text);
  return text;
}

TEST(SecretsTest, WhatLooksLikeASecretGoes) {
  for (const auto& [text, left] : std::initializer_list<std::pair<const char*, const char*>>{
           {"key sk-ant-api03-abcdefghijklmnop.", "key [redacted]."},
           {"hf_abcdefghijklmnopqrstuvwx,", "[redacted],"},
           {"AKIAABCDEFGHIJKLMNOP", "[redacted]"},
           {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefgh", "[redacted]"},
           {"-H 'Authorization: Bearer abcdefghij0123456789=='",
            "-H 'Authorization: Bearer [redacted]'"},
           {"git clone https://me:hunter22@host/x", "git clone https://me:[redacted]@host/x"},
           {"\"password\": \"hunter22\", \"n\": 1", "\"password\": \"[redacted]\", \"n\": 1"},
           {"DB_PASSWORD='hunter22 x'\nnext", "DB_PASSWORD='[redacted]'\nnext"},
           {R"({\"api_key\": \"hunter22\"})", R"({\"api_key\": \"[redacted]\"})"},
           {"-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nafter",
            "[redacted]\nafter"},
           {"-----BEGIN PRIVATE KEY-----\nMII", "[redacted]"}})
    EXPECT_EQ(redacted(text), left) << text;
}

TEST(SecretsTest, OrdinaryTextStays) {
  for (const char* text :
       {"max_tokens: 4096", "token=4096", "int sk = 3; task-force", "http://127.0.0.1:8080/v1",
        "__global__ void k(float* x) { x[threadIdx.x] = 1; }", "export API_KEY=$KEY",
        "password: \n", "https://host/a:b@c", "the sk-learn module"})
    EXPECT_EQ(redacted(text), text);
}

TEST(SecretsTest, ValuesOfThisProcessGo) {
  ::setenv("HONE_TEST_SECRET", "correct horse battery", 1);
  EXPECT_EQ(redacted("it is correct horse battery!"), "it is [redacted]!");
  ::unsetenv("HONE_TEST_SECRET");
}

TEST(ChunksTest, TogetherTheyAreTheText) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += (i % 7 == 0 ? "## User\n" : "line ä ") + std::to_string(i * i) + "\n";
  text += std::string(1000, 'x');
  for (int i = 0; i < 300; ++i) text += "ä";
  for (const size_t size : {200u, 333u, 1000u, 100000u}) {
    std::string joined;
    for (const auto& chunk : chunks_of(text, size)) {
      EXPECT_LE(chunk.size(), size);
      EXPECT_NE(static_cast<unsigned char>(chunk[0]) & 0xC0, 0x80) << "inside a character";
      joined += chunk;
    }
    EXPECT_EQ(joined, text);
  }
  EXPECT_THAT(chunks_of("short", 1), ElementsAre("short"));
  EXPECT_TRUE(chunks_of("", 500).empty());
}

TEST(ChunksTest, TheyStartWhereAnEventDoes) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "## User\n" + std::string(60, 'x') + "\n\n";
  for (const auto& chunk : chunks_of(text, 500)) EXPECT_TRUE(chunk.starts_with("## User")) << chunk;
}

}  // namespace
}  // namespace hone::author
