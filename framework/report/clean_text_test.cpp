#include "report/clean_text.hpp"

#include <gtest/gtest.h>

namespace hone::report {
namespace {

using namespace std::string_literals;

TEST(CleanText, RemovesWhatDocumentsCannotHold) {
  EXPECT_EQ(clean_text("a\x1b[31mred\x1b[0m\0b\x07"s), "aredb");
  EXPECT_EQ(clean_text("tab\there\nline"), "tab\there\nline");
  EXPECT_EQ(clean_text("\xff<"), "\xEF\xBF\xBD<");
  EXPECT_EQ(clean_text("x\xEF\xBF\xBEy\xEF\xBF\xBFz"), "xyz");
  EXPECT_EQ(clean_text("a\xE2\x80\xAE"
                       "b"),
            "ab");
}

TEST(CleanText, CapsLength) {
  EXPECT_LT(clean_text(std::string(1 << 20, 'x'), 1000).size(), 1100u);
  EXPECT_LT(clean_line(std::string(1 << 20, 'x')).size(), 400u);
}

TEST(CleanLine, IsOneLine) { EXPECT_EQ(clean_line("  a\n\n b\t c \n"), "a b c"); }

TEST(CleanJson, ReachesEveryString) {
  const auto clean = clean_json({{"k\x1b[0m", {"a\x07", 1, nullptr}}});
  EXPECT_EQ(clean.dump(), R"({"k":["a",1,null]})");
}

TEST(Xml, EscapesTextAndAttributes) {
  EXPECT_EQ(xml_text("a < b && \"c\" > ]]>\nd"),
            "a &lt; b &amp;&amp; &quot;c&quot; &gt; ]]&gt;\nd");
  EXPECT_EQ(xml_attribute("a\n\"b\""), "a &quot;b&quot;");
}

TEST(Fit, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("äb"), 2u);
  EXPECT_EQ(display_width("漢字"), 4u);
  EXPECT_EQ(fit("abc", 5), "abc  ");
  EXPECT_EQ(fit("abcdef", 4), "abc…");
  EXPECT_EQ(fit("漢字漢字", 4), "漢… ");
  EXPECT_EQ(fit("abc", 3), "abc");
  EXPECT_EQ(fit("abc", 0), "");
  EXPECT_EQ(fit("ab", 4, false), "ab");
}

}  // namespace
}  // namespace hone::report
