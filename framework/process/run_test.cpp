#include "process/run.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "process/marked_sleep.hpp"
#include "process/sandbox.hpp"

namespace hone::process {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Command Shell(const std::string& script, double seconds = 60) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.limits.wall_seconds = seconds;
  return command;
}

TEST(Run, ReportsExitCodeAndBothOutputs) {
  const Result result = run(Shell("echo to out; echo to err >&2; exit 3"));
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.out, "to out\n");
  EXPECT_EQ(result.err, "to err\n");
  EXPECT_EQ(result.str(), "exited with code 3");
  EXPECT_FALSE(result.ok());
}

TEST(Run, ReportsSignals) {
  const Result result = run(Shell("kill -SEGV $$"));
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_THAT(result.str(), HasSubstr("SIGSEGV"));
}

TEST(Run, PassesInputToTheEnd) {
  Command command = Shell("wc -c");
  command.input = std::string(3000000, 'x');
  EXPECT_EQ(run(command).out, "3000000\n");
}

TEST(Run, IgnoresThatTheChildDoesNotReadItsInput) {
  Command command = Shell("exec 0<&-; sleep 0.1; echo fine");
  command.input = std::string(3000000, 'x');
  EXPECT_EQ(run(command).out, "fine\n");
}

TEST(Run, SaysWhyAProgramCannotStart) {
  Command command;
  command.argv = {"hone-no-such-program"};
  EXPECT_EQ(run(command).error, "cannot start hone-no-such-program: not found in PATH");
  command.argv = {"/etc/passwd"};
  EXPECT_THAT(run(command).error, HasSubstr("Permission denied"));
  command = Shell("true");
  command.directory = "/no/such/folder";
  EXPECT_THAT(run(command).error, HasSubstr("No such file"));
  EXPECT_THAT(run(Command{}).error, HasSubstr("no program"));
}

TEST(Run, StopsAtTheDeadline) {
  const Result result = run(Shell("echo before; sleep 30", 0.3));
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.out, "before\n");
  EXPECT_LT(result.seconds, 15);
  EXPECT_THAT(result.str(), StartsWith("timed out after"));
}

TEST(Run, ComputingTimeCountsWhereItIsTheLimit) {
  Command idle = Shell("sleep 0.6; echo done", 60), endless = Shell("sleep 30", 60),
          busy = Shell("while :; do :; done", 60);
  idle.limits.busy_seconds = 0.3;
  EXPECT_EQ(run(idle).out, "done\n") << "as on a machine that is busy elsewhere";
  endless.limits.busy_seconds = busy.limits.busy_seconds = 0.3;
  const Result stopped = run(endless);
  EXPECT_TRUE(stopped.timed_out);
  EXPECT_GE(stopped.seconds, kPatience * 0.3);
  EXPECT_LT(stopped.seconds, 30);
  EXPECT_TRUE(run(busy).timed_out);
}

TEST(Run, StopsAChildThatIgnoresSignals) {
  const Result result = run(Shell("trap '' TERM INT HUP; while :; do sleep 1; done", 0.3));
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(result.seconds, 15);
}

TEST(Run, LeavesNoDescendantWhenTheChildEnds) {
  const auto start = std::chrono::steady_clock::now();
  const Result result = run(Shell("setsid sh -c '(" + marked_sleep() + " &) ; " + marked_sleep() +
                                  "' & sleep 0.3; echo done"));
  EXPECT_EQ(result.out, "done\n");
  EXPECT_FALSE(marked_sleep_runs());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Run, LeavesNoDescendantAtTheDeadline) {
  run(Shell("setsid sh -c '(setsid " + marked_sleep() + " &) ; " + marked_sleep() + "' & sleep 30",
            0.5));
  EXPECT_FALSE(marked_sleep_runs());
}

TEST(Run, KeepsAtMostTheOutputAskedFor) {
  Command command = Shell("head -c 100000 /dev/zero; head -c 10 /dev/zero >&2");
  command.limits.output_bytes = 5000;
  const Result result = run(command);
  EXPECT_EQ(result.out.size(), 5000U);
  EXPECT_EQ(result.err.size(), 10U);
  EXPECT_TRUE(result.output_truncated);
  EXPECT_TRUE(result.ok());
}

