#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cudasim/exec/block_l1.hpp"
#include "cudasim/exec/launch.hpp"
#include "cudasim/exec/op.hpp"

namespace cudasim {

struct Block;
struct Worker;
struct LaunchState;

/// The pipe an instruction is counted under.
enum class Pipe : std::uint8_t {
  fp32,
  fp64,
  half,
  tensor,
  integer,
  sfu,
  convert,
  move,
  control,
  load,
  store,
  atomic,
  sync,
  shuffle,
  texture,
  other,
  count_,
};

/// What an operation needs beyond its fixed fields.
struct Extra {
  struct Argument {
    std::uint32_t caller_offset = 0, size = 0;  ///< in the caller's frame of local memory
  };
  std::vector<Argument> arguments, results;  ///< calls
  int routine = -1;                          ///< direct call
  std::string builtin;                       ///< vprintf, malloc …
  std::vector<std::uint32_t> targets;        ///< branch_indexed
  std::vector<std::int32_t> registers;       ///< long operand lists (mma)
  std::vector<std::int64_t> values;          ///< handler-defined
  std::string text;                          ///< message of unimplemented
};

/// What messages and counters need of an operation; beside the code to keep it small.
struct OpInfo {
  const Instruction* instruction = nullptr;
  const Function* function = nullptr;
  std::uint16_t elided = 0;  ///< moves and parameter loads before it that decoding folded away
  Pipe pipe = Pipe::other;
  std::uint16_t weight = 1;        ///< 0: helper of the next operation, not counted
  std::uint32_t flops = 0;         ///< per lane
  std::uint32_t tensor_flops = 0;  ///< per warp
  std::uint32_t tensor_work = 0;   ///< per warp: see Counters::tensor_work
  bool tensor_integer = false;
};

/// A function's place in the program.
struct Routine {
  const Function* function = nullptr;
  std::uint32_t entry = 0;
  std::uint32_t register_bytes = 0;
  std::uint32_t local_bytes = 0;  ///< frame in local memory
  std::uint32_t constants_offset = 0;
  std::vector<std::uint8_t> constants;  ///< image of the register file from constants_offset
  std::vector<std::uint32_t> param_offsets, param_sizes, result_offsets, result_sizes;
};

enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  laneid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  warpid,
  // the above never change for a warp slot, the following are set when a block starts
  ctaid_x,
  ctaid_y,
  ctaid_z,
  smid,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_ctarank,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  // constant for a launch
  ntid_x,
  ntid_y,
  ntid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  nwarpid,
  nsmid,
  gridid,
  dynamic_smem_size,
  total_smem_size,
  aggr_smem_size,
  reserved_smem_begin,
  reserved_smem_end,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_nctarank,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  is_explicit_cluster,
  envreg,
  zero,
  count_,
};

/// A kernel and everything it may call, decoded.
struct Program {
  struct ParamFold {
    std::uint32_t slot, param_offset;
    std::uint8_t bytes, slot_bytes;
    bool sign;
  };
  struct SpecialSlot {
    Special special;
    std::uint32_t slot;
    std::uint32_t argument;  ///< envreg number
  };
  const Module* module = nullptr;
  const Kernel* kernel = nullptr;
  std::vector<Op> code;
  std::vector<OpInfo> info;
  std::vector<Routine> routines;  ///< the kernel first
  std::vector<std::unique_ptr<Extra>> extras;
  std::vector<ParamFold> folds;
  std::vector<SpecialSlot> specials;
  struct ParamAddress {
    std::uint32_t slot, offset;
  };
  /// Registers that the instruction of an operation reads and writes, in `flow_registers`.
  struct Flow {
    std::uint32_t first = 0;
    std::uint16_t reads = 0, writes = 0;
  };
  std::vector<Flow> flows;  ///< by operation
  std::vector<std::int32_t> flow_registers;
  std::vector<ParamAddress> param_addresses;  ///< slots that hold addresses in the parameter block
  std::map<std::uint64_t, int> routine_at;    ///< function address to routine
  std::uint32_t stack_bytes = 0;              ///< local memory of a thread
  bool calls = false;
};

