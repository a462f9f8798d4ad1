#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernel/extract.hpp"
#include "kernel/project.hpp"
#include "kernel/source.hpp"
#include "kernel/toolkit.hpp"
#include "process/run.hpp"
#include "storage/storage.hpp"

namespace hone::kernel {

using storage::Json;

enum class BuildOutcome {
  built,
  no_code,
  extract_error,
  compile_error,
  timeout,
  infrastructure_error
};

/// "built", "no-code" …, as in build.json.
const char* to_string(BuildOutcome outcome);

/// What to build. A build.toml among `files` that can be read names the sources, include folders
/// and flags; otherwise every source outside of torch-ext/ is built. All are compiled as CUDA.
struct BuildRequest {
  std::vector<SourceFile> files;
  std::vector<SourceFile> headers;  ///< given to the answer, e.g. op.h; never replaced by its files
  std::string entry;                ///< symbol that the library must export; may be empty
  std::filesystem::path library;    ///< where the shared library goes
  std::filesystem::path cache_dir;  ///< of results by content; empty: none is kept
  std::optional<Toolkit> toolkit;
  std::vector<std::string> capabilities = {"9.0"};
  std::vector<std::string> extra_flags;
  process::Limits limits = default_limits();

  /// 60 s, 4 GiB of address space, 256 MiB a file, 256 KiB of diagnostics.
  static process::Limits default_limits();
};

/// The request that builds a project of ours; library, cache and toolkit are the caller's to fill.
BuildRequest request_of(const Project& project);

/// ptxas facts of one kernel for one architecture.
struct KernelFacts {
  std::string name;  ///< demangled
  int registers = 0;
  int64_t spill_stores = 0, spill_loads = 0;  ///< bytes
  int64_t shared_bytes = 0;                   ///< static
  int64_t stack_bytes = 0;
};

struct FirstError {
  std::string file;
  int line = 0;
  std::string message;
};

struct BuildReport {
  BuildOutcome outcome = BuildOutcome::infrastructure_error;
  std::vector<std::string> files;
  std::filesystem::path library;  ///< empty unless built
  bool cached = false;
  std::vector<std::string> flags;
  std::vector<KernelFacts> kernels;
  std::string diagnostics;  ///< of the compiler: capped, sanitised, without paths of the sandbox
  std::optional<FirstError> first_error;
  std::string evidence;  ///< one line that a person can act on
  double seconds = 0;
  std::string sandbox;  ///< tier that held
};

/// Compiles and links. Never throws: what is missing here (no nvcc, no sandbox, a full disk) is the
/// outcome infrastructure-error. Results are kept in cache_dir by the digest of sources, headers,
/// flags and compilers, compile errors too, time-outs and infrastructure errors never.
/// A library without the entry is a compile error whose evidence says why.
BuildReport build(const BuildRequest& request);

/// The report of an answer out of which no code came: its outcome and evidence.
BuildReport report_of(const Extraction& extraction);

/// build.json ("hone.build/1").
Json to_json(const BuildReport& report);

}  // namespace hone::kernel
