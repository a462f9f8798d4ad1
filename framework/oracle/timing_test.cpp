#include "oracle/timing.hpp"

#include <gmock/gmock.h>

#include <set>

#include "oracle/host_candidate.hpp"

namespace hone::oracle {
namespace {

using testing::HasSubstr;

TEST(Timing, ShowsTheDevicesTimeBesideTheRoofline) {
  const Operation operation = doubling();
  HostCandidate candidate(double_right);
  Timer timer(operation, candidate, Device::sim, 1);
  const Timing timing = timer.time(operation.bench_shapes[0]);
  ASSERT_TRUE(timing.finding.correct()) << timing.finding.evidence;
  EXPECT_DOUBLE_EQ(timing.seconds, 0.5e-3);
  EXPECT_EQ(timing.counters.at("bytes"), 800);
  EXPECT_EQ(timing.counters.at("FLOPs"), 100);
  EXPECT_EQ(timing.counters.at("launches"), 1);
  EXPECT_NEAR(timing.counters.at("roofline_us"), 800 / 3.352e12 * 1e6, 1e-9);
  EXPECT_THAT(timing.label, HasSubstr("model bound"));
}

TEST(Timing, EachCallHasOtherDataAndIsVerified) {
  const Operation operation = doubling();
  std::set<float> seen;
  HostCandidate candidate([&](float* x, float* y, int n, auto& reply) {
    double_right(x, y, n, reply);
    if (!seen.insert(x[0]).second) y[0] = 0;
  });
  Timer timer(operation, candidate, Device::sim, 1);
  EXPECT_TRUE(timer.time(operation.bench_shapes[0]).finding.correct());
  EXPECT_TRUE(timer.time(operation.bench_shapes[0]).finding.correct());
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(timer.time(operation.bench_shapes[0]).finding.outcome, Outcome::wrong);
  EXPECT_THAT(timer.first_failure().evidence, HasSubstr("n=100: y[0]"));
}

TEST(Timing, TheLimiterIsNamed) {
  Timing timing{.finding = {}, .seconds = 0, .counters = {}, .label = "model bound"};
  add_simulated(R"({"total": {"launches": 2, "counters": {"global_load_sectors": 3,
                    "global_store_sectors": 4}},
                    "kernels": [{"limiter": "issue", "bound_ms": 1},
                                {"limiter": "DRAM", "bound_ms": 2, "occupancy": {"fraction": 0.5}}]
                    })",
                timing);
  EXPECT_EQ(timing.label, "model bound; limiter DRAM");
  EXPECT_EQ(timing.counters.at("sectors"), 7);
  EXPECT_EQ(timing.counters.at("launches"), 2);
  EXPECT_EQ(timing.counters.at("occupancy"), 0.5);
  for (const char* hostile : {"", "[]", "{\"total\": 3}", "{\"total\": {\"launches\": \"x\"}}"}) {
    add_simulated(hostile, timing);
  }
}

}  // namespace
}  // namespace hone::oracle
