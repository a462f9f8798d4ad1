#include "report/writers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "report/clean_text.hpp"
#include "report/run_folder_fixture.hpp"

namespace hone::report {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

const fs::path kSource = HONE_REPORT_DIR;

struct WritersTest : testing::Test {
  RunFolder folder;
  Results results = showcase(folder);

  fs::path written(const std::string& name, const std::string& text) {
    storage::write_atomically(folder.path() / name, text);
    return folder.path() / name;
  }
};

TEST_F(WritersTest, TerminalMatchesItsBaseline) {
  expect_baseline("terminal.txt", write_terminal(results));
  expect_baseline("terminal-wide-colour.txt", write_terminal(results, {120, true, false}));
  expect_baseline("terminal-only-failures.txt", write_terminal(results, {80, false, true}));
}

TEST_F(WritersTest, TerminalKeepsToItsWidth) {
  for (const int width : {64, 80, 120}) {
    std::istringstream lines(write_terminal(results, {width, false, false}));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(display_width(line), static_cast<size_t>(width)) << line;
  }
}

TEST_F(WritersTest, TerminalIsPlainWhenPiped) {
  EXPECT_THAT(write_terminal(results), Not(HasSubstr("\x1b")));
  EXPECT_FALSE(terminal_style(-1).colour);
}

TEST_F(WritersTest, JunitMatchesItsBaseline) { expect_baseline("junit.xml", write_junit(results)); }

TEST_F(WritersTest, JunitIsValid) {
  if (std::system("xmllint --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "xmllint is not installed (apt-get install libxml2-utils)";
  const auto file = written("junit.xml", write_junit(results));
  const std::string command = "xmllint --noout --schema " + (kSource / "junit.xsd").string() + " " +
                              file.string() + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(WritersTest, ResultsJsonMatchesItsBaseline) {
  expect_baseline("results.json", write_results_json(results));
}

TEST_F(WritersTest, ResultsJsonFitsItsSchema) {
  const std::string python = python_with("jsonschema");
  if (python.empty()) GTEST_SKIP() << "apt-get install python3-jsonschema";
  const auto file = written("results.json", write_results_json(results));
  const std::string command = python +
                              " -c 'import json, jsonschema, sys; "
                              "s, d = (json.load(open(f)) for f in sys.argv[1:]); "
                              "jsonschema.validate(d, s)' " +
                              (kSource / "results.schema.json").string() + " " + file.string();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(WritersTest, BenchmarksMatchTheirBaseline) {
  expect_baseline("benchmarks.json", write_benchmarks_json(results));
}

TEST_F(WritersTest, NothingHostileGetsThrough) {
  for (const auto& text : {write_junit(results), write_results_json(results),
                           write_benchmarks_json(results), write_terminal(results)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\x07")));
  }
  EXPECT_THAT(write_junit(results), Not(HasSubstr("<b>")));
}

TEST_F(WritersTest, LongEvidenceIsCapped) {
  for (auto& t : results.evaluations[0].trials) t.evidence = std::string(1 << 20, 'x');
  for (auto& g : results.evaluations[0].models[0].gates)
    g.verdict.message = std::string(1 << 20, '<');
  EXPECT_LT(write_junit(results).size(), 1000000u);
  EXPECT_LT(write_results_json(results).size(), 1000000u);
}

TEST(Writers, TakeNoResults) {
  EXPECT_EQ(write_terminal({}), "No evaluation.\n");
  EXPECT_THAT(write_junit({}), HasSubstr("tests=\"0\""));
  EXPECT_THAT(write_results_json({}), HasSubstr("\"evaluations\": []"));
  EXPECT_THAT(write_benchmarks_json({}), HasSubstr("\"benchmarks\": []"));
}

}  // namespace
}  // namespace hone::report
