#include "cases/located_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::cases {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Kind = LocatedJson::Kind;

struct LocatedJsonTest : testing::Test {
  std::vector<Diagnostic> diagnostics;
  std::optional<LocatedJson> parse(std::string_view text) {
    diagnostics.clear();
    return parse_located("f", text, diagnostics);
  }
  std::string said() const {
    std::string all;
    for (const auto& d : diagnostics) all += d.str() + "\n";
    return all;
  }
};

TEST_F(LocatedJsonTest, EveryValueKnowsItsStart) {
  const std::string_view text =
      R"({ "a\"b" : "x\\", "n":-1.5e3,"t" :true , "l":[1,22 , null],"o":{}})";
  const auto json = parse(text);
  ASSERT_TRUE(json);
  EXPECT_THAT(diagnostics, IsEmpty());
  const auto starts = [&](const LocatedJson::Member& m) {
    return std::string(text.substr(m.offset, 3)) + " " +
           std::string(text.substr(m.value.offset, 3));
  };
  ASSERT_EQ(json->members.size(), 5u);
  EXPECT_EQ(starts(json->members[0]), "\"a\\ \"x\\");
  EXPECT_EQ(starts(json->members[1]), "\"n\" -1.");
  EXPECT_EQ(starts(json->members[2]), "\"t\" tru");
  EXPECT_EQ(starts(json->members[3]), "\"l\" [1,");
  EXPECT_EQ(starts(json->members[4]), "\"o\" {}}");
  EXPECT_EQ(json->members[0].name, "a\"b");
  EXPECT_EQ(json->members[0].value.text, "x\\");
  EXPECT_EQ(json->members[1].value.number, -1500);
  const auto& list = json->find("l")->value.items;
  EXPECT_EQ(text.substr(list[1].offset, 2), "22");
  EXPECT_EQ(text.substr(list[2].offset, 4), "null");
}

TEST_F(LocatedJsonTest, ScalarsAloneAreValuesToo) {
  EXPECT_EQ(parse("  7")->offset, 2u);
  EXPECT_EQ(parse(" \"\" ")->offset, 1u);
  EXPECT_TRUE(parse("false")->is(Kind::boolean));
}

struct Row {
  std::string text;
  const char* says;
};

TEST_F(LocatedJsonTest, SyntaxErrorsSayWhere) {
  for (const auto& [text, says] : std::vector<Row>{
           {"", "f:1:1: error: not valid JSON"},
           {"{\n  \"a\": 1,,\n}", "f:2:10: error: not valid JSON"},
           {"{\n  \"a\": 1\n  \"b\": 2\n}", "f:3:3: error: not valid JSON"},
           {"[1, 2", "f:1:6: error: not valid JSON"},
           {"{\"a\": tru}", "error: not valid JSON"},
           {"{\"a\": 1} x", "f:1:10: error: not valid JSON"},
           {"{\"a\": \"\xFF\"}", "error: not valid JSON"},
           {"[\"a\nb\"]", "error: not valid JSON"},
           {std::string(100'000, '['), "f:1:65: error: nested deeper than 64 levels"}}) {
    EXPECT_FALSE(parse(text));
    EXPECT_THAT(said(), HasSubstr(says)) << text.substr(0, 40);
  }
}

TEST_F(LocatedJsonTest, AKeyGivenTwiceIsReported) {
  EXPECT_TRUE(parse("{\"a\": 1,\n \"a\": 2}"));
  EXPECT_THAT(said(), HasSubstr("f:2:2: error: the key 'a' is given twice"));
}

}  // namespace
}  // namespace hone::cases
