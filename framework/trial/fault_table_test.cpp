// What a service does wrong -> what is recorded, how often it was tried, the exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "http/fake_clock.hpp"
#include "http/own_certificate.hpp"
#include "trial/stages.hpp"

namespace hone::trial {
namespace {

namespace fs = std::filesystem;
using storage::Json;

constexpr const char* kJson = "application/json";
constexpr const char* kEvents = "text/event-stream";
/// An answer is 700 bytes at most here, so that a large one is quick to make.
constexpr size_t kMaxBody = 700;

struct Fault {
  const char* name;
  std::function<void(httplib::Response&)> answer;
  const char* outcome;
  const char* kind;  ///< of the error; "" for none
  int attempts;
  Exit exit;
  const char* base_url = "";  ///< instead of the server's
  bool secure = false;        ///< asked by TLS of a server whose certificate nobody trusts
};

std::function<void(httplib::Response&)> says(int status, const std::string& body,
                                             const std::string& type = kJson,
                                             const std::string& header = "",
                                             const std::string& value = "") {
  return [=](httplib::Response& r) {
    r.status = status;
    if (!header.empty()) r.set_header(header.c_str(), value.c_str());
    r.set_content(body, type.c_str());
  };
}

std::function<void(httplib::Response&)> completes(const Json& choice) {
  return says(200, Json{{"choices", Json::array({choice})}}.dump());
}

/// The first answers are `first`, later ones good.
std::function<void(httplib::Response&)> at_first(int times,
                                                 std::function<void(httplib::Response&)> first) {
  auto left = std::make_shared<std::atomic<int>>(times);
  return [=](httplib::Response& r) {
    if ((*left)-- > 0)
      first(r);
    else
      completes({{"message", {{"content", "fine"}}}})(r);
  };
}

std::string error(const Json& what) { return Json{{"error", what}}.dump(); }

const Fault kFaults[] = {
    {"200, an answer", completes({{"message", {{"content", "fine"}}}}), "answered", "", 1,
     Exit::good},
    {"200, cut by the token limit",
     completes({{"message", {{"content", "half"}}}, {"finish_reason", "length"}}), "truncated", "",
     1, Exit::good},
    {"200, refused", completes({{"message", {{"content", nullptr}, {"refusal", "I can't"}}}}),
     "refused", "", 1, Exit::good},
    {"200, another model answered",
     says(200, R"({"model":"x","choices":[{"message":{"content":"y"}}]})"), "infrastructure-error",
     "wrong-model", 1, Exit::infrastructure},
    {"200, no choices", says(200, R"({"choices":[]})"), "infrastructure-error", "no-choices", 1,
     Exit::infrastructure},
    {"200, an error in the body", says(200, error({{"message", "overloaded"}})),
     "infrastructure-error", "server-error", 1, Exit::infrastructure},
    {"200, garbage", says(200, "{\"choices\": ["), "infrastructure-error", "bad-json", 1,
     Exit::infrastructure},
    {"200, no body", says(200, ""), "infrastructure-error", "bad-json", 1, Exit::infrastructure},
    {"200, a login page", says(200, "<html>log in</html>", "text/html"), "infrastructure-error",
     "wrong-content-type", 1, Exit::infrastructure},
    {"200, a huge body", says(200, std::string(kMaxBody + 1, ' ')), "infrastructure-error",
     "too-large", 1, Exit::infrastructure},
    {"200, body ends early",
     [](httplib::Response& r) {
       r.set_content_provider(500, kJson, [](size_t, size_t, httplib::DataSink& sink) {
         sink.write("{", 1);
         return false;
       });
     },
     "infrastructure-error", "cut", 6, Exit::infrastructure},
    {"200, stream without its end",
     says(200, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", kEvents),
     "infrastructure-error", "cut-stream", 1, Exit::infrastructure},
    {"200, an error in the stream",
     says(200, "data: {\"error\":{\"message\":\"overloaded\"}}\n\n", kEvents),
     "infrastructure-error", "server-error", 1, Exit::infrastructure},
    {"200, slower than the timeout",
     [](httplib::Response& r) {
       std::this_thread::sleep_for(std::chrono::milliseconds(150));
       r.set_content("{}", kJson);
     },
     "infrastructure-error", "timeout", 6, Exit::infrastructure},
    {"302 to another host", says(302, "moved", "text/html", "Location", "https://other.invalid/"),
     "infrastructure-error", "http-status", 1, Exit::infrastructure},
    {"400 context overflow",
     says(400, error({{"message", "too long"}, {"type", "exceed_context_size_error"}})),
     "infrastructure-error", "http-status", 1, Exit::infrastructure},
    {"401 wrong key", says(401, error({{"message", "invalid key"}})), "infrastructure-error",
     "http-status", 1, Exit::infrastructure},
    {"403", says(403, error({{"message", "no access"}})), "infrastructure-error", "http-status", 1,
     Exit::infrastructure},
    {"404 unknown model", says(404, error({{"message", "no such model"}})), "infrastructure-error",
     "http-status", 1, Exit::infrastructure},
    {"408", says(408, ""), "infrastructure-error", "http-status", 6, Exit::infrastructure},
    {"409", says(409, ""), "infrastructure-error", "http-status", 6, Exit::infrastructure},
    {"413", says(413, error({{"message", "too large"}})), "infrastructure-error", "http-status", 1,
     Exit::infrastructure},
    {"429", says(429, error({{"message", "slow down"}})), "infrastructure-error", "http-status", 6,
     Exit::infrastructure},
    {"429 with retry-after",
     says(429, error({{"message", "slow down"}}), kJson, "retry-after", "2"),
     "infrastructure-error", "http-status", 6, Exit::infrastructure},
    {"429 quota used up", says(429, error({{"message", "pay"}, {"code", "insufficient_quota"}})),
     "infrastructure-error", "http-status", 1, Exit::infrastructure},
    {"429 twice, then an answer", at_first(2, says(429, "")), "answered", "", 3, Exit::good},
    {"500", says(500, error("boom")), "infrastructure-error", "http-status", 6,
     Exit::infrastructure},
    {"500, x-should-retry: false", says(500, error("boom"), kJson, "x-should-retry", "false"),
     "infrastructure-error", "http-status", 1, Exit::infrastructure},
    {"502", says(502, "<html>bad gateway</html>", "text/html"), "infrastructure-error",
     "http-status", 6, Exit::infrastructure},
    {"503 loading, then an answer", at_first(4, says(503, error({{"message", "Loading model"}}))),
     "answered", "", 5, Exit::good},
    {"504", says(504, ""), "infrastructure-error", "http-status", 6, Exit::infrastructure},
    {"529 overloaded", says(529, error({{"message", "overloaded"}})), "infrastructure-error",
     "http-status", 6, Exit::infrastructure},
    {"nobody listens",
     {},
     "infrastructure-error",
     "connect",
     6,
     Exit::infrastructure,
     "http://127.0.0.1:1/v1"},
    {"unknown host",
     {},
     "infrastructure-error",
     "resolve",
     6,
     Exit::infrastructure,
     "https://nobody.invalid/v1"},
    {"certificate that nobody trusts",
     {},
     "infrastructure-error",
     "tls",
     1,
     Exit::infrastructure,
     "",
     true},
    {"plain http to another host",
     {},
     "infrastructure-error",
     "bad-url",
     0,
     Exit::infrastructure,
     "http://nobody.invalid/v1"},
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

struct FaultTable : testing::TestWithParam<Fault> {
  fs::path dir = fs::path(testing::TempDir()) / ("fault_table." + std::to_string(::getpid()));
  http::OwnCertificate certificate{"IP:127.0.0.1"};
  std::unique_ptr<httplib::Server> server;
  std::thread thread;
  std::string base_url;
  http::FakeClock clock;

  void SetUp() override {
    ::setenv("NO_PROXY", "*", 1);
    ::setenv("HONE_RECORD", "record", 1);
    if (GetParam().secure)
      server = std::make_unique<httplib::SSLServer>(certificate.certificate.get(),
                                                    certificate.key.get());
    else
      server = std::make_unique<httplib::Server>();
    server->Post("/v1/chat/completions", [](const auto&, auto& response) {
      if (GetParam().answer) GetParam().answer(response);
    });
    const int port = server->bind_to_any_port("127.0.0.1");
    thread = std::thread([&] { server->listen_after_bind(); });
    while (!server->is_running()) std::this_thread::yield();
    base_url =
        (GetParam().secure ? "https" : "http") + ("://127.0.0.1:" + std::to_string(port)) + "/v1";
    if (*GetParam().base_url != '\0') base_url = GetParam().base_url;
    storage::write_atomically(dir / "skill/SKILL.md",
                              "---\nname: skill\ndescription: helps\n---\nDo.\n");
    storage::write_json(dir / "c.json",
                        {{"id", "c"}, {"prompt", "?"}, {"expect", {{"contains", "fine"}}}});
  }
  void TearDown() override {
    server->stop();
    thread.join();
    fs::remove_all(dir);
    ::unsetenv("NO_PROXY");
    ::unsetenv("HONE_RECORD");
  }
};

TEST_P(FaultTable, BecomesARecordAndAnExitCode) {
  const Fault& fault = GetParam();
  Manifest m;
  m.run_dir = dir / "runs";
  m.cache_dir = dir / "cache";
  m.baselines_dir = dir / "reports/baselines";
  model::ModelConfig config;
  config.name = config.model = "m";
  config.base_url = base_url;
  m.models.push_back(config);
  m.skills.push_back({"skill", (dir / "skill").string()});
  m.evaluations.push_back({"e", "skill", {}, {(dir / "c.json").string()}, {"m"}, {}, 1, ""});
  const Plan plan = make_plan(m, "e");
  const Selection selection{&plan.cases.at(0), Arm::with_skill};
  StageOptions options;
  options.client.clock = &clock;
  options.client.max_body = kMaxBody;
  if (std::string_view(fault.kind) == "timeout")
    options.timeouts.total = std::chrono::milliseconds(40);
  const auto result = query(plan, config, {&selection, 1}, options);
  const Json response = storage::read_json(dir / "runs/e/m/c/with_skill/0/response.json");
  const Json& error = response["error"];
  EXPECT_EQ(response["outcome"], fault.outcome) << response;
  EXPECT_EQ(error.is_null() ? "" : error["kind"], fault.kind) << response;
  EXPECT_EQ(response["attempts"], fault.attempts) << response;
  EXPECT_EQ(result.code, fault.exit);
  // What is no answer is never stored.
  size_t stored = 0;
  for (const auto& entry : fs::recursive_directory_iterator(dir / "cache/answers"))
    stored += entry.path().extension() == ".json";
  EXPECT_EQ(stored, fault.exit == Exit::good ? 1u : 0u);
  std::printf("%-32s -> %-20s %-18s attempts %d  exit code %d\n", fault.name,
              response["outcome"].get<std::string>().c_str(),
              error.is_null() ? "" : error["kind"].get<std::string>().c_str(),
              response["attempts"].get<int>(), static_cast<int>(result.code));
}

INSTANTIATE_TEST_SUITE_P(Faults, FaultTable, testing::ValuesIn(kFaults), [](const auto& row) {
  std::string name = row.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace hone::trial
