#include "model/llama_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "diagnostic/diagnostic.hpp"
#include "model/watched_process.hpp"
#include "storage/storage.hpp"

namespace hone::model {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

/// Waits at most ten seconds.
bool eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(20ms);
  }
  return true;
}

/// Starts a program that stands in for llama-server and behaves as the model file says.
struct LlamaServerTest : testing::Test {
  fs::path dir = fs::path(testing::TempDir()) / ("llama_server_test." + std::to_string(::getpid()));
  LlamaServerConfig config;
  std::string progress;

  void SetUp() override {
    config.program = HONE_STAND_IN_SERVER;
    config.alias = "m";
    config.state_dir = dir / "state";
    config.gguf = dir / "model.gguf";
    config.progress = [&](const std::string& line) { progress += line + "\n"; };
    model("");
  }
  void TearDown() override {
    stop(config.state_dir, config.alias);
    fs::remove_all(dir);
  }
  void model(const std::string& behaviour) {
    storage::write_atomically(config.gguf, "GGUF " + behaviour);
  }
  std::string failure() {
    try {
      start(config);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Exit::infrastructure);
      return e.what();
    }
    return "started";
  }
};

TEST_F(LlamaServerTest, StartsAnswersIsReusedAndStops) {
  EXPECT_FALSE(running(config.state_dir, "m"));
  const Endpoint first = start(config);
  EXPECT_FALSE(first.reused);
  EXPECT_EQ(first.model, "m");
  EXPECT_EQ(first.base_url, "http://127.0.0.1:" + std::to_string(first.port) + "/v1");
  EXPECT_THAT(storage::read_file(first.log), HasSubstr("loading m"));

  const Endpoint second = start(config);
  EXPECT_TRUE(second.reused);
  EXPECT_EQ(second.pid, first.pid);
  ASSERT_TRUE(running(config.state_dir, "m"));
  EXPECT_EQ(running(config.state_dir, "m")->port, first.port);

  EXPECT_TRUE(stop(config.state_dir, "m"));
  EXPECT_FALSE(identify(first.pid));
  EXPECT_FALSE(running(config.state_dir, "m"));
  EXPECT_FALSE(stop(config.state_dir, "m"));
}

TEST_F(LlamaServerTest, WaitsWhileTheModelLoads) {
  model("slow");
  start(config);
  EXPECT_TRUE(running(config.state_dir, "m"));
}

TEST_F(LlamaServerTest, AnotherConfigurationReplacesTheServer) {
  const Endpoint first = start(config);
  config.context = 2048;
  const Endpoint second = start(config);
  EXPECT_FALSE(second.reused);
  EXPECT_NE(second.pid, first.pid);
  EXPECT_FALSE(identify(first.pid));
}

TEST_F(LlamaServerTest, ACrashedServerIsStartedAgain) {
  const Endpoint first = start(config);
  ::kill(first.pid, SIGKILL);
  ASSERT_TRUE(eventually([&] { return !identify(first.pid); }));
  EXPECT_FALSE(running(config.state_dir, "m"));
  EXPECT_NE(start(config).pid, first.pid);
}

TEST_F(LlamaServerTest, MissingPartsNameTheCommandThatBringsThem) {
  config.gguf = dir / "gone.gguf";
  EXPECT_THAT(failure(), HasSubstr("gone.gguf: run ./bootstrap.sh deps"));
  config.program = dir / "gone";
  EXPECT_THAT(failure(), HasSubstr("no llama-server at " + config.program.string() +
                                   ": run ./bootstrap.sh deps"));
}

TEST_F(LlamaServerTest, AModelFileThatIsNoneOrCutShort) {
  storage::write_atomically(config.gguf, "<html>");
  EXPECT_THAT(failure(), HasSubstr("is not a GGUF model file (6 bytes"));
  storage::write_atomically(config.gguf, "");
  EXPECT_THAT(failure(), HasSubstr("is not a GGUF model file (0 bytes"));

  model("whole");
  const std::string whole = storage::sha256_of_file(config.gguf);
  config.gguf_sha256 = whole;
  EXPECT_EQ(failure(), "started");
  model("who");
  const std::string said = failure();
  EXPECT_THAT(said, HasSubstr("(8 bytes) is cut short or another one"));
  EXPECT_THAT(said, HasSubstr("expected sha256 " + whole.substr(7)));
  EXPECT_THAT(said, HasSubstr("found " + storage::sha256_of_file(config.gguf).substr(7)));
  EXPECT_THAT(said, HasSubstr("./bootstrap.sh deps"));
}

