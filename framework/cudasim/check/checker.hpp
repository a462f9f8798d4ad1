#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cudasim/check/access.hpp"
#include "cudasim/check/finding.hpp"
#include "cudasim/check/init_shadow.hpp"
#include "cudasim/check/options.hpp"
#include "cudasim/check/race.hpp"
#include "cudasim/check/shared_bounds.hpp"
#include "cudasim/check/stream_race.hpp"
#include "cudasim/exec/observer.hpp"

namespace cudasim {

/// What the checks keep of a warp besides the race detector's part.
struct CheckedWarp {
  bool skipping = false;             ///< a refused access is skipped and the run goes on
  bool tainted = false;              ///< some register may hold an uninitialised value
  std::uint32_t origin_pc = 0;       ///< the latest load of one …
  std::uint64_t origin_address = 0;  ///< … and where it read
  std::map<const Frame*, std::vector<std::uint32_t>> taint;
};

struct CheckedBlock : RaceBlock {
  struct Arrival {
    unsigned warp = 0;
    std::uint32_t lanes = 0, pc = 0;
  };
  std::vector<CheckedWarp> checked;
  std::unique_ptr<InitShadow> shared_init, local_init;
  std::uint64_t init_base = 1, init_end = 0;  ///< global memory looked at last …
  InitShadow* init = nullptr;                 ///< … and its shadow
  std::array<std::vector<Arrival>, 16> arrivals;
  std::array<std::uint32_t, 16> arrived{};
};

/// Runs kernels under the checks: looks at their memory and synchronisation operations and adds
/// what is wrong to `findings`. One launch at a time.
class Checker final : public Observer {
 public:
  /// Accesses that are recorded and skipped in one launch before a fault stops it.
  static constexpr std::uint64_t kMostSkipped = 100'000;

  Checker(Checks checks, Findings& findings);
  ~Checker() override;

  const Op* begin(LaunchState& launch) override;
  void end(LaunchState& launch) override;
  void block_created(Block& block) override;
  void block_destroyed(Block& block) override;
  void cluster_started(Cluster& cluster) override;
  void warp_synced(Warp& warp, std::uint32_t lanes) override;
  void barrier_arrived(Warp& warp, std::uint32_t lanes, unsigned id, std::uint32_t expected,
                       bool waits) override;
  void barrier_completed(Block& block, unsigned id, bool whole_block) override;
  void cluster_arrived(Warp& warp, std::uint32_t lanes) override;
  void cluster_completed(Cluster& cluster) override;
  void frame_pushed(Warp& warp, Frame& callee, std::uint32_t lanes) override;
  void frame_popped(Warp& warp, Frame& callee, std::uint32_t lanes) override;
  void builtin_returned(Warp& warp, const Extra& call, std::uint32_t lanes) override;
  bool fault(const Warp& warp, FaultKind kind, const std::string& message, unsigned lane,
             std::uint64_t address) override;

  /// Marks memory that the host wrote (copies, fills) or that a device copy moved.
  static void host_wrote(const DeviceMemory& memory, const void* to, std::uint64_t bytes);
  static void host_copied(const DeviceMemory& memory, const void* to, const void* from,
                          std::uint64_t bytes);

  /// Where the work that is done from now on stands in the order of streams.
  void set_order(StreamOrder order) { order_ = std::move(order); }
  /// A copy or fill reads or writes memory (racecheck).
  void host_touched(const DeviceMemory& memory, const void* at, std::uint64_t bytes, bool write);

  bool has(Check check) const { return checks_.has(check); }

 private:
  friend struct Observing;
  friend class Taint;
  /// A program with its operations replaced.
  struct Instrumented {
    std::shared_ptr<const void> keep;
    std::vector<Op> code;
    std::vector<Access> access;
    std::vector<SharedBound> bounds;  ///< empty without memcheck
  };
  void instrument(Instrumented& made, const Program& program) const;
  Place place(std::uint64_t block, unsigned warp, unsigned lane, std::uint32_t pc,
              std::string access) const;
  void describe_address(std::uint64_t address, const Block& block, Finding& finding) const;
  /// Adds a finding of a launch; repeated ones are cheap.
  void add(Check check, const char* kind, bool warning, const Warp& warp, unsigned lane,
           std::uint32_t pc, const std::string& message, std::uint64_t address, std::string access);
  void add_race(const Warp& warp, const Race& race);
  void uninitialized(Warp& warp, std::uint32_t lanes, std::uint32_t pc, const char* what,
                     std::uint64_t address);
  void check_members(Warp& warp, const Op& op, std::uint8_t* r, std::uint32_t mask);
  InitShadow* init_shadow(const Warp& warp, std::uint64_t address, std::uint64_t& end,
                          bool& global) const;

  Checks checks_;
  Findings& findings_;
  RaceDetector races_;
  std::unordered_map<const Program*, std::unique_ptr<Instrumented>> programs_;
  StreamOrder order_;
  LaunchState* launch_ = nullptr;
  const Instrumented* current_ = nullptr;
  std::uint64_t skipped_ = 0;
  mutable std::mutex mutex_;
  struct Noted {
    Finding finding;
    std::uint64_t count = 0;
  };
  std::map<std::tuple<unsigned, std::string, std::uint32_t, std::uint32_t>, Noted> noted_;
};

}  // namespace cudasim
