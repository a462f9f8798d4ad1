#include "oracle/verifier.hpp"

#include <gmock/gmock.h>

#include <map>
#include <vector>

#include "oracle/host_candidate.hpp"

namespace hone::oracle {
namespace {

using testing::HasSubstr;

ShapeResult verified(HostCandidate& candidate, std::int64_t n, std::uint64_t seed = 1) {
  const Operation operation = doubling();
  return Verifier(operation, candidate, seed, 64).verify(shapes_1d({n})[0]);
}

TEST(Verifier, ARightCandidateIsCalledWithEveryFamilyOnSmallShapes) {
  HostCandidate candidate(double_right);
  const ShapeResult small = verified(candidate, 33);
  EXPECT_TRUE(small.finding.correct()) << small.finding.evidence;
  EXPECT_EQ(small.shape, "n=33");
  EXPECT_EQ(small.calls, 6) << "normal new, again, touched, at new pointers; zeros; ones";
  EXPECT_EQ(verified(candidate, 5000).calls, 4);
}

TEST(Verifier, CandidatesThatDoNoHonestWorkFail) {
  std::map<std::string, HostCandidate::Body> nulls;
  nulls["zeros"] = [](float*, float* y, int n, auto&) { std::fill_n(y, n, 0.0f); };
  nulls["constant"] = [](float*, float* y, int n, auto&) { std::fill_n(y, n, 1.0f); };
  nulls["copy"] = [](float* x, float* y, int n, auto&) { std::copy_n(x, n, y); };
  nulls["no-op"] = [](auto...) {};
  nulls["replay of the first output"] = [kept = std::vector<float>()](float* x, float* y, int n,
                                                                      auto& reply) mutable {
    if (kept.empty()) {
      double_right(x, y, n, reply);
      kept.assign(y, y + n);
    }
    std::copy(kept.begin(), kept.end(), y);
  };
  // Kept from an earlier call whose data look alike, as far as it looks.
  nulls["cache by the first element"] = [kept = std::map<float, std::vector<float>>()](
                                            float* x, float* y, int n, auto& reply) mutable {
    std::vector<float>& output = kept[x[0]];
    if (output.empty()) {
      double_right(x, y, n, reply);
      output.assign(y, y + n);
    }
    std::copy(output.begin(), output.end(), y);
  };
  nulls["relies on the output's old content"] = [](float* x, float* y, int n, auto& reply) {
    const float before = y[0];
    double_right(x, y, n, reply);
    if (before > 0) y[0] = before;
  };
  for (const auto& [name, body] : nulls) {
    HostCandidate candidate(body);
    EXPECT_EQ(verified(candidate, 33).finding.outcome, Outcome::wrong) << name;
  }
}

TEST(Verifier, StopsAtTheFirstFailureAndNamesTheInputs) {
  HostCandidate candidate([](auto...) {});
  const ShapeResult result = verified(candidate, 33);
  EXPECT_EQ(candidate.calls, 1);
  EXPECT_THAT(result.finding.evidence, HasSubstr("(call 1: normal, new pointers)"));
}

TEST(Verifier, CallsTryWhatACandidateMayHaveKept) {
  std::vector<std::vector<float>> data;
  HostCandidate candidate([&](float* x, float* y, int n, auto& reply) {
    double_right(x, y, n, reply);
    data.emplace_back(x, x + n);
  });
  ASSERT_TRUE(verified(candidate, 33).finding.correct());
  ASSERT_GE(data.size(), 4u);
  int different = 0;
  for (std::size_t i = 0; i < 33; ++i) different += data[1][i] != data[2][i];
  EXPECT_EQ(different, 1) << "one element changed";
  EXPECT_EQ(data[2], data[3]) << "the same data, at new pointers";
  EXPECT_NE(data[0], data[1]);
}

TEST(Verifier, AddressesAreAlignedAsPromisedAndNoBetterOnce) {
  Operation operation = doubling();
  operation.alignment = sizeof(float);
  std::vector<std::vector<std::uint32_t>> leads;
  HostCandidate* self = nullptr;
  HostCandidate candidate([&](float* x, float* y, int n, auto& reply) {
    leads.push_back(self->leads);
    double_right(x, y, n, reply);
  });
  self = &candidate;
  const ShapeResult result = Verifier(operation, candidate, 1, 64).verify(shapes_1d({5000})[0]);
  EXPECT_TRUE(result.finding.correct()) << result.finding.evidence;
  EXPECT_EQ(leads.front(), (std::vector<std::uint32_t>{64, 64}));
  EXPECT_EQ(leads.back(), (std::vector<std::uint32_t>{68, 72}));
}

TEST(Verifier, AGuardBandBeforeAShiftedBufferIsWatched) {
  Operation operation = doubling();
  operation.alignment = sizeof(float);
  HostCandidate candidate([](float* x, float* y, int n, auto& reply) {
    double_right(x, y, n, reply);
    if (reinterpret_cast<std::uintptr_t>(y) % 16 != 0) y[-1] = 0;
  });
  const ShapeResult result = Verifier(operation, candidate, 1, 0).verify(shapes_1d({33})[0]);
  EXPECT_EQ(result.finding.outcome, Outcome::memory_fault);
  EXPECT_THAT(result.finding.evidence, HasSubstr("shifted addresses"));
}

TEST(Verifier, LaunchesAreCountedByKernel) {
  HostCandidate candidate([](float* x, float* y, int n, auto& reply) {
    double_right(x, y, n, reply);
    reply.counters = R"({"total": {"launches": 3},
        "kernels": [{"name": "first", "launches": 1}, {"name": "second", "launches": 2}, 7]})";
  });
  Record record;
  record.shapes = {verified(candidate, 33), verified(candidate, 1)};
  const storage::Json json = record.to_json();
  EXPECT_EQ(json["kernels"]["first"], record.shapes[0].calls + record.shapes[1].calls);
  EXPECT_EQ(json["kernels"]["second"], 2 * (record.shapes[0].calls + record.shapes[1].calls));
}

