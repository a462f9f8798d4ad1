// The hone program as people run it: exit codes, what it prints, what it leaves on disk.
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>

#include "cli/cli_fixture.hpp"
#include "cli/progress.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

constexpr const char* kKey = "sk-canary+0123456789/abcdef";

TEST_F(CliTest, ExitCodesTellTheClassOfWhatHappened) {
  const auto good = hone({"eval", "e"});
  EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr("pass"));
  evaluations[0]["gates"] = {"lift <= 0"};
  EXPECT_EQ(hone({"report"}).exit_code, 1);
  EXPECT_EQ(hone({"eval", "nothing"}).exit_code, 2);
  write_case("case-0", {{"expext", 1}});
  const auto broken = hone({"check"});
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_THAT(broken.err, HasSubstr("case-0.json:"));
  write_case("case-0");
  models[0]["base_url"] = "http://127.0.0.1:1/v1";  // another service: its answers are asked for
  const auto down = hone({"eval", "e", "-c", "case-0", "--arm", "with_skill", "--no-report"});
  EXPECT_EQ(down.exit_code, 4) << down.out << down.err;
  EXPECT_THAT(down.err, HasSubstr("could not be measured"));
  models[0]["api_key_env"] = "HONE_TEST_NO_KEY";
  const auto keyless = hone({"eval", "e", "-c", "case-0", "--no-report"});
  EXPECT_EQ(keyless.exit_code, 77) << keyless.out << keyless.err;
  EXPECT_THAT(keyless.err, HasSubstr("HONE_TEST_NO_KEY is not set"));
}

TEST_F(CliTest, TheKeyIsNowhere) {
  models[0]["api_key_env"] = "HONE_TEST_KEY";
  environment["HONE_TEST_KEY"] = kKey;
  int number = 0, with_key = 0;
  server.set_pre_routing_handler([&](const auto& request, auto&) {
    with_key += request.get_header_value("Authorization") == std::string("Bearer ") + kKey;
    return httplib::Server::HandlerResponse::Unhandled;
  });
  answer = [&](const Json&, httplib::Response& response) {
    switch (number++ % 4) {
      case 0:  // an answer that tells it, plainly and encoded
        return say(response, std::string("nine ") + kKey + " c2stY2FuYXJ5KzAxMjM0NTY3ODkvYWJjZGVm");
      case 1:
        response.status = 401;
        response.set_content(
            Json{{"error", {{"message", std::string("wrong key ") + kKey}}}}.dump(),
            "application/json");
        return;
      case 2:
        response.status = 302;
        response.set_header("Location", std::string("https://elsewhere.invalid/?key=") + kKey);
        response.set_content("moved to /?key=sk-canary%2B0123456789%2Fabcdef", "text/html");
        return;
      default:
        response.set_content(std::string("<html>") + kKey + "</html>", "text/html");
    }
  };
  std::string printed;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"eval", "e"},
        {"eval", "e", "--rerun", "errors"},
        {"record", "e"},
        {"runs", "--json"},
        {"stage", "query", "--evaluation", "e", "--model", "m", "--case", "case-0", "--arm",
         "with_skill"},
        {"report", "--format", "markdown"}}) {
    const auto result = hone(arguments);
    printed += result.out + result.err;
  }
  EXPECT_GT(with_key, kTrials);  // it was sent
  EXPECT_THAT(printed, HasSubstr("[key]"));
  const auto expect_none = [](const std::string& bytes, const std::string& where) {
    for (const char* form : {"sk-canary", "c2stY2FuYXJ5"})
      EXPECT_EQ(bytes.find(form), std::string::npos) << where;
  };
  expect_none(printed, "printed");
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    if (!entry.is_regular_file()) continue;
    expect_none(storage::read_file(entry.path()), entry.path());
    expect_none(entry.path(), "a name");
    ++files;
  }
  EXPECT_GT(files, 50u);
  for (const char* written : {"build/reports/report.html", "build/reports/junit.xml",
                              "build/hone/history.sqlite", "reports/recorded/e/m.jsonl"})
    EXPECT_TRUE(fs::exists(dir / written)) << written;
}

