#include "process/terminal.hpp"

#include <gtest/gtest.h>

namespace hone::process {
namespace {

TEST(Sanitise, KeepsPlainTextNewlinesTabsAndUtf8) {
  EXPECT_EQ(sanitise("a\tb\nµ – 漢 😀"), "a\tb\nµ – 漢 😀");
}

TEST(Sanitise, RemovesEscapeSequences) {
  EXPECT_EQ(sanitise("\x1b[1;31mred\x1b[0m"), "red");
  EXPECT_EQ(sanitise("\x1b]0;title\a after"), " after");
  EXPECT_EQ(sanitise("\x1b]8;;http://x\x1b\\link"), "link");
  EXPECT_EQ(sanitise("\x1b(Btext\x1b"), "Btext");
  EXPECT_EQ(sanitise("\x1b[12"), "");
}

TEST(Sanitise, RemovesControlsAndTextReordering) {
  EXPECT_EQ(sanitise(std::string("a\0b\x07\x08"
                                 "c\x7f",
                                 7)),
            "abc");
  EXPECT_EQ(sanitise("one\r\ntwo\rthree"), "one\ntwo\nthree");
  EXPECT_EQ(sanitise("a\u202Eb\u2066c\u0085d"), "abcd");
}

TEST(Sanitise, ReplacesInvalidUtf8) {
  EXPECT_EQ(sanitise("a\xff\xc3"), "a\uFFFD\uFFFD");
  EXPECT_EQ(sanitise("\xc0\xaf"), "\uFFFD\uFFFD");
  EXPECT_EQ(sanitise("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
}

TEST(Sanitise, CutsTheMiddle) {
  const std::string text = sanitise(std::string(100, 'a') + std::string(100, 'z'), 40);
  EXPECT_EQ(text, std::string(30, 'a') + "\n[... 160 bytes left out ...]\n" + std::string(10, 'z'));
}

TEST(FirstLine, SkipsBlankLinesAndCuts) {
  EXPECT_EQ(first_line("\n  \n  hello \nworld"), "hello");
  EXPECT_EQ(first_line(""), "");
  EXPECT_EQ(first_line("abcdefgh", 4), "abcd...");
}

}  // namespace
}  // namespace hone::process
