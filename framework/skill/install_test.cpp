#include "skill/install.hpp"

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

constexpr const char* kText = "---\nname: my-skill\ndescription: d\n---\nbody\n";

struct InstallTest : testing::Test {
  fs::path root = fs::path(testing::TempDir()) / ("install_test." + std::to_string(::getpid()));
  fs::path source = root / "project/skills/my-skill";
  Places places{root / "project", root / "home"};
  SkillsFolder folder = folder_of(agents_named({"claude"})[0], Scope::project, places);
  fs::path target = folder.path / "my-skill";

  void SetUp() override {
    write(source / "SKILL.md", kText);
    write(source / "references/a.md", "a");
    write(source / "cases/c.json", "[]");
  }
  void TearDown() override { fs::remove_all(root); }

  static void write(const fs::path& path, const std::string& text) {
    storage::write_atomically(path, text);
  }
  Skill skill() const {
    std::vector<Diagnostic> warnings;
    return load_skill(source, warnings);
  }
  Change plan(bool force = false, InstallMode mode = InstallMode::copy) const {
    return plan_install(skill(), folder, mode, force);
  }
  Change put(bool force = false, InstallMode mode = InstallMode::copy) const {
    Change change = plan(force, mode);
    EXPECT_EQ(change.refusal, "");
    install(skill(), change, mode);
    return change;
  }
  std::string state() const {
    const auto all = status_of(folder);
    return all.empty() ? "" : all.front().str();
  }
};

TEST(AgentsTest, FoldersOfEachAgent) {
  std::vector<std::string> found;
  for (const auto& agent : agents_named({"all", "codex"}))
    for (const auto scope : {Scope::project, Scope::user})
      found.push_back(folder_of(agent, scope, {"/p", "/h"}).path.string());
  EXPECT_THAT(found, ElementsAre("/p/.claude/skills", "/h/.claude/skills", "/p/.agents/skills",
                                 "/h/.agents/skills", "/p/.cursor/skills", "/h/.cursor/skills",
                                 "/p/.opencode/skills", "/h/.config/opencode/skills"));
}