TEST_F(CliTest, RerunAsksOnlyWhatItNames) {
  bool down = true;
  answer = [&](const Json& body, httplib::Response& response) {
    if (down && body.dump().find("case-3") != std::string::npos) {
      response.status = 400;
      return;
    }
    say(response, body["seed"] == 1 ? "eight" : "nine");
  };
  EXPECT_EQ(hone({"eval", "e", "--no-report"}).exit_code, 4);
  EXPECT_EQ(hits, kTrials);
  down = false;
  hits = 0;
  EXPECT_EQ(hone({"eval", "e", "--no-report", "--rerun", "errors"}).exit_code, 0);
  EXPECT_EQ(hits, 4);
  hits = 0;
  hone({"eval", "e", "--no-report", "--rerun", "failed"});
  EXPECT_EQ(hits, 12);  // the first run of each case and arm
  hits = 0;
  hone({"eval", "e", "--no-report", "--rerun", "case=case-5"});
  EXPECT_EQ(hits, 4);
  EXPECT_EQ(hone({"eval", "e", "--rerun", "some"}).exit_code, 2);
}

TEST_F(CliTest, ABudgetStopsBeforeItIsPassed) {
  const auto stopped = hone({"eval", "e", "--no-report", "--max-cost", "0.001"});
  EXPECT_EQ(stopped.exit_code, 4) << stopped.out;
  EXPECT_THAT(stopped.err, HasSubstr("so as not to pass the budget"));
  EXPECT_GT(hits, 0);
  EXPECT_LE(hits * (100 * 1.0 + 5 * 4.0) / 1e6, 0.001);
  EXPECT_EQ(hone({"eval", "e", "--no-report"}).exit_code, 0);
  EXPECT_EQ(hits, kTrials);
}

/// What hone shows on a terminal; `each` sees all of it so far, and the process, as it grows.
std::string on_terminal(const process::Command& command,
                        const std::function<void(const std::string&, pid_t)>& each, int& status) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    for (const auto& [key, value] : command.environment) ::setenv(key.c_str(), value.c_str(), 1);
    std::vector<char*> argv;
    for (const auto& a : command.argv) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  std::string shown;
  char buffer[4096];
  for (ssize_t n; (n = ::read(terminal, buffer, sizeof buffer)) > 0;) {
    shown.append(buffer, static_cast<size_t>(n));
    each(shown, child);
  }
  ::waitpid(child, &status, 0);
  ::close(terminal);
  return shown;
}

TEST_F(CliTest, AnAskingShowsHowItGoes) {
  delay_ms = 60;
  int status = 0;
  const std::string shown = on_terminal(
      command({"eval", "e", "--no-report"}), [](const auto&, pid_t) {}, status);
  EXPECT_EQ(status, 0) << shown;
  EXPECT_THAT(shown, HasSubstr("\r\x1b[K"));
  EXPECT_THAT(shown,
              testing::ContainsRegex("[0-9]+/24 done, [0-9]+ in flight, [0-9.]+/s, [0-9]+ tokens, "
                                     "\\$0\\.[0-9]+, about [0-9]+ s left"));
  fs::remove_all(dir / "build");
  const auto piped = hone({"eval", "e", "--no-report"});
  EXPECT_THAT(piped.out + piped.err, Not(HasSubstr("\x1b")));
  fs::remove_all(dir / "build");
  const auto quiet = hone({"-q", "eval", "e", "--no-report"});
  EXPECT_THAT(quiet.out + quiet.err, Not(HasSubstr("case-0")));
}

TEST(ProgressLine, NamesWhatThereIs) {
  model::AskProgress p;
  p.total = 50;
  p.done = 12;
  p.in_flight = 4;
  EXPECT_EQ(progress_line(p, 8), "12/50 done, 4 in flight, 1.5/s, 0 tokens, about 25 s left");
  p.tokens = 3400;
  p.cost = .012;
  p.recorded = 3;
  p.errors = 1;
  p.retries = 2;
  EXPECT_EQ(progress_line(p, 8),
            "12/50 done, 4 in flight, 1.5/s, 3400 tokens, $0.0120, 3 on record, 1 errors, "
            "2 retries, about 25 s left");
}

TEST_F(CliTest, CtrlCEndsCleanlyAndTheSameCommandGoesOn) {
  delay_ms = 40;
  bool sent = false;
  int status = 0;
  const std::string shown = on_terminal(
      command({"eval", "e"}),
      [&](const std::string& so_far, pid_t child) {
        if (sent || so_far.find("answered") == std::string::npos) return;
        sent = true;
        ::kill(child, SIGINT);
      },
      status);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130) << shown;
  EXPECT_THAT(shown, testing::ContainsRegex(
                         "interrupted: [0-9]+ answers are on record; the same command asks the"));
  const int before = hits;
  EXPECT_LT(before, kTrials);
  EXPECT_EQ(hone({"eval", "e"}).exit_code, 0);
  EXPECT_LE(hits, kTrials + 4);  // what was in flight
}

