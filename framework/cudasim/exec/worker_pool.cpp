#include "cudasim/exec/worker_pool.hpp"

#include <unistd.h>

#include <system_error>

namespace cudasim {

WorkerPool& WorkerPool::get() {
  // Never destroyed: a launch of another thread may outlive the static objects.
  static WorkerPool* const pool = new WorkerPool;
  static const struct AtUnload {
    ~AtUnload() { pool->stop(); }
  } at_unload;
  return *pool;
}

void WorkerPool::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || (work_ != nullptr && next_ < end_); });
    if (stop_) return;
    const auto* work = work_;
    const unsigned i = next_++;
    ++running_;
    lock.unlock();
    (*work)(i);
    lock.lock();
    if (--running_ == 0) done_.notify_all();
  }
}

void WorkerPool::run(unsigned n, const std::function<void(unsigned)>& work) {
  if (n <= 1) return work(0);
  const std::unique_lock launch(launch_, std::try_to_lock);
  if (!launch.owns_lock()) {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < n; ++i) threads.emplace_back(std::cref(work), i);
    return work(0);
  }
  {
    const std::lock_guard lock(mutex_);
    try {
      while (threads_.size() + 1 < n) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {  // fewer will do
    }
    owner_ = getpid();
    work_ = &work;
    next_ = 1;
    end_ = n;
  }
  wake_.notify_all();
  work(0);
  std::unique_lock lock(mutex_);
  work_ = nullptr;
  done_.wait(lock, [&] { return running_ == 0; });
}

unsigned WorkerPool::threads() {
  const std::lock_guard lock(mutex_);
  return static_cast<unsigned>(threads_.size());
}

void WorkerPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    // A child of fork() has none of the threads.
    if (running_ != 0 || owner_ != getpid()) return;
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

}  // namespace cudasim
