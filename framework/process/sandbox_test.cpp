#include "process/sandbox.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "process/marked_sleep.hpp"

namespace hone::process {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

// These tests run once in the best sandbox that is here, and once with HONE_SANDBOX=medium.

/// A folder of ours that is not below /tmp when that can be, with a secret in it.
class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (probe_sandbox().tier < Tier::medium)
      GTEST_SKIP() << "no sandbox here: " << probe_sandbox().reason;
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
  EXPECT_EQ(result.tier, sandbox_tier());
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
    const Result result = run(Shell("cat " + path + " || ls " + path + "/"));
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
  EXPECT_THAT(result.err, AnyOf(HasSubstr("Read-only file system"), HasSubstr("denied")));
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

TEST_F(SandboxTest, WritesOnlyWhereItMay) {
  fs::create_directory(folder_ / "out");
  Command command = Shell(
      "echo y > out/new; echo x > secret; "
      "for p in /usr/x /x /dev/x /etc/x; do echo x > $p && echo wrote $p; done; echo t > "
      "$TMPDIR/t; "
      "cat $TMPDIR/t; echo $TMPDIR");
  command.sandbox->readable = {folder_};
  command.sandbox->writable = {folder_ / "out"};
  command.directory = folder_;
  const Result result = run(command);
  ASSERT_THAT(result.out, StartsWith("t\n/"));
  EXPECT_TRUE(fs::exists(folder_ / "out/new"));
  EXPECT_FALSE(fs::exists(result.out.substr(2, result.out.size() - 3) + "/t"));
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
  EXPECT_THAT(run(command).out, AnyOf(HasSubstr("0000000000000000"), "" /* no /proc */));
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
  EXPECT_THAT(result.err, AnyOf(HasSubstr("refused"), HasSubstr("not permitted")));
  ::close(listener);
}

TEST_F(SandboxTest, LeavesNoDescendant) {
  const std::string leave = "setsid sh -c '(" + marked_sleep() + " &)'; ";
  EXPECT_TRUE(run(Shell(leave + "sleep 0.2; echo $$")).ok());
  EXPECT_FALSE(marked_sleep_runs());
  Command command = Shell(leave + "sleep 30");
  command.limits.wall_seconds = 0.5;
  EXPECT_TRUE(run(command).timed_out);
  EXPECT_FALSE(marked_sleep_runs());
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

TEST_F(SandboxTest, ThreadsOnlyMeansNoOtherProcessOrProgram) {
  const auto run_limited = [](const std::string& script) {
    Command command = Shell(script);
    command.sandbox->threads_only = true;
    return run(command);
  };
  EXPECT_EQ(run_limited("echo fine").out, "fine\n");
  Result result = run_limited("echo one; /bin/ls /; echo two");
  EXPECT_EQ(result.out, "one\n");
  EXPECT_THAT(result.err, HasSubstr("fork"));
  result = run_limited("exec /bin/ls /");
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("not permitted"));
  // The number that the program stood open as is out of reach.
  EXPECT_EQ(run_limited("ulimit -n 4096 || ulimit -n").out, "512\n");
}

TEST_F(SandboxTest, ThreadsCanBeCountedFromInside) {
  Command command =
      Shell("echo /proc/self/task/*; echo /proc/" + std::to_string(::getpid()) + "/task/*");
  command.sandbox->threads_only = true;
  const Result result = run(command);
  EXPECT_THAT(result.out, MatchesRegex("/proc/self/task/[0-9]+\n/proc/[0-9]+/task/\\*\n"));
}

TEST_F(SandboxTest, NoTemporaryFolderWhenNoneIsWanted) {
  Command command = Shell("echo x > ${TMPDIR:-/tmp}/x || echo none");
  command.sandbox->tmp_bytes = 0;
  EXPECT_EQ(run(command).out, "none\n");
}

TEST_F(SandboxTest, ChangesNoModeOwnerOrTimeOfAFile) {
  Command command = Shell("chown 1 secret; touch -d 2001-01-01 secret; chmod 777 secret");
  command.sandbox->readable = {folder_};
  command.directory = folder_;
  const fs::file_time_type before = fs::last_write_time(folder_ / "secret");
  fs::permissions(folder_ / "secret", fs::perms(0600));
  run(command);
  EXPECT_EQ(fs::last_write_time(folder_ / "secret"), before);
  EXPECT_EQ(fs::status(folder_ / "secret").permissions(), fs::perms(0600));
}

TEST_F(SandboxTest, CannotTouchTheSchedulingOrLimitsOfAnotherProcess) {
  const std::string us = std::to_string(::getpid());
  const Result result = run(Shell("prlimit --pid " + us + " --cpu=1000000 || renice -n 1 -p " + us +
                                  " || taskset -p 1 " + us + " || echo refused"));
  EXPECT_THAT(result.out, EndsWith("refused\n")) << result.err;
}

TEST(Sandbox, SaysItsTierAndWhyItIsNotABetterOne) {
  const SandboxProbe& probe = probe_sandbox();
  EXPECT_EQ(probe.tier == Tier::strong, probe.reason.empty()) << probe.reason;
  EXPECT_THAT(probe.mechanisms(), HasSubstr("resource limits"));
}

/// This test program again, with HONE_SANDBOX and HONE_ALLOW_EXECUTION as given.
Result Again(const std::string& test, const std::string& tier, const std::string& allowed) {
  Command command;
  command.argv = {fs::read_symlink("/proc/self/exe").string(), "--gtest_filter=" + test,
                  "--gtest_also_run_disabled_tests"};
  command.environment = {{"HONE_SANDBOX", tier}, {"HONE_ALLOW_EXECUTION", allowed}};
  return run(command);
}

TEST(WeakSandbox, DISABLED_Refuses) {
  Command command;
  command.argv = {"/bin/echo", "ran"};
  command.sandbox.emplace();
  const Result result = run(command);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.error, HasSubstr("the sandbox here is weak (HONE_SANDBOX=weak)"));
  EXPECT_THAT(result.error, HasSubstr("--allow-execution=unsandboxed"));
}

TEST(WeakSandbox, DISABLED_RunsWhenAllowedAndSaysSo) {
  Command command;
  command.argv = {"/bin/echo", "ran"};
  command.sandbox.emplace();
  const Result result = run(command);
  EXPECT_EQ(result.out, "ran\n");
  EXPECT_EQ(result.tier, "weak (unsandboxed, as allowed)");
}

TEST(Sandbox, TheWeakTierRunsNothingUnlessAllowed) {
  Result result = Again("WeakSandbox.DISABLED_Refuses", "weak", "");
  EXPECT_TRUE(result.ok()) << result.out;
  result = Again("WeakSandbox.DISABLED_RunsWhenAllowedAndSaysSo", "weak", "unsandboxed");
  EXPECT_TRUE(result.ok()) << result.out;
}

TEST(Sandbox, AnUnknownTierIsRefused) {
  const Result result = Again("WeakSandbox.DISABLED_Refuses", "strongest", "");
  EXPECT_THAT(result.out, HasSubstr("known: strong, medium, weak"));
}

}  // namespace
}  // namespace hone::process
