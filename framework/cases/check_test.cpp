#include "cases/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace hone::cases {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

struct NumberRow {
  const char* text;
  std::vector<double> numbers;
};

TEST(NumbersIn, FindsWhatAPersonWouldRead) {
  for (const auto& [text, numbers] :
       std::vector<NumberRow>{{"", {}},
                              {"no digits", {}},
                              {"compute capability 9.0.", {9}},
                              {"**9.0** and `8.6`, _7.5_", {9, 8.6, 7.5}},
                              {"1,024 threads; 1'024; 12,34", {1024, 1024, 12, 34}},
                              {"65,536 and 1,000,000", {65536, 1000000}},
                              {"1e3 2.5E-2 6e+1 3e", {1000, 0.025, 60, 3}},
                              {"-5, - 6, 10-20, x-7", {-5, 6, 10, 20, 7}},
                              {"sm_90 H100 fp16 v2 a.5", {}},
                              {"sm_90 is 132 SMs", {132}},
                              {"228KB, 3.35TB/s, 32x", {228, 3.35, 32}},
                              {"0x20 and 0X1f", {32, 31}},
                              {".5 = 0.5", {0.5, 0.5}},
                              {"version 12.4.1 and 10.0.0.1", {}},
                              {"\xE2\x89\x88"
                               "9.0\xE2\x80\x9D",
                               {9}},
                              {"1e999", {}},
                              {"9999999999999999999999", {1e22}},
                              {"(2048)", {2048}},
                              {"= 64.", {64}}})
    EXPECT_THAT(numbers_in(text), ElementsAreArray(numbers)) << text;
}

struct CheckRow {
  Expect expect;
  const char* answer;
  bool passed;
  const char* name;
  const char* evidence;
};

Expect contains(std::string text) {
  Expect e;
  e.contains = {std::move(text)};
  return e;
}
Expect contains_any(std::vector<std::string> texts) {
  Expect e;
  e.contains_any = std::move(texts);
  return e;
}
Expect not_contains(std::string text) {
  Expect e;
  e.not_contains = {std::move(text)};
  return e;
}
Expect matches(std::string pattern) {
  Expect e;
  e.matches = {std::move(pattern)};
  return e;
}
Expect number(double value, double tolerance = 0) {
  Expect e;
  e.number = ExpectedNumber{value, tolerance};
  return e;
}

TEST(CheckText, EachCheckPassesAndFailsWithEvidence) {
  for (const auto& [expect, answer, passed, name, evidence] : std::vector<CheckRow>{
           {contains("Shared MEMORY"), "in shared memory", true, "contains: Shared MEMORY", ""},
           {contains("9.0"), "It is\n8.6", false, "contains: 9.0", "the answer begins: It is 8.6"},
           {contains("x"), "", false, "contains: x", "the answer is empty"},
           {contains_any({"a1", "B2"}), "b2", true, "contains any: a1 | B2", ""},
           {contains_any({"a1", "b2"}), "c3", false, "contains any: a1 | b2", "begins: c3"},
           {not_contains("cudaMalloc"), "nothing", true, "not contains: cudaMalloc", ""},
           {not_contains("cudamalloc"), "call cudaMalloc() here", false, "not contains: cudamalloc",
            "found in: call cudaMalloc() here"},
           {matches("<<<.*>>>"), "k<<<1, 2>>>();", true, "matches: <<<.*>>>", ""},
           {matches("GRID"), "grid", false, "matches: GRID", "begins: grid"},
           {matches("(?i)GRID"), "grid", true, "matches: (?i)GRID", ""},
           {matches("^a"), "b\na", false, "matches: ^a", ""},
           {matches("b$"), "a\nb", true, "matches: b$", ""},
           {matches("^a$"), "a", true, "matches: ^a$", ""},
           {matches("x|y"), "ay", true, "matches: x|y", ""},
           {matches("\\bfoo\\b"), "a foo b", true, "matches: \\bfoo\\b", ""},
           {matches("a(?=b)"), "xab", true, "matches: a(?=b)", ""},
           {matches("a(?!b)"), "xab", false, "matches: a(?!b)", ""},
           {matches("a{2,3}"), "baac", true, "matches: a{2,3}", ""},
           {number(1024), "1,024 threads", true, "number: 1024", ""},
           {number(90), "sm_90", false, "number: 90", "no number in the answer"},
           {number(3.35, 0.05), "about 3.3 TB/s", true, "number: 3.35 ± 0.05", ""},
           {number(9), "8.0 or 7.5", false, "number: 9", "numbers in the answer: 8 7.5"}}) {
    const auto results = check_text(expect, answer);
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].passed, passed) << name << " in " << answer;
    EXPECT_EQ(results[0].name, name);
    EXPECT_THAT(results[0].evidence, HasSubstr(evidence));
  }
}

TEST(CheckText, EachOfSeveralIsACheckOfItsOwn) {
  Expect e;
  e.contains = {"a", "b"};
  e.not_contains = {"c"};
  e.matches = {"d", "e"};
  e.number = ExpectedNumber{1, 0};
  EXPECT_EQ(check_text(e, "abde 1").size(), 6u);
  EXPECT_TRUE(check_text(Expect{}, "text").empty());
}

TEST(CheckText, EvidenceIsOneShortPrintableLine) {
  const auto results =
      check_text(contains("needle"), "\x1b[31mred\x07\n" + std::string(10'000, 'x'));
  EXPECT_LT(results[0].evidence.size(), 120u);
  for (const char c : results[0].evidence) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
}

TEST(CheckText, NoPatternTakesForEver) {
  const auto start = std::chrono::steady_clock::now();
  const std::string text = std::string(20'000, 'a') + "!";
  for (const char* pattern : {"(a+)+$", "(a|aa)*b", "(.*)*x", "^(([a-z])+.)+[A-Z]$"})
    EXPECT_FALSE(check_text(matches(pattern), text)[0].passed) << pattern;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(RegexError, NamesWhatIsWrong) {
  EXPECT_EQ(regex_error("a[bc]+"), "");
  EXPECT_NE(regex_error("a(b"), "");
  EXPECT_NE(regex_error("a)(b"), "");
  EXPECT_NE(regex_error("[z-a]"), "");
  EXPECT_NE(regex_error("(a)\\1"), "");  // back references are not supported
}

}  // namespace
}  // namespace hone::cases