struct Frame {
  const Routine* routine = nullptr;
  Frame* parent = nullptr;
  const Extra* call = nullptr;
  std::uint32_t return_pc = 0;
  std::uint32_t lanes = 0;
  std::uint32_t local_offset = 0;
  std::uint32_t depth = 0;
  std::vector<std::uint8_t> storage;
  std::uint8_t* regs = nullptr;
  std::uint32_t* taint = nullptr;  ///< the observer's, one word for each 4 bytes of regs
};

enum class Wait : std::uint8_t { none, lanes, barrier, cluster };

/// Lanes of a warp that share a program counter.
struct Group {
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  Frame* frame = nullptr;
  std::uint32_t penalty = 0;  ///< raised when it spins while others could run
  std::uint32_t spins = 0;    ///< backward branches while others waited
  Wait wait = Wait::none;
  std::uint8_t barrier = 0;
};

struct SectorMap;

/// Memory that an operation accessed last, so that the next check is two compares.
struct Window {
  std::uint64_t base = 1;
  std::uint64_t size = 0;
  std::uint64_t* read_bits = nullptr;  ///< one bit a 32 B sector, null when not counted
  std::uint64_t* written_bits = nullptr;
  SectorMap* map = nullptr;
  std::uint64_t sector0 = 0;  ///< the first of base's 128 B line
  std::uint8_t space = 0;     ///< 0 global, 1 shared, 2 local, 3 param
  bool writable = false;
};

struct Warp {
  Worker* worker = nullptr;
  Block* block = nullptr;
  std::uint32_t index = 0;  ///< in the block
  std::uint32_t live = 0;   ///< lanes that haven't exited
  std::uint32_t lanes = 0;  ///< lanes that exist
  std::uint32_t group_count = 0;
  std::uint32_t pc = 0;           ///< of the running operation
  std::uint32_t active = 0;       ///< of the running group, before the guard
  Frame* frame = nullptr;         ///< of the running group
  std::uint8_t* root = nullptr;   ///< kernel frame's registers
  std::uint8_t* local = nullptr;  ///< local memory of lane 0
  std::uint64_t local_stride = 0;
  std::uint32_t polls = 0;  ///< polling operations since the slice began
  std::uint32_t epoch = 0;
  bool fresh = false;  ///< just started or released from a barrier: runs a short slice first
  std::uint32_t cluster_phase = 0;  ///< of the cluster barrier when it arrived
  std::array<Group, kWarpSize> groups;
  Frame root_frame;
  std::vector<std::unique_ptr<Frame>> frames;  ///< all ever made
  std::vector<Frame*> free_frames;
  void* observed = nullptr;  ///< the observer's
  /// cp.async groups are done at once; nothing to keep.

  bool done() const { return live == 0; }
  std::uint8_t* lane_local(unsigned lane) const { return local + lane * local_stride; }
};

struct Barrier {
  std::uint32_t expected = 0;  ///< threads, 0: all of the block
  std::uint32_t arrived = 0;
  std::uint32_t reduce_and = 1, reduce_or = 0, reduce_count = 0;
  bool in_use = false;
};

struct Cluster;

/// Which 32 B sectors of a region were read and written; zero pages until they are touched.
struct SectorMap {
  explicit SectorMap(std::uint64_t bytes);
  SectorMap(SectorMap&&) noexcept;
  SectorMap& operator=(SectorMap&&) = delete;
  ~SectorMap();
  std::uint64_t words = 0;
  std::uint64_t* read = nullptr;
  std::uint64_t* written = nullptr;
  std::uint32_t* passes = nullptr;  ///< of atomics by sector, made by the first one
  std::uint64_t first_pass = ~std::uint64_t{0}, last_pass = 0;  ///< sectors that have any

  void add_passes(std::uint64_t sector, std::uint32_t count);
};

struct Block {
  std::uint64_t number = 0;  ///< linear
  Dim3 id;
  std::uint32_t live_threads = 0;
  std::uint32_t live_warps = 0;
  std::uint8_t* shared = nullptr;
  std::uint32_t shared_bytes = 0;
  Cluster* cluster = nullptr;
  std::uint32_t cluster_rank = 0;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<Barrier, 16> barriers;
  BlockL1 l1;
  std::uint8_t* local_memory = nullptr;
  std::uint64_t local_bytes = 0;
  std::uint8_t* register_memory = nullptr;
  std::uint64_t register_bytes = 0;
  void* observed = nullptr;  ///< the observer's
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();
};

