#include "cudasim/exec/worker_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <set>

namespace cudasim {
namespace {

TEST(WorkerPool, RunsEachPartOnceOnItsOwnThread) {
  std::barrier all(4);  // so that no part can be left out
  std::mutex mutex;
  std::set<unsigned> parts;
  std::set<std::thread::id> threads;
  const std::thread::id caller = std::this_thread::get_id();
  WorkerPool::get().run(4, [&](unsigned i) {
    all.arrive_and_wait();
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(parts.insert(i).second);
    EXPECT_TRUE(threads.insert(std::this_thread::get_id()).second);
    EXPECT_EQ(i == 0, std::this_thread::get_id() == caller);
  });
  EXPECT_EQ(parts, (std::set<unsigned>{0, 1, 2, 3}));
}

TEST(WorkerPool, KeepsItsThreads) {
  WorkerPool::get().run(3, [](unsigned) {});
  const unsigned kept = WorkerPool::get().threads();
  for (int i = 0; i < 100; ++i) WorkerPool::get().run(3, [](unsigned) {});
  EXPECT_EQ(WorkerPool::get().threads(), kept);
  EXPECT_GE(kept, 2u);
}

TEST(WorkerPool, WhatBeganHasEndedWhenRunReturns) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> inside{0};
    WorkerPool::get().run(3, [&](unsigned i) {
      ++inside;
      if (i != 0) std::this_thread::yield();
      --inside;
    });
    EXPECT_EQ(inside, 0);
  }
}

TEST(WorkerPool, TwoLaunchesAtOnce) {
  std::barrier both(4);  // two parts each: all four run at the same time
  const auto launch = [&] { WorkerPool::get().run(2, [&](unsigned) { both.arrive_and_wait(); }); };
  std::jthread other(launch);
  launch();
}

}  // namespace
}  // namespace cudasim
