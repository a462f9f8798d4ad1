// The query stage end to end: asking, recording, replaying, resuming.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "model/recorded_set.hpp"
#include "trial/disclosure.hpp"
#include "trial/stages.hpp"

namespace hone::trial {
namespace {

namespace fs = std::filesystem;
using storage::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A service of chat completions that counts what it is asked; its answer names the seed.
struct QueryTest : testing::Test {
  fs::path dir = fs::path(testing::TempDir()) / ("query_test." + std::to_string(::getpid()));
  httplib::Server server;
  std::thread thread;
  std::atomic<int> hits{0};
  std::atomic<int> delay_ms{0};
  std::mutex mutex;
  std::map<std::string, int> answered;  ///< how often each body was answered in full
  std::function<Json(const Json& body)> choice = [](const Json& body) {
    return Json{{"message", {{"content", "seed " + body["seed"].dump()}}}};
  };
  int runs = 2;
  std::string delivery;
  fs::path run_dir = dir / "runs", cache_dir = dir / "cache";

  void SetUp() override {
    ::setenv("HONE_RECORD", "record", 1);
    server.new_task_queue = [] { return new httplib::ThreadPool(16); };
    server.Post("/v1/chat/completions", [&](const auto& request, auto& response) {
      ++hits;
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
      const Json body = Json::parse(request.body);
      const std::lock_guard hold(mutex);
      ++answered[request.body];
      response.set_content(Json{{"choices", Json::array({choice(body)})},
                                {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 5}}}}
                               .dump(),
                           "application/json");
    });
    port = server.bind_to_any_port("127.0.0.1");
    thread = std::thread([&] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();
    write_skill("Use 9.0.");
    write_case("?");
  }
  void TearDown() override {
    server.stop();
    thread.join();
    fs::remove_all(dir);
    ::unsetenv("HONE_RECORD");
    ::unsetenv("HONE_TEST_KEY");
  }
  void write_skill(const std::string& body) {
    storage::write_atomically(dir / "skill/SKILL.md",
                              "---\nname: skill\ndescription: helps\n---\n" + body + "\n");
    storage::write_atomically(dir / "skill/references/more.md", "More.\n");
  }
  void write_case(const std::string& prompt) {
    storage::write_json(dir / "cases/c.json",
                        {{"id", "c"}, {"prompt", prompt}, {"expect", {{"contains", "seed"}}}});
  }
  Manifest manifest() {
    Manifest m;
    m.run_dir = run_dir;
    m.cache_dir = cache_dir;
    m.baselines_dir = dir / "reports/baselines";
    model::ModelConfig c;
    c.name = c.model = "m";
    c.base_url = "http://127.0.0.1:" + std::to_string(port) + "/v1";
    c.parallel = 4;
    c.max_tokens = 20;
    c.api_key_env = key_variable;
    c.endpoint = endpoint;
    if (!endpoint.empty()) c.base_url.clear();
    m.models.push_back(c);
    m.skills.push_back({"skill", (dir / "skill").string()});
    m.evaluations.push_back(
        {"e", "skill", {}, {(dir / "cases/*.json").string()}, {"m"}, {}, runs, delivery});
    return m;
  }
  StageResult ask(const std::function<void(StageOptions&)>& adjust = {}) {
    const Manifest m = manifest();
    const Plan plan = make_plan(m, "e");
    std::vector<Selection> selections;
    for (const Arm arm : kArms)
      for (const auto& c : plan.cases) selections.push_back({&c, arm});
    StageOptions options;
    if (adjust) adjust(options);
    return query(plan, m.models.front(), selections, options);
  }
  /// Records the set as hone record does.
  void record(bool missing = true) {
    std::vector<model::RecordedAnswer> answers;
    ask([&](StageOptions& o) {
      o.collected = &answers;
      o.fresh = !missing;
    });
    const Manifest m = manifest();
    model::write_recorded_set(recorded_set_file(m, "e", "m"), "e", m.models.front(), answers);
  }
  std::vector<std::string> missing() {
    std::vector<std::string> lines;
    ask([&](StageOptions& o) { o.missing = &lines; });
    return lines;
  }
  Json response(const std::string& arm = "with_skill", int run = 0) {
    return storage::read_json(dir / "runs/e/m/c" / arm / std::to_string(run) / "response.json");
  }
  /// Path and bytes of every record.
  std::map<std::string, std::string> records() {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(dir / "runs"))
      if (entry.is_regular_file())
        all[entry.path().lexically_relative(dir).string()] = storage::read_file(entry.path());
    return all;
  }
  int port = 0;
  std::string key_variable, endpoint;
};

