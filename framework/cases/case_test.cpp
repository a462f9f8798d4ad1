#include "cases/case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "storage/storage.hpp"

namespace hone::cases {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct CaseTest : testing::Test {
  fs::path dir = fs::path(testing::TempDir()) / ("case_test." + std::to_string(::getpid()));
  CaseOptions options;

  void TearDown() override { fs::remove_all(dir); }
  fs::path write(const std::string& name, const std::string& text) {
    storage::write_atomically(dir / name, text);
    return dir / name;
  }
  CaseSet load(const std::string& text, const std::string& name = "f.json") {
    return load_cases({write(name, text)}, options);
  }
  /// All that is said of a file, without the folder's path.
  std::string said(const CaseSet& set) const {
    std::string all;
    for (const auto& d : set.diagnostics) all += d.str() + "\n";
    const std::string prefix = dir.string() + "/";
    for (size_t at; (at = all.find(prefix)) != std::string::npos;) all.erase(at, prefix.size());
    return all;
  }
  static std::vector<std::string> ids(const CaseSet& set) {
    std::vector<std::string> all;
    for (const auto& c : set.cases) all.push_back(c.id);
    return all;
  }
};

TEST_F(CaseTest, ReadsEveryKeyOfOurOwn) {
  write("notes.txt", "some notes");
  const CaseSet set = load(R"({
    "id": "cc", "title": "Compute capability", "prompt": "Which?",
    "context": ["notes.txt", {"name": "a.h", "text": "int a;"}, {"name": "b", "file": "notes.txt"}],
    "suite": "layernorm", "max_tokens": 99, "require": 0.8,
    "expect": {"contains": "x", "contains_any": ["y", "z"], "not_contains": ["w"], "matches": "v+",
               "number": {"value": 9, "tolerance": 0.5}, "kernel": true,
               "forbid": ["libraries", "inline-ptx"]}})");
  EXPECT_EQ(said(set), "");
  ASSERT_EQ(set.cases.size(), 1u);
  const Case& c = set.cases[0];
  EXPECT_EQ(c.id, "cc");
  EXPECT_EQ(c.title, "Compute capability");
  EXPECT_EQ(c.prompt, "Which?");
  ASSERT_EQ(c.context.size(), 3u);
  EXPECT_EQ(c.context[0].name, "notes.txt");
  EXPECT_EQ(c.context[0].text, "some notes");
  EXPECT_EQ(c.context[1].text, "int a;");
  EXPECT_EQ(c.context[2].name, "b");
  EXPECT_EQ(c.suite, "layernorm");
  EXPECT_EQ(c.max_tokens, 99);
  EXPECT_EQ(c.require, 0.8);
  EXPECT_THAT(c.expect.contains, ElementsAre("x"));
  EXPECT_THAT(c.expect.contains_any, ElementsAre("y", "z"));
  EXPECT_THAT(c.expect.not_contains, ElementsAre("w"));
  EXPECT_THAT(c.expect.matches, ElementsAre("v+"));
  EXPECT_EQ(c.expect.number->value, 9);
  EXPECT_EQ(c.expect.number->tolerance, 0.5);
  EXPECT_THAT(c.expect.forbid, ElementsAre("libraries", "inline-ptx"));
  EXPECT_STREQ(c.kind(), "kernel");
  EXPECT_EQ(c.where.line, 1);
  EXPECT_THAT(c.digest, HasSubstr("sha256:"));
}

TEST_F(CaseTest, IdsComeFromTheFileWhereNoneIsGiven) {
  EXPECT_THAT(ids(load(R"({"prompt": "p", "expect": {"contains": "x"}})", "one.json")),
              ElementsAre("one"));
  EXPECT_THAT(ids(load(R"([{"prompt": "p", "expect": {"contains": "x"}},
                           {"id": "named", "prompt": "p", "expect": {"contains": "x"}},
                           {"prompt": "p", "expect": {"contains": "x"}}])",
                       "a b.json")),
              ElementsAre("a-b-1", "named", "a-b-3"));
}

TEST_F(CaseTest, SuitesComeFromTheCaseTheFileOrTheOptions) {
  options.suite = "from_options";
  const auto suite_of = [&](const std::string& text) { return load(text).cases.at(0).suite; };
  EXPECT_EQ(suite_of(R"({"prompt": "p", "expect": {"kernel": true}})"), "from_options");
  EXPECT_EQ(suite_of(R"({"suite": "s", "cases": [{"prompt": "p", "expect": {"kernel": true}}]})"),
            "s");
  EXPECT_EQ(suite_of(R"({"suite": "t", "prompt": "p", "expect": {"kernel": true}})"), "t");
  options.suite = "";
  EXPECT_EQ(suite_of(R"({"prompt": "p", "expect": {"kernel": "named"}})"), "named");
}

