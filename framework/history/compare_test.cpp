#include "history/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::history {
namespace {

using stats::Tally;
using storage::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Snapshot snapshot(const std::vector<std::pair<std::string, Tally>>& cases,
                  const std::string& evaluation = "demo", const std::string& model = "local") {
  Snapshot s;
  s.from.evaluation = evaluation;
  s.from.model = model;
  s.from.time = "2026-01-31T12:00:00Z";
  for (const auto& [name, tally] : cases)
    s.cases.push_back({name, "", "sha256:1", {tally, 0, 700, 100, {}}, {}, {}, ""});
  return s;
}

std::vector<std::pair<std::string, Tally>> cases(int n, Tally tally) {
  std::vector<std::pair<std::string, Tally>> all;
  for (int i = 0; i < n; ++i) all.emplace_back("case" + std::to_string(i), tally);
  return all;
}

Comparison compare(const Snapshot& a, const Snapshot& b) {
  return history::compare("before", {a}, "after", {b});
}

TEST(Compare, FindsABrokenSkill) {
  const auto c = compare(snapshot(cases(8, {3, 3})), snapshot(cases(8, {0, 3})));
  ASSERT_EQ(c.models.size(), 1u);
  EXPECT_EQ(c.models[0].change, Change::worse);
  EXPECT_EQ(c.models[0].compared, 8);
  EXPECT_THAT(c.models[0].why, HasSubstr("-100.0 points over 8 cases; exact test by case p = "));
  // Three runs a side cannot show a change of one case.
  for (const auto& one : c.models[0].cases) EXPECT_EQ(one.change, Change::unclear);
  EXPECT_EQ(compare(snapshot(cases(8, {0, 3})), snapshot(cases(8, {3, 3}))).models[0].change,
            Change::better);
}

TEST(Compare, JudgesACaseWithEnoughRuns) {
  auto before = cases(4, {10, 10}), after = cases(4, {10, 10});
  after[1].second.passes = 0;
  after[2].second.passes = 8;
  const auto m = compare(snapshot(before), snapshot(after)).models[0];
  EXPECT_EQ(m.change, Change::unclear);  // one case of four says little about the skill
  EXPECT_EQ(m.cases[0].change, Change::same);
  EXPECT_EQ(m.cases[1].change, Change::worse);
  EXPECT_NEAR(m.cases[1].p, 2 / 184756.0, 1e-10);
  EXPECT_LT(m.cases[1].difference.high, 0);
  EXPECT_EQ(m.cases[2].change, Change::unclear);
  EXPECT_THAT(m.why, HasSubstr("would not show"));
}

TEST(Compare, NamesNewGoneAndEditedCases) {
  auto a = snapshot({{"kept", {3, 3}}, {"gone", {3, 3}}, {"edited", {3, 3}}});
  auto b = snapshot({{"kept", {3, 3}}, {"new", {0, 3}}, {"edited", {0, 3}}});
  b.cases[2].digest = "sha256:2";
  const auto m = compare(a, b).models[0];
  EXPECT_EQ(m.compared, 1);
  EXPECT_EQ(m.change, Change::same);
  EXPECT_EQ(m.cases[1].change, Change::added);
  EXPECT_TRUE(m.cases[2].edited);
  EXPECT_EQ(m.cases[3].change, Change::gone);
  EXPECT_EQ(m.cases[3].name, "gone");
}

TEST(Compare, UsesMcNemarForSingleRuns) {
  auto before = cases(10, {1, 1}), after = cases(10, {0, 1});
  after[9].second.passes = 1;
  before[9].second.passes = 0;
  const auto m = compare(snapshot(before), snapshot(after)).models[0];
  EXPECT_NEAR(m.mcnemar_p.value(), .021484375, 1e-9);
  EXPECT_EQ(m.change, Change::worse);
}

TEST(Compare, PairsTwoSkillsByModel) {
  const auto c = history::compare(
      "x", {snapshot(cases(8, {0, 3}), "x", "small"), snapshot(cases(8, {1, 3}), "x", "large")},
      "y", {snapshot(cases(8, {3, 3}), "y", "large"), snapshot(cases(8, {3, 3}), "y", "huge")});
  ASSERT_EQ(c.models.size(), 1u);
  EXPECT_EQ(c.models[0].change, Change::better);
  EXPECT_THAT(c.only_in_a, ElementsAre("x/small"));
  EXPECT_THAT(c.only_in_b, ElementsAre("y/huge"));
  EXPECT_THAT(comparison_text(c), HasSubstr("x -> y, large  better"));
}

TEST(Compare, ComparesTokensAndTimesOfOneKind) {
  auto a = snapshot(cases(2, {3, 3})), b = snapshot(cases(2, {3, 3}));
  for (auto& c : a.cases) c.times_ns = {1000, 1100, 1200};
  for (auto& c : b.cases) {
    c.times_ns = {2000, 2200, 2400};
    c.with_skill.output_tokens = 50;
  }
  for (auto* s : {&a, &b})
    for (auto& c : s->cases) c.time_kind = "model bound";
  b.cases[1].time_kind = "measured";
  const auto m = compare(a, b).models[0];
  EXPECT_NEAR(m.time_ratio.value(), 2, 1e-12);
  EXPECT_NEAR(m.cases[0].p_slower, .05, 1e-12);
  EXPECT_FALSE(m.cases[1].time_before);
  EXPECT_EQ(m.tokens_after, 750);
}

TEST(Compare, IsShownAsTextMarkdownAndJson) {
  auto after = cases(4, {10, 10});
  after[1].second.passes = 0;
  after[0].first = "<b>\x1b[31m|";
  const auto c = compare(snapshot(cases(4, {10, 10})), snapshot(after));
  const std::string text = comparison_text(c, {80, false, true});
  EXPECT_THAT(text, HasSubstr("case1   10/10    0/10  worse    p = "));
  EXPECT_THAT(text, Not(HasSubstr("case2")));  // same, left out
  EXPECT_THAT(text, HasSubstr("1 worse, 2 same, 1 new, 1 gone"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  const std::string markdown = comparison_markdown(c);
  EXPECT_THAT(markdown, HasSubstr("| case1 | 10/10 | 0/10 | worse |"));
  EXPECT_THAT(markdown, HasSubstr("&lt;b&gt;\\|"));
  EXPECT_EQ(Json::parse(comparison_json(c))["models"][0]["cases"][1]["change"], "worse");
  EXPECT_THAT(comparison_text({"a", "b", {}, {}, {}}), HasSubstr("Nothing in common"));
}

}  // namespace
}  // namespace hone::history
