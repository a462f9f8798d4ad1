#include "cudasim/tool/run_program.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace cudasim {
namespace {

namespace fs = std::filesystem;

class RunProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("cudasim_tool_test_" + std::to_string(getpid()));
    fs::create_directories(dir_ / "lib");
    std::ofstream(dir_ / "lib" / "libcudart.so.13");
    options_.library_dir = dir_ / "lib";
  }
  void TearDown() override { fs::remove_all(dir_); }
  fs::path script(const std::string& body) {
    const fs::path path = dir_ / "program";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  fs::path dir_;
  RunOptions options_;
};

TEST_F(RunProgram, RefusesWhatIsNotAProgram) {
  EXPECT_EQ(run_program(options_, {}), 2);
  EXPECT_EQ(run_program(options_, {(dir_ / "missing").string()}), 3);
  EXPECT_EQ(run_program(options_, {dir_.string()}), 3);
  EXPECT_EQ(run_program(options_, {"no-such-program-on-the-path"}), 3);
}

TEST_F(RunProgram, NeedsItsLibrary) {
  options_.library_dir = dir_ / "elsewhere";
  EXPECT_EQ(run_program(options_, {"/bin/true"}), 4);
}

TEST_F(RunProgram, PassesItsSettingsOn) {
  options_.counters = "-";
  options_.threads = 3;
  options_.error_exitcode = 9;
  const auto path = script(
      "case $LD_LIBRARY_PATH in */lib*) ;; *) exit 10;; esac\n"
      "[ \"$CUDASIM_COUNTERS\" = - ] && [ \"$CUDASIM_THREADS\" = 3 ] && "
      "[ \"$CUDASIM_ERROR_EXITCODE\" = 9 ] && [ \"$1\" = one ] && exit 42\nexit 11");
  EXPECT_EXIT(run_program(options_, {path.string(), "one"}), ::testing::ExitedWithCode(42), "");
}

TEST_F(RunProgram, PassesItsChecksOn) {
  options_.check = "memcheck,racecheck";
  options_.schedule = "random:5";
  options_.findings = (dir_ / "findings").string();
  std::ofstream(dir_ / "findings") << "old";
  const auto path = script(
      "[ \"$CUDASIM_CHECK\" = memcheck,racecheck ] && [ \"$CUDASIM_SCHEDULE\" = random:5 ] && "
      "[ -f \"$CUDASIM_FINDINGS\" ] && [ ! -s \"$CUDASIM_FINDINGS\" ] && exit 42\nexit 11");
  EXPECT_EXIT(run_program(options_, {path.string()}), ::testing::ExitedWithCode(42), "");
}

TEST_F(RunProgram, RefusesWhatIsNoCheckOrSchedule) {
  const auto path = script("exit 0");
  options_.check = "memchek";
  EXPECT_EXIT(std::exit(run_program(options_, {path.string()})), ::testing::ExitedWithCode(3),
              "unknown check \"memchek\"");
  options_.check = "";
  options_.schedule = "sideways";
  EXPECT_EXIT(std::exit(run_program(options_, {path.string()})), ::testing::ExitedWithCode(3),
              "unknown schedule");
}

TEST_F(RunProgram, HostProgramsHaveNoObstacle) {
  EXPECT_TRUE(find_obstacles("/bin/sh").empty());
  EXPECT_TRUE(find_obstacles(script("exit 0")).empty());
  std::ofstream(dir_ / "short") << "\x7f"
                                   "ELF";
  EXPECT_TRUE(find_obstacles(dir_ / "short").empty());
}

}  // namespace
}  // namespace cudasim