/// Blocks that run together on one worker; a cluster of one is a plain block.
struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
  std::uint32_t live_threads = 0;
  std::uint32_t arrived = 0;  ///< threads at the cluster barrier
  std::uint32_t phase = 0;
  bool running = false;
};

/// One host thread of a launch.
struct Worker {
  LaunchState* launch = nullptr;
  const Op* code = nullptr;
  bool stop = false;
  std::uint32_t refused = 0;             ///< lanes whose access the observer had skipped
  std::vector<Window> windows;           ///< by operation
  std::vector<std::int64_t> executed;    ///< difference array by operation
  std::vector<std::int64_t> lanes;       ///< difference array by operation
  std::vector<std::int64_t> idle_lanes;  ///< lanes switched off by guards, by operation
  Counters counters;
  std::uint64_t steps = 0;  ///< warp operations run
  std::uint64_t slice_end = 0;
  bool progressed = false;
  Window scratch;           ///< for memory that may be freed while the kernel runs: never kept
  std::uint32_t phase = 0;  ///< of the launch, see traffic.hpp
  std::map<std::pair<std::uint32_t, std::uint64_t>, SectorMap> sectors;  ///< by phase, region base

  /// Records the first fault of the launch and stops all workers.
  void fault(const Warp& warp, FaultKind kind, std::string message, unsigned lane = 32,
             std::uint64_t address = 0);
};

struct LaunchState {
  const Program* program = nullptr;
  const Op* code = nullptr;  ///< program's, or the observer's copy
  Observer* observer = nullptr;
  const LaunchConfig* config = nullptr;
  DeviceMemory* memory = nullptr;
  const std::byte* params = nullptr;
  std::uint64_t param_bytes = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t threads_per_block = 0;
  std::uint32_t warps_per_block = 0;
  std::uint64_t clusters = 0;
  std::uint32_t phases = 1;                  ///< see traffic.hpp
  std::vector<std::uint8_t> root_constants;  ///< with parameters and launch constants filled in
  std::atomic<std::uint64_t> next_cluster{0};
  std::atomic<std::uint64_t> resident_limit{0};
  std::atomic<bool> abort{false};
  std::mutex mutex;
  Fault fault;
  std::chrono::steady_clock::time_point start;
  double watchdog_seconds = 0;
  double start_cpu = 0;  ///< process_cpu_seconds() at the start
  std::uint64_t step_limit = 0;
  std::uint64_t grid_id = 0;
  bool single_worker = false;
  std::array<std::uint32_t, 32> environment{};  ///< %envreg
  std::uint64_t workspace = 0;                  ///< grid barrier of a cooperative launch
};

/// Sums the workers' counts of a finished launch.
Counters collect_counters(const Program& program, const std::vector<Worker*>& workers,
                          std::uint32_t phases);

/// Finds the memory that holds [address, address + bytes) for a generic access and caches it in
/// the operation's window; null when there is none (no fault raised).
const Window* resolve(Warp& warp, const Op& op, std::uint64_t address, std::uint64_t bytes);
/// Raises the fault for an access that resolve refused, or one that is misaligned.
void memory_fault(Warp& warp, std::uint64_t address, std::uint64_t bytes, unsigned lane, bool write,
                  const char* space);
/// Host address of a shared-window address range, null when outside.
std::uint8_t* shared_at(const Warp& warp, std::uint64_t address, std::uint64_t bytes);

/// Counts the sectors of an access to local memory at four-byte word `word` of the lanes' memory.
void count_local_words(Warp& warp, bool store, std::uint64_t word, unsigned bytes,
                       std::uint32_t lanes);

enum class Ran : std::uint8_t { done, blocked, yielded, stopped };
/// Runs a warp until it ends, blocks or has used its slice.
Ran run_warp(Warp& warp);

/// Called when lanes arrive at barriers or exit; may release groups of all the block's warps.
void check_barriers(Block& block);
/// Lanes arrive at the barrier operation `op`; the group waits unless it completes the barrier.
void arrive_at_barrier(Warp& warp, Group& group, const Op& op, std::uint32_t mask);
/// Lanes arrive at the cluster barrier.
void arrive_at_cluster(Warp& warp, std::uint32_t lanes);
void check_cluster(Cluster& cluster);
/// Calls a device-runtime function (vprintf, malloc …); false when the name isn't known.
bool call_builtin(Warp& warp, const Extra& call, std::uint32_t mask);

}  // namespace cudasim