TEST_F(CaseTest, PromptsMayBeFiles) {
  write("p.md", "from a file\n");
  EXPECT_EQ(load(R"({"prompt_file": "p.md", "expect": {"contains": "x"}})").cases.at(0).prompt,
            "from a file\n");
}

struct Row {
  const char* text;
  const char* says;
};

TEST_F(CaseTest, EveryErrorSaysWhereAndWhat) {
  write("empty.md", "\n");
  for (const auto& [text, says] : std::initializer_list<Row>{
           {"{\n \"prompt\": \"p\",,}", "f.json:2:16: error: not valid JSON"},
           {"", "f.json:1:1: error: not valid JSON"},
           {"3", "f.json:1:1: error: a case file holds an object or a list, not a number"},
           {"[]", "f.json:1:1: error: the list of cases is empty"},
           {"{\"cases\": []}", "f.json:1:11: error: 'cases' is empty"},
           {"{\"cases\": {}}", "f.json:1:11: error: 'cases' must be a list, not an object"},
           {"{\"cases\": [], \"suit\": 1}",
            "f.json:1:15: error: unknown key 'suit' (did you mean 'su"},
           {"[3]", "f.json:1:2: error: a case is an object, not a number"},
           {"{\"prompt\": \"p\",\n \"expct\": {\"contains\": \"x\"}}",
            "f.json:2:2: error: unknown key 'expct' (did you mean 'expect'?)"},
           {"{\"prompt\": \"p\"}", "f.json:1:1: error: a case without 'expect': nothing would be"},
           {"{\"prompt\": \"p\", \"expect\": {}}", "f.json:1:27: error: 'expect' is empty"},
           {"{\"prompt\": \"p\", \"expect\": {\"kernel\": false}}", "error: 'expect' is empty"},
           {"{\"prompt\": \"p\", \"expect\": \"x\"}",
            "f.json:1:27: error: 'expect' must be an object, not a string"},
           {"{\"prompt\": \"p\", \"expect\": {\"contains\": []}}",
            "f.json:1:40: error: an empty list in 'contains' checks nothing"},
           {"{\"prompt\": \"p\", \"expect\": {\"contains\": [\"x\", \"\"]}}",
            "f.json:1:46: error: an empty string in 'contains' checks nothing"},
           {"{\"prompt\": \"p\", \"expect\": {\"contains\": [1]}}",
            "f.json:1:41: error: 'contains' must hold strings, not a number"},
           {"{\"prompt\": \"p\", \"expect\": {\"contains\": null}}",
            "f.json:1:40: error: 'contains' must be a string or a list of strings, not null"},
           {"{\"prompt\": \"p\", \"expect\": {\"contain\": \"x\"}}",
            "f.json:1:28: error: unknown key 'contain' (did you mean 'contains'?)"},
           {"{\"prompt\": \"p\", \"expect\": {\"matches\": [\"a\", \"(\"]}}",
            "f.json:1:45: error: not a regular expression"},
           {"{\"prompt\": \"p\", \"expect\": {\"number\": \"9\"}}",
            "f.json:1:38: error: 'number' must be a number"},
           {"{\"prompt\": \"p\", \"expect\": {\"number\": {\"tolerance\": 1}}}",
            "f.json:1:38: error: 'number' without 'value'"},
           {"{\"prompt\": \"p\", \"expect\": {\"number\": {\"value\": 1, \"tolerance\": -1}}}",
            "f.json:1:64: error: 'tolerance' is negative"},
           {"{\"prompt\": \"p\", \"expect\": {\"kernel\": true}}",
            "f.json:1:38: error: a kernel case without a suite"},
           {"{\"prompt\": \"p\", \"suite\": \"a\", \"expect\": {\"kernel\": \"b\"}}",
            "'kernel' names suite 'b', but the case is of suite 'a'"},
           {"{\"prompt\": \"p\", \"expect\": {\"kernel\": 1}}",
            "f.json:1:38: error: 'kernel' must be true, false or the name of a suite"},
           {"{\"prompt\": \"p\", \"suite\": \"a\", \"expect\": {\"kernel\": true, \"forbid\": "
            "[\"loops\"]}}",
            "f.json:1:69: error: 'loops' is nothing that can be forbidden"},
           {"{\"prompt\": \"p\", \"expect\": {\"contains\": \"x\", \"forbid\": [\"system\"]}}",
            "f.json:1:55: error: 'forbid' is for kernel cases"},
           {"{\"expect\": {\"contains\": \"x\"}}",
            "f.json:1:1: error: a case without 'prompt' or 'prompt_file'"},
           {"{\"prompt\": \" \", \"expect\": {\"contains\": \"x\"}}",
            "f.json:1:12: error: 'prompt' is"},
           {"{\"prompt\": 1, \"expect\": {\"contains\": \"x\"}}",
            "f.json:1:12: error: 'prompt' must be a string, not a number"},
           {"{\"prompt\": \"p\", \"prompt_file\": \"q\", \"expect\": {\"contains\": \"x\"}}",
            "error: both 'prompt' and 'prompt_file' are given"},
           {"{\"prompt_file\": \"gone.md\", \"expect\": {\"contains\": \"x\"}}",
            "f.json:1:17: error: cannot read gone.md"},
           {"{\"prompt_file\": \"empty.md\", \"expect\": {\"contains\": \"x\"}}",
            "f.json:1:17: error: the prompt file is empty"},
           {"{\"prompt\": \"p\", \"context\": [\"gone.h\"], \"expect\": {\"contains\": \"x\"}}",
            "f.json:1:29: error: cannot read gone.h"},
           {"{\"prompt\": \"p\", \"context\": [{\"name\": \"a\"}], \"expect\": {\"contains\": "
            "\"x\"}}",
            "f.json:1:29: error: a context file needs 'file', or 'name' and 'text'"},
           {"{\"prompt\": \"p\", \"context\": 1, \"expect\": {\"contains\": \"x\"}}",
            "f.json:1:28: error: 'context' must be a list of files"},
           {"{\"id\": \"../up\", \"prompt\": \"p\", \"expect\": {\"contains\": \"x\"}}",
            "f.json:1:8: error: '../up' cannot be an id"},
           {"{\"id\": \"\", \"prompt\": \"p\", \"expect\": {\"contains\": \"x\"}}",
            "cannot be an id"},
           {"{\"prompt\": \"p\", \"max_tokens\": 0.5, \"expect\": {\"contains\": \"x\"}}",
            "f.json:1:31: error: 'max_tokens' must be a whole number from 1 up"},
           {"{\"prompt\": \"p\", \"require\": 2, \"expect\": {\"contains\": \"x\"}}",
            "f.json:1:28: error: 'require' is a pass rate from 0 to 1, or true"},
           {"[{\"query\": \"q\", \"should_trigger\": true}]",
            "f.json:1:2: error: trigger queries"}}) {
    const CaseSet set = load(text);
    EXPECT_THAT(said(set), HasSubstr(says)) << text;
    EXPECT_THAT(set.cases, IsEmpty()) << text;
    EXPECT_TRUE(set.has_errors());
  }
}

