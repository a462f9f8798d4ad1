#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "cudasim/exec/machine.hpp"

namespace cudasim {

/// Runs its share of a launch's clusters on one host thread.
class BlockScheduler {
 public:
  explicit BlockScheduler(LaunchState& launch);
  ~BlockScheduler();
  BlockScheduler(const BlockScheduler&) = delete;
  BlockScheduler& operator=(const BlockScheduler&) = delete;
  void run();
  Worker& worker() { return worker_; }

 private:
  enum class Outcome { done, spinning, stopped };
  bool start_next();
  /// Starts the next cluster in the memory of an ended one, or in new memory; false: none is left.
  bool start_in(std::unique_ptr<Cluster>& cluster);
  /// The cluster that starts as the number-th one.
  std::uint64_t place_in_order(std::uint64_t number) const;
  std::unique_ptr<Cluster> make_cluster();
  void start(Cluster& cluster, std::uint64_t number);
  Outcome run_cluster(Cluster& cluster);
  bool watchdog();
  void fill(std::uint8_t* regs, std::uint32_t slot, std::uint32_t value);

  LaunchState& launch_;
  Worker worker_;
  std::deque<std::unique_ptr<Cluster>> resident_;
  std::vector<std::unique_ptr<Cluster>> spare_;
};

}  // namespace cudasim