TEST(Run, KillsAFlood) {
  Command command = Shell("cat /dev/zero");
  command.limits.output_bytes = 100000;
  const Result result = run(command);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_TRUE(result.output_truncated);
  EXPECT_FALSE(result.timed_out);
  EXPECT_LT(result.seconds, 15);
}

TEST(Run, InheritsNoEnvironmentUnlessAsked) {
  ::setenv("HONE_TEST_SECRET", "key", 1);
  Command command = Shell("echo [$HONE_TEST_SECRET] [$GIVEN]");
  command.environment = {{"GIVEN", "yes"}};
  EXPECT_EQ(run(command).out, "[] [yes]\n");
  command.inherit_environment = true;
  EXPECT_EQ(run(command).out, "[key] [yes]\n");
  command.sandbox.emplace();
  EXPECT_EQ(run(command).out, "[] [yes]\n");
  ::unsetenv("HONE_TEST_SECRET");
}

TEST(Run, InheritsNoDescriptors) {
  const int fd = ::dup(2);
  EXPECT_EQ(run(Shell("ls /proc/self/fd | wc -l")).out, "4\n");  // 0, 1, 2 and the folder
  ::close(fd);
}

TEST(Run, LimitsAddressSpaceAndFileSize) {
  Command command;
  command.argv = {"dd", "if=/dev/zero", "of=/dev/null", "bs=1G", "count=1"};
  command.limits.address_space_bytes = uint64_t{512} << 20;
  EXPECT_FALSE(run(command).ok());
  const std::string file = testing::TempDir() + "hone_fsize";
  command = Shell("head -c 100000 /dev/zero > " + file);
  command.limits.file_size_bytes = 4096;
  EXPECT_FALSE(run(command).ok());
  EXPECT_EQ(std::filesystem::file_size(file), 4096U);
  std::filesystem::remove(file);
}

TEST(Run, LimitsCpuTime) {
  Command command = Shell("while :; do :; done", 100);
  command.limits.cpu_seconds = 1;
  const Result result = run(command);
  EXPECT_FALSE(result.timed_out);
  EXPECT_TRUE(result.signal == SIGXCPU || result.signal == SIGKILL) << result.str();
}

TEST(Run, ManyAtOnce) {
  std::vector<std::thread> threads;
  std::vector<Result> results(16);
  for (size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] { results[i] = run(Shell("exit " + std::to_string(i))); });
  for (auto& thread : threads) thread.join();
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i].exit_code, static_cast<int>(i)) << results[i].error;
}

TEST(Run, ChildrenDieWithUs) {
  const std::string script = marked_sleep() + " & " + marked_sleep();
  for (const bool sandboxed : {false, true}) {
    const pid_t other = ::fork();
    if (other == 0) {
      Command command = Shell(script);
      if (sandboxed) command.sandbox.emplace();
      run(command);
      ::_exit(0);
    }
    for (int i = 0; i < 200 && !marked_sleep_runs(); ++i) ::usleep(20000);
    EXPECT_TRUE(marked_sleep_runs());
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
    for (int i = 0; i < 200 && marked_sleep_runs(); ++i) ::usleep(20000);
    EXPECT_FALSE(marked_sleep_runs());
  }
}

TEST(Run, ZeroOutputBytesMeansAll) {
  Command command = Shell("head -c 3000000 /dev/zero");
  command.limits.output_bytes = 0;
  const Result result = run(command);
  EXPECT_EQ(result.out.size(), 3000000U);
  EXPECT_FALSE(result.output_truncated);
}

TEST(Run, LeavesOtherChildrenOfOursAlone) {
  const pid_t other = ::fork();
  if (other == 0) {
    ::usleep(300000);
    ::_exit(42);
  }
  run(Shell("true"));
  int status = 0;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

}  // namespace
}  // namespace hone::process
