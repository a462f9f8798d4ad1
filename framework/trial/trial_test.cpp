#include <gtest/gtest.h>

#include "diagnostic/diagnostic.hpp"
#include "storage/storage.hpp"
#include "trial/listing.hpp"
#include "trial/plan.hpp"

namespace hone::trial {
namespace {

namespace fs = std::filesystem;

struct TrialTest : testing::Test {
  fs::path dir = fs::path(testing::TempDir()) / ("trial_test." + std::to_string(::getpid()));

  void SetUp() override {
    write("skill/SKILL.md", "---\nname: skill\ndescription: helps\n---\nUse 9.0.\n");
    write("cases/facts.json",
          R"({"cases": [{"id": "capability", "prompt": "?", "expect": {"contains": "9.0"}}]})");
    write("op/op.h", "extern \"C\" int op(void);\n");
    write("op/cases/op.json",
          R"({"id": "op", "suite": "op", "prompt": "Write op.", "expect": {"kernel": true}})");
    storage::write_json(
        dir / "manifest.json",
        {{"schema", "hone.manifest/1"},
         {"run_dir", (dir / "runs").string()},
         {"hone", "/opt/hone"},
         {"models", {{{"name", "m"}, {"provider", "openai"}, {"endpoint", "llama-server"},
                      {"gguf", "/m.gguf"}, {"model", "m"}}}},
         {"suites", {{{"name", "op"}, {"header", (dir / "op/op.h").string()}, {"entry", "op"},
                      {"cases", {(dir / "op/cases/*.json").string()}}}}},
         {"skills", {{{"name", "skill"}, {"dir", (dir / "skill").string()}}}},
         {"evaluations", {{{"name", "e"}, {"skill", "skill"}, {"suites", {"op"}}, {"models", {"m"}},
                           {"cases", {(dir / "cases/*.json").string()}}, {"runs", 2},
                           {"gates", {"lift >= 0.1"}}}}}});
  }
  void TearDown() override { fs::remove_all(dir); }
  void write(const char* name, const std::string& text) {
    storage::write_atomically(dir / name, text);
  }
  Manifest manifest() const { return load_manifest(dir / "manifest.json"); }
};

TEST_F(TrialTest, PlanHoldsTheEvaluationsOwnCasesAndThoseOfItsSuites) {
  const auto m = manifest();
  const auto plan = make_plan(m, "e");
  ASSERT_EQ(plan.cases.size(), 2u);
  EXPECT_FALSE(plan.has_errors());
  EXPECT_EQ(plan.trial_dir("m", "op", Arm::with_skill, 1), dir / "runs/e/m/op/with_skill/1");
  EXPECT_NE(user_text(plan, plan.find_case("op")).find("extern \"C\""), std::string::npos);
}

TEST_F(TrialTest, UnknownNamesAreQuotedWithTheKnownOnes) {
  const auto m = manifest();
  try {
    m.evaluation("x");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::usage);
    EXPECT_STREQ(e.what(), "unknown evaluation 'x'; known: e");
  }
}

TEST_F(TrialTest, ScriptChainsTheStagesByFixtures) {
  const auto script = ctest_script(manifest());
  for (const char* test :
       {"skills.e.m.capability.with_skill.query", "skills.e.m.capability.without_skill.verify",
        "skills.e.m.op.with_skill.build", "skills.e.m.op.with_skill.bench",
        "skills.e.m.gate.lift_ge_0.1", "skills.endpoint.m.start", "skills.endpoint.m.stop",
        "skills.report"})
    EXPECT_NE(script.find("add_test([[" + std::string(test) + "]]"), std::string::npos) << test;
  EXPECT_EQ(script.find("skills.e.m.capability.with_skill.build"), std::string::npos);
  EXPECT_NE(script.find("FIXTURES_REQUIRED [[report;skills.e.m.op.with_skill.build]]"),
            std::string::npos)
      << script;
}

TEST_F(TrialTest, ABrokenCaseFileIsOneFailingTestAndTheOthersStay) {
  write("cases/broken.json", "{\"id\": \"x\",\n \"promt\": \"?\"}");
  const auto m = manifest();
  const auto script = ctest_script(m);
  EXPECT_NE(script.find("add_test([[skills.e.cases]]"), std::string::npos);
  EXPECT_NE(script.find("skills.e.m.capability.with_skill.query"), std::string::npos);
  const auto plan = make_plan(m, "e");
  ASSERT_TRUE(plan.has_errors());
  EXPECT_NE(plan.diagnostics[0].str().find("broken.json:2:"), std::string::npos);
}

TEST_F(TrialTest, ADoubleCaseIdAndAnUnknownSuiteAreErrors) {
  write("cases/more.json", R"([{"id": "capability", "prompt": "?", "expect": {"contains": "1"}},
                               {"id": "k", "suite": "oq", "prompt": "?", "expect": {"kernel": true}}])");
  const auto m = manifest();
  const auto plan = make_plan(m, "e");
  std::string all;
  for (const auto& d : plan.diagnostics) all += d.str() + "\n";
  EXPECT_NE(all.find("a second case 'capability'"), std::string::npos) << all;
  EXPECT_NE(all.find("unknown suite 'oq' (did you mean 'op'?)"), std::string::npos) << all;
  EXPECT_EQ(plan.cases.size(), 2u);
}

TEST(GateSlug, IsFitForATestName) {
  EXPECT_EQ(gate_slug("lift >= 0"), "lift_ge_0");
  EXPECT_EQ(gate_slug("pass_rate(with_skill) >= 0.6"), "pass_rate_with_skill_ge_0.6");
  EXPECT_EQ(gate_slug("no-regression"), "no-regression");
}

TEST(FindManifest, SaysWhatToDoWhenThereIsNone) {
  EXPECT_EQ(find_manifest("x.json"), "x.json");
  try {
    load_manifest("/nonexistent/manifest.json");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::bad_input);
  }
}

}  // namespace
}  // namespace hone::trial
