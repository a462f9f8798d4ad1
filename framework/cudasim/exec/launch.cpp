#include "cudasim/exec/launch.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

#include "cudasim/exec/decode.hpp"
#include "cudasim/exec/observer.hpp"
#include "cudasim/exec/scheduler.hpp"
#include "cudasim/exec/traffic.hpp"
#include "cudasim/exec/worker_pool.hpp"

namespace cudasim {

double process_cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

namespace {

unsigned host_threads(const LaunchConfig& config) {
  if (config.threads != 0) return config.threads;
  const char* text = std::getenv("CUDASIM_THREADS");
  const long value = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  if (value > 0) return static_cast<unsigned>(std::min(value, 1024l));
  return std::max(1u, std::thread::hardware_concurrency());
}

Fault refuse(const Kernel& kernel, FaultKind kind, std::string message) {
  Fault f;
  f.kind = kind;
  f.kernel = kernel.name;
  f.message = std::move(message);
  return f;
}

std::uint32_t launch_special(Special s, std::uint32_t argument, const LaunchState& launch) {
  const LaunchConfig& c = *launch.config;
  switch (s) {
    case Special::ntid_x:
      return c.block.x;
    case Special::ntid_y:
      return c.block.y;
    case Special::ntid_z:
      return c.block.z;
    case Special::nctaid_x:
      return c.grid.x;
    case Special::nctaid_y:
      return c.grid.y;
    case Special::nctaid_z:
      return c.grid.z;
    case Special::nwarpid:
      return launch.warps_per_block;
    case Special::nsmid:
      return 132;
    case Special::gridid:
      return static_cast<std::uint32_t>(launch.grid_id);
    case Special::dynamic_smem_size:
      return c.dynamic_shared_bytes;
    case Special::total_smem_size:
      return launch.shared_bytes;
    case Special::aggr_smem_size:
      return launch.shared_bytes + 1024;
    case Special::reserved_smem_begin:
      return 0;
    case Special::reserved_smem_end:
      return kSharedStart;
    case Special::cluster_nctaid_x:
      return c.cluster.x;
    case Special::cluster_nctaid_y:
      return c.cluster.y;
    case Special::cluster_nctaid_z:
      return c.cluster.z;
    case Special::cluster_nctarank:
      return static_cast<std::uint32_t>(c.cluster.count());
    case Special::nclusterid_x:
      return c.grid.x / c.cluster.x;
    case Special::nclusterid_y:
      return c.grid.y / c.cluster.y;
    case Special::nclusterid_z:
      return c.grid.z / c.cluster.z;
    case Special::is_explicit_cluster:
      return c.cluster.count() > 1 ? 0xffffffffu : 0;
    case Special::envreg:
      return launch.environment[argument & 31];
    default:
      return 0;
  }
}

/// The kernel frame's constants with this launch's parameters and sizes.
void fill_constants(LaunchState& launch) {
  const Program& program = *launch.program;
  const Routine& root = program.routines[0];
  launch.root_constants = root.constants;
  const auto at = [&](std::uint32_t slot) {
    return launch.root_constants.data() + (slot - root.constants_offset);
  };
  for (const auto& fold : program.folds) {
    std::uint64_t value = 0;
    std::memcpy(&value, launch.params + fold.param_offset, fold.bytes);
    if (fold.sign && fold.bytes < 8 && (value >> (fold.bytes * 8 - 1) & 1))
      value |= ~std::uint64_t{0} << (fold.bytes * 8);
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      std::memcpy(at(fold.slot) + lane * fold.slot_bytes, &value, fold.slot_bytes);
  }
  for (const auto& a : program.param_addresses) {
    const std::uint64_t value = reinterpret_cast<std::uint64_t>(launch.params) + a.offset;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) std::memcpy(at(a.slot) + lane * 8, &value, 8);
  }
  for (const auto& s : program.specials) {
    const std::uint32_t value = launch_special(s.special, s.argument, launch);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) std::memcpy(at(s.slot) + lane * 4, &value, 4);
  }
}

