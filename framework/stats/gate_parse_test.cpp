#include <gtest/gtest.h>

#include "stats/gate.hpp"

namespace hone::stats {
namespace {

std::string complaint(std::string_view text) {
  try {
    parse_gate(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::bad_input);
    return e.what();
  }
  return "parsed";
}

TEST(ParseGate, ReadsComparisons) {
  const Gate gate = parse_gate("  pass_rate( with_skill )>=0.6 ");
  EXPECT_EQ(gate.text, "pass_rate( with_skill )>=0.6");
  EXPECT_EQ(gate.quantity, "pass_rate");
  EXPECT_EQ(gate.arguments, std::vector<std::string>{"with_skill"});
  EXPECT_EQ(gate.op, ">=");
  EXPECT_EQ(gate.threshold, .6);
  EXPECT_EQ(parse_gate("lift >= 10%").threshold, .1);
  EXPECT_EQ(parse_gate("lift >= -0.05").threshold, -.05);
  EXPECT_EQ(parse_gate("lift > +0").op, ">");
  EXPECT_EQ(parse_gate("tokens_saved >= 0").kind, Gate::Kind::comparison);
  EXPECT_EQ(parse_gate("infrastructure_errors == 0").op, "==");
  EXPECT_EQ(parse_gate("pass_at_k(with_skill, 3) > .5").arguments[1], "3");
}

TEST(ParseGate, ReadsNoRegressionInBothSpellings) {
  for (const char* text : {"no-regression", "no_regression"}) {
    const Gate gate = parse_gate(text);
    EXPECT_EQ(gate.kind, Gate::Kind::no_regression);
    EXPECT_EQ(gate.alpha, .05);
  }
  EXPECT_EQ(parse_gate("no-regression(0.01)").alpha, .01);
}

TEST(ParseGate, ReadsBoundsThatNameTheBaseline) {
  Gate gate = parse_gate("bench(layernorm) <= 1.05 * baseline");
  EXPECT_EQ(gate.arguments, std::vector<std::string>{"layernorm"});
  EXPECT_EQ(gate.factor, 1.05);
  EXPECT_EQ(gate.threshold, 0);
  EXPECT_TRUE(gate.needs_baseline());
  gate = parse_gate("lift >= baseline - 5%");
  EXPECT_EQ(gate.factor, 1);
  EXPECT_NEAR(gate.threshold, -.05, 1e-12);
  EXPECT_EQ(parse_gate("bench(row_softmax) < 5.5us").threshold, 5500);
  EXPECT_EQ(parse_gate("bench(x) < 2 ms").threshold, 2e6);
  EXPECT_FALSE(parse_gate("lift > 0").needs_baseline());
  EXPECT_EQ(parse_gate("case_rate(block-size) >= 50%").arguments[0], "block-size");
  EXPECT_EQ(parse_gate("fast_p(1.5) >= 0.2").arguments[0], "1.5");
}

TEST(ParseGate, AndBindsTighterThanOr) {
  const Gate gate = parse_gate("lift > 0 or lift_low > 0 and (no-regression or lift >= 10%) ");
  EXPECT_EQ(gate.kind, Gate::Kind::any);
  ASSERT_EQ(gate.parts.size(), 2u);
  EXPECT_EQ(gate.parts[0].text, "lift > 0");
  EXPECT_EQ(gate.parts[1].kind, Gate::Kind::all);
  EXPECT_EQ(gate.parts[1].text, "lift_low > 0 and (no-regression or lift >= 10%)");
  EXPECT_EQ(gate.parts[1].parts[1].text, "(no-regression or lift >= 10%)");
  EXPECT_EQ(gate.parts[1].parts[1].kind, Gate::Kind::any);
  EXPECT_TRUE(gate.needs_baseline());
  EXPECT_THROW(parse_gate(std::string(100000, '(')), Error);
}

TEST(ParseGate, ErrorsSayTheColumnAndWhatWouldBeRight) {
  const struct {
    const char* text;
    const char* column;
    const char* hint;
  } bad[] = {
      {"", "column 1: an empty gate", "no-regression"},
      {"pass_rat(with_skill) >= 0.6", "column 1: unknown quantity 'pass_rat'",
       "did you mean 'pass_rate'?"},
      {"xyzzy > 1", "column 1: unknown quantity", "known: pass_rate(arm)"},
      {"pass_rate >= 0.6", "column 11: pass_rate needs its arguments", "write pass_rate(arm)"},
      {"pass_rate(with) >= 0.6", "column 11: unknown arm 'with'", "with_skill or without_skill"},
      {"pass_rate(with_skill >= 0.6", "column 22: ')' is missing", "write pass_rate(arm)"},
      {"lift() > 0", "column 5: lift takes no arguments", "write lift"},
      {"lift", "column 5: a comparison is expected", "lift >= 0"},
      {"lift => 0", "column 6: a comparison is expected", ">="},
      {"lift >= lots", "column 9: a number is expected", "60%"},
      {"lift >= nan", "column 9: a number is expected", "60%"},
      {"lift >= 1e999", "column 9: a number is expected", "60%"},
      {"lift >= 10", "column 9: lift lies between -1 and 1", "0.6 or 60%"},
      {"pass_rate(with_skill) >= 60", "column 26: pass_rate lies between 0 and 1", "60%"},
      {"lift == 0", "column 6: '==' suits counts only", ">="},
      {"tokens_saved >= 5%", "column 17: tokens_saved is no share", "plain number"},
      {"lift >= 0 lift_low > 0", "column 11: unexpected 'lift_low", "joined by and, or"},
      {"lift >= 0 and", "column 14: a gate starts with a quantity", "e.g."},
      {"lift >= 0 or or lift_low > 0", "column 14: unknown quantity 'or'", "known:"},
      {"(lift >= 0 and lift_low > 0", "column 28: ')' is missing", "'(' at column 1"},
      {"bench(gelu) <= 1.05 * basline", "column 23: 'baseline' is expected", "1.05 * baseline"},
      {"bench(gelu) <= 0 * baseline", "column 16: the baseline's factor", "1.05"},
      {"bench(gelu) <= 5", "column 17: a unit of time", "5.2us"},
      {"bench() <= baseline", "column 7: the name of a case or suite", "write bench(name)"},
      {"bench(gelu) <= baseline + 5%", "column 27: bench is no share", "plain number"},
      {"fast_p(-1) >= 0.5", "column 8: a speedup", "fast_p(1)"},
      {"no-regresion", "column 1: unknown quantity 'no-regresion'",
       "did you mean 'no-regression'?"},
      {"no-regression(2)", "column 15: alpha", "no-regression(0.01)"},
      {"pass_at_k(with_skill) > 0", "column 21: the number of draws", "pass_at_k(arm, k)"},
      {"pass_at_k(with_skill, 0) > 0", "column 23: '0' is no number of draws", "whole number"},
      {">= 1", "column 1: a gate starts with a quantity", "e.g."},
  };
  for (const auto& b : bad) {
    const std::string text = complaint(b.text);
    EXPECT_NE(text.find(b.column), std::string::npos) << b.text << " -> " << text;
    EXPECT_NE(text.find(b.hint), std::string::npos) << b.text << " -> " << text;
  }
}

TEST(ParseGate, NamesTheDeclaringFile) {
  try {
    parse_gate("lift", {"skills/x/CMakeLists.txt", 7, 0});
    FAIL();
  } catch (const Error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("skills/x/CMakeLists.txt:7: error: gate"));
  }
}

}  // namespace
}  // namespace hone::stats