TEST_F(CaseTest, OneBadCaseLosesNeitherTheOthersNorTheirErrors) {
  const CaseSet set = load(R"([{"prompt": "p"},
    {"id": "good", "prompt": "p", "expect": {"contains": "x"}},
    {"prompt": "p", "expect": {"number": "1"}, "extra": 1}])");
  EXPECT_THAT(ids(set), ElementsAre("good"));
  EXPECT_THAT(said(set), testing::AllOf(HasSubstr("f.json:1:2"), HasSubstr("f.json:3:42"),
                                        HasSubstr("f.json:3:48")));
}

TEST_F(CaseTest, DuplicatesMissingFilesAndEmptyLists) {
  const auto a = write("a.json", R"({"id": "x", "prompt": "p", "expect": {"contains": "x"}})");
  const auto b = write("b.json", R"({"id": "x", "prompt": "q", "expect": {"contains": "x"}})");
  const CaseSet set = load_cases({a, b, dir / "gone.json"});
  EXPECT_THAT(ids(set), ElementsAre("x"));
  EXPECT_THAT(said(set),
              HasSubstr("b.json:1:1: error: a second case 'x'; the first is at a.json:1"));
  EXPECT_THAT(said(set), HasSubstr("gone.json: error: cannot read gone.json"));
  EXPECT_THAT(said(load_cases({})), HasSubstr("error: no case files"));
}