TEST_F(QueryTest, WhatIsOnRecordIsNotAskedAgain) {
  EXPECT_EQ(ask().code, Exit::good);
  EXPECT_EQ(hits, 4);
  const auto again = ask();
  EXPECT_EQ(hits, 4);
  EXPECT_EQ(again.reused, 4);
  fs::remove_all(dir / "runs");
  ask();  // from the store
  EXPECT_EQ(hits, 4);
  EXPECT_EQ(response()["source"], "recorded");
  ask([](StageOptions& o) { o.fresh = true; });
  EXPECT_EQ(hits, 8);
  ask([](StageOptions& o) { o.record = model::RecordMode::off; });
  EXPECT_EQ(hits, 12);
}

TEST_F(QueryTest, RerunAsksSomeAgain) {
  ask();
  ask([](StageOptions& o) {
    o.rerun = [](const Trial& t) { return t.arm == Arm::with_skill && t.run == 1; };
  });
  EXPECT_EQ(hits, 5);
}

TEST_F(QueryTest, ReplaysASetBitForBitWithoutNetwork) {
  record();
  const auto set = storage::read_file(dir / "reports/recorded/e/m.jsonl");
  EXPECT_THAT(missing(), IsEmpty());
  server.stop();
  ::setenv("HONE_RECORD", "replay", 1);
  std::map<std::string, std::string> first;
  for (int i = 0; i < 2; ++i) {
    fs::remove_all(dir / "runs");
    fs::remove_all(dir / "cache");
    EXPECT_EQ(ask().code, Exit::good);
    EXPECT_EQ(response()["text"], "seed 1");
    if (i == 0) first = records();
  }
  EXPECT_EQ(records(), first);
  EXPECT_EQ(first.size(), 8u);
  EXPECT_EQ(hits, 4);
}

TEST_F(QueryTest, WhatIsOnRecordNeedsNeitherKeyNorServer) {
  record();
  key_variable = "HONE_TEST_KEY";  // not set
  EXPECT_EQ(ask().code, Exit::good);
  fs::remove_all(dir / "runs");
  EXPECT_EQ(ask().code, Exit::good);
  runs = 3;
  EXPECT_THROW(ask(), Error);
  runs = 2;
  ::setenv("HONE_RECORD", "replay", 1);
  endpoint = "llama-server";  // another source: not what was recorded, yet no server is looked for
  EXPECT_EQ(ask().failed, 4);
  EXPECT_EQ(response()["error"]["kind"], "not-recorded");
}

TEST_F(QueryTest, AStaleSetSaysWhichTrialsAndOnlyTheyAreAskedAgain) {
  record();
  write_skill("Use 9.0 always.");
  EXPECT_THAT(
      missing(),
      ElementsAre(
          "c with_skill run 0: no recorded answer: the skill was edited since it was recorded",
          "c with_skill run 1: no recorded answer: the skill was edited since it was recorded"));
  ::setenv("HONE_RECORD", "replay", 1);
  const auto replayed = ask();
  EXPECT_EQ(replayed.code, Exit::infrastructure);
  EXPECT_EQ(replayed.failed, 2);
  EXPECT_EQ(response()["error"]["kind"], "not-recorded");
  EXPECT_EQ(hits, 4);
  ::setenv("HONE_RECORD", "record", 1);
  fs::remove_all(dir / "cache");
  record();
  EXPECT_EQ(hits, 6);
  EXPECT_THAT(missing(), IsEmpty());
  write_case("??");
  EXPECT_EQ(missing().size(), 4u);
  EXPECT_THAT(missing()[0], HasSubstr("the case was edited"));
  fs::remove(dir / "reports/recorded/e/m.jsonl");
  EXPECT_THAT(missing()[0], HasSubstr("never recorded"));
}

TEST_F(QueryTest, ABudgetIsNotPassedAndKeepsWhatIsDone) {
  runs = 30;
  model::Budget budget;
  budget.max_tokens = 600;
  const auto result = ask([&](StageOptions& o) { o.budget = &budget; });
  EXPECT_EQ(result.code, Exit::infrastructure);
  EXPECT_THAT(result.reason, HasSubstr("not asked, so as not to pass the budget"));
  EXPECT_LE(budget.tokens(), 600);
  EXPECT_EQ(budget.tokens(), 15 * hits);
  EXPECT_GT(hits, 0);
  EXPECT_EQ(result.recorded, hits);
  ask();
  EXPECT_EQ(hits, 60);
}

