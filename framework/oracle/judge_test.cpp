#include "oracle/judge.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "oracle/host_candidate.hpp"

namespace hone::oracle {
namespace {

using testing::HasSubstr;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Finding judged(const HostCandidate::Body& body, int n = 8) {
  const Operation operation = doubling();
  Inputs inputs(1, Family::normal);
  const Problem problem = operation.make(shapes_1d({n})[0], inputs);
  const CallPlan plan{.guard_bytes = 64};
  HostCandidate candidate(body);
  protocol::Returned returned;
  candidate.call(make_call(operation, problem, plan), returned);
  return judge(operation, problem, operation.reference(problem), plan, returned).finding;
}

TEST(Judge, ARightCandidateIsCorrect) { EXPECT_EQ(judged(double_right).outcome, Outcome::correct); }

TEST(Judge, NothingWrittenIsWrongAtTheFirstIndex) {
  const Finding finding = judged([](auto...) {});
  EXPECT_EQ(finding.outcome, Outcome::wrong);
  EXPECT_THAT(finding.evidence, HasSubstr("y[0] is as it was before the call, expected"));
  EXPECT_THAT(finding.evidence, HasSubstr("8 of 8 values are off"));
}

TEST(Judge, OneWrongValueIsNamed) {
  const Finding finding = judged([](float* x, float* y, int n, auto& reply) {
    double_right(x, y, n, reply);
    y[5] += 1;
  });
  EXPECT_EQ(finding.outcome, Outcome::wrong);
  EXPECT_THAT(finding.evidence, HasSubstr("y[5] is"));
  EXPECT_THAT(finding.evidence, HasSubstr("1 of 8"));
}

TEST(Judge, AChangedInputIsWrongThoughTheOutputAgrees) {
  const Finding finding = judged([](float* x, float* y, int n, auto& reply) {
    double_right(x, y, n, reply);
    x[3] = 0;
  });
  EXPECT_EQ(finding.outcome, Outcome::wrong);
  EXPECT_THAT(finding.evidence, HasSubstr("input x was modified, first at index 3"));
}

TEST(Judge, WorkThatGoesOnAfterTheWaitIsASyncFault) {
  const Finding finding = judged([](float* x, float* y, int n, auto& reply) {
    double_right(x, y, n, reply);
    reply.late = 1;
  });
  EXPECT_EQ(finding.outcome, Outcome::sync_fault);
  EXPECT_THAT(finding.evidence, HasSubstr("y changed after the call's stream was waited for"));
}

TEST(Judge, WhatTheChecksFindDecidesThoughTheOutputAgrees) {
  const auto found = [](const std::string& check, const std::string& severity) {
    return judged([&](float* x, float* y, int n, auto& reply) {
      double_right(x, y, n, reply);
      reply.findings = R"([{"check": ")" + check + R"(", "severity": ")" + severity +
                       R"(", "message": "race on shared memory", "kernel": "k",
                       "at": {"access": "read", "thread": [1, 0, 0], "block": [0, 0, 0],
                              "file": "/tmp/a/kernel.cu", "line": 12},
                       "other": {"access": "write", "thread": [2, 0, 0], "block": [0, 0, 0]}}])";
    });
  };
  const Finding race = found("racecheck", "error");
  EXPECT_EQ(race.outcome, Outcome::race);
  EXPECT_EQ(race.evidence,
            "race on shared memory, in k; read by thread [1,0,0] of block [0,0,0] at kernel.cu:12; "
            "write by thread [2,0,0] of block [0,0,0]");
  EXPECT_EQ(found("synccheck", "error").outcome, Outcome::sync_fault);
  EXPECT_EQ(found("initcheck", "error").outcome, Outcome::memory_fault);
  EXPECT_EQ(found("memcheck", "error").outcome, Outcome::memory_fault);
  EXPECT_EQ(found("racecheck", "warning").outcome, Outcome::correct) << "the same value twice";
}

TEST(Judge, AThreadLeftBehindIsSuspicious) {
  const Finding finding = judged([](float* x, float* y, int n, auto& reply) {
    double_right(x, y, n, reply);
    reply.threads = 2;
  });
  EXPECT_EQ(finding.outcome, Outcome::suspicious);
  EXPECT_THAT(finding.evidence, HasSubstr("left 2 host thread(s) running"));
}

TEST(Judge, AWriteIntoAGuardBandIsAMemoryFault) {
  for (const int index : {-1, 8}) {
    const Finding finding = judged([&](float* x, float* y, int n, auto& reply) {
      double_right(x, y, n, reply);
      y[index] = 1;
    });
    EXPECT_EQ(finding.outcome, Outcome::memory_fault) << index;
    EXPECT_THAT(finding.evidence, HasSubstr("outside y")) << index;
  }
}

