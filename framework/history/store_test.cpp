#include "history/store.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "history/runs_table.hpp"

namespace hone::history {
namespace {

namespace fs = std::filesystem;
using storage::Json;
using testing::HasSubstr;
using testing::Not;

/// A measurement of three cases; `day` dates it, `passes` of 3 are correct in each case.
Snapshot measured(int day, int passes, const std::string& model = "local") {
  Snapshot s;
  s.from.time = fmt::format("2026-01-{:02}T12:00:00Z", day);
  s.from.source = "hone";
  s.from.evaluation = "demo";
  s.from.skill = "cuda-kernels";
  s.from.skill_digest = "sha256:5c11";
  s.from.model = model;
  s.from.commit = fmt::format("c0ffee{:02}", day);
  s.from.dirty = day % 2 == 0;
  s.from.device = "cudasim (model of H100 SXM5)";
  s.from.sandbox = "bubblewrap";
  s.from.verdict = "pass";
  s.runs = 3;
  for (const char* name : {"a", "b", "c"})
    s.cases.push_back({name,
                       "gelu",
                       "sha256:ca5e",
                       {{passes, 3}, 0, 700, 100, .002},
                       {{0, 3}, 1, 200, 150, {}},
                       {2500, 2600.5},
                       "model bound"});
  s.cases[1].with_skill.tally.passes = std::max(0, passes - 1);
  return s;
}

struct StoreTest : testing::Test {
  fs::path file = fs::path(testing::TempDir()) / fmt::format("history.{}.sqlite", ::getpid());
  StoreTest() { fs::remove(file); }
  ~StoreTest() override { fs::remove(file); }
};

TEST_F(StoreTest, KeepsEverythingOfAMeasurement) {
  const Snapshot s = measured(3, 3);
  EXPECT_TRUE(Store(file).add(s));
  Store store(file);
  const auto rows = store.list();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].from.commit, "c0ffee03");
  EXPECT_EQ(rows[0].from.dirty, false);
  EXPECT_EQ(rows[0].from.sandbox, "bubblewrap");
  EXPECT_EQ(rows[0].case_digest, s.case_digest());
  EXPECT_EQ(rows[0].with_skill, (stats::Tally{8, 9}));
  EXPECT_NEAR(rows[0].lift.value(), 8 / 9.0, 1e-12);
  EXPECT_LT(rows[0].lift_low.value(), rows[0].lift.value());
  EXPECT_EQ(rows[0].tokens_with, 800);
  EXPECT_EQ(rows[0].cost_without, std::nullopt);
  EXPECT_EQ(rows[0].infrastructure_errors, 3);
  const Snapshot read = store.load(rows[0].id);
  EXPECT_EQ(read.key(), s.key());
  EXPECT_EQ(read.cases[0].times_ns, s.cases[0].times_ns);
  EXPECT_EQ(read.cases[0].with_skill.cost, .002);
  EXPECT_THROW(store.load(99), Error);
}

TEST_F(StoreTest, AReportAgainIsNoNewRun) {
  Store store(file);
  Snapshot s = measured(3, 3);
  EXPECT_TRUE(store.add(s));
  s.from.commit = "later";
  s.from.verdict = "fail";
  EXPECT_FALSE(store.add(s));
  const auto rows = store.list();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].from.commit, "c0ffee03");
  EXPECT_EQ(rows[0].from.verdict, "fail");
}

TEST_F(StoreTest, Filters) {
  Store store(file);
  for (int day = 1; day <= 9; ++day) store.add(measured(day, day % 4, day < 3 ? "other" : "local"));
  const auto count = [&](const Filter& f) { return store.list(f).size(); };
  const auto with = [](std::string Filter::*field, const std::string& value) {
    Filter f;
    f.*field = value;
    return f;
  };
  const auto among = [](std::vector<std::string> Filter::*field, std::vector<std::string> values) {
    Filter f;
    f.*field = std::move(values);
    return f;
  };
  EXPECT_EQ(count({}), 9u);
  EXPECT_EQ(store.list({}).front().from.time, "2026-01-09T12:00:00Z");
  EXPECT_EQ(count(among(&Filter::models, {"other"})), 2u);
  EXPECT_EQ(count(among(&Filter::models, {"other", "local"})), 9u);
  EXPECT_EQ(count(with(&Filter::commit, "c0ffee0")), 9u);
  EXPECT_EQ(count(with(&Filter::commit, "c0ffee07")), 1u);
  EXPECT_EQ(count(with(&Filter::commit, "%")), 0u);
  EXPECT_EQ(count(with(&Filter::device, "H100")), 9u);
  Filter some = with(&Filter::since, "2026-01-04");
  some.until = "2026-01-06";
  EXPECT_EQ(count(some), 3u);
  some.last = 2;
  EXPECT_EQ(count(some), 2u);
  EXPECT_EQ(count(among(&Filter::models, {"x' OR '1'='1"})), 0u);
  EXPECT_EQ(store.newest(among(&Filter::models, {"other"}))->from.time, "2026-01-02T12:00:00Z");
  EXPECT_FALSE(store.newest(among(&Filter::skills, {"none"})));
}

TEST_F(StoreTest, OtherFilesAreRefused) {
  storage::write_atomically(file, std::string(4096, 'x'));
  try {
    Store store(file);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::bad_input);
    EXPECT_THAT(e.what(), HasSubstr("is no SQLite database"));
  }
  fs::remove(file);
  Database(file).run("PRAGMA user_version = 99");
  EXPECT_THROW(Store{file}, Error);
  EXPECT_THROW(Store("/dev/null/history.sqlite"), Error);
}

TEST_F(StoreTest, ListsAsTableCsvAndJson) {
  Store store(file);
  store.add(measured(1, 3));
  Snapshot odd = measured(2, 1);
  odd.from.model = "=cmd,\"x\"\x1b[31m";
  odd.from.verdict = "fail";
  store.add(odd);
  const auto rows = store.list();
  const std::string table = runs_table(rows, Metric::lift);
  EXPECT_THAT(table, HasSubstr("2026-01-01 12:00  c0ffee01"));
  EXPECT_THAT(table, HasSubstr("+88.9"));
  EXPECT_THAT(table, HasSubstr(" fail"));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_THAT(runs_table(rows, Metric::tokens), HasSubstr("     800       350"));
  EXPECT_THAT(runs_table({}, Metric::lift), HasSubstr("No run fits"));
  std::istringstream csv(runs_csv(rows));
  std::string header, first;
  std::getline(csv, header);
  std::getline(csv, first);
  EXPECT_THAT(header, HasSubstr("id,time,source,evaluation,skill,skill_digest,case_digest,model,"));
  EXPECT_THAT(first, HasSubstr(",\"'=cmd,\"\"x\"\"\","));
  const Json json = Json::parse(runs_json(rows));
  EXPECT_EQ(json[1]["with_skill_passes"], 8);
  EXPECT_EQ(json[1]["sandbox"], "bubblewrap");
  EXPECT_EQ(json[1]["dirty"], false);
  EXPECT_THROW(metric_named("speed"), Error);
}

}  // namespace
}  // namespace hone::history
