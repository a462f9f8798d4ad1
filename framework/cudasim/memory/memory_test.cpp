#include "cudasim/memory/memory.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace cudasim {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;

TEST(DeviceMemory, FreshDeviceMemoryIsNotZero) {
  DeviceMemory memory(256 * kMiB);
  for (const std::uint64_t size : {kMiB / 1024, kMiB, 40 * kMiB}) {
    const std::uint64_t base = memory.allocate(size, RegionKind::device);
    ASSERT_NE(base, 0u);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(base);
    EXPECT_EQ(bytes[0], DeviceMemory::kFreshByte);
    EXPECT_EQ(bytes[size - 1], DeviceMemory::kFreshByte);
  }
  const std::uint64_t managed = memory.allocate(8, RegionKind::managed);
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(managed), 0u);
}

TEST(DeviceMemory, BasesAreAlignedAndApart) {
  DeviceMemory memory(kMiB);
  const std::uint64_t a = memory.allocate(100, RegionKind::device);
  const std::uint64_t b = memory.allocate(100, RegionKind::device);
  EXPECT_EQ(a % 256, 0u);
  EXPECT_GE(b - a, 4096u + 100u);
}

TEST(DeviceMemory, FindIsExactAtBothEnds) {
  DeviceMemory memory(kMiB);
  const std::uint64_t base = memory.allocate(10000, RegionKind::device);
  EXPECT_EQ(memory.find(base - 1), nullptr);
  ASSERT_NE(memory.find(base), nullptr);
  EXPECT_EQ(memory.find(base + 9999), memory.find(base));
  EXPECT_EQ(memory.find(base + 10000), nullptr);
  EXPECT_EQ(memory.find(0), nullptr);
  EXPECT_EQ(memory.find(~0ULL), nullptr);
}

TEST(DeviceMemory, FreeTellsDoubleAndInvalidFrees) {
  DeviceMemory memory(kMiB);
  const std::uint64_t base = memory.allocate(16, RegionKind::device);
  EXPECT_EQ(memory.free(base + 4), FreeStatus::invalid_free);
  EXPECT_EQ(memory.free(base), FreeStatus::freed);
  EXPECT_EQ(memory.free(base), FreeStatus::double_free);
  EXPECT_EQ(memory.find(base), nullptr);
  EXPECT_EQ(memory.locate(base + 4).where, Location::Where::after_free);
}

TEST(DeviceMemory, LocateNamesTheNearestAllocation) {
  DeviceMemory memory(kMiB);
  const std::uint64_t base = memory.allocate(1024, RegionKind::device, "x");
  const Location above = memory.locate(base + 1024 + 3);
  EXPECT_EQ(above.where, Location::Where::above);
  EXPECT_EQ(above.distance, 3u);
  EXPECT_NE(above.text().find("3 bytes past the end of the 1024-byte device allocation #1"),
            std::string::npos)
      << above.text();
  EXPECT_EQ(memory.locate(8).where, Location::Where::nowhere);
  int on_the_stack = 0;
  EXPECT_EQ(memory.locate(reinterpret_cast<std::uint64_t>(&on_the_stack)).where,
            Location::Where::nowhere);
}

TEST(DeviceMemory, LimitIsKeptAndFreedBytesComeBack) {
  DeviceMemory memory(kMiB);
  const std::uint64_t a = memory.allocate(kMiB - 10, RegionKind::device);
  EXPECT_NE(a, 0u);
  EXPECT_EQ(memory.allocate(11, RegionKind::device), 0u);
  EXPECT_EQ(memory.allocate(~0ULL, RegionKind::device), 0u);
  memory.free(a);
  EXPECT_NE(memory.allocate(kMiB, RegionKind::device), 0u);
}

TEST(DeviceMemory, ReusesTheOldestRangesWhenTheArenaIsFull) {
  DeviceMemory memory(1ULL << 40);
  const std::uint64_t size = 20ULL << 30;
  for (int i = 0; i < 32; ++i) {
    const std::uint64_t base = memory.allocate(size, RegionKind::managed);
    ASSERT_NE(base, 0u) << i;
    *reinterpret_cast<std::uint64_t*>(base + size - 8) = 1;
    ASSERT_NE(memory.find(base + size - 1), nullptr);
    ASSERT_EQ(memory.free(base), FreeStatus::freed);
  }
}

TEST(DeviceMemory, RegisteredHostMemoryIsFound) {
  DeviceMemory memory(kMiB);
  std::vector<int> host(100);
  const auto base = reinterpret_cast<std::uint64_t>(host.data());
  EXPECT_EQ(memory.find(base), nullptr);
  EXPECT_TRUE(memory.add_host_range(host.data(), 400));
  EXPECT_FALSE(memory.add_host_range(host.data() + 1, 4));
  ASSERT_NE(memory.find(base + 399), nullptr);
  EXPECT_EQ(memory.find(base + 400), nullptr);
  EXPECT_EQ(memory.free(base), FreeStatus::wrong_kind);
  EXPECT_EQ(memory.remove_host_range(host.data()), FreeStatus::freed);
  EXPECT_EQ(memory.find(base), nullptr);
}

TEST(DeviceMemory, ManyThreadsAllocateAndFind) {
  DeviceMemory memory(64 * kMiB);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&memory] {
      for (int i = 0; i < 500; ++i) {
        const std::uint64_t base = memory.allocate(64, RegionKind::device_heap);
        ASSERT_NE(memory.find(base + 63), nullptr);
        ASSERT_EQ(memory.free(base), FreeStatus::freed);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(memory.live_bytes(), 0u);
}

}  // namespace
}  // namespace cudasim