TEST_F(QueryTest, AnInterruptKeepsWhatIsDone) {
  runs = 20;
  std::atomic<bool> stop{false};
  EXPECT_THROW(ask([&](StageOptions& o) {
                 o.cancelled = [&] { return stop.load(); };
                 o.print = [&](const std::string&) { stop = true; };
               }),
               Error);
  const int before = hits;
  EXPECT_LT(before, 40);
  ask();
  EXPECT_LE(hits, 40 + 4);
}

TEST_F(QueryTest, ADisclosedSkillIsReadThroughTheTool) {
  delivery = "disclose";
  choice = [](const Json& body) -> Json {
    const auto& messages = body["messages"];
    if (!body.contains("tools")) return {{"message", {{"content", "seed none"}}}};
    if (messages.size() >= 6) return {{"message", {{"content", messages.back()["content"]}}}};
    const char* arguments = messages.size() == 2
                                ? R"({"name":"skill"})"
                                : R"({"name":"skill","file":"references/more.md"})";
    return {{"finish_reason", "tool_calls"},
            {"message",
             {{"content", nullptr},
              {"tool_calls",
               {{{"id", "i"},
                 {"type", "function"},
                 {"function", {{"name", "read_skill"}, {"arguments", arguments}}}}}}}}};
  };
  EXPECT_EQ(ask().code, Exit::good);
  EXPECT_EQ(hits, 2 * 3 + 2);
  const Json with = response();
  EXPECT_EQ(with["text"], "More.\n");
  EXPECT_EQ(with["opened"], Json::parse(R"([{"step":1,"file":"SKILL.md"},
                                            {"step":2,"file":"references/more.md"}])"));
  EXPECT_EQ(with["usage"]["input"], 30);
  EXPECT_EQ(with["attempts"], 3);
  EXPECT_FALSE(response("without_skill").contains("opened"));
  const Json request = storage::read_json(dir / "runs/e/m/c/with_skill/0/request.json");
  EXPECT_EQ(request["delivery"], "disclose");
  EXPECT_EQ(request["body"].dump().find("Use 9.0"), std::string::npos);
  record();
  fs::remove_all(dir / "runs");
  fs::remove_all(dir / "cache");
  ::setenv("HONE_RECORD", "replay", 1);
  EXPECT_EQ(ask().code, Exit::good);
  EXPECT_EQ(response()["text"], "More.\n");
  EXPECT_EQ(hits, 8);
}

TEST_F(QueryTest, AFaultyAnswerIsRepairedWithItsEvidence) {
  storage::write_json(
      dir / "cases/c.json",
      {{"id", "c"}, {"prompt", "?"}, {"turns", 3}, {"expect", {{"contains", "9.0"}}}});
  choice = [](const Json& body) {
    const auto& messages = body["messages"];
    const bool right = messages.size() >= 4 && body["seed"] == 1;
    return Json{{"message", {{"content", right ? "9.0" : "8.0"}}}};
  };
  const auto all_stages = [&] {
    ask();
    const Manifest m = manifest();
    const Plan plan = make_plan(m, "e");
    EXPECT_THAT(stages_of(plan.cases[0]), ElementsAre("query", "verify", "repair"));
    const Selection selection{&plan.cases[0], Arm::with_skill};
    verify(plan, m.models.front(), selection, {});
    return repair(plan, m.models.front(), selection, {});
  };
  EXPECT_EQ(all_stages().code, Exit::good);
  // Run 0 is right at its second turn, run 1 wrong at all three; the other arm was not repaired.
  EXPECT_EQ(hits, 2 + 2 + 1 + 2);
  const fs::path runs_of = dir / "runs/e/m/c/with_skill";
  EXPECT_EQ(response()["text"], "9.0");
  EXPECT_EQ(storage::read_json(runs_of / "0/request.json")["turn"], 2);
  EXPECT_EQ(storage::read_json(runs_of / "0/verify.json")["outcome"], "correct");
  EXPECT_EQ(storage::read_json(runs_of / "0/turns/1/verify.json")["outcome"], "wrong");
  const Json messages = storage::read_json(runs_of / "0/request.json")["body"]["messages"];
  EXPECT_EQ(messages[2]["content"], "8.0");
  EXPECT_THAT(messages[3]["content"].get<std::string>(), HasSubstr("The outcome is wrong"));
  EXPECT_EQ(storage::read_json(runs_of / "1/request.json")["turn"], 3);
  EXPECT_EQ(storage::read_json(runs_of / "1/verify.json")["outcome"], "wrong");
  const auto before = records();
  all_stages();
  EXPECT_EQ(hits, 7);
  EXPECT_EQ(records().size(), before.size());
  fs::remove(runs_of / "0/response.json");  // as if killed before the second turn's answer
  all_stages();
  EXPECT_EQ(hits, 7);  // the store has it
  EXPECT_EQ(response()["text"], "9.0");
}