TEST(AgentsTest, AnUnknownOneIsQuoted) {
  try {
    agents_named({"claud"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::usage);
    EXPECT_THAT(e.what(), HasSubstr("unknown agent 'claud'; known: claude"));
  }
}

TEST_F(InstallTest, CopiesTheSkillAndNotItsCases) {
  EXPECT_EQ(put().what, "install");
  EXPECT_EQ(storage::read_file(target / "SKILL.md"), kText);
  EXPECT_EQ(storage::read_file(target / "references/a.md"), "a");
  EXPECT_FALSE(fs::exists(target / "cases"));
  EXPECT_EQ(state(), "up to date");
  EXPECT_EQ(put().what, "already up to date");
}

TEST_F(InstallTest, PlanningWritesNothing) {
  EXPECT_EQ(plan().kind, Change::Kind::add);
  EXPECT_FALSE(fs::exists(root / "project/.claude"));
}

TEST_F(InstallTest, AChangedSourceIsDriftUntilItIsUpdated) {
  put();
  write(source / "references/b.md", "b");
  fs::remove(source / "references/a.md");
  EXPECT_EQ(state(), "source changed");
  EXPECT_EQ(put().what, "update");
  EXPECT_EQ(state(), "up to date");
  EXPECT_TRUE(fs::exists(target / "references/b.md"));
  EXPECT_FALSE(fs::exists(target / "references/a.md"));
  fs::remove_all(source);
  EXPECT_EQ(state(), "source gone");
}

TEST_F(InstallTest, WhatAnotherWroteIsNeverOverwrittenWithoutForce) {
  write(target / "SKILL.md", "mine");
  EXPECT_THAT(plan().refusal, HasSubstr("my-skill was not written by Hone"));
  EXPECT_THAT(status_of(folder), IsEmpty());
  EXPECT_EQ(put(true).what, "overwrite");
  EXPECT_EQ(storage::read_file(target / "SKILL.md"), kText);
}

TEST_F(InstallTest, AnEditedCopyIsNotOverwrittenWithoutForce) {
  put();
  write(target / "SKILL.md", "mine");
  write(target / "notes.md", "mine");
  fs::remove(target / "references/a.md");
  EXPECT_EQ(state(), "edited (added: notes.md, changed: SKILL.md, missing: references/a.md)");
  EXPECT_THAT(plan().refusal, HasSubstr("was edited since it was installed (added: notes.md"));
  EXPECT_THAT(plan_uninstall("my-skill", folder, false).refusal, HasSubstr("was edited"));
  put(true);
  EXPECT_EQ(state(), "up to date");
}

TEST_F(InstallTest, ALinkFollowsItsSource) {
  put(false, InstallMode::link);
  EXPECT_TRUE(fs::is_symlink(target));
  EXPECT_TRUE(fs::read_symlink(target).is_relative());
  EXPECT_EQ(storage::read_file(target / "SKILL.md"), kText);
  write(source / "SKILL.md", std::string(kText) + "more");
  EXPECT_EQ(state(), "up to date");
  fs::remove(target);
  EXPECT_EQ(state(), "missing");
  fs::create_directory_symlink("/tmp", target);
  EXPECT_EQ(state(), "edited (the link points elsewhere)");
  EXPECT_THAT(plan().refusal, HasSubstr("the link points elsewhere"));
}

TEST_F(InstallTest, ForceOnALinkLeavesWhatItPointsTo) {
  write(root / "other/SKILL.md", "mine");
  fs::create_directories(folder.path);
  fs::create_directory_symlink(root / "other", target);
  EXPECT_TRUE(plan().refused());
  put(true);
  EXPECT_FALSE(fs::is_symlink(target));
  EXPECT_EQ(storage::read_file(root / "other/SKILL.md"), "mine");
}

TEST_F(InstallTest, UninstallTakesOutWhatWasPutThere) {
  put();
  uninstall(plan_uninstall("my-skill", folder, false));
  EXPECT_FALSE(fs::exists(target));
  EXPECT_TRUE(fs::is_empty(folder.path));
  EXPECT_TRUE(fs::exists(source / "SKILL.md"));
  EXPECT_EQ(plan_uninstall("my-skill", folder, false).what, "not installed");
}

TEST_F(InstallTest, UninstallNeverTakesOutAnothersSkill) {
  write(target / "SKILL.md", "mine");
  for (const bool force : {false, true}) {
    const Change change = plan_uninstall("my-skill", folder, force);
    EXPECT_THAT(change.refusal, HasSubstr("was not written by Hone"));
    uninstall(change);
    EXPECT_TRUE(fs::exists(target / "SKILL.md"));
  }
}

TEST_F(InstallTest, UninstallOfALinkLeavesTheSource) {
  put(false, InstallMode::link);
  uninstall(plan_uninstall("my-skill", folder, false));
  EXPECT_FALSE(fs::exists(fs::symlink_status(target)));
  EXPECT_TRUE(fs::exists(source / "SKILL.md"));
}

TEST_F(InstallTest, ANameThatLeavesTheFolderIsRefused) {
  write(source / "SKILL.md", "---\nname: ../../x\ndescription: d\n---\nbody\n");
  EXPECT_THROW(plan(true), Error);
  EXPECT_THROW(plan_uninstall("../x", folder, true), Error);
}

TEST_F(InstallTest, AReceiptThatCannotBeReadIsAnError) {
  write(folder.path / ".hone-skills.json", "{\"schema\": \"other\"}");
  EXPECT_THROW(plan(), Error);
  write(folder.path / ".hone-skills.json", "{");
  EXPECT_THROW(plan(), Error);
}

TEST_F(InstallTest, AFolderThatCannotBeWrittenSaysSo) {
  write(folder.path.parent_path(), "a file where the folder should be");
  try {
    install(skill(), plan(), InstallMode::copy);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::infrastructure);
    EXPECT_THAT(e.what(), HasSubstr(".claude"));
  }
}

}  // namespace
}  // namespace hone::skill