TEST(Verifier, TheSeedDecidesTheData) {
  const auto first_value = [](std::uint64_t seed) {
    float value = 0;
    HostCandidate candidate([&](float* x, auto...) { value = x[0]; });
    verified(candidate, 33, seed);
    return value;
  };
  EXPECT_EQ(first_value(1), first_value(1));
  EXPECT_NE(first_value(1), first_value(2));
}

TEST(Record, SaysTheFirstFailureWhateverFollows) {
  Record record;
  record.seed = 5;
  record.device = "cudasim";
  EXPECT_EQ(record.verdict().outcome, Outcome::infrastructure_error) << "nothing was run";
  record.shapes = {{.shape = "n=1", .finding = {}}};
  EXPECT_TRUE(record.verdict().correct());
  record.shapes.push_back({.shape = "n=2", .finding = {Outcome::wrong, "y[0]"}});
  record.shapes.push_back({.shape = "n=3", .finding = {Outcome::crashed, "SIGSEGV"}});
  EXPECT_EQ(record.verdict().outcome, Outcome::wrong);
  EXPECT_EQ(record.verdict().evidence, "n=2: y[0]");
  const storage::Json json = record.to_json();
  EXPECT_EQ(json["schema"], "hone.verify/1");
  EXPECT_EQ(json["outcome"], "wrong");
  EXPECT_EQ(json["shapes"].size(), 3u);
  EXPECT_EQ(json["shapes"][2]["outcome"], "crashed");
  record.shapes.push_back({.shape = "n=4", .finding = {Outcome::infrastructure_error, "disk"}});
  EXPECT_EQ(record.verdict().outcome, Outcome::wrong)
      << "a candidate that was found wrong could bring the rest about";
  record.shapes = {{.shape = "n=1", .finding = {Outcome::infrastructure_error, "disk"}}};
  EXPECT_EQ(record.verdict().outcome, Outcome::infrastructure_error);
}

}  // namespace
}  // namespace hone::oracle
