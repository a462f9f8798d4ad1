#include "http/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <thread>

#include "http/fake_clock.hpp"
#include "http/own_certificate.hpp"

namespace hone::http {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A real server on a free loopback port.
struct ClientTest : testing::Test {
  httplib::Server server;
  int port = 0;
  std::thread thread;
  std::atomic<int> hits{0};
  FakeClock clock;

  void SetUp() override {
    server.new_task_queue = [] { return new httplib::ThreadPool(32); };
    server.Get(R"(/status/(\d+))", [&](const auto& request, auto& response) {
      ++hits;
      response.status = std::stoi(request.matches[1].str());
      response.set_content("said " + request.matches[1].str(), "text/plain");
    });
    server.Post("/echo", [](const auto& request, auto& response) {
      response.set_content(request.get_header_value("x-api-key") + "|" + request.body,
                           "text/plain");
    });
    server.Get("/slow", [&](const auto&, auto& response) {
      ++hits;
      std::this_thread::sleep_for(milliseconds(300));
      response.set_content("late", "text/plain");
    });
    server.Get("/cut", [&](const auto&, auto& response) {
      ++hits;
      response.set_content_provider(1000, "text/plain",
                                    [](size_t, size_t, httplib::DataSink& sink) {
                                      sink.write("half", 4);
                                      return false;
                                    });
    });
    server.Get("/huge", [](const auto&, auto& response) {
      response.set_content(std::string(100'000, 'x'), "text/plain");
    });
    server.Get("/redirect", [](const auto&, auto& response) {
      response.set_redirect("https://elsewhere.invalid/");
    });
    port = server.bind_to_any_port("127.0.0.1");
    thread = std::thread([&] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();
  }
  void TearDown() override {
    server.stop();
    thread.join();
  }
  Request get(const std::string& path) const {
    Request request;
    request.url = "http://127.0.0.1:" + std::to_string(port) + path;
    return request;
  }
  ClientOptions options() {
    ClientOptions o;
    o.clock = &clock;
    return o;
  }
};

TEST_F(ClientTest, SendsBodyAndHeadersAndReadsTheAnswer) {
  Request request = get("/echo");
  request.method = "POST";
  request.headers = {{"x-api-key", "k"}};
  request.body = std::string("a\0b", 3);
  const Response response = Client(options()).fetch(request);
  EXPECT_TRUE(response.ok()) << response.message;
  EXPECT_EQ(response.body, std::string("k|a\0b", 5));
  EXPECT_EQ(response.header("content-TYPE"), "text/plain");
  EXPECT_EQ(response.attempts, 1);
}

struct StatusRow {
  int status;
  int attempts;
};
struct RetryByStatus : ClientTest, testing::WithParamInterface<StatusRow> {};
TEST_P(RetryByStatus, TriesAsOftenAsMayHelp) {
  const Response response =
      Client(options()).fetch(get("/status/" + std::to_string(GetParam().status)));
  EXPECT_EQ(response.status, GetParam().status);
  EXPECT_EQ(response.attempts, GetParam().attempts);
  EXPECT_EQ(hits, GetParam().attempts);
  EXPECT_EQ(response.error, ErrorKind::none);
  EXPECT_EQ(response.body, "said " + std::to_string(GetParam().status));
}
INSTANTIATE_TEST_SUITE_P(Statuses, RetryByStatus,
                         testing::Values(StatusRow{200, 1}, StatusRow{400, 1}, StatusRow{401, 1},
                                         StatusRow{404, 1}, StatusRow{413, 1}, StatusRow{408, 6},
                                         StatusRow{409, 6}, StatusRow{429, 6}, StatusRow{500, 6},
                                         StatusRow{503, 6}, StatusRow{529, 6}),
                         [](const auto& row) { return std::to_string(row.param.status); });

TEST_F(ClientTest, DelaysDoubleUpToTheCapLessJitter) {
  Client(options()).fetch(get("/status/500"));
  EXPECT_THAT(clock.slept_ms, ElementsAre(500, 1000, 2000, 4000, 8000));
  clock.slept_ms.clear();
  clock.chance = 1;
  Client(options()).fetch(get("/status/500"));
  EXPECT_THAT(clock.slept_ms, ElementsAre(375, 750, 1500, 3000, 6000));
}

TEST_F(ClientTest, AServersRetryAfterWinsWhenItIsSane) {
  for (const auto& [header, value, expected] :
       std::vector<std::tuple<const char*, const char*, long>>{
           {"retry-after-ms", "40", 40},
           {"retry-after", "2", 2000},
           {"retry-after", "1.5", 1500},
           {"retry-after", "3600", 500},
           {"retry-after", "-1", 500},
           {"retry-after", "soon", 500},
           {"retry-after", "Thu, 01 Jan 1970 00:00:00 GMT", 500}}) {
    const std::string path = std::string("/after/") + std::to_string(hits++);
    std::atomic<int> calls{0};
    server.Get(path,
               [&, h = std::string(header), v = std::string(value)](const auto&, auto& response) {
                 response.status = calls++ == 0 ? 429 : 200;
                 response.set_header(h.c_str(), v);
               });
    clock.slept_ms.clear();
    const Response response = Client(options()).fetch(get(path));
    EXPECT_TRUE(response.ok());
    EXPECT_EQ(response.attempts, 2);
    EXPECT_THAT(clock.slept_ms, ElementsAre(expected)) << header << ": " << value;
  }
}

TEST_F(ClientTest, XShouldRetryOverrides) {
  server.Get("/no", [&](const auto&, auto& response) {
    response.status = 500;
    response.set_header("x-should-retry", "false");
  });
  server.Get("/yes", [&](const auto&, auto& response) {
    response.status = 400;
    response.set_header("x-should-retry", "true");
  });
  EXPECT_EQ(Client(options()).fetch(get("/no")).attempts, 1);
  EXPECT_EQ(Client(options()).fetch(get("/yes")).attempts, 6);
}

TEST_F(ClientTest, NoAttemptStartsPastTheDeadline) {
  ClientOptions o = options();
  o.retry.deadline = milliseconds(3'600);
  EXPECT_EQ(Client(o).fetch(get("/status/500")).attempts, 4);  // at 0, 0.5, 1.5 and 3.5 s
}

TEST_F(ClientTest, ACutAnswerIsAnErrorThatIsTriedAgain) {
  const Response response = Client(options()).fetch(get("/cut"));
  EXPECT_EQ(response.error, ErrorKind::cut);
  EXPECT_FALSE(response.ok());
  EXPECT_EQ(response.attempts, 6);
  EXPECT_THAT(response.message, HasSubstr("127.0.0.1"));
}

TEST_F(ClientTest, AServerThatComesBackIsNoticed) {
  std::atomic<int> calls{0};
  server.Get("/flaky", [&](const auto&, auto& response) {
    if (calls++ < 2)
      response.status = 503;
    else
      response.set_content("up", "text/plain");
  });
  const Response response = Client(options()).fetch(get("/flaky"));
  EXPECT_EQ(response.body, "up");
  EXPECT_EQ(response.attempts, 3);
}

TEST_F(ClientTest, TimesOut) {
  ClientOptions o = options();
  o.retry.max_attempts = 1;
  Request request = get("/slow");
  request.timeouts.total = milliseconds(50);
  const Response response = Client(o).fetch(request);
  EXPECT_EQ(response.error, ErrorKind::timeout);
  EXPECT_EQ(response.attempts, 1);
}

TEST_F(ClientTest, BodiesAreCappedAndThatIsFinal) {
  ClientOptions o = options();
  o.max_body = 1000;
  const Response response = Client(o).fetch(get("/huge"));
  EXPECT_EQ(response.error, ErrorKind::too_large);
  EXPECT_EQ(response.attempts, 1);
  EXPECT_LE(response.body.size(), 1000u);
}

TEST_F(ClientTest, RedirectsAreAnswersNotFollowed) {
  const Response response = Client(options()).fetch(get("/redirect"));
  EXPECT_EQ(response.status, 302);
  EXPECT_EQ(response.attempts, 1);
}

TEST_F(ClientTest, NobodyListening) {
  Request request;
  request.url = "http://127.0.0.1:1/";
  const Response response = Client(options()).fetch(request);
  EXPECT_EQ(response.error, ErrorKind::connect);
  EXPECT_EQ(response.status, 0);
  EXPECT_EQ(response.attempts, 6);
}

TEST_F(ClientTest, ManyInFlightKeepTheirOrder) {
  std::atomic<int> now{0}, most{0};
  server.Get(R"(/n/(\d+))", [&](const auto& request, auto& response) {
    const int busy = ++now;
    for (int seen = most; busy > seen && !most.compare_exchange_weak(seen, busy);) {
    }
    std::this_thread::sleep_for(milliseconds(50));
    --now;
    response.set_content(request.matches[1].str(), "text/plain");
  });
  std::vector<Request> requests;
  for (int i = 0; i < 40; ++i) requests.push_back(get("/n/" + std::to_string(i)));
  const auto start = std::chrono::steady_clock::now();
  const auto responses = Client().fetch_all(requests, 8);
  const auto took = std::chrono::steady_clock::now() - start;
  for (int i = 0; i < 40; ++i) EXPECT_EQ(responses[static_cast<size_t>(i)].body, std::to_string(i));
  EXPECT_LE(most, 8);
  EXPECT_GE(most, 4);
  EXPECT_LT(took, milliseconds(1500));  // one at a time would take 2 s
}

TEST_F(ClientTest, WaitingForARetryHoldsNoPlace) {
  std::vector<Request> requests = {get("/status/500"), get("/status/200")};
  std::vector<size_t> order;
  Client(options()).fetch_each(requests, 1, [&](size_t i, const Response&) { order.push_back(i); });
  EXPECT_THAT(order, ElementsAre(1, 0));
}

TEST_F(ClientTest, ARetryThatWaitsForAPlaceDoesNotSpin) {
  std::atomic<int> calls{0};
  server.Get("/flaky", [&](const auto&, auto& response) { response.status = calls++ ? 200 : 500; });
  ClientOptions o;
  o.retry.first_delay = milliseconds(1);
  int turns = 0;
  o.cancelled = [&] {  // asked at each turn of the loop
    ++turns;
    return false;
  };
  const std::vector<Request> requests = {get("/flaky"), get("/slow")};  // 300 ms in the one place
  const auto responses = Client(o).fetch_all(requests, 1);
  EXPECT_TRUE(responses[0].ok());
  EXPECT_TRUE(responses[1].ok());
  EXPECT_LT(turns, 60);
}

TEST_F(ClientTest, AServiceThatIsDownCostsTheOthersOneAttempt) {
  std::vector<Request> requests(20, get("/status/429"));
  const auto responses = Client(options()).fetch_all(requests, 4);
  for (const auto& response : responses) EXPECT_EQ(response.status, 429);
  // Four in flight at once, one of them tried again to its end, the other three at most as often.
  EXPECT_LE(hits, 4 * 6 + 16);
  for (size_t i = 4; i < 20; ++i) EXPECT_EQ(responses[i].attempts, 1) << i;
}

TEST_F(ClientTest, OneThatComesUpAgainHasAllItsAttempts) {
  std::atomic<int> calls{0};
  server.Get("/storm", [&](const auto&, auto& response) {
    if (calls++ < 8)
      response.status = 503;
    else
      response.set_content("up", "text/plain");
  });
  std::vector<Request> requests(10, get("/storm"));
  const auto responses = Client(options()).fetch_all(requests, 2);
  for (size_t i = 2; i < 10; ++i) EXPECT_EQ(responses[i].body, "up") << i;
}

TEST_F(ClientTest, CancellingFinishesEverything) {
  ClientOptions o = options();
  std::atomic<bool> stop{false};
  o.cancelled = [&] { return stop.load(); };
  std::vector<Request> requests = {get("/status/200"), get("/slow"), get("/slow")};
  std::vector<ErrorKind> kinds(3);
  Client(o).fetch_each(requests, 1, [&](size_t i, const Response& r) {
    kinds[i] = r.error;
    stop = true;
  });
  EXPECT_THAT(kinds, ElementsAre(ErrorKind::none, ErrorKind::cancelled, ErrorKind::cancelled));
}

TEST_F(ClientTest, SurvivesACallbackThatThrows) {
  std::vector<Request> requests = {get("/status/200"), get("/slow")};
  Client client(options());
  EXPECT_THROW(client.fetch_each(requests, 2, [](size_t, const Response&) { throw 1; }), int);
  EXPECT_TRUE(client.fetch(get("/status/200")).ok());
}

struct UrlRow {
  const char* url;
  bool refused;
};
TEST(ClientUrls, OnlyHttpsOrLoopback) {
  FakeClock clock;
  ClientOptions o;
  o.clock = &clock;
  o.retry.max_attempts = 1;
  for (const auto& [url, refused] :
       std::initializer_list<UrlRow>{{"http://example.invalid/", true},
                                     {"http://127.0.0.1.evil.invalid/", true},
                                     {"http://localhost.evil.invalid/", true},
                                     {"http://127.0.0.1@evil.invalid/", true},
                                     {"https://user:secret@127.0.0.1:1/", true},
                                     {"file:///etc/passwd", true},
                                     {"ftp://127.0.0.1/", true},
                                     {"no url", true},
                                     {"", true},
                                     {"http://[::1]:1/", false},
                                     {"http://LOCALHOST:1/", false},
                                     {"http://127.9.9.9:1/", false},
                                     {"https://127.0.0.1:1/", false}}) {
    Request request;
    request.url = url;
    const Response response = Client(o).fetch(request);
    EXPECT_EQ(response.error == ErrorKind::bad_url, refused) << url << ": " << response.message;
    EXPECT_THAT(response.message, Not(HasSubstr("secret")));
  }
}

TEST(ClientNames, AnUnknownHostIsTriedAgainAndNamed) {
  FakeClock clock;
  ClientOptions o;
  o.clock = &clock;
  ::setenv("NO_PROXY", "*", 1);
  Request request;
  request.url = "https://nobody.invalid/v1/models?key=secret";
  const Response response = Client(o).fetch(request);
  ::unsetenv("NO_PROXY");
  EXPECT_EQ(name(response.error), "resolve") << response.message;
  EXPECT_EQ(response.attempts, 6);
  EXPECT_THAT(response.message, HasSubstr("nobody.invalid"));
  EXPECT_THAT(response.message, Not(HasSubstr("secret")));
}

TEST_F(ClientTest, AServerThatRestartsLosesNothing) {
  std::atomic<int> served{0};
  const auto handler = [&](const auto& request, auto& response) {
    ++served;
    response.set_content(request.matches[1].str(), "text/plain");
  };
  server.Get(R"(/n/(\d+))", handler);
  httplib::Server second;
  second.Get(R"(/n/(\d+))", handler);
  std::thread second_thread;
  clock.on_sleep = [&] {  // it comes up while the third attempts wait
    if (clock.slept_ms.size() != 2) return;
    ASSERT_TRUE(second.bind_to_port("127.0.0.1", port));
    second_thread = std::thread([&] { second.listen_after_bind(); });
  };
  std::vector<Request> requests;
  for (int i = 0; i < 8; ++i) requests.push_back(get("/n/" + std::to_string(i)));
  Client client(options());
  EXPECT_TRUE(client.fetch(requests[0]).ok());  // leaves a connection that the restart cuts
  server.stop();
  thread.join();
  thread = std::thread([] {});
  const auto responses = client.fetch_all(requests, 1);
  second.stop();
  if (second_thread.joinable()) second_thread.join();
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(responses[i].body, std::to_string(i)) << i;
  EXPECT_EQ(responses[0].attempts, 3);
  EXPECT_EQ(responses[7].attempts, 1);
  EXPECT_EQ(served, 9);
}

TEST_F(ClientTest, ACertificateMustBeTrustedAndOfTheHost) {
  const OwnCertificate own("IP:127.0.0.1"), of_another("DNS:elsewhere.invalid");
  const auto file = std::filesystem::path(testing::TempDir()) /
                    ("client_test." + std::to_string(::getpid()) + ".pem");
  const auto fetch_from = [&](const OwnCertificate& c, bool trusted) {
    httplib::SSLServer secure(c.certificate.get(), c.key.get());
    secure.Get("/", [](const auto&, auto& response) { response.set_content("in", "text/plain"); });
    const int at = secure.bind_to_any_port("127.0.0.1");
    std::thread serving([&] { secure.listen_after_bind(); });
    while (!secure.is_running()) std::this_thread::yield();
    c.write(file);
    if (trusted) {
      ::unsetenv("CURL_CA_BUNDLE");  // it would win
      ::setenv("SSL_CERT_FILE", file.c_str(), 1);
    }
    Request request;
    request.url = "https://127.0.0.1:" + std::to_string(at) + "/";
    const Response response = Client(options()).fetch(request);
    ::unsetenv("SSL_CERT_FILE");
    secure.stop();
    serving.join();
    return response;
  };
  const Response unknown = fetch_from(own, false);
  EXPECT_EQ(name(unknown.error), "tls") << unknown.message;
  EXPECT_EQ(unknown.attempts, 1);
  EXPECT_THAT(unknown.message, HasSubstr("certificate"));
  const Response good = fetch_from(own, true);
  EXPECT_EQ(good.body, "in") << good.message;
  const Response wrong_host = fetch_from(of_another, true);
  EXPECT_EQ(name(wrong_host.error), "tls") << wrong_host.message;
  std::filesystem::remove(file);
}

TEST_F(ClientTest, TlsFailureIsFinal) {
  Request request = get("/status/200");
  request.url.replace(0, 4, "https");
  const Response response = Client(options()).fetch(request);
  EXPECT_EQ(response.error, ErrorKind::tls);
  EXPECT_EQ(response.attempts, 1);
}

}  // namespace
}  // namespace hone::http
