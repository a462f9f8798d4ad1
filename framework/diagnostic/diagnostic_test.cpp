#include "diagnostic/diagnostic.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Locate, CountsLinesAndColumnsFromOne) {
  EXPECT_EQ(locate("a.json", "ab\ncd", 0).str(), "a.json:1:1");
  EXPECT_EQ(locate("a.json", "ab\ncd", 4).str(), "a.json:2:2");
  EXPECT_EQ(locate("a.json", "ab\ncd", 99).str(), "a.json:2:3");
}

TEST(Diagnostic, SaysWhereWhatAndWhatWouldBeRight) {
  const Diagnostic d{{"case.json", 3, 5}, "unknown key 'expct'", "did you mean 'expect'?"};
  EXPECT_EQ(d.str(), "case.json:3:5: error: unknown key 'expct' (did you mean 'expect'?)");
  EXPECT_EQ((Diagnostic{{}, "no cases", "", true}.str()), "warning: no cases");
}

TEST(Nearest, FindsTheTypoAndRefusesTheUnrelated) {
  EXPECT_EQ(nearest("expct", {"expect", "prompt"}), "expect");
  EXPECT_EQ(nearest("zzz", {"expect", "prompt"}), "");
}

TEST(Error, JoinsItsDiagnostics) {
  const Error e(Exit::bad_input, {Diagnostic{{"a", 1, 1}, "x", ""}, Diagnostic{{"b", 2, 0}, "y", ""}});
  EXPECT_STREQ(e.what(), "a:1:1: error: x\nb:2: error: y");
  EXPECT_EQ(e.code(), Exit::bad_input);
}

}  // namespace
}  // namespace hone
