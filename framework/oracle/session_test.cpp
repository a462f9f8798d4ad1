#include "oracle/session.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "diagnostic/diagnostic.hpp"

// Real candidate processes on cudasim. BREAKS_DIR holds a library of each kind of misbehaving.cpp.

namespace hone::oracle {
namespace {

using testing::HasSubstr;

extern "C" int entry(float* y, int n, CUstream_st* stream);

Session session_of(const std::string& kind, double seconds = 10) {
  SessionOptions options;
  options.library = std::string(BREAKS_DIR) + "/libbreaks_" + kind + ".so";
  options.installation = Installation::find(Device::sim, CANDIDATE, CUDASIM_DIR);
  options.call_seconds = seconds;
  return Session(options, Signature::of<decltype(entry)>("entry", {"y", "n", "stream"}));
}

struct Answer {
  Finding finding;
  protocol::Returned returned;
};

Answer call(Session& session) {
  protocol::Call request;
  request.arguments = {protocol::Buffer{64, 0, 0xEE, ""}, protocol::Value{16}};
  Answer answer;
  answer.finding = session.call(request, answer.returned);
  return answer;
}

TEST(Session, BringsTheBytesBack) {
  Session session = session_of("nothing");
  for (int i = 0; i < 3; ++i) {
    const Answer answer = call(session);
    ASSERT_TRUE(answer.finding.correct()) << answer.finding.evidence;
    ASSERT_EQ(answer.returned.buffers.size(), 1u);
    EXPECT_EQ(answer.returned.buffers[0], std::string(64, '\xEE'));
    EXPECT_EQ(answer.returned.entry_error, 0);
    EXPECT_THAT(answer.returned.counters, HasSubstr("\"launches\": 0"));
  }
  EXPECT_EQ(session.device_name(), "cudasim (model of H100 SXM5)");
  EXPECT_NE(session.tier(), "");
}

TEST(Session, TellsHowACandidateBrokeOff) {
  const std::map<std::string, std::pair<Outcome, std::string>> expected = {
      {"exit_on_load", {Outcome::crashed, "exited with code 0"}},
      {"exit", {Outcome::crashed, "exited with code 0"}},
      {"abort", {Outcome::crashed, "SIGABRT"}},
      {"segv", {Outcome::crashed, "SIGSEGV"}},
      {"throw", {Outcome::crashed, "SIGABRT"}},
      {"no_entry", {Outcome::compile_error, "does not define entry"}},
      {"mangled", {Outcome::compile_error, "extern \"C\" is missing"}},
      {"garbage", {Outcome::compile_error, "cannot be loaded"}},
  };
  std::ofstream(std::string(BREAKS_DIR) + "/libbreaks_garbage.so") << "no library";
  for (const auto& [kind, want] : expected) {
    Session session = session_of(kind);
    const Answer answer = call(session);
    EXPECT_EQ(name_of(answer.finding.outcome), name_of(want.first)) << kind;
    EXPECT_THAT(answer.finding.evidence, HasSubstr(want.second)) << kind;
  }
}

TEST(Session, ACandidateThatHangsIsATimeout) {
  Session session = session_of("hang", 0.3);
  const Answer answer = call(session);
  EXPECT_EQ(answer.finding.outcome, Outcome::timeout);
}

TEST(Session, WhatItPrintsIsNoMessage) {
  Session session = session_of("print");
  const Answer answer = call(session);
  EXPECT_TRUE(answer.finding.correct()) << answer.finding.evidence;
}

TEST(Session, AForgedFrameIsACrashNotAVerdict) {
  Session session = session_of("forge");
  EXPECT_EQ(call(session).finding.outcome, Outcome::crashed);
}

TEST(Session, AFreshProcessFollowsAFailure) {
  Session session = session_of("error");
  for (int i = 0; i < 2; ++i) {
    const Answer answer = call(session);
    EXPECT_TRUE(answer.finding.correct()) << answer.finding.evidence;
    EXPECT_EQ(answer.returned.entry_error, 1);
    EXPECT_THAT(answer.returned.error_text, HasSubstr("cudaErrorInvalidValue"));
  }
}

TEST(Installation, NamesWhatIsMissing) {
  EXPECT_THROW(Installation::find(Device::sim, "/nonexistent/candidate", ""), hone::Error);
  EXPECT_THROW(Installation::find(Device::sim, CANDIDATE, "/nonexistent"), hone::Error);
  EXPECT_THROW(resolve_device("tpu"), hone::Error);
}

}  // namespace
}  // namespace hone::oracle
