#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/aggregate.hpp"
#include "report/run_folder_fixture.hpp"

namespace hone::report {
namespace {

using stats::Arm;
using testing::HasSubstr;

struct CollectTest : testing::Test {
  RunFolder folder;
  Trial only(const std::string& id = "c") {
    folder.input.runs = 1;
    for (auto& t : read_trials(folder.input))
      if (t.case_id == id && t.arm == Arm::with_skill) return t;
    return {};
  }
};

TEST_F(CollectTest, ReadsATextTrial) {
  folder.add_text_case("c");
  folder.judge("c", Arm::with_skill, 0, "wrong", "contains: 9.0:\n not  found");
  const Trial t = only();
  EXPECT_EQ(t.outcome, "wrong");
  EXPECT_EQ(t.evidence, "contains: 9.0: not found");
  EXPECT_EQ(t.usage.input, 700);
  EXPECT_EQ(t.usage.cached, std::nullopt);
  EXPECT_EQ(t.seed, 100);
  EXPECT_DOUBLE_EQ(t.seconds, 1.75);
  EXPECT_EQ(t.folder, "demo/local/c/with_skill/0");
}

TEST_F(CollectTest, ReadsAKernelTrialWithRegistersAndTimes) {
  folder.add_kernel_case("c", "gelu");
  folder.build("c", Arm::with_skill, 0, "correct");
  const Trial t = only();
  EXPECT_TRUE(t.passed());
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels[0].registers, 32);
  EXPECT_EQ(t.time_kind, "model bound");
  EXPECT_NEAR(t.time_ns.value(), 2500, 1e-9);
  EXPECT_EQ(t.sandbox, "strong");
  EXPECT_EQ(t.device, "cudasim (model of H100 SXM5)");
}

TEST_F(CollectTest, ARepairedTrialSumsItsTurns) {
  folder.add_text_case("c");
  folder.judge("c", Arm::with_skill, 0, "correct");
  folder.put_turn_before("c", Arm::with_skill, 0);
  Trial t = only();
  EXPECT_EQ(t.turns, 2);
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(t.usage.input, 1400);
  EXPECT_EQ(t.usage.output, 200);
  EXPECT_EQ(t.usage.cached, std::nullopt);
  EXPECT_DOUBLE_EQ(t.seconds, 3.5);
  const auto dir = folder.trial("c", Arm::with_skill, 0);
  storage::Json past = storage::read_json(dir / "turns/1/response.json");
  past["usage"]["input"] = nullptr;  // a sum with an unknown part is unknown
  storage::write_json(dir / "turns/1/response.json", past);
  EXPECT_EQ(only().usage.input, std::nullopt);
  std::filesystem::remove(dir / "response.json");
  EXPECT_EQ(only().outcome, kNotRun);
  EXPECT_EQ(only().evidence, "turn 2 was not asked for");
  storage::write_json(dir / "turns/1/response.json", {{"schema", "other"}});
  EXPECT_EQ(only().outcome, kInfrastructureError);
}

TEST_F(CollectTest, TheFirstStageThatStopsDecides) {
  folder.add_kernel_case("c", "gelu");
  folder.build("c", Arm::with_skill, 0, "compile-error", "gelu.cu:3: no");
  EXPECT_EQ(only().outcome, "compile-error");
  folder.respond("c", Arm::with_skill, 0, "refused");
  EXPECT_EQ(only().outcome, "refused");
  folder.respond("c", Arm::with_skill, 0, kInfrastructureError);
  EXPECT_EQ(only().outcome, kInfrastructureError);
  EXPECT_EQ(only().evidence, "http-status: 429 after 4 attempts");
}

TEST_F(CollectTest, ATruncatedAnswerMayStillBeJudged) {
  folder.add_text_case("c");
  folder.respond("c", Arm::with_skill, 0, "truncated");
  EXPECT_EQ(only().outcome, "truncated");
  folder.judge("c", Arm::with_skill, 0, "correct");
  folder.respond("c", Arm::with_skill, 0, "truncated");
  EXPECT_EQ(only().outcome, "correct");
}

TEST_F(CollectTest, MissingLaterFilesAreNotRun) {
  folder.add_kernel_case("c", "gelu");
  EXPECT_EQ(only().outcome, kNotRun);
  folder.respond("c", Arm::with_skill, 0);
  EXPECT_EQ(only().outcome, kNotRun);
  EXPECT_EQ(only().evidence, "answered, but not built");
  folder.build("c", Arm::with_skill, 0, "correct");
  std::filesystem::remove(folder.trial("c", Arm::with_skill, 0) / "verify.json");
  EXPECT_EQ(only().outcome, kNotRun);
  EXPECT_EQ(only().evidence, "answered, but not verified");
}

TEST_F(CollectTest, UnreadableRecordsAreInfrastructureErrorsThatNameTheFile) {
  folder.add_kernel_case("c", "gelu");
  for (const char* file : {"request.json", "response.json", "build.json", "verify.json"}) {
    for (const char* content : {"{\"schema\": ", "[]", "{\"schema\": \"hone.other/9\"}", ""}) {
      folder.build("c", Arm::with_skill, 0, "correct");
      storage::write_atomically(folder.trial("c", Arm::with_skill, 0) / file, content);
      const Trial t = only();
      EXPECT_EQ(t.outcome, kInfrastructureError) << file << " " << content;
      EXPECT_THAT(t.evidence, HasSubstr(file));
    }
  }
}

TEST_F(CollectTest, AnUnknownOutcomeIsNotTakenForAnAnswer) {
  folder.add_text_case("c");
  folder.judge("c", Arm::with_skill, 0, "splendid");
  EXPECT_EQ(only().outcome, kInfrastructureError);
  EXPECT_THAT(only().evidence, HasSubstr("verify.json: unknown outcome 'splendid'"));
  folder.respond("c", Arm::with_skill, 0, "");
  EXPECT_THAT(only().evidence, HasSubstr("response.json: unknown outcome ''"));
}

TEST_F(CollectTest, BrokenTimingsLeaveTheVerdictAlone) {
  folder.add_kernel_case("c", "gelu");
  folder.build("c", Arm::with_skill, 0, "correct");
  storage::write_atomically(folder.trial("c", Arm::with_skill, 0) / "bench.json", "{");
  const Trial t = only();
  EXPECT_TRUE(t.passed());
  EXPECT_FALSE(t.time_ns);
  EXPECT_THAT(t.bench_problem, HasSubstr("bench.json"));
}

TEST_F(CollectTest, WrongTypesCountAsAbsent) {
  folder.add_kernel_case("c", "gelu");
  folder.respond("c", Arm::with_skill, 0);
  const auto dir = folder.trial("c", Arm::with_skill, 0);
  storage::write_json(dir / "response.json", {{"schema", "hone.response/1"},
                                              {"outcome", "answered"},
                                              {"usage", {{"input", "many"}, {"output", 1e300}}},
                                              {"seconds", "long"}});
  storage::write_json(dir / "build.json", {{"schema", "hone.build/1"},
                                           {"outcome", "built"},
                                           {"kernels", {1, {{"registers", nullptr}}}}});
  storage::write_json(dir / "verify.json",
                      {{"schema", "hone.verify/1"}, {"outcome", "correct"}, {"device", 3}});
  storage::write_json(dir / "bench.json",
                      {{"schema", "hone.bench/1"},
                       {"outcome", "benchmarked"},
                       {"benchmarks", {1, {{"name", 2}, {"real_time", "fast"}}}}});
  const Trial t = only();
  EXPECT_TRUE(t.passed());
  EXPECT_EQ(t.usage.input, std::nullopt);
  EXPECT_EQ(t.usage.output, std::nullopt);
  EXPECT_EQ(t.kernels.size(), 1u);
  EXPECT_FALSE(t.time_ns);
}

}  // namespace
}  // namespace hone::report