TEST_F(CaseTest, UpskillTests) {
  const CaseSet set = load(R"({"cases": [
    {"input": "Q1", "expected": {"contains": "yes"}, "context": {"files": {"a.py": "x = 1"}},
     "output_file": null, "validator": null, "validator_config": null},
    {"input": "Q2", "expected": {"contains": ["a", "b"]}, "context": null}]})",
                           "tests.json");
  EXPECT_EQ(said(set), "");
  EXPECT_THAT(ids(set), ElementsAre("tests-1", "tests-2"));
  EXPECT_EQ(set.cases[0].prompt, "Q1");
  EXPECT_EQ(set.cases[0].context.at(0).name, "a.py");
  EXPECT_THAT(set.cases[1].expect.contains, ElementsAre("a", "b"));
  EXPECT_EQ(load(R"([{"input": "Q", "expected": {"contains": "x"}}])").cases.size(), 1u);
}

TEST_F(CaseTest, SkillMetaTests) {
  const CaseSet set = load(R"({"metadata": {"version": "1.0", "generated_by": "m"},
    "tests": [{"input": "Q", "expected": {"contains": "x"}}]})",
                           "skill_meta.json");
  EXPECT_EQ(said(set), "");
  EXPECT_THAT(ids(set), ElementsAre("skill_meta-1"));
}

TEST_F(CaseTest, WhatUpskillWouldPassUncheckedIsAnError) {
  for (const auto& [text, says] : std::initializer_list<Row>{
           {R"([{"input": "Q", "expected": {"contains": []}}])",
            "f.json:1:42: error: an empty list in 'contains' checks nothing"},
           {R"([{"input": "Q", "expected": {}}])", "f.json:1:29: error: 'expected' is empty"},
           {R"([{"input": "Q"}])", "f.json:1:2: error: a case without 'expected'"},
           {R"([{"input": "Q", "validator": "json_schema"}])",
            "f.json:1:30: error: validators are not supported"},
           {R"([{"input": "", "expected": {"contains": "x"}}])", "f.json:1:12: error: 'input' is"},
           {R"([{"input": "Q", "expected": {"contain": "x"}}])", "did you mean 'contains'?"}})
    EXPECT_THAT(said(load(text)), HasSubstr(says)) << text;
}

TEST_F(CaseTest, AgentskillsEvals) {
  const CaseSet set = load(R"({"skill_name": "s", "evals": [
    {"id": 1, "prompt": "P", "expected_output": "A chart", "assertions": ["has axes"]},
    {"id": 2, "prompt": "P", "expected_output": "9.0", "expect": {"contains": "9.0"}}]})",
                           "evals.json");
  EXPECT_THAT(said(set), HasSubstr("evals.json:2:30: error: the expectation is prose"));
  EXPECT_THAT(ids(set), ElementsAre("evals-2"));
}

TEST_F(CaseTest, TheDigestIsOfWhatIsAskedAndChecked) {
  const auto digest = [&](const std::string& text) { return load(text).cases.at(0).digest; };
  const std::string base = digest(R"({"prompt": "p", "expect": {"contains": "x"}})");
  EXPECT_EQ(digest(R"({"title": "t", "id": "i",
                       "prompt": "p", "expect": {"contains": ["x"]}})"),
            base);
  for (const char* other : {R"({"prompt": "q", "expect": {"contains": "x"}})",
                            R"({"prompt": "p", "expect": {"contains": "y"}})",
                            R"({"prompt": "p", "expect": {"contains_any": "x"}})",
                            R"({"prompt": "p", "max_tokens": 9, "expect": {"contains": "x"}})"})
    EXPECT_NE(digest(other), base) << other;
}

TEST_F(CaseTest, ThePromptCarriesItsFiles) {
  Case c;
  c.prompt = "Do it.";
  EXPECT_EQ(prompt_text(c), "Do it.");
  c.context = {{"a.md", "```\ncode\n```"}};
  EXPECT_EQ(
      prompt_text(c, {{"op.h", "int f();\n"}}),
      "Do it.\n\nFile `a.md`:\n````\n```\ncode\n```\n````\n\nFile `op.h`:\n```\nint f();\n```");
}

TEST_F(CaseTest, AByteOrderMarkMovesNothing) {
  EXPECT_THAT(said(load("\xEF\xBB\xBF{\n \"prompt\": 1}")), HasSubstr("f.json:2:12"));
}

}  // namespace
}  // namespace hone::cases
