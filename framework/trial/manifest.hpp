#pragma once
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace hone::trial {

struct SuiteEntry {
  std::string name, dir, verify, bench, header, entry, reference;
  std::vector<std::string> cases;  ///< globs of case files
};

struct KernelEntry {
  std::string name, dir, suite, library;
};

struct SkillEntry {
  std::string name, dir;
};

struct EvaluationEntry {
  std::string name, skill;
  std::vector<std::string> suites, cases, models, gates;
  int runs = 3;
  std::string delivery;  ///< "inject", "disclose"; "": inject
};

/// What CMake declared: schema hone.manifest/1, written into the build tree.
struct Manifest {
  std::filesystem::path file, source_dir, binary_dir, run_dir, cache_dir, reports_dir,
      baselines_dir;
  std::filesystem::path toolkit_root, cudart_dir, cudasim_dir, candidate, hone, llama_server;
  std::deque<model::ModelConfig> models;  ///< entries stay where they are when one is added
  std::vector<SuiteEntry> suites;
  std::vector<KernelEntry> kernels;
  std::vector<SkillEntry> skills;
  std::vector<EvaluationEntry> evaluations;

  /// Each throws Error(usage) that quotes the unknown name and lists the known ones.
  const model::ModelConfig& model(const std::string& name) const;
  const SuiteEntry& suite(const std::string& name) const;
  const KernelEntry& kernel(const std::string& name) const;
  const SkillEntry& skill(const std::string& name) const;
  const EvaluationEntry& evaluation(const std::string& name) const;
};

/// Reads a manifest. Throws Error(bad_input) when it is missing or of another schema.
Manifest load_manifest(const std::filesystem::path& file);

/// The manifest to use: `given` if not empty, else $HONE_MANIFEST, else build/hone/manifest.json
/// (or hone/manifest.json) in the working folder or its parents. Throws Error(bad_input).
std::filesystem::path find_manifest(const std::filesystem::path& given);

/// Files that match a pattern whose last component may hold * and ?, in name order.
std::vector<std::filesystem::path> expand_glob(const std::string& pattern);

}  // namespace hone::trial
