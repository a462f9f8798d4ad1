#include "oracle/device.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "diagnostic/diagnostic.hpp"

namespace hone::oracle {
namespace {

namespace fs = std::filesystem;

bool has_gpu() {
  std::error_code ignored;
  if (!fs::exists("/dev/nvidiactl", ignored)) return false;
  for (const char* dir : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/aarch64-linux-gnu",
                          "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"}) {
    if (fs::exists(fs::path(dir) / "libcuda.so.1", ignored)) return true;
  }
  return false;
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path program_dir() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace

Device resolve_device(std::string_view word) {
  if (word == "sim") return Device::sim;
  if (word == "gpu") return Device::gpu;
  if (word == "auto") return has_gpu() ? Device::gpu : Device::sim;
  throw Error(Exit::usage, fmt::format("unknown device '{}'; known: auto, gpu, sim", word));
}

std::string_view time_kind(Device device) {
  return device == Device::sim ? "model bound" : "measured";
}

Installation Installation::find(Device device, const std::string& runner,
                                const std::string& cudasim) {
  Installation found;
  found.runner = !runner.empty() ? runner : from_environment("HONE_CANDIDATE");
  if (found.runner.empty()) found.runner = program_dir() / "hone-candidate";
  if (!fs::exists(found.runner)) {
    throw Error(Exit::infrastructure,
                fmt::format("the candidate program {} is not there; give --runner=PATH or set "
                            "HONE_CANDIDATE",
                            found.runner.string()));
  }
  if (device == Device::sim) {
    found.runtime_dir = !cudasim.empty() ? cudasim : from_environment("HONE_CUDASIM_DIR");
    if (found.runtime_dir.empty()) found.runtime_dir = program_dir() / "../lib/cudasim";
  } else {
    found.runtime_dir = from_environment("HONE_CUDART_DIR");
    if (found.runtime_dir.empty()) found.runtime_dir = "/usr/local/cuda/lib64";
  }
  if (!fs::exists(found.runtime_dir / "libcudart.so.13")) {
    throw Error(
        Exit::infrastructure,
        fmt::format("no libcudart.so.13 in {}; {}", found.runtime_dir.string(),
                    device == Device::sim ? "build cudasim, give --cudasim=DIR or set "
                                            "HONE_CUDASIM_DIR"
                                          : "set HONE_CUDART_DIR to the CUDA toolkit's lib"));
  }
  found.runner = fs::canonical(found.runner);
  found.runtime_dir = fs::canonical(found.runtime_dir);
  return found;
}

}  // namespace hone::oracle
