#include "author/weakness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::author {
namespace {

using cases::Case;
using testing::IsEmpty;

Case text_case(const std::string& prompt, cases::Expect expect) {
  Case c;
  c.id = "c";
  c.prompt = prompt;
  c.expect = std::move(expect);
  return c;
}

std::string rule_of(const Case& c) {
  const auto found = weaknesses_of(c);
  return found.empty() ? "" : found.front().rule;
}

TEST(WeaknessTest, AGoodCaseHasNone) {
  cases::Expect number;
  number.number = cases::ExpectedNumber{132, 0};
  EXPECT_THAT(weaknesses_of(text_case("How many SMs?", number)), IsEmpty());
  cases::Expect text;
  text.contains = {"cudaGetLastError"};
  EXPECT_THAT(weaknesses_of(text_case("What does a launcher return?", text)), IsEmpty());
}

TEST(WeaknessTest, ANullAnswerThatPasses) {
  cases::Expect expect;
  expect.not_contains = {"cudaDeviceSynchronize"};
  EXPECT_EQ(rule_of(text_case("Write a launcher.", expect)), "weak-case");
  cases::Expect polite;
  polite.contains = {"know"};
  EXPECT_EQ(rule_of(text_case("What is it?", polite)), "weak-case");
}

TEST(WeaknessTest, AnAnswerInThePrompt) {
  cases::Expect expect;
  expect.contains = {"132"};
  EXPECT_EQ(rule_of(text_case("An H100 has 132 SMs. How many?", expect)), "prompt-leak");
}

TEST(WeaknessTest, AnAnswerInAContextFile) {
  cases::Expect expect;
  expect.contains = {"sm_90"};
  Case c = text_case("Which flag?", expect);
  c.context = {{"notes.md", "Use sm_90."}};
  EXPECT_EQ(rule_of(c), "prompt-leak");
}

TEST(WeaknessTest, ChecksOfOneOrTwoCharacters) {
  cases::Expect expect;
  expect.contains = {"9"};
  EXPECT_EQ(rule_of(text_case("Capability?", expect)), "weak-case");
  expect.contains_any = {"nine", "9"};
  EXPECT_EQ(rule_of(text_case("Capability?", expect)), "weak-case");
  expect.contains_any = {"nine", "9.0"};
  EXPECT_EQ(rule_of(text_case("Capability?", expect)), "");
}

TEST(WeaknessTest, KernelCasesAreJudgedByTheirSuite) {
  cases::Expect expect;
  expect.kernel = true;
  EXPECT_THAT(weaknesses_of(text_case("Write it.", expect)), IsEmpty());
}

TEST(WeaknessTest, Duplicates) {
  cases::Expect expect;
  expect.contains = {"x y z"};
  const auto found = duplicates_in({text_case("How many SMs has the H100?", expect),
                                    text_case("How many registers has an SM?", expect),
                                    text_case("How many SMs, the H100 has!", expect)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].index, 2u);
  EXPECT_EQ(found[0].of, 0u);
}

}  // namespace
}  // namespace hone::author
