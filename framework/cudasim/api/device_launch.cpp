#include "cudasim/api/device_launch.hpp"

#include "cudasim/api/conditional.hpp"
#include "cudasim/api/copy.hpp"
#include "cudasim/api/device.hpp"
#include "cudasim/api/kernel_launch.hpp"
#include "cudasim/api/process_checks.hpp"
#include "cudasim/api/runtime.hpp"

namespace cudasim {
namespace {

constexpr unsigned kMostDepth = 24;  // of nested launches on a GPU
constexpr std::uint64_t kTailLaunch = 3;

}  // namespace

std::mutex DeviceLaunches::mutex_;

const std::map<std::string_view, DeviceLaunches::Handler>& DeviceLaunches::handlers() {
  using D = DeviceLaunches;
  static const std::map<std::string_view, Handler> all = {
      {"GetParameterBufferV2", &D::parameter_buffer},
      {"GetParameterBuffer", &D::parameter_buffer},
      {"LaunchDeviceV2", &D::launch_buffer},
      {"LaunchDevice", &D::launch_function},
      {"GetLastError", &D::last_error},
      {"PeekAtLastError", &D::last_error},
      {"StreamCreateWithFlags", &D::new_handle},
      {"EventCreateWithFlags", &D::new_handle},
      {"StreamDestroy", &D::in_order},
      {"EventDestroy", &D::in_order},
      {"EventRecord", &D::in_order},
      {"EventRecordWithFlags", &D::in_order},
      {"StreamWaitEvent", &D::in_order},
      {"MemcpyAsync", &D::copy},
      {"MemsetAsync", &D::fill},
      {"Malloc", &D::allocate},
      {"Free", &D::free},
      {"DeviceGetAttribute", &D::attribute},
      {"GetDevice", &D::device},
      {"GetDeviceCount", &D::device_count},
  };
  return all;
}

bool DeviceLaunches::call(DeviceCall& call) {
  if (call.name == "cudaGraphSetConditional") {
    if (!set_condition(call.argument<cudaGraphConditionalHandle>(0),
                       call.argument<std::uint32_t>(1)))
      call.trouble = "cudaGraphSetConditional: the handle is of no condition";
    return true;
  }
  constexpr std::string_view kPrefix = "__cudaCDP2", kPerThread = "_ptsz";
  if (!call.name.starts_with(kPrefix)) return false;
  std::string_view name = call.name.substr(kPrefix.size());
  if (name.ends_with(kPerThread)) name.remove_suffix(kPerThread.size());
  const auto found = handlers().find(name);
  if (found == handlers().end()) return false;
  const std::lock_guard lock(mutex_);
  const cudaError_t error = (this->*found->second)(call);
  // A buffer is told by its address, null after an error; the others answer with the code.
  if (!name.starts_with("GetParameterBuffer")) call.answer(static_cast<std::int32_t>(error));
  if (error != cudaSuccess && name != "GetLastError" && name != "PeekAtLastError")
    errors_[call.thread] = error;
  return true;
}

DeviceLaunches::~DeviceLaunches() {
  for (const auto& [address, buffer] : buffers_) runtime_.memory.free(address);
}

KernelEntry* DeviceLaunches::kernel(std::uint64_t function) {
  const Function* found = parent_.binary->module->function_at(function);
  if (found == nullptr || !found->entry) return nullptr;
  return runtime_.registry.kernel_of(*parent_.binary, found->name);
}

std::uint64_t DeviceLaunches::place(const Buffer& buffer, std::uint64_t bytes) {
  const std::uint64_t address =
      runtime_.memory.allocate(bytes, RegionKind::device_heap, "parameters of a device launch");
  if (address != 0) buffers_[address] = buffer;
  return address;
}

// (function, grid, block, shared bytes); the old form takes (alignment, size).
cudaError_t DeviceLaunches::parameter_buffer(DeviceCall& call) {
  Buffer buffer;
  std::uint64_t bytes = call.argument<std::uint64_t>(1);
  if (call.arguments.size() == 4) {
    buffer.entry = kernel(call.argument<std::uint64_t>(0));
    if (buffer.entry == nullptr) return cudaErrorInvalidDeviceFunction;
    buffer.grid = call.argument<dim3>(1);
    buffer.block = call.argument<dim3>(2);
    buffer.shared = call.argument<std::uint32_t>(3);
    if (const cudaError_t error = runtime_.registry.resolve(*buffer.entry); error != cudaSuccess)
      return error;
    bytes = buffer.entry->kernel->param_bytes;
  }
  const std::uint64_t address = place(buffer, bytes);
  call.answer(address);
  return address != 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}

// (buffer, stream)
cudaError_t DeviceLaunches::launch_buffer(DeviceCall& call) {
  const auto address = call.argument<std::uint64_t>(0);
  const auto found = buffers_.find(address);
  if (found == buffers_.end() || found->second.entry == nullptr) return cudaErrorInvalidValue;
  return launch(found->second, address, call.argument<std::uint64_t>(1));
}

// (function, buffer, grid, block, shared bytes, stream)
cudaError_t DeviceLaunches::launch_function(DeviceCall& call) {
  const auto address = call.argument<std::uint64_t>(1);
  Buffer buffer{kernel(call.argument<std::uint64_t>(0)), call.argument<dim3>(2),
                call.argument<dim3>(3), call.argument<std::uint32_t>(4)};
  if (buffer.entry == nullptr) return cudaErrorInvalidDeviceFunction;
  return launch(buffer, address, call.argument<std::uint64_t>(5));
}

cudaError_t DeviceLaunches::launch(const Buffer& buffer, std::uint64_t address,
                                   std::uint64_t stream) {
  if (depth_ + 1 > kMostDepth) return cudaErrorLaunchMaxDepthExceeded;
  if (const cudaError_t error = runtime_.registry.resolve(*buffer.entry); error != cudaSuccess)
    return error;
  const auto& params = buffer.entry->kernel->params;
  const Region* region = runtime_.memory.find(address);
  if (!params.empty() &&
      (region == nullptr || !region->contains(address, buffer.entry->kernel->param_bytes)))
    return cudaErrorInvalidValue;
  std::vector<void*> arguments;
  for (const Param& p : params)
    arguments.push_back(reinterpret_cast<std::byte*>(address) + p.offset);
  LaunchRequest request;
  request.function = buffer.entry;
  request.grid = buffer.grid;
  request.block = buffer.block;
  request.shared = buffer.shared;
  request.arguments = arguments.data();
  std::unique_ptr<KernelWork> work;
  if (const cudaError_t error = prepare(runtime_, request, work); error != cudaSuccess)
    return error;
  work->depth = depth_ + 1;
  (stream == kTailLaunch ? tail_ : children_).push_back(std::move(work));
  return cudaSuccess;
}

cudaError_t DeviceLaunches::last_error(DeviceCall& call) {
  const auto found = errors_.find(call.thread);
  const cudaError_t error = found == errors_.end() ? cudaSuccess : found->second;
  if (found != errors_.end() && call.name.ends_with("GetLastError")) errors_.erase(found);
  return error;
}

template <typename T>
cudaError_t DeviceLaunches::put(DeviceCall& call, std::size_t argument, const T& value) {
  std::byte* to = call.memory(call.argument<std::uint64_t>(argument), sizeof value);
  if (to == nullptr)
    call.trouble = std::string(call.name) + " is to write to memory that isn't there";
  else
    __builtin_memcpy(to, &value, sizeof value);
  return cudaSuccess;
}

// Children run in the order of the launches, so that streams and events need no state.
cudaError_t DeviceLaunches::new_handle(DeviceCall& call) { return put(call, 0, next_handle_++); }

cudaError_t DeviceLaunches::copy(DeviceCall& call) {
  std::unique_ptr<CopyWork> work;
  const cudaError_t error =
      plan_copy(runtime_, call.argument<void*>(0), call.argument<const void*>(1),
                call.argument<std::size_t>(2), cudaMemcpyDeviceToDevice, work);
  if (work != nullptr) children_.push_back(std::move(work));
  return error;
}

cudaError_t DeviceLaunches::fill(DeviceCall& call) {
  std::unique_ptr<FillWork> work;
  const auto bytes = call.argument<std::size_t>(2);
  const cudaError_t error = plan_fill(runtime_, call.argument<void*>(0), bytes, 0,
                                      call.argument<std::uint32_t>(1), 1, bytes, 1, 1, work);
  if (work != nullptr) children_.push_back(std::move(work));
  return error;
}

cudaError_t DeviceLaunches::allocate(DeviceCall& call) {
  const std::uint64_t address = runtime_.memory.allocate(call.argument<std::size_t>(1),
                                                         RegionKind::device_heap, "device malloc");
  put(call, 0, address);
  return address != 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t DeviceLaunches::free(DeviceCall& call) {
  const auto address = call.argument<std::uint64_t>(0);
  const Region* region = runtime_.memory.find(address);
  if (address == 0) return cudaSuccess;
  if (region == nullptr || region->base != address || region->kind != RegionKind::device_heap)
    return cudaErrorInvalidValue;
  ProcessChecks::get().freeing(region);
  return runtime_.memory.free(address) == FreeStatus::freed ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t DeviceLaunches::attribute(DeviceCall& call) {
  const auto name = call.argument<std::int32_t>(1);
  if (name < 1 || name >= cudaDevAttrMax) return cudaErrorInvalidValue;
  if (call.argument<std::int32_t>(2) != 0) return cudaErrorInvalidDevice;
  return put(call, 0, device_attribute(static_cast<cudaDeviceAttr>(name)));
}

cudaError_t DeviceLaunches::device(DeviceCall& call) { return put(call, 0, 0); }
cudaError_t DeviceLaunches::device_count(DeviceCall& call) { return put(call, 0, 1); }

cudaError_t DeviceLaunches::run(CUstream_st& stream, double& seconds) {
  for (auto* queue : {&children_, &tail_}) {
    for (; !queue->empty(); queue->pop_front()) {
      double own = 0;
      if (const cudaError_t error = queue->front()->run(runtime_, stream, own);
          error != cudaSuccess)
        return error;
      seconds += own;
      if (runtime_.sticky() != cudaSuccess) return cudaSuccess;
    }
  }
  return cudaSuccess;
}

}  // namespace cudasim
