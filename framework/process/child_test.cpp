#include "process/child.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <optional>
#include <utility>

namespace hone::process {
namespace {

using testing::HasSubstr;

Command Shell(const std::string& script, bool sandboxed = false) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.limits.wall_seconds = 30;
  if (sandboxed) command.sandbox.emplace();
  return command;
}

class ChildTest : public testing::TestWithParam<bool> {};

TEST_P(ChildTest, TalksBothWays) {
  Child child = Child::start(Shell("exec cat", GetParam()));
  ASSERT_EQ(child.error(), "");
  std::string bytes(200000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  std::string back;
  for (int round = 0; round < 3; ++round) {
    for (size_t at = 0; at < bytes.size(); at += 50000) {
      ASSERT_EQ(child.write_all(std::string_view(bytes).substr(at, 50000), in_seconds(5)), Io::ok);
      ASSERT_EQ(child.read_exact(back, 50000, in_seconds(5)), Io::ok);
      EXPECT_EQ(back, bytes.substr(at, 50000));
    }
  }
  child.close_input();
  EXPECT_EQ(child.read_exact(back, 1, in_seconds(5)), Io::eof);
  EXPECT_TRUE(child.wait(in_seconds(5)).ok());
}

TEST_P(ChildTest, ReportsEndOfFileAndHowTheChildEnded) {
  Child child = Child::start(Shell("printf abc; echo why >&2; kill -SEGV $$", GetParam()));
  std::string got;
  EXPECT_EQ(child.read_exact(got, 10, in_seconds(5)), Io::eof);
  EXPECT_EQ(got, "abc");
  const Result& result = child.wait(in_seconds(5));
  EXPECT_EQ(result.signal, SIGSEGV) << result.str();
  EXPECT_THAT(result.err, HasSubstr("why\n"));
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(&child.wait(in_seconds(0)), &result);
}

TEST_P(ChildTest, TimesOutAndCanBeKilled) {
  Child child = Child::start(Shell("sleep 4713", GetParam()));
  std::string got;
  EXPECT_EQ(child.read_exact(got, 1, in_seconds(0.2)), Io::timeout);
  child.kill();
  const Result& result = child.wait(in_seconds(5));
  EXPECT_NE(result.signal, 0);
  EXPECT_EQ(result.error, "");
  EXPECT_LT(result.seconds, 15);
}

INSTANTIATE_TEST_SUITE_P(Plain, ChildTest, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Sandboxed, ChildTest, testing::Values(true));

TEST(Child, ABusyDeadlineWaitsForTheChildToCompute) {
  std::string got;
  Child idle = Child::start(Shell("sleep 0.6; echo x; sleep 30"));
  EXPECT_EQ(idle.read_exact(got, 1, idle.busy_seconds(0.3)), Io::ok);
  EXPECT_EQ(idle.read_exact(got, 2, idle.busy_seconds(0.1)), Io::timeout) << "at kPatience times";
  Child busy = Child::start(Shell("while :; do :; done"));
  const auto start = Clock::now();
  EXPECT_EQ(busy.read_exact(got, 1, busy.busy_seconds(0.3)), Io::timeout);
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(300));
}

TEST(Child, WaitKillsAtTheDeadline) {
  Child child = Child::start(Shell("sleep 30"));
  const Result& result = child.wait(in_seconds(0.2));
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(result.seconds, 15);
}

TEST(Child, LivesAtMostItsWallTime) {
  Command command = Shell("sleep 30");
  command.limits.wall_seconds = 0.2;
  Child child = Child::start(command);
  std::string got;
  EXPECT_EQ(child.read_exact(got, 1, in_seconds(20)), Io::timeout);
  EXPECT_TRUE(child.wait(in_seconds(20)).timed_out);
}

TEST(Child, WriteToAGoneChildIsEndOfFile) {
  Child child = Child::start(Shell("exit 0"));
  EXPECT_EQ(child.write_all(std::string(8 << 20, 'x'), in_seconds(5)), Io::eof);
}

TEST(Child, WriteToAChildThatDoesNotReadTimesOut) {
  Child child = Child::start(Shell("sleep 30"));
  EXPECT_EQ(child.write_all(std::string(8 << 20, 'x'), in_seconds(0.2)), Io::timeout);
}

TEST(Child, ChattyStderrDoesNotBlockAndKeepsItsTail) {
  Child child = Child::start(Shell("head -c 1000000 /dev/zero >&2; echo last >&2; printf done"));
  std::string got;
  ASSERT_EQ(child.read_exact(got, 4, in_seconds(10)), Io::ok);
  const Result& result = child.wait(in_seconds(5));
  EXPECT_TRUE(result.ok()) << result.str();
  EXPECT_LE(result.err.size(), 65536U);
  EXPECT_EQ(result.err.substr(result.err.size() - 5), "last\n");
  EXPECT_TRUE(result.output_truncated);
}

TEST(Child, AFloodOfStderrEndsTheChild) {
  for (const bool waits : {false, true}) {
    Child child = Child::start(Shell("exec cat /dev/zero >&2"));
    std::string got;
    if (!waits) {
      EXPECT_EQ(child.read_exact(got, 1, in_seconds(20)), Io::eof);
    }
    const Result& result = child.wait(in_seconds(20));
    EXPECT_EQ(result.signal, SIGKILL) << result.str();
    EXPECT_FALSE(result.timed_out);
    EXPECT_LE(result.err.size(), 65536U);
  }
}

TEST(Child, WaitDropsUnreadOutput) {
  Child child = Child::start(Shell("head -c 1000000 /dev/zero"));
  EXPECT_TRUE(child.wait(in_seconds(10)).ok());
}

TEST(Child, SaysWhyItCannotStart) {
  Command command;
  command.argv = {"hone-no-such-program"};
  Child child = Child::start(command);
  EXPECT_THAT(child.error(), HasSubstr("not found"));
  std::string got;
  EXPECT_EQ(child.read_exact(got, 1, in_seconds(1)), Io::eof);
  EXPECT_EQ(child.write_all("x", in_seconds(1)), Io::eof);
  EXPECT_FALSE(child.wait(in_seconds(1)).ok());
}

TEST(Child, MovesAndAssigns) {
  Child child = Child::start(Shell("exec cat"));
  Child moved = std::move(child);
  moved = Child::start(Shell("printf second"));
  std::string got;
  EXPECT_EQ(moved.read_exact(got, 6, in_seconds(5)), Io::ok);
  EXPECT_EQ(got, "second");
}

}  // namespace
}  // namespace hone::process
