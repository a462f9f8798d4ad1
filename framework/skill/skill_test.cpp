#include "skill/skill.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "storage/storage.hpp"

namespace hone::skill {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

struct SkillTest : testing::Test {
  fs::path root = fs::path(testing::TempDir()) / ("skill_test." + std::to_string(::getpid()));
  fs::path dir = root / "my-skill";
  std::vector<Diagnostic> warnings;

  void TearDown() override { fs::remove_all(root); }
  void write(const std::string& text, const std::string& name = "SKILL.md") {
    storage::write_atomically(dir / name, text);
  }
  Skill load(const std::string& text) {
    write(text);
    warnings.clear();
    return load_skill(dir, warnings);
  }
  /// What loading `text` says, errors or warnings, without the folder's path.
  std::string said(const std::string& text) {
    write(text);
    warnings.clear();
    std::string all;
    try {
      load_skill(dir, warnings);
      for (const auto& d : warnings) all += d.str() + "\n";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Exit::bad_input);
      all = e.what();
    }
    const std::string prefix = dir.string() + "/";
    for (size_t at; (at = all.find(prefix)) != std::string::npos;) all.erase(at, prefix.size());
    return all;
  }
};

TEST_F(SkillTest, ReadsEveryKey) {
  const Skill s = load(
      "---\nname: my-skill\ndescription: \"Use it: often\"\nlicense: Apache-2.0\n"
      "compatibility: needs nvcc\nmetadata:\n  author: me\n  version: 1.0\n"
      "allowed-tools: Bash Read\n---\n\n# Body\n\ntext\n\n");
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(s.name, "my-skill");
  EXPECT_EQ(s.description, "Use it: often");
  EXPECT_EQ(s.license, "Apache-2.0");
  EXPECT_EQ(s.compatibility, "needs nvcc");
  EXPECT_THAT(s.metadata, ElementsAre(Pair("author", "me"), Pair("version", "1.0")));
  EXPECT_THAT(s.allowed_tools, ElementsAre("Bash", "Read"));
  EXPECT_EQ(s.body, "# Body\n\ntext");
}

TEST_F(SkillTest, FencesInsideABlockScalarAndTheBodySurvive) {
  const Skill s =
      load("---\nname: my-skill\ndescription: |\n  one\n  ---\n  two\n---\nbody\n---\nmore\n");
  EXPECT_EQ(s.description, "one\n---\ntwo");
  EXPECT_EQ(s.body, "body\n---\nmore");
}

TEST_F(SkillTest, CrlfAndByteOrderMarkAreTolerated) {
  const Skill s =
      load("\xEF\xBB\xBF---\r\nname: my-skill\r\ndescription: d\r\n---\r\nline\r\nline\r\n");
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(s.description, "d");
  EXPECT_EQ(s.body, "line\nline");
}

struct Row {
  const char* text;
  const char* says;
};

TEST_F(SkillTest, ErrorsSayWhereAndWhat) {
  for (const auto& [text, says] : std::initializer_list<Row>{
           {"", "SKILL.md:1:1: error: no front matter"},
           {"# Title\n", "SKILL.md:1:1: error: no front matter"},
           {"---\nname: my-skill\n", "SKILL.md:1:1: error: the front matter is not closed"},
           {"---\nname: my-skill\n---\nb", "SKILL.md:2:1: error: no 'description'"},
           {"---\nname: my-skill\ndescription:\n---\nb", "error: 'description' is empty"},
           {"---\nname: my-skill\ndescription: '  '\n---\nb",
            "SKILL.md:3:14: error: 'description' is empty"},
           {"---\nname: my-skill\ndescription: [a]\n---\nb",
            "SKILL.md:3:14: error: 'description' must be a string"},
           {"---\nname: my-skill\ndescription: Use it: often\n---\nb",
            "SKILL.md:3:20: error: not valid YAML: illegal map value (a value with ': ' in it"},
           {"---\nname: \"x\ndescription: d\n---\nb",
            "SKILL.md:2:7: error: not valid YAML: a quote"},
           {"---\nname: x\ndescription: 'd\n---\nb",
            "SKILL.md:3:14: error: not valid YAML: a quote"},
           {"---\nname: x\ndescription: [d\n---\nb", "error: not valid YAML"},
           {"---\nname: my-skill\ndescription: d\ndescription: e\n---\nb",
            "SKILL.md:4:1: error: the key 'description' is given twice"},
           {"---\n- a\n---\nb", "SKILL.md:2:1: error: the front matter is not a map"},
           {"---\n---\nb", "error: the front matter is not a map"},
           {"---\nname: my-skill\ndescription: d\nmetadata: 3\n---\nb",
            "SKILL.md:4:11: error: 'metadata' must be a map"}})
    EXPECT_THAT(said(text), HasSubstr(says)) << text;
}

