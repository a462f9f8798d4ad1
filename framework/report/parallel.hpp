#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace hone::report {

/// Calls work(0) … work(count - 1), on all cores and in any order; throws the first exception again
/// once all have ended. Reading records is parsing, not waiting.
template <typename Work>
void for_each_index(size_t count, const Work& work) {
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const size_t workers = std::min({cores, size_t{8}, count / 16 + 1});
  std::atomic<size_t> next{0};
  std::exception_ptr first;
  std::mutex mutex;
  const auto run = [&] {
    for (size_t i; (i = next++) < count;) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < workers; ++i) threads.emplace_back(run);
    run();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace hone::report
