#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cudasim/exec/counters.hpp"
#include "cudasim/memory/memory.hpp"
#include "cudasim/ptx/module.hpp"

namespace cudasim {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

class DeviceRuntime;
class Observer;

/// CPU time that this process has used, in seconds.
double process_cpu_seconds();

/// By the clock a kernel may take this many times its watchdog_seconds of computing.
inline constexpr double kWatchdogPatience = 4;

/// The order in which blocks start.
enum class BlockOrder : std::uint8_t { ascending, descending, random };

struct LaunchConfig {
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;  ///< 1,1,1 when no clusters
  std::uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;  ///< all blocks resident, grid sync works
  /// Watchdog: seconds of computing, at most kWatchdogPatience times as many by the clock; 0 takes
  /// CUDASIM_WATCHDOG_SECONDS (default 60), and no step limit.
  double watchdog_seconds = 0;
  std::uint64_t watchdog_warp_instructions = 0;
  unsigned threads = 0;  ///< host threads; 0 takes CUDASIM_THREADS, else all cores
  /// What the caches' model takes from the kernel's occupancy: each block's share of L1, and the
  /// blocks that are resident at once.
  std::uint64_t l1_bytes_per_block = 32 << 10;
  std::uint64_t resident_blocks = 132 * 8;
  /// Receives the device's printf text; empty: stdout.
  std::function<void(std::string_view)> print;
  BlockOrder order = BlockOrder::ascending;
  std::uint64_t order_seed = 0;             ///< of BlockOrder::random
  Observer* observer = nullptr;             ///< the checks; null: none
  DeviceRuntime* device_runtime = nullptr;  ///< what kernels may call besides; null: nothing
};

/// Why a launch stopped. Each maps to a CUDA error code in api.
enum class FaultKind : std::uint8_t {
  none,
  illegal_address,  ///< out of bounds, freed or foreign memory
  misaligned_address,
  illegal_instruction,  ///< an instruction or a modifier that isn't implemented, or no PTX body
  invalid_program,      ///< PTX that names what isn't there (undefined symbol, bad operand)
  assertion,
  trap,
  timeout,
  barrier_error,          ///< threads wait for partners that can't come
  invalid_configuration,  ///< grid, block, shared memory or parameters that can't be launched
  out_of_memory,
  internal,
};
std::string_view fault_name(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::none;
  std::string message;
  std::string kernel;
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  std::uint64_t address = 0;
  std::string instruction;  ///< PTX text
  int ptx_line = 0;
  std::string source_file;  ///< from .loc, empty without -lineinfo
  int source_line = 0;

  explicit operator bool() const { return kind != FaultKind::none; }
  /// One line for a person: what, where, which thread.
  std::string text() const;
};

/// How long a kernel may run, from CUDASIM_WATCHDOG_SECONDS.
double watchdog_seconds();

struct LaunchResult {
  Fault fault;
  Counters counters;
};

/// Runs a kernel to its end on the calling thread and the pool. Never throws, never raises SIGSEGV
/// for what the kernel does. `params` is the parameter block, kernel.param_bytes long.
LaunchResult launch(const Module& module, const Kernel& kernel, const LaunchConfig& config,
                    std::span<const std::byte> params, DeviceMemory& memory) noexcept;

}  // namespace cudasim
