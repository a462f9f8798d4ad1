// hone-candidate: loads a candidate's library and calls its entry for an oracle, which sends the
// arguments and judges the raw bytes that come back. Nothing is judged here. Which libcudart is
// found at run time decides whether a GPU or cudasim runs the kernels.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <ffi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "oracle/protocol.hpp"

namespace {

using namespace hone::oracle;
using namespace hone::oracle::protocol;

// Descriptors far from 0, 1 and 2, so that a library's printing cannot become a message.
struct Pipes {
  int in = -1, out = -1;
};

Pipes take_over_standard_streams() {
  Pipes pipes{fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 200),
              fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 200)};
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) dup2(null, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return pipes;
}

bool read_all(int fd, void* into, std::size_t size) {
  for (char* at = static_cast<char*>(into); size > 0;) {
    const ssize_t got = read(fd, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// Threads of this process but the simulator's; 0 where /proc says nothing.
std::uint32_t count_threads() {
  std::error_code error;
  std::filesystem::directory_iterator tasks("/proc/self/task", error);
  std::uint32_t count = 0;
  for (; !error && tasks != std::filesystem::directory_iterator(); tasks.increment(error)) ++count;
  const auto simulators =
      reinterpret_cast<unsigned (*)()>(dlsym(RTLD_DEFAULT, "cudasimHostThreads"));
  const unsigned own = simulators == nullptr ? 0 : simulators();
  return count > own ? count - own : 0;
}

/// How many threads there are beyond `expected`, when they were given time to end.
std::uint32_t threads_beyond(std::uint32_t expected) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (count_threads() <= expected) return 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return count_threads() - expected;
}

ffi_type* ffi_type_of(const Parameter& parameter) {
  if (parameter.role != Role::scalar) return &ffi_type_pointer;
  switch (parameter.element) {
    case Element::float32:
      return &ffi_type_float;
    case Element::float64:
      return &ffi_type_double;
    case Element::int32:
      return &ffi_type_sint32;
    case Element::int64:
      return &ffi_type_sint64;
    case Element::uint8:
      return &ffi_type_uint8;
  }
  return &ffi_type_pointer;
}

/// Device memory of one buffer parameter, kept between calls of the same size.
class DeviceBuffer {
 public:
  cudaError_t fit(std::size_t bytes, bool fresh) {
    if (pointer_ != nullptr && bytes == bytes_ && !fresh) return cudaSuccess;
    void* old = pointer_;
    pointer_ = nullptr;
    // The new memory first, so that its address differs.
    const cudaError_t error = cudaMalloc(&pointer_, bytes == 0 ? 1 : bytes);
    bytes_ = bytes;
    if (old != nullptr) cudaFree(old);
    return error;
  }
  char* get() const { return static_cast<char*>(pointer_); }
  std::size_t bytes() const { return bytes_; }

 private:
  void* pointer_ = nullptr;
  std::size_t bytes_ = 0;
};

class Candidate {
 public:
  /// Opens the device.
  Greeting greet() {
    Greeting greeting;
    const char* (*counters)() = nullptr;
    greeting.simulated = find(counters, "cudasimCountersJson");
    cudaDeviceProp properties{};
    cudaError_t error = cudaGetDeviceProperties(&properties, 0);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    if (error == cudaSuccess) {
      error = cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking);
    }
    if (error == cudaSuccess) error = cudaEventCreate(&start_);
    if (error == cudaSuccess) error = cudaEventCreate(&stop_);
    if (error != cudaSuccess) greeting.error = cudaGetErrorString(error);
    greeting.device = properties.name;
    return greeting;
  }

  Loaded load(const Load& request) {
    Loaded reply;
    signature_ = request.signature;
    buffers_.resize(signature_.parameters.size());
    void* library = dlopen(request.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      reply.status = LoadStatus::no_library;
      reply.message = dlerror();
      return reply;
    }
    entry_ = reinterpret_cast<void (*)()>(dlsym(library, signature_.entry.c_str()));
    types_.clear();
    for (const Parameter& parameter : signature_.parameters) {
      types_.push_back(ffi_type_of(parameter));
    }
    const bool prepared =
        ffi_prep_cif(&interface_, FFI_DEFAULT_ABI, static_cast<unsigned>(types_.size()),
                     &ffi_type_sint32, types_.data()) == FFI_OK;
    if (entry_ == nullptr || !prepared) {
      reply.status = LoadStatus::no_entry;
      reply.message = "no function " + signature_.entry;
    }
    return reply;
  }

  Returned call(const Call& request) {
    Returned reply;
    std::vector<Value> values;
    cudaError_t error = prepare(request, values);
    if (error != cudaSuccess) {
      reply.setup_error = error;
      reply.error_text = cudaGetErrorString(error);
      return reply;
    }
    std::vector<void*> arguments;
    for (Value& value : values) arguments.push_back(&value);

    void (*reset_counters)() = nullptr;
    if (find(reset_counters, "cudasimCountersReset")) reset_counters();
    const std::uint32_t threads = count_threads();
    const auto begin = std::chrono::steady_clock::now();
    cudaEventRecord(start_, stream_);
    ffi_arg result = 0;
    ffi_call(&interface_, entry_, &result, arguments.data());
    reply.entry_error = static_cast<std::int32_t>(result);
    reply.last_error = cudaGetLastError();
    cudaEventRecord(stop_, stream_);
    reply.sync_error = cudaStreamSynchronize(stream_);
    reply.host_ns = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());

    // Read back at once and without waiting for any other stream: what the call left running
    // elsewhere shows as a change afterwards.
    reply.buffers = fetch();
    const cudaError_t rest = cudaDeviceSynchronize();
    if (reply.sync_error == 0) reply.sync_error = rest;
    const std::vector<std::string> after = fetch();
    const auto differ =
        std::mismatch(reply.buffers.begin(), reply.buffers.end(), after.begin(), after.end());
    if (differ.first != reply.buffers.end()) {
      reply.late = static_cast<std::int32_t>(differ.first - reply.buffers.begin());
    }
    // The first call may start the runtime's own threads; one that was joined takes a moment to go.
    if (called_) reply.threads = threads_beyond(threads);
    called_ = true;

    for (const std::int32_t code : {reply.entry_error, reply.last_error, reply.sync_error}) {
      if (code == 0 || !reply.error_text.empty()) continue;
      const cudaError_t named = static_cast<cudaError_t>(code);
      reply.error_text = std::string(cudaGetErrorName(named)) + ": " + cudaGetErrorString(named);
    }
    float milliseconds = 0;
    if (cudaEventElapsedTime(&milliseconds, start_, stop_) == cudaSuccess) {
      reply.device_ms = static_cast<double>(milliseconds);
    }
    const char* (*text)() = nullptr;
    if (find(text, "cudasimCountersJson")) reply.counters = text();
    if (find(text, "cudasimLastFault")) reply.fault = text();
    if (find(text, "cudasimFindings")) reply.findings = text();
    return reply;
  }

 private:
  template <class Function>
  static bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    return function != nullptr;
  }

  /// Fills the device buffers and one value per parameter.
  cudaError_t prepare(const Call& request, std::vector<Value>& values) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
      Value value;
      if (signature_.parameters[i].role == Role::stream) {
        std::memcpy(&value.bits, &stream_, sizeof stream_);
      } else if (next >= request.arguments.size()) {
        return cudaErrorInvalidValue;
      } else if (const auto* buffer = std::get_if<Buffer>(&request.arguments[next++])) {
        if (const cudaError_t error = upload(request, *buffer, buffers_[i]); error != cudaSuccess) {
          return error;
        }
        const char* payload = buffers_[i].get() + buffer->lead;
        std::memcpy(&value.bits, &payload, sizeof payload);
      } else {
        value = std::get<Value>(request.arguments[next - 1]);
      }
      values.push_back(value);
    }
    if (request.flush_bytes > 0) {
      cudaCtxResetPersistingL2Cache();
      cudaError_t error = flush_.fit(request.flush_bytes, false);
      if (error == cudaSuccess) error = cudaMemset(flush_.get(), 0, request.flush_bytes);
      if (error != cudaSuccess) return error;
    }
    return cudaDeviceSynchronize();
  }

  static cudaError_t upload(const Call& request, const Buffer& buffer, DeviceBuffer& device) {
    const std::size_t lead = buffer.lead, guard = request.guard_bytes, payload = buffer.bytes;
    cudaError_t error = device.fit(lead + payload + guard, request.fresh_buffers);
    if (error == cudaSuccess && lead > 0)
      error = cudaMemset(device.get(), request.guard_byte, lead);
    if (error == cudaSuccess && guard > 0)
      error = cudaMemset(device.get() + lead + payload, request.guard_byte, guard);
    if (error != cudaSuccess || payload == 0) return error;
    return buffer.content.empty() ? cudaMemset(device.get() + lead, buffer.poison, payload)
                                  : cudaMemcpy(device.get() + lead, buffer.content.data(), payload,
                                               cudaMemcpyHostToDevice);
  }

  /// Every buffer as it is now; one that cannot be read is left empty.
  std::vector<std::string> fetch() {
    std::vector<std::string> buffers;
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
      if (!signature_.parameters[i].is_buffer()) continue;
      std::string bytes(buffers_[i].bytes(), '\0');
      if (cudaMemcpyAsync(bytes.data(), buffers_[i].get(), bytes.size(), cudaMemcpyDeviceToHost,
                          copies_) != cudaSuccess ||
          cudaStreamSynchronize(copies_) != cudaSuccess) {
        bytes.clear();
      }
      buffers.push_back(std::move(bytes));
    }
    return buffers;
  }

  Signature signature_;
  void (*entry_)() = nullptr;
  ffi_cif interface_{};
  std::vector<ffi_type*> types_;
  std::vector<DeviceBuffer> buffers_;
  DeviceBuffer flush_;
  cudaStream_t stream_ = nullptr, copies_ = nullptr;
  bool called_ = false;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

}  // namespace

int main() {
  const Pipes pipes = take_over_standard_streams();
  Candidate candidate;
  if (!write_all(pipes.out, frame(Kind::greeting, candidate.greet()))) return 0;
  for (Header header; read_all(pipes.in, &header, sizeof header);) {
    std::string body(header.bytes, '\0');
    if (!read_all(pipes.in, body.data(), body.size())) break;
    std::string reply;
    if (header.kind == Kind::load) {
      const auto load = decode_load(body);
      if (!load) break;
      reply = frame(Kind::loaded, candidate.load(*load));
    } else {
      const auto call = decode_call(body);
      if (!call) break;
      reply = frame(Kind::returned, candidate.call(*call));
    }
    if (!write_all(pipes.out, reply)) break;
  }
  // Not exit(): a library's atexit handlers and destructors have no say.
  _exit(0);
}
