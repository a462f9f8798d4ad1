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
    seen.insert(x[0]);
    if (seen.size() == 4) y[0] = 0;
  });
  Timer timer(operation, candidate, Device::sim, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(timer.time(operation.bench_shapes[0]).finding.correct());
  }
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(timer.time(operation.bench_shapes[0]).finding.outcome, Outcome::wrong);
  EXPECT_THAT(timer.first_failure().evidence, HasSubstr("n=100: y[0]"));
}

TEST(Timing, ATimeThatCannotBeTrueIsSuspicious) {
  Operation operation = doubling();
  operation.cost = [](const Shape&) { return Cost{3.352e9, 0}; };  // 1 ms
  HostCandidate candidate([](float* x, float* y, int n, auto& reply) {
    double_right(x, y, n, reply);
    reply.device_ms = 0.49;
  });
  Timer timer(operation, candidate, Device::sim, 1);
  const Timing timing = timer.time(operation.bench_shapes[0]);
  EXPECT_EQ(timing.finding.outcome, Outcome::suspicious);
  EXPECT_THAT(timing.finding.evidence, HasSubstr("490 us is less than the hardware needs"));

  const Cost cost{3.352e9, 0};
  EXPECT_EQ(implausible(0.51e-3, 0.51e-3, cost, true), "");
  EXPECT_EQ(implausible(1e-3, 14e-3, cost, true), "");
  EXPECT_THAT(implausible(1e-3, 16e-3, cost, true), HasSubstr("the host waited 16 ms"));
  EXPECT_EQ(implausible(1e-3, 16e-3, cost, false), "") << "the simulator's time is a model's";
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
