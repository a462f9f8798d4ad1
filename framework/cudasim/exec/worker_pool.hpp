#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cudasim {

/// Host threads that run blocks, kept from launch to launch.
class WorkerPool {
 public:
  static WorkerPool& get();

  /// Runs work(0) on the calling thread and work(1) … work(n - 1) on others, and returns when all
  /// that began have ended. One that no thread has begun when work(0) ends is left out: the calling
  /// thread has found nothing more to do. While another launch has the pool, threads are made.
  void run(unsigned n, const std::function<void(unsigned)>& work);

  /// How many threads it keeps.
  unsigned threads();

  /// Ends the idle threads, when the library is unloaded.
  void stop();

 private:
  void serve();

  std::mutex launch_;  ///< held by the launch that has the pool
  std::mutex mutex_;   ///< guards the rest
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  const std::function<void(unsigned)>* work_ = nullptr;
  unsigned next_ = 0, end_ = 0, running_ = 0;
  int owner_ = 0;  ///< process that made the threads
  bool stop_ = false;
};

}  // namespace cudasim
