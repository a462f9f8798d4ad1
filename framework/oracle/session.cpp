#include "oracle/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "process/terminal.hpp"
#include "storage/storage.hpp"

namespace hone::oracle {
namespace {

constexpr double life_seconds = 1800;
/// Half of this machine's memory, and 16 GiB at most, which bounds the number of threads as well. A
/// GPU's driver maps as it likes, and so does a sanitizer.
std::uint64_t memory_limit(Device device) {
#ifdef __SANITIZE_ADDRESS__
  return 0;
#endif
  if (device == Device::gpu) return 0;
  const auto memory = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(memory / 2, std::uint64_t{16} << 30);
}

constexpr std::uint64_t small_message = 16 << 20;  ///< beside the buffers

/// The usual slip, told from the missing symbol: the entry was compiled as a C++ function.
bool defines_mangled(const std::filesystem::path& library, const std::string& entry) {
  try {
    const std::string mangled = fmt::format("_Z{}{}", entry.size(), entry);
    return storage::read_file(library).find(mangled) != std::string::npos;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

Session::Session(SessionOptions options, Signature signature)
    : options_(std::move(options)), signature_(std::move(signature)) {
  options_.library = std::filesystem::absolute(options_.library);
}

Finding Session::start() {
  if (child_) return {};
  process::Command command;
  command.argv = {options_.installation.runner.string()};
  command.environment["LD_LIBRARY_PATH"] = options_.installation.runtime_dir.string();
  if (options_.device == Device::sim) {
    // The simulator's own watchdog names the kernel; ours only ends the process.
    if (!options_.checks.empty()) command.environment["CUDASIM_CHECK"] = options_.checks;
    command.environment["CUDASIM_STREAMS"] = options_.deferred_streams ? "deferred" : "eager";
    command.environment["CUDASIM_WATCHDOG_SECONDS"] = fmt::format("{:g}", options_.call_seconds);
  }
  command.limits.wall_seconds = life_seconds;
  command.limits.data_bytes = memory_limit(options_.device);
  process::Sandbox sandbox;
  sandbox.readable = {options_.installation.runner, options_.installation.runtime_dir,
                      options_.library};
  sandbox.gpu_devices = options_.device == Device::gpu;
  sandbox.threads_only = true;
  sandbox.tmp_bytes = 0;
  command.sandbox = sandbox;
  child_ = process::Child::start(command);
  if (!child_->error().empty()) {
    Finding finding{Outcome::infrastructure_error,
                    "the candidate process could not be started: " + child_->error()};
    child_.reset();
    return finding;
  }
  tier_ = child_->tier();
  Finding finding = greet();
  if (finding.correct()) finding = load();
  if (!finding.correct()) child_.reset();
  return finding;
}

// Until the greeting no foreign code has run: whatever fails is not the candidate's fault.
Finding Session::greet() {
  std::string body;
  const Finding finding = receive(protocol::Kind::greeting, body, small_message,
                                  child_->busy_seconds(options_.load_seconds));
  const auto greeting = protocol::decode_greeting(body);
  if (!finding.correct() || !greeting) {
    return {Outcome::infrastructure_error, "starting hone-candidate: " + finding.evidence};
  }
  if (!greeting->error.empty()) {
    return {Outcome::infrastructure_error, "no CUDA device: " + greeting->error};
  }
  device_name_ = greeting->simulated ? "cudasim (model of H100 SXM5)" : greeting->device;
  if (greeting->simulated != (options_.device == Device::sim)) {
    return {Outcome::infrastructure_error,
            fmt::format("the candidate runs on {} though {} was asked for", device_name_,
                        options_.device == Device::sim ? "cudasim" : "a GPU")};
  }
  return {};
}

Finding Session::load() {
  const protocol::Load request{options_.library.string(), signature_};
  std::string body;
  Finding finding = exchange(protocol::frame(protocol::Kind::load, request), protocol::Kind::loaded,
                             body, small_message, options_.load_seconds);
  if (!finding.correct()) return finding;
  const auto reply = protocol::decode_loaded(body);
  if (!reply) return {Outcome::crashed, "the candidate process sent a malformed reply"};
  const std::string message = process::first_line(reply->message);
  switch (reply->status) {
    case protocol::LoadStatus::no_library:
      return {Outcome::compile_error, "the library cannot be loaded: " + message};
    case protocol::LoadStatus::no_entry:
      return {
          Outcome::compile_error,
          fmt::format("the library does not define {}{}", signature_.entry,
                      defines_mangled(options_.library, signature_.entry)
                          ? " as a C function: extern \"C\" is missing, or its parameters differ "
                            "from the declaration"
                          : "")};
    case protocol::LoadStatus::ready:
      break;
  }
  return {};
}

Finding Session::call(const protocol::Call& call, protocol::Returned& returned) {
  Finding finding = start();
  if (!finding.correct()) return finding;
  std::uint64_t largest = small_message;
  for (const auto& argument : call.arguments) {
    if (const auto* buffer = std::get_if<protocol::Buffer>(&argument)) {
      largest += buffer->lead + buffer->bytes + call.guard_bytes;
    }
  }
  std::string body;
  // Beyond the simulator's own watchdog, so that its message arrives.
  finding = exchange(protocol::frame(protocol::Kind::call, call), protocol::Kind::returned, body,
                     largest, 1 + 1.2 * options_.call_seconds);
  if (finding.correct()) {
    auto reply = protocol::decode_returned(body);
    if (reply) {
      returned = std::move(*reply);
    } else {
      finding = {Outcome::crashed, "the candidate process sent a malformed reply"};
    }
  }
  // After an error of the device the process may be unusable: CUDA's errors stick.
  const bool spoilt = returned.setup_error != 0 || returned.entry_error != 0 ||
                      returned.last_error != 0 || returned.sync_error != 0 ||
                      !returned.fault.empty();
  if (!finding.correct() || spoilt) child_.reset();
  return finding;
}

Finding Session::exchange(const std::string& frame, protocol::Kind kind, std::string& body,
                          std::uint64_t largest, double seconds) {
  const process::Deadline deadline = child_->busy_seconds(seconds);
  const process::Io io = child_->write_all(frame, deadline);
  return io == process::Io::ok ? receive(kind, body, largest, deadline) : ended(io);
}

Finding Session::receive(protocol::Kind kind, std::string& body, std::uint64_t largest,
                         const process::Deadline& deadline) {
  protocol::Header header;
  std::size_t received = 0;
  process::Io io = child_->read_exact(&header, sizeof header, received, deadline);
  if (io != process::Io::ok) return ended(io);
  if (header.magic != protocol::Header{}.magic || header.kind != kind || header.bytes > largest) {
    return {Outcome::crashed, "the candidate process sent a malformed reply"};
  }
  io = child_->read_exact(body, header.bytes, deadline);
  return io == process::Io::ok ? Finding{} : ended(io);
}

Finding Session::ended(process::Io io) {
  if (io == process::Io::timeout) {
    return {Outcome::timeout, fmt::format("no result after {:g} s of work", options_.call_seconds)};
  }
  const process::Result& result = child_->wait(process::in_seconds(2));
  const std::string said = process::first_line(result.err);
  return {Outcome::crashed, fmt::format("the candidate's process {}{}{}", result.str(),
                                        said.empty() ? "" : ": ", said)};
}

}  // namespace hone::oracle