TEST(ReadSkill, GivesTheSkillsFilesAndNothingElse) {
  skill::Skill s;
  s.name = "s";
  s.body = "body";
  std::string opened;
  const auto read = [&](const char* arguments) {
    return read_skill(s, {"i", "read_skill", Json::parse(arguments)}, opened);
  };
  EXPECT_EQ(read(R"({"name":"s"})"), "body");
  EXPECT_EQ(opened, "SKILL.md");
  for (const char* wrong : {R"({"name":"t"})", R"({})", R"([])", R"({"name":"s","file":"../x"})",
                            R"({"name":"s","file":"/etc/passwd"})"}) {
    EXPECT_THAT(read(wrong), HasSubstr("error:")) << wrong;
    EXPECT_EQ(opened, "");
  }
}

TEST_F(QueryTest, TheKeyIsInNoRecord) {
  key_variable = "HONE_TEST_KEY";
  ::setenv("HONE_TEST_KEY", "sk-canary-0123456789", 1);
  choice = [](const Json&) {
    return Json{
        {"message", {{"content", "seed sk-canary-0123456789 c2stY2FuYXJ5LTAxMjM0NTY3ODk="}}}};
  };
  record();
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    if (!entry.is_regular_file()) continue;
    const auto bytes = storage::read_file(entry.path());
    EXPECT_EQ(bytes.find("canary"), std::string::npos) << entry.path();
    EXPECT_EQ(bytes.find("c2stY2FuYXJ5"), std::string::npos) << entry.path();
  }
  EXPECT_EQ(response()["text"], "seed [key] [key]=");
}

/// The requests of entries that came to the store since the last call.
std::vector<std::string> newly_stored_in(const fs::path& store, std::set<fs::path>& seen) {
  std::vector<std::string> bodies;
  if (!fs::exists(store)) return bodies;
  for (const auto& entry : fs::recursive_directory_iterator(store)) {
    const auto& path = entry.path();
    if (path.extension() != ".json" || path.filename().string().starts_with("new.")) continue;
    if (seen.insert(path).second)
      bodies.push_back(storage::read_json(path)["request"]["body"].dump());
  }
  return bodies;
}