TEST(Judge, NoLaunchIsNoKernelEvenWithTheRightOutput) {
  const Finding finding = judged([](float* x, float* y, int n, auto& reply) {
    double_right(x, y, n, reply);
    reply.counters = R"({"total": {"launches": 0}})";
  });
  EXPECT_EQ(finding.outcome, Outcome::no_kernel);
}

TEST(Judge, ErrorsOfTheDeviceAreToldApart) {
  const auto with = [](auto set) {
    return judged([=](float* x, float* y, int n, auto& reply) {
             double_right(x, y, n, reply);
             set(reply);
           })
        .outcome;
  };
  using protocol::Returned;
  EXPECT_EQ(with([](Returned& r) { r.entry_error = 1; }), Outcome::launch_error);
  EXPECT_EQ(with([](Returned& r) { r.last_error = 9; }), Outcome::launch_error);
  EXPECT_EQ(with([](Returned& r) { r.sync_error = 700; }), Outcome::memory_fault);
  EXPECT_EQ(with([](Returned& r) { r.sync_error = 702; }), Outcome::timeout);
  EXPECT_EQ(with([](Returned& r) { r.setup_error = 2; }), Outcome::launch_error);
  EXPECT_EQ(with([](Returned& r) { r.fault = R"({"kind": "race", "message": "m"})"; }),
            Outcome::race);
  EXPECT_EQ(with([](Returned& r) { r.fault = R"({"kind": "illegal_address"})"; }),
            Outcome::memory_fault);
  EXPECT_EQ(with([](Returned& r) { r.fault = R"({"kind": "barrier_error"})"; }),
            Outcome::sync_fault);
  EXPECT_EQ(with([](Returned& r) { r.fault = R"({"kind": "illegal_instruction"})"; }),
            Outcome::infrastructure_error)
      << "what the simulator cannot do is not the candidate's fault";
  EXPECT_EQ(with([](Returned& r) { r.fault = "{broken"; }), Outcome::correct);
}

TEST(Judge, AFaultIsTold) {
  const Finding finding = judged([](auto, auto, auto, auto& reply) {
    reply.fault = R"json({"kind": "illegal_address",
        "message": "invalid read of 4 bytes at 0x7f00ab: 0 bytes past the end of x at 0xff",
        "kernel": "k(float*)", "block": [0,0,0], "thread": [8,0,0],
        "file": "/x/kernel.cu", "line": 12})json";
  });
  EXPECT_EQ(finding.evidence,
            "invalid read of 4 bytes: 0 bytes past the end of x, in k(float*), "
            "block [0,0,0], thread [8,0,0], at kernel.cu:12");
}

TEST(Judge, BuffersOfAnotherSizeAreACrash) {
  EXPECT_EQ(judged([](auto, auto, auto, auto& reply) { reply.buffers[1].pop_back(); }).outcome,
            Outcome::crashed);
  EXPECT_EQ(judged([](auto, auto, auto, auto& reply) { reply.buffers.clear(); }).outcome,
            Outcome::crashed);
}

Outcome compared(float got, double want) {
  Tensor tensor(Element::float32, 1);
  tensor.floats()[0] = got;
  return compare("y", tensor, {{want}, {1e-6}}, 0xEE).finding.outcome;
}

TEST(Compare, NanAndInfinityMatchInPlaceOnly) {
  EXPECT_EQ(compared(nan, double(nan)), Outcome::correct);
  EXPECT_EQ(compared(nan, 1), Outcome::wrong);
  EXPECT_EQ(compared(1, double(nan)), Outcome::wrong);
  EXPECT_EQ(compared(infinity, double(infinity)), Outcome::correct);
  EXPECT_EQ(compared(-infinity, double(infinity)), Outcome::wrong);
  EXPECT_EQ(compared(infinity, 1), Outcome::wrong);
  EXPECT_EQ(compared(infinity, 1e39), Outcome::correct) << "too large for float32";
  EXPECT_EQ(compared(3e38f, 1e39), Outcome::wrong);
}

TEST(Compare, TheErrorIsReported) {
  Tensor tensor(Element::float32, 2);
  tensor.floats()[0] = 1.5f;
  tensor.floats()[1] = 2;
  const Judgement judgement = compare("y", tensor, {{1.25, 2}, {0.5, 0.5}}, 0xEE);
  EXPECT_EQ(judgement.finding.outcome, Outcome::correct);
  EXPECT_DOUBLE_EQ(judgement.max_error, 0.25);
  EXPECT_DOUBLE_EQ(judgement.error_ratio, 0.5);
}

}  // namespace
}  // namespace hone::oracle
