#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "kernel/build.hpp"

namespace hone::kernel {

/// Results of compilations by the digest of all that went into them. Safe to share between
/// processes: an entry appears whole or not at all. A damaged entry counts as absent.
class BuildCache {
 public:
  /// `dir` may be empty: then nothing is kept.
  explicit BuildCache(std::filesystem::path dir) : dir_(std::move(dir)) {}

  /// The report kept under `digest`, its `library` inside the cache.
  std::optional<BuildReport> find(const std::string& digest) const;

  /// Keeps the report, and a copy of its library when it has one. Failing to is no error.
  void keep(const std::string& digest, const BuildReport& report) const;

 private:
  std::filesystem::path entry(const std::string& digest) const;
  std::filesystem::path dir_;
};

/// Copies a file so that `to` is either whole or as it was. Throws Error(infrastructure).
void copy_atomically(const std::filesystem::path& from, const std::filesystem::path& to);

/// The report that to_json wrote. Throws on anything else.
BuildReport from_json(const Json& json);

}  // namespace hone::kernel