LaunchResult run(const Module& module, const Kernel& kernel, const LaunchConfig& asked,
                 std::span<const std::byte> params, DeviceMemory& memory) {
  LaunchResult result;
  LaunchConfig config = asked;
  if (config.cluster.count() == 1 && kernel.cluster[0] != 0)
    config.cluster = {kernel.cluster[0], std::max(1u, kernel.cluster[1]),
                      std::max(1u, kernel.cluster[2])};
  const std::uint64_t threads = config.block.count();
  const auto invalid = [&](std::string message) {
    result.fault = refuse(kernel, FaultKind::invalid_configuration, std::move(message));
    return result;
  };
  if (threads == 0 || threads > 1024 || config.grid.count() == 0)
    return invalid("a block has 1 to 1024 threads and a grid at least one block");
  if (config.cluster.count() == 0 || config.cluster.count() > 16 ||
      config.grid.x % config.cluster.x != 0 || config.grid.y % config.cluster.y != 0 ||
      config.grid.z % config.cluster.z != 0) {
    return invalid("the grid must be a multiple of the cluster, which has at most 16 blocks");
  }
  if (params.size() < kernel.param_bytes)
    return invalid("the kernel takes " + std::to_string(kernel.param_bytes) +
                   " bytes of parameters");
  const std::uint64_t shared =
      std::uint64_t{kernel.static_shared_bytes} + config.dynamic_shared_bytes;
  if (shared > 227 * 1024) return invalid("a block has at most 227 KiB of shared memory");

  std::shared_ptr<const Program> program;
  try {
    program = decoded_program(module, kernel);
  } catch (const DecodeError& e) {
    result.fault = refuse(kernel, FaultKind::invalid_program, e.what());
    if (e.at != nullptr) {
      result.fault.instruction = e.at->text;
      result.fault.ptx_line = e.at->line;
      result.fault.source_line = e.at->source.line;
      const auto file = module.files.find(e.at->source.file);
      if (file != module.files.end()) result.fault.source_file = file->second;
    }
    return result;
  }

  static std::atomic<std::uint64_t> next_grid{1};
  LaunchState launch;
  launch.program = program.get();
  launch.config = &config;
  launch.memory = &memory;
  std::vector<std::byte> block_params(params.begin(), params.end());
  block_params.resize(params.size() + 16);
  launch.params = block_params.data();
  launch.param_bytes = params.size();
  launch.shared_bytes = static_cast<std::uint32_t>(shared);
  launch.threads_per_block = static_cast<std::uint32_t>(threads);
  launch.warps_per_block = static_cast<std::uint32_t>((threads + kWarpSize - 1) / kWarpSize);
  launch.clusters = config.grid.count() / config.cluster.count();
  launch.grid_id = next_grid.fetch_add(1);
  launch.start = std::chrono::steady_clock::now();
  launch.start_cpu = process_cpu_seconds();
  launch.watchdog_seconds =
      config.watchdog_seconds > 0 ? config.watchdog_seconds : watchdog_seconds();
  launch.step_limit = config.watchdog_warp_instructions;
  std::vector<std::uint32_t> grid_workspace(64, 0);
  if (config.cooperative) {
    // %envreg1:2 point at the grid barrier of cooperative groups: {size, barrier word}.
    const std::uint64_t workspace = memory.allocate(256, RegionKind::managed, "grid barrier");
    if (workspace != 0) {
      std::memset(reinterpret_cast<void*>(workspace), 0, 256);
      launch.environment[1] = static_cast<std::uint32_t>(workspace >> 32);
      launch.environment[2] = static_cast<std::uint32_t>(workspace);
      launch.workspace = workspace;
    }
  }
  fill_constants(launch);
  launch.phases = count_phases(launch);

  const auto workers =
      static_cast<unsigned>(std::min<std::uint64_t>(host_threads(config), launch.clusters));
  launch.single_worker = workers == 1;
  launch.resident_limit = workers;
  launch.observer = config.observer;
  launch.code = config.observer != nullptr ? config.observer->begin(launch) : program->code.data();
  std::vector<std::unique_ptr<BlockScheduler>> schedulers(workers);
  WorkerPool::get().run(workers, [&](unsigned i) {
    try {
      schedulers[i] = std::make_unique<BlockScheduler>(launch);
      schedulers[i]->run();
    } catch (const std::bad_alloc&) {
      const std::lock_guard lock(launch.mutex);
      if (!launch.fault)
        launch.fault = refuse(kernel, FaultKind::out_of_memory, "no host memory for a block");
      launch.abort = true;
    } catch (const std::exception& e) {
      const std::lock_guard lock(launch.mutex);
      if (!launch.fault) launch.fault = refuse(kernel, FaultKind::internal, e.what());
      launch.abort = true;
    }
  });
  if (launch.observer != nullptr) launch.observer->end(launch);
  if (launch.workspace != 0) memory.free(launch.workspace);
  result.fault = std::move(launch.fault);
  std::vector<Worker*> all;
  for (const auto& s : schedulers) {
    if (s != nullptr) all.push_back(&s->worker());
  }
  result.counters = collect_counters(*program, all, launch.phases);
  result.counters.launches = 1;
  return result;
}

}  // namespace

