// Every wrong kernel of the corpus is found with its line, no right one is reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kUnits[] = {"async",       "init",    "memory", "race_global",
                                  "race_shared", "streams", "sync"};

struct Mark {
  int line;
  std::string kind;
};
/// Orders of the blocks; what is found must not depend on them.
constexpr const char* kSchedules[] = {"ascending", "descending", "random:7"};

struct CorpusCase {
  std::string unit, schedule, name;
  std::vector<Mark> marks;
};
void PrintTo(const CorpusCase& c, std::ostream* out) {
  *out << c.unit << ".cu: " << c.name << ", " << c.schedule;
}

/// The check that finds a kind.
std::string check_of(const std::string& kind) {
  if (kind == "race" || kind == "same-value") return "racecheck";
  if (kind == "uninitialized") return "initcheck";
  if (kind == "leak") return "leakcheck";
  const std::set<std::string> sync = {"divergent-barrier", "exited-threads", "bad-count",
                                      "bad-mask", "deadlock"};
  return sync.contains(kind) ? "synccheck" : "memcheck";
}

std::vector<CorpusCase> read_corpus() {
  std::vector<CorpusCase> all;
  for (const char* unit : kUnits) {
    std::ifstream file(fs::path(CORPUS_SOURCES) / (std::string(unit) + ".cu"));
    std::map<std::string, std::vector<Mark>> marks;
    std::vector<std::string> names;
    std::string line;
    const std::regex mark(R"(// (\w+_(?:wrong|right)): ([a-z-]+(?:, [a-z-]+)*))");
    const std::regex name(R"(^CASE\((\w+)\))");
    for (int n = 1; std::getline(file, line); ++n) {
      std::smatch found;
      if (std::regex_search(line, found, name)) names.push_back(found[1]);
      if (!std::regex_search(line, found, mark)) continue;
      const std::string kinds = found[2];
      const std::regex word("[a-z-]+");
      for (std::sregex_iterator k(kinds.begin(), kinds.end(), word), end; k != end; ++k)
        marks[found[1]].push_back({n, k->str()});
    }
    for (const char* schedule : kSchedules) {
      for (const std::string& n : names) all.push_back({unit, schedule, n, marks[n]});
    }
  }
  return all;
}

fs::path folder_of_process() {
  return fs::temp_directory_path() / ("cudasim_corpus_" + std::to_string(::getpid()));
}

/// Runs a unit once for all its cases and tells where their findings are.
fs::path findings_of(const std::string& unit, const std::string& schedule) {
  static std::map<std::string, fs::path> folders;
  auto& folder = folders[unit + schedule];
  if (!folder.empty()) return folder;
  folder = folder_of_process() / (unit + "_" + schedule);
  fs::remove_all(folder);
  fs::create_directories(folder);
  setenv("CUDASIM_CHECK", "all", 1);
  setenv("CUDASIM_SCHEDULE", schedule.c_str(), 1);
  setenv("CUDASIM_THREADS", schedule == "ascending" ? "1" : "4", 1);
  setenv("LD_LIBRARY_PATH", CORPUS_LIBRARY, 1);
  const std::string program = std::string(CORPUS_PROGRAMS) + "/corpus_" + unit;
  EXPECT_EQ(std::system((program + " " + folder.string() + " 2> /dev/null").c_str()), 0);
  return folder;
}

class Corpus : public testing::TestWithParam<CorpusCase> {
 public:
  static void TearDownTestSuite() { fs::remove_all(folder_of_process()); }
};

TEST_P(Corpus, IsJudgedRight) {
  const CorpusCase& c = GetParam();
  std::ifstream file(findings_of(c.unit, c.schedule) / c.name);
  std::vector<Json> findings;
  bool complete = false;
  for (std::string line; std::getline(file, line);) {
    Json json = Json::parse(line);
    complete = json["schema"] == "cudasim.findings/1";
    if (!complete) findings.push_back(std::move(json));
  }
  ASSERT_TRUE(complete) << "the program didn't come to its end";
  const auto matches = [](const Json& f, const Mark& m) {
    if (f["kind"] != m.kind) return false;
    if (!f.contains("at")) return true;  // of a host call
    return f["at"]["line"] == m.line || (f.contains("other") && f["other"]["line"] == m.line);
  };
  std::set<std::string> checks, kinds;
  for (const Mark& m : c.marks) {
    checks.insert(check_of(m.kind));
    kinds.insert(m.kind);
  }
  for (const std::string& kind : kinds) {
    if (kind == "same-value" && kinds.size() > 1) continue;  // depends on what the race does
    EXPECT_THAT(findings, testing::Contains(testing::Truly([&](const Json& f) {
                  return f["kind"] == kind &&
                         std::ranges::any_of(c.marks, [&](const Mark& m) { return matches(f, m); });
                })))
        << kind << " wasn't found where " << c.unit << ".cu marks it";
  }
  const bool wrong = c.name.ends_with("_wrong");
  EXPECT_EQ(wrong, !kinds.empty() && kinds != std::set<std::string>{"same-value"});
  for (const Json& f : findings) {
    // What is wrong may have consequences that other checks see.
    if (wrong && !checks.contains(f["check"])) continue;
    EXPECT_TRUE(std::ranges::any_of(c.marks, [&](const Mark& m) { return matches(f, m); }))
        << f.dump(1);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Corpus, testing::ValuesIn(read_corpus()), [](const auto& c) {
  return c.param.unit + "_" + c.param.name + "_" +
         c.param.schedule.substr(0, c.param.schedule.find(':'));
});

TEST(CorpusSize, SixtyAtLeast) {
  std::set<std::string> wrong, right;
  for (const CorpusCase& c : read_corpus())
    (c.name.ends_with("_wrong") ? wrong : right).insert(c.name);
  EXPECT_GE(wrong.size() + right.size(), 60u);
  for (const std::string& name : wrong)
    EXPECT_TRUE(right.contains(name.substr(0, name.size() - 5) + "right")) << name;
}

}  // namespace
