#include "process/sandbox.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hone::process {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// A folder of ours that is not below /tmp when that can be, with a secret in it.
class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (sandbox_tier() != "bubblewrap")
      GTEST_SKIP() << "no bubblewrap here: " << probe_sandbox().reason;
    std::string pattern = (fs::current_path() / "hone_sandbox_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::ofstream(folder_ / "secret") << "secret text\n";
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  static Command Shell(const std::string& script) {
    Command command;
    command.argv = {"/bin/sh", "-c", script};
    command.limits.wall_seconds = 20;
    command.sandbox.emplace();
    return command;
  }
  fs::path folder_;
};

TEST_F(SandboxTest, RunsAndReportsItsTier) {
  const Result result = run(Shell("echo fine; exit 3"));
  EXPECT_EQ(result.out, "fine\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.tier, "bubblewrap");
}

TEST_F(SandboxTest, TellsSignalsAndMissingProgramsApart) {
  EXPECT_EQ(run(Shell("kill -ABRT $$")).signal, SIGABRT);
  Command command = Shell("");
  command.argv = {"/usr/bin/hone-no-such-program"};
  EXPECT_THAT(run(command).error, HasSubstr("No such file"));
  command = Shell("true");
  command.sandbox->readable = {"/no/such/folder"};
  EXPECT_THAT(run(command).error, HasSubstr("/no/such/folder"));
}

TEST_F(SandboxTest, HidesWhatIsNotNamed) {
  const std::string file = (folder_ / "secret").string();
  for (const std::string& path :
       {file, std::string("/etc/passwd"), std::string("/etc/hostname"), std::string("/root"),
        std::string("/home"), std::string("/var"), folder_.parent_path().string()}) {
    const Result result = run(Shell("cat " + path + " || ls " + path));
    EXPECT_NE(result.exit_code, 0) << path << ": " << result.out;
    EXPECT_EQ(result.out, "") << path;
  }
}

TEST_F(SandboxTest, ShowsWhatIsNamedReadOnly) {
  Command command = Shell("cat secret; echo x > secret; echo y > new; ls ..");
  command.sandbox->readable = {folder_};
  command.directory = folder_;
  const Result result = run(command);
  EXPECT_THAT(result.out, HasSubstr("secret text\n"));
  EXPECT_THAT(result.err, HasSubstr("Read-only file system"));
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

TEST_F(SandboxTest, WritesOnlyWhereItMay) {
  fs::create_directory(folder_ / "out");
  Command command = Shell(
      "echo y > out/new; echo x > secret; "
      "for p in /usr/x /x /dev/x /etc/x; do echo x > $p && echo wrote $p; done; echo t > /tmp/t; "
      "cat /tmp/t");
  command.sandbox->readable = {folder_};
  command.sandbox->writable = {folder_ / "out"};
  command.directory = folder_;
  const Result result = run(command);
  EXPECT_EQ(result.out, "t\n");
  EXPECT_TRUE(fs::exists(folder_ / "out/new"));
  EXPECT_FALSE(fs::exists("/tmp/t"));
  std::ifstream in(folder_ / "secret");
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "secret text");
}

TEST_F(SandboxTest, HoldsNoCapabilityToUndoItself) {
  Command command = Shell("mount -o remount,rw,bind " + folder_.string() +
                          "; echo x > new; grep CapEff /proc/self/status");
  command.sandbox->readable = {folder_};
  command.directory = folder_;
  EXPECT_THAT(run(command).out, HasSubstr("0000000000000000"));
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

TEST_F(SandboxTest, SeesNoOtherProcessAndCannotKillUs) {
  const Result result =
      run(Shell("kill -9 " + std::to_string(::getpid()) + "; ls /proc | grep -c '^[0-9]'"));
  EXPECT_LE(std::stoi(result.out), 6);
}

TEST_F(SandboxTest, HasNoNetwork) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  Command command;
  command.argv = {"/bin/bash", "-c",
                  "echo > /dev/tcp/127.0.0.1/" + std::to_string(ntohs(address.sin_port))};
  command.limits.wall_seconds = 20;
  EXPECT_TRUE(run(command).ok()) << "the listener must be reachable from outside";
  command.sandbox.emplace();
  const Result result = run(command);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.err, HasSubstr("refused"));
  ::close(listener);
}

TEST_F(SandboxTest, LeavesNoDescendant) {
  Command command = Shell("setsid sh -c '(sleep 4714 &)'; sleep 0.2; echo $$");
  EXPECT_TRUE(run(command).ok());
  command = Shell("setsid sh -c '(sleep 4714 &)'; sleep 30");
  command.limits.wall_seconds = 0.5;
  EXPECT_TRUE(run(command).timed_out);
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline");
    std::string line;
    std::getline(in, line);
    EXPECT_THAT(line, Not(HasSubstr("4714")));
  }
}

TEST_F(SandboxTest, StartsAProgramThatWasNotNamed) {
  fs::copy_file("/bin/echo", folder_ / "program");
  Command command;
  command.argv = {(folder_ / "program").string(), "hello"};
  command.sandbox.emplace();
  EXPECT_EQ(run(command).out, "hello\n");
}

TEST_F(SandboxTest, BoundsItsTmp) {
  if (!probe_sandbox().tmp_size) GTEST_SKIP() << "this bwrap has no --size";
  Command command =
      Shell("head -c 3000000 /dev/zero > /tmp/a; head -c 3000000 /dev/zero > /dev/shm/a");
  command.sandbox->tmp_bytes = 1000000;
  const Result result = run(command);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.err, HasSubstr("No space left"));
}

TEST(Sandbox, WeakTierSaysWhy) {
  const SandboxProbe& probe = probe_sandbox();
  EXPECT_TRUE(probe.tier == "bubblewrap" || (probe.tier == "rlimits" && !probe.reason.empty()));
}

}  // namespace
}  // namespace hone::process