/// A script of the provider scripted: the runs from `right_from` on are right with the skill.
void scripted(CliTest& test, int right_from) {
  Json answers = Json::array();
  for (int run = 0; run < 4; ++run)
    answers.push_back({{"arm", "with_skill"},
                       {"run", run},
                       {"text", run >= right_from ? "nine" : "eight"},
                       {"usage", {{"input", 10}, {"output", 1}}}});
  answers.push_back({{"text", "eight"}, {"usage", {{"input", 10}, {"output", 1}}}});
  storage::write_json(test.dir / "script.json",
                      {{"schema", "hone.script/1"}, {"answers", answers}});
  test.models = {{{"name", "m"}, {"provider", "scripted"}, {"script", "script.json"}}};
  test.models[0]["script"] = (test.dir / "script.json").string();
}

TEST_F(CliTest, AFailedGateIsConfirmedOnceByFreshRuns) {
  scripted(*this, 2);  // the declared runs fail, the fresh ones do not
  EXPECT_EQ(hone({"eval", "e"}).exit_code, 1);
  const auto unconfirmed = hone({"eval", "e", "--confirm"});
  EXPECT_EQ(unconfirmed.exit_code, 77) << unconfirmed.out << unconfirmed.err;
  EXPECT_THAT(unconfirmed.out, HasSubstr("asking fresh runs once"));
  EXPECT_THAT(flat(unconfirmed.out), HasSubstr("fresh runs do not confirm it (pass"));
  const auto again = hone({"eval", "e", "--confirm"});  // they are there: nothing is asked again
  EXPECT_EQ(again.exit_code, 77);
  EXPECT_THAT(again.out, Not(HasSubstr("asking fresh runs")));
  fs::remove_all(dir / "build");
  scripted(*this, 4);
  environment["HONE_CONFIRM"] = "1";
  const auto confirmed = hone({"eval", "e"});
  EXPECT_EQ(confirmed.exit_code, 1) << confirmed.out << confirmed.err;
  EXPECT_THAT(flat(confirmed.out), HasSubstr("fresh runs confirm it (fail"));
  EXPECT_EQ(hone({"gate", "lift >= 0.5", "--evaluation", "e", "--model", "m"}).exit_code, 1);
}

TEST_F(CliTest, ComparesRevisionsFilesAndSkills) {
  std::ofstream(dir / ".gitignore") << "build/\n";
  git({"init", "-q"});
  git({"add", "."});
  git({"commit", "-qm", "one"});
  EXPECT_EQ(hone({"eval", "e"}).exit_code, 0);
  hone({"baseline"});
  fs::copy_file(dir / "build/reports/results.json", dir / "build/before.json");
  write_skill("skill", "Say something.");
  git({"add", "."});
  git({"commit", "-qm", "two"});
  EXPECT_EQ(hone({"eval", "e"}).exit_code, 1);

  auto compared = hone({"compare", "HEAD~1", "HEAD", "--fail-if-worse"});
  EXPECT_EQ(compared.exit_code, 1) << compared.out << compared.err;
  EXPECT_THAT(compared.out,
              AllOf(HasSubstr("worse"), HasSubstr("case-5"), HasSubstr("2/2"), HasSubstr("0/2")));
  compared = hone({"compare", "HEAD", "HEAD~1", "--fail-if-worse"});
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("better"));
  compared = hone({"compare", (dir / "build/before.json").string(),
                   (dir / "build/reports/results.json").string(), "--format", "json"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  const Json json = Json::parse(compared.out);
  EXPECT_THAT(json.dump(), HasSubstr("\"worse\""));
  // Without its history a revision is known by the baselines that it holds.
  fs::remove(dir / "build/hone/history.sqlite");
  compared = hone({"compare", "HEAD", "now"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("worse"));
  compared = hone({"compare", "HEAD~1", "now"});
  EXPECT_EQ(compared.exit_code, 77) << compared.out;
  EXPECT_THAT(compared.err, HasSubstr("it holds no baseline"));

  write_skill("other", "Say nine.");
  evaluations.push_back(evaluation("f", "other"));
  EXPECT_EQ(hone({"eval", "f"}).exit_code, 0);
  compared = hone({"compare", "skill", "other"});
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
  EXPECT_THAT(compared.out, AllOf(HasSubstr("better"), HasSubstr("case-5")));
  EXPECT_EQ(hone({"compare", "nothing", "other"}).exit_code, 2);
}

TEST_F(CliTest, MoreRunsThanDeclaredAreReported) {
  const auto more = hone({"eval", "e", "-n", "5"});
  EXPECT_EQ(more.exit_code, 0);
  EXPECT_THAT(more.out, HasSubstr("6 cases x 5 runs"));
  EXPECT_THAT(more.out, HasSubstr("30/30"));
}

}  // namespace
}  // namespace hone::cli