double watchdog_seconds() {
  const char* text = std::getenv("CUDASIM_WATCHDOG_SECONDS");
  const double value = text == nullptr ? 0 : std::strtod(text, nullptr);
  return value > 0 ? value : 60;
}

std::string_view fault_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::none:
      return "none";
    case FaultKind::illegal_address:
      return "illegal address";
    case FaultKind::misaligned_address:
      return "misaligned address";
    case FaultKind::illegal_instruction:
      return "illegal instruction";
    case FaultKind::invalid_program:
      return "invalid program";
    case FaultKind::assertion:
      return "assertion";
    case FaultKind::trap:
      return "trap";
    case FaultKind::timeout:
      return "timeout";
    case FaultKind::barrier_error:
      return "barrier error";
    case FaultKind::invalid_configuration:
      return "invalid configuration";
    case FaultKind::out_of_memory:
      return "out of memory";
    case FaultKind::internal:
      return "internal error";
  }
  return "unknown";
}

std::string Fault::text() const {
  const auto triple = [](const Dim3& d) {
    return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z);
  };
  std::string t = std::string(fault_name(kind)) + " in kernel " + kernel;
  if (!source_file.empty()) t += " at " + source_file + ":" + std::to_string(source_line);
  if (ptx_line != 0) t += " (PTX line " + std::to_string(ptx_line) + ": " + instruction + ")";
  t += ": " + message;
  if (ptx_line != 0 && kind != FaultKind::timeout && kind != FaultKind::invalid_program)
    t += "; block (" + triple(block) + "), thread (" + triple(thread) + ")";
  return t;
}

void Worker::fault(const Warp& warp, FaultKind kind, std::string message, unsigned lane,
                   std::uint64_t address) {
  if (lane >= kWarpSize)
    lane = warp.active != 0 ? static_cast<unsigned>(__builtin_ctz(warp.active)) : 0;
  if (launch->observer != nullptr && launch->observer->fault(warp, kind, message, lane, address)) {
    refused |= 1u << lane;
    return;
  }
  stop = true;
  const std::lock_guard lock(launch->mutex);
  launch->abort = true;
  if (launch->fault) return;
  Fault& f = launch->fault;
  f.kind = kind;
  f.kernel = launch->program->kernel->name;
  f.block = warp.block->id;
  const Dim3& b = launch->config->block;
  const std::uint32_t t = warp.index * kWarpSize + lane;
  f.thread = {t % b.x, t / b.x % b.y, t / b.x / b.y};
  f.address = address;
  const OpInfo& info = launch->program->info[warp.pc];
  if (info.instruction != nullptr) {
    f.instruction = info.instruction->text;
    f.ptx_line = info.instruction->line;
    f.source_line = info.instruction->source.line;
    const auto file = launch->program->module->files.find(info.instruction->source.file);
    if (file != launch->program->module->files.end())
      f.source_file = file->second;
    else
      f.source_line = 0;
  }
  f.message = std::move(message);
  if (kind == FaultKind::illegal_instruction && info.instruction != nullptr)
    f.message += ": " + info.instruction->text;
}

LaunchResult launch(const Module& module, const Kernel& kernel, const LaunchConfig& config,
                    std::span<const std::byte> params, DeviceMemory& memory) noexcept {
  try {
    return run(module, kernel, config, params, memory);
  } catch (const std::exception& e) {
    LaunchResult result;
    result.fault.kind = FaultKind::internal;
    result.fault.message = e.what();
    return result;
  }
}

}  // namespace cudasim
