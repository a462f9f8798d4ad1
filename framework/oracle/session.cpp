#include "oracle/session.hpp"

#include <fmt/format.h>

#include <utility>

#include "process/terminal.hpp"
#include "storage/storage.hpp"

namespace hone::oracle {
namespace {

constexpr double life_seconds = 1800;
constexpr std::uint64_t message_limit = std::uint64_t{8} << 30;

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
    command.environment["CUDASIM_WATCHDOG_SECONDS"] = fmt::format("{:g}", options_.call_seconds);
  }
  command.limits.wall_seconds = life_seconds;
  process::Sandbox sandbox;
  sandbox.readable = {options_.installation.runner, options_.installation.runtime_dir,
                      options_.library};
  sandbox.gpu_devices = options_.device == Device::gpu;
  command.sandbox = sandbox;
  child_ = process::Child::start(command);
  if (!child_->error().empty()) {
    Finding finding{Outcome::infrastructure_error,
                    "the candidate process could not be started: " + child_->error()};
    child_.reset();
    return finding;
  }
  tier_ = child_->tier();
  Finding finding = load();
  if (!finding.correct()) child_.reset();
  return finding;
}

Finding Session::load() {
  const protocol::Load request{options_.library.string(), signature_};
  std::string body;
  Finding finding = exchange(protocol::frame(protocol::Kind::load, request), protocol::Kind::loaded,
                             body, options_.load_seconds);
  if (!finding.correct()) return finding;
  const auto reply = protocol::decode_loaded(body);
  if (!reply) return {Outcome::crashed, "the candidate process sent a malformed reply"};
  const std::string message = process::first_line(reply->message);
  switch (reply->status) {
    case protocol::LoadStatus::no_device:
      return {Outcome::infrastructure_error, "no CUDA device: " + message};
    case protocol::LoadStatus::no_library:
      return {Outcome::compile_error, "the library cannot be loaded: " + message};
    case protocol::LoadStatus::no_entry:
      return {Outcome::compile_error,
              fmt::format("the library does not define {}{}", signature_.entry,
                          defines_mangled(options_.library, signature_.entry)
                              ? " as a C function: extern \"C\" is missing, or its parameters differ "
                                "from the declaration"
                              : "")};
    case protocol::LoadStatus::ready: break;
  }
  device_name_ = reply->simulated ? "cudasim (model of H100 SXM5)"
                                  : process::first_line(reply->device);
  if (reply->simulated != (options_.device == Device::sim)) {
    return {Outcome::infrastructure_error,
            fmt::format("the candidate ran on {} though {} was asked for", device_name_,
                        options_.device == Device::sim ? "cudasim" : "a GPU")};
  }
  return {};
}

Finding Session::call(const protocol::Call& call, protocol::Returned& returned) {
  Finding finding = start();
  if (!finding.correct()) return finding;
  std::string body;
  // Beyond the simulator's own watchdog, so that its message arrives.
  finding = exchange(protocol::frame(protocol::Kind::call, call), protocol::Kind::returned, body,
                     options_.call_seconds + 5);
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

Finding Session::exchange(const std::string& frame, protocol::Kind reply, std::string& body,
                          double seconds) {
  const process::Deadline deadline = process::in_seconds(seconds);
  process::Io io = child_->write_all(frame, deadline);
  if (io != process::Io::ok) return ended(io, seconds);
  protocol::Header header;
  std::size_t received = 0;
  io = child_->read_exact(&header, sizeof header, received, deadline);
  if (io != process::Io::ok) return ended(io, seconds);
  if (header.magic != protocol::Header{}.magic || header.kind != reply ||
      header.bytes > message_limit) {
    return {Outcome::crashed, "the candidate process sent a malformed reply"};
  }
  io = child_->read_exact(body, header.bytes, deadline);
  return io == process::Io::ok ? Finding{} : ended(io, seconds);
}

Finding Session::ended(process::Io io, double seconds) {
  if (io == process::Io::timeout) {
    return {Outcome::timeout, fmt::format("no result after {:g} s", seconds)};
  }
  const process::Result& result = child_->wait(process::in_seconds(2));
  const std::string said = process::first_line(result.err);
  // The program itself did not come up: the dynamic loader says so and exits with 127.
  if (result.exit_code == 127 && result.signal == 0) {
    return {Outcome::infrastructure_error, "the candidate process did not start: " + said};
  }
  return {Outcome::crashed, fmt::format("the candidate's process {}{}{}", result.str(),
                                        said.empty() ? "" : ": ", said)};
}

}  // namespace hone::oracle
