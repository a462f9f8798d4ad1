#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace hone::oracle {

enum class Device { sim, gpu };

/// "auto", "sim" or "gpu"; auto is gpu when a driver and its device node are there, else sim.
/// Throws Error(usage) for another word.
Device resolve_device(std::string_view word);

/// "model bound" (of cudasim's model of H100) or "measured" (by the GPU's events).
std::string_view time_kind(Device device);

/// What verify and bench need to start candidates; from options, else the environment, else where
/// a build puts things.
struct Installation {
  std::filesystem::path runner;       ///< hone-candidate: HONE_CANDIDATE, else beside this program
  std::filesystem::path runtime_dir;  ///< holds the libcudart.so.13 that candidates see

  /// Empty arguments are looked up. Throws Error(infrastructure) naming what is missing.
  static Installation find(Device device, const std::string& runner, const std::string& cudasim);
};

}  // namespace hone::oracle