TEST_F(SkillTest, WhatOneCanLiveWithIsAWarning) {
  for (const auto& [text, says] : std::initializer_list<Row>{
           {"---\nname: other\ndescription: d\n---\nb",
            "SKILL.md:2:7: warning: the name 'other' is not the folder's, 'my-skill'"},
           {"---\nname: My Skill\ndescription: d\n---\nb",
            "SKILL.md:2:7: warning: the name 'My Sk"},
           {"---\nname: my--skill\ndescription: d\n---\nb", "warning: the name 'my--skill'"},
           {"---\ndescription: d\n---\nb", "warning: no 'name'; the folder's is used: my-skill"},
           {"---\nname: my-skill\ndescription: d\nlicence: MIT\n---\nb",
            "SKILL.md:4:1: warning: unknown key 'licence' (did you mean 'license'?)"},
           {"---\nname: my-skill\ndescription: a <b>\n---\nb", "warning: 'description' holds '<'"},
           {"---\nname: my-skill\ndescription: d\nallowed-tools: [A, B]\n---\nb",
            "SKILL.md:4:16: warning: 'allowed-tools' is one string"},
           {"---\nname: my-skill\ndescription: d\nmetadata: {a: {b: c}}\n---\nb",
            "SKILL.md:4:12: warning: 'metadata' holds strings only"},
           {"---\nname: my-skill\ndescription: d\n---\n\n \n",
            "warning: the skill's body is empty"}})
    EXPECT_THAT(said(text), HasSubstr(says)) << text;
  EXPECT_THAT(said("---\nname: my-skill\ndescription: " + std::string(1025, 'x') + "\n---\nb"),
              HasSubstr("warning: 'description' is longer"));
}

TEST_F(SkillTest, AllErrorsComeAtOnce) {
  const std::string all = said("---\nname: Bad Name\ndescription: ''\nlicense: []\n---\n");
  for (const char* one : {"SKILL.md:2:7: warning", "SKILL.md:3:14: error", "SKILL.md:4:10: error"})
    EXPECT_THAT(all, HasSubstr(one));
}

TEST_F(SkillTest, NoFileAndNoFolder) {
  fs::create_directories(dir);
  for (const auto& [path, says] : {std::pair<fs::path, const char*>{dir, "has no SKILL.md"},
                                   {root / "nowhere", "there is no such skill folder"}}) {
    try {
      load_skill(path, warnings);
      FAIL();
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(says));
      EXPECT_THAT(e.what(), HasSubstr("SKILL.md"));
    }
  }
}

TEST_F(SkillTest, TheDigestIsOfTheSkillAndNotOfItsCases) {
  const std::string text = "---\nname: my-skill\ndescription: d\n---\nb";
  const std::string before = load(text).digest;
  write("[]", "cases/a.json");
  write("x", "CMakeLists.txt");
  EXPECT_EQ(load(text).digest, before);
  write("x", "references/a.md");
  const Skill with_reference = load(text);
  EXPECT_THAT(with_reference.files, ElementsAre("references/a.md"));
  EXPECT_NE(with_reference.digest, before);
  EXPECT_NE(load(text + "c").digest, with_reference.digest);
}

TEST_F(SkillTest, TheArmsDifferByTheSkillAlone) {
  const Skill s = load("---\nname: my-skill\ndescription: d\n---\nbody");
  EXPECT_EQ(system_text(nullptr), kNeutralSystemText);
  EXPECT_EQ(system_text(&s), std::string(kNeutralSystemText) + "\n\n# Skill: my-skill\nd\n\nbody");
  EXPECT_EQ(sent_digest(nullptr), std::nullopt);
  EXPECT_EQ(sent_digest(&s), storage::sha256("\n\n# Skill: my-skill\nd\n\nbody"));
}

}  // namespace
}  // namespace hone::skill
