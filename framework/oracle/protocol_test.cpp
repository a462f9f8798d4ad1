#include "oracle/protocol.hpp"

#include <gtest/gtest.h>

namespace hone::oracle::protocol {
namespace {

Call sample_call() {
  Call call;
  call.guard_bytes = 256;
  call.guard_byte = 0xA5;
  call.fresh_buffers = true;
  call.arguments = {Value{42}, Buffer{4, 8, 0xFF, ""}, Buffer{4, 0, 0, "abcd"}};
  return call;
}

Returned sample_returned() {
  Returned returned;
  returned.sync_error = 700;
  returned.error_text = "cudaErrorIllegalAddress";
  returned.device_ms = 1.5;
  returned.host_ns = 99;
  returned.late = 1;
  returned.threads = 2;
  returned.counters = "{}";
  returned.findings = "[]";
  returned.buffers = {std::string("\0\1\2", 3), ""};
  return returned;
}

TEST(Protocol, LoadSurvivesTheTrip) {
  const Load load{
      "/x/lib.so",
      {"f", {{"x", Role::input, Element::float32}, {"n", Role::scalar, Element::int64}}}};
  const auto copy = decode_load(encode(load));
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->library, load.library);
  EXPECT_EQ(copy->signature.entry, "f");
  ASSERT_EQ(copy->signature.parameters.size(), 2u);
  EXPECT_EQ(copy->signature.parameters[1].name, "n");
  EXPECT_EQ(copy->signature.parameters[1].element, Element::int64);
}

TEST(Protocol, CallSurvivesTheTrip) {
  const auto copy = decode_call(encode(sample_call()));
  ASSERT_TRUE(copy);
  EXPECT_TRUE(copy->fresh_buffers);
  ASSERT_EQ(copy->arguments.size(), 3u);
  EXPECT_EQ(std::get<Value>(copy->arguments[0]).bits, 42u);
  EXPECT_EQ(std::get<Buffer>(copy->arguments[1]).lead, 8u);
  EXPECT_EQ(std::get<Buffer>(copy->arguments[1]).poison, 0xFF);
  EXPECT_EQ(std::get<Buffer>(copy->arguments[2]).content, "abcd");
}

TEST(Protocol, ReturnedSurvivesTheTrip) {
  const auto copy = decode_returned(encode(sample_returned()));
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->sync_error, 700);
  EXPECT_EQ(copy->device_ms, 1.5);
  EXPECT_EQ(copy->late, 1);
  EXPECT_EQ(copy->findings, "[]");
  EXPECT_EQ(copy->threads, 2u);
  EXPECT_EQ(copy->buffers, sample_returned().buffers);
}

TEST(Protocol, ACutOrPaddedMessageIsRefused) {
  const std::string whole = encode(sample_returned());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_returned(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_returned(whole + "x"));
}

TEST(Protocol, LengthsThatCannotBeAreRefused) {
  std::string bytes = encode(sample_returned());
  // The count of buffers, 8 + 3 + 8 + 0 + 8 bytes before the end, becomes huge.
  for (std::size_t i = 0; i < 8; ++i) bytes[bytes.size() - 27 + i] = '\xff';
  EXPECT_FALSE(decode_returned(bytes));
}

TEST(Protocol, AFrameStartsWithItsHeader) {
  const std::string bytes = frame(Kind::call, sample_call());
  EXPECT_EQ(bytes.substr(0, 4), "HONE");
  EXPECT_EQ(bytes.size(), sizeof(Header) + encode(sample_call()).size());
}

}  // namespace
}  // namespace hone::oracle::protocol