TEST_F(LlamaServerTest, TheModelIsHashedOnce) {
  config.gguf_sha256 = storage::sha256_of_file(config.gguf).substr(7);
  check_gguf(config);
  EXPECT_THAT(progress, HasSubstr("checking the digest"));
  progress.clear();
  check_gguf(config);
  EXPECT_EQ(progress, "");
}

TEST_F(LlamaServerTest, AServerThatDiesShowsTheEndOfItsLog) {
  model("die");
  const std::string said = failure();
  EXPECT_THAT(said, HasSubstr("llama-server ended while starting"));
  EXPECT_THAT(said, HasSubstr("tensor data is out of bounds"));
  EXPECT_FALSE(fs::exists(config.state_dir / "m.json"));
}

TEST_F(LlamaServerTest, AProgramThatCannotRun) {
  config.program = dir / "text";
  storage::write_atomically(config.program, "not a program");
  EXPECT_THAT(failure(), HasSubstr("is not a program"));
  fs::permissions(config.program, fs::perms::owner_all);
  EXPECT_THAT(failure(), HasSubstr("cannot execute"));
}

TEST_F(LlamaServerTest, AServerThatIsLateIsEnded) {
  model("never");
  config.start_limit = 1s;
  EXPECT_THAT(failure(), HasSubstr("not ready within 1 s"));
  EXPECT_FALSE(fs::exists(config.state_dir / "m.json"));
}

TEST_F(LlamaServerTest, StopNeverEndsAStranger) {
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::pause();
    ::_exit(0);
  }
  std::this_thread::sleep_for(50ms);  // start times are told apart by clock ticks of 10 ms
  start(config);
  storage::Json state = storage::read_json(config.state_dir / "m.json");
  const auto real = identify(state["pid"].get<pid_t>());
  ASSERT_TRUE(real);
  state["pid"] = stranger;  // its number is used by another process now
  storage::write_json(config.state_dir / "m.json", state);
  EXPECT_FALSE(stop(config.state_dir, "m"));
  EXPECT_TRUE(identify(stranger));
  ::kill(stranger, SIGKILL);
  ::waitpid(stranger, nullptr, 0);
  end_process(*real, 5s);
}

TEST_F(LlamaServerTest, AServerDeafToTermIsKilled) {
  model("deaf");
  const Endpoint endpoint = start(config);
  EXPECT_TRUE(end_process(*identify(endpoint.pid), 200ms));
  EXPECT_FALSE(identify(endpoint.pid));
}

TEST_F(LlamaServerTest, ItEndsWithItsOwner) {
  const pid_t owner = ::fork();
  if (owner == 0) {
    ::pause();
    ::_exit(0);
  }
  config.owner = owner;
  const Endpoint endpoint = start(config);
  EXPECT_TRUE(identify(endpoint.pid));
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !identify(endpoint.pid); }));
}

TEST_F(LlamaServerTest, ItEndsWhenIdle) {
  config.idle_limit = 2s;
  const Endpoint endpoint = start(config);
  EXPECT_TRUE(eventually([&] { return !identify(endpoint.pid); }));
}

TEST_F(LlamaServerTest, OfManyStartersOneStarts) {
  model("slow");
  std::vector<Endpoint> endpoints(4);
  std::vector<std::thread> threads;
  config.progress = nullptr;
  for (auto& endpoint : endpoints) threads.emplace_back([&] { endpoint = start(config); });
  for (auto& thread : threads) thread.join();
  int started = 0;
  for (const auto& endpoint : endpoints) {
    EXPECT_EQ(endpoint.pid, endpoints[0].pid);
    started += endpoint.reused ? 0 : 1;
  }
  EXPECT_EQ(started, 1);
}

TEST_F(LlamaServerTest, AliasesAreFileNames) {
  for (const char* alias : {"", "../x", "a/b", ".hidden", "a b"}) {
    config.alias = alias;
    EXPECT_THROW(start(config), Error) << alias;
    EXPECT_THROW(stop(config.state_dir, alias), Error) << alias;
  }
  config.alias = "m";
}

}  // namespace
}  // namespace hone::model