TEST_F(QueryTest, TwoProcessesOnOneStorePayOnce) {
  runs = 30;
  delay_ms = 5;
  std::vector<pid_t> children;
  for (const char* own : {"runs", "runs-of-another"}) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    run_dir = dir / own;
    try {
      const auto result = ask();
      ::_exit(result.code == Exit::good && result.recorded == 60 ? 0 : 1);
    } catch (...) {
      ::_exit(2);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(hits, 60);
  for (const auto& [body, count] : answered) EXPECT_EQ(count, 1) << body;
  const auto mine = records();
  EXPECT_EQ(mine.size(), 120u);
  for (const auto& [path, bytes] : mine) {
    if (!path.ends_with("response.json")) continue;
    const fs::path other = dir / ("runs-of-another" + path.substr(std::strlen("runs")));
    EXPECT_EQ(Json::parse(bytes)["text"], storage::read_json(other)["text"]);
  }
}

/// Asks with the store or the run folder on a disk of 64 kB, then with room again. In a process of
/// its own, which may mount; exits 77 where it may not.
[[noreturn]] void ask_on_a_full_disk(const fs::path& disk, const fs::path& told,
                                     const std::function<StageResult()>& ask) {
  const int spaces = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
  fs::create_directories(disk);
  if (::unshare(spaces) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("full", disk.c_str(), "tmpfs", 0, "size=64k") != 0)
    ::_exit(77);
  Json what;
  try {
    what["first"] = static_cast<int>(ask().code);
  } catch (const Error& e) {
    what["first"] = static_cast<int>(e.code());
    what["message"] = e.what();
  }
  size_t unreadable = 0, leftover = 0;
  for (const auto& entry : fs::recursive_directory_iterator(disk)) {
    if (!entry.is_regular_file() || entry.path().filename() == "locks") continue;
    if (entry.path().extension() != ".json")
      ++leftover;
    else if (Json::parse(storage::read_file(entry.path()), nullptr, false).is_discarded())
      ++unreadable;
  }
  what["unreadable"] = unreadable;
  what["leftover"] = leftover;
  if (::mount("full", disk.c_str(), "tmpfs", MS_REMOUNT, "size=16m") != 0) ::_exit(3);
  try {
    what["then"] = static_cast<int>(ask().code);
  } catch (const Error& e) {
    what["then"] = e.what();
  }
  std::ofstream(told) << what;
  ::_exit(0);
}

TEST_F(QueryTest, AFullDiskStopsTheRunLoudlyAndWhatWasStoredIsKept) {
  runs = 30;
  for (fs::path* full : {&cache_dir, &run_dir}) {
    run_dir = dir / "runs";
    cache_dir = dir / "cache";
    *full = dir / "disk";
    hits = 0;
    const fs::path told = dir / "told.json";
    const pid_t child = ::fork();
    if (child == 0) ask_on_a_full_disk(*full, told, [&] { return ask(); });
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
      GTEST_SKIP() << "this user may not mount a tmpfs in a namespace";
    ASSERT_EQ(status, 0);
    const Json what = storage::read_json(told);
    EXPECT_EQ(what["first"], static_cast<int>(Exit::infrastructure)) << what;
    EXPECT_THAT(what.value("message", ""), HasSubstr("No space left on device"));
    EXPECT_EQ(what["unreadable"], 0) << what;
    EXPECT_EQ(what["leftover"], 0) << what;
    EXPECT_EQ(what["then"], 0) << what;
    EXPECT_LE(hits, 60 + 4);  // what was in flight when the disk was full is asked again
    EXPECT_GE(hits, 60);
    fs::remove_all(dir / "runs");
    fs::remove_all(dir / "cache");
  }
}

/// HONE_TEST_KILLS=200 kills that often over 500 requests, which takes a minute.
TEST_F(QueryTest, KilledAtAnyMomentItGoesOnWhereItWas) {
  const char* wanted = std::getenv("HONE_TEST_KILLS");
  const int most = wanted != nullptr ? std::atoi(wanted) : 10;
  runs = wanted != nullptr ? 250 : 20;
  // Slow enough for that many kills: what is on record is passed over first.
  delay_ms = wanted != nullptr ? 100 : 3;
  const unsigned longest_ms = wanted != nullptr ? 600 : 60;
  std::mt19937 random(7);
  bool ended = false;
  int kills = 0;
  std::set<fs::path> seen;
  std::map<std::string, int> asked_when_stored;
  for (; kills < most && !ended; ++kills) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        ask();
        ::_exit(0);
      } catch (...) {
        ::_exit(1);
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % longest_ms));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    for (const auto& body : newly_stored_in(dir / "cache/answers", seen)) {
      const std::lock_guard hold(mutex);
      asked_when_stored[body] = answered[body];
    }
  }
  ask();
  EXPECT_GT(kills, 3);
  for (const auto& [body, count] : asked_when_stored) EXPECT_EQ(answered[body], count) << body;
  // Everything is there once, and what was answered more than once had been in flight when its
  // process died, at most four at each kill.
  int twice = 0;
  for (const auto& [body, count] : answered) twice += count - 1;
  EXPECT_LE(twice, 4 * kills);
  EXPECT_EQ(hits, 2 * runs + twice);
  EXPECT_EQ(records().size(), 4 * static_cast<size_t>(runs));
  for (const auto& [path, bytes] : records())
    EXPECT_FALSE(Json::parse(bytes, nullptr, false).is_discarded());
  const int before = hits;
  fs::remove_all(dir / "runs");
  ask();  // the store alone has them all
  EXPECT_EQ(hits, before);
  std::printf("%d kills, %d requests, %d asked twice\n", kills, hits.load(), twice);
}

}  // namespace
}  // namespace hone::trial
