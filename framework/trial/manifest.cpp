#include "trial/manifest.hpp"

#include <glob.h>

#include <cstdlib>

#include "diagnostic/diagnostic.hpp"
#include "storage/storage.hpp"

namespace hone::trial {
namespace {

namespace fs = std::filesystem;
using storage::Json;

template <typename Entries>
const auto& find_entry(const Entries& entries, const std::string& name, const std::string& what) {
  std::string known;
  for (const auto& entry : entries) {
    if (entry.name == name) return entry;
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  throw Error(Exit::usage, "unknown " + what + " '" + name +
                               "'; known: " + (known.empty() ? "none is declared" : known));
}

std::vector<std::string> strings(const Json& object, const char* key) {
  return object.value(key, std::vector<std::string>{});
}

std::string text(const Json& object, const char* key) { return object.value(key, std::string()); }

}  // namespace

const model::ModelConfig& Manifest::model(const std::string& name) const {
  return find_entry(models, name, "model");
}
const SuiteEntry& Manifest::suite(const std::string& name) const {
  return find_entry(suites, name, "suite");
}
const KernelEntry& Manifest::kernel(const std::string& name) const {
  return find_entry(kernels, name, "kernel");
}
const SkillEntry& Manifest::skill(const std::string& name) const {
  return find_entry(skills, name, "skill");
}
const EvaluationEntry& Manifest::evaluation(const std::string& name) const {
  return find_entry(evaluations, name, "evaluation");
}

Manifest load_manifest(const fs::path& file) {
  const Json json = storage::read_json(file);
  if (text(json, "schema") != "hone.manifest/1")
    throw Error(Exit::bad_input, {Diagnostic{{file.string(), 1, 1},
                                             "not a manifest of schema hone.manifest/1",
                                             "configure the project again with this Hone"}});
  Manifest m;
  m.file = fs::absolute(file);
  m.source_dir = text(json, "source_dir");
  m.binary_dir = text(json, "binary_dir");
  m.run_dir = text(json, "run_dir");
  m.cache_dir = text(json, "cache_dir");
  m.reports_dir = text(json, "reports_dir");
  m.baselines_dir = text(json, "baselines_dir");
  const Json toolkit = json.value("toolkit", Json::object());
  m.toolkit_root = text(toolkit, "root");
  m.cudart_dir = text(toolkit, "cudart_dir");
  m.cudasim_dir = text(json, "cudasim_dir");
  m.candidate = text(json, "candidate");
  m.hone = text(json, "hone");
  m.llama_server = text(json, "llama_server");
  for (const auto& e : json.value("models", Json::array()))
    m.models.push_back(model::model_from_json(e));
  for (const auto& e : json.value("suites", Json::array()))
    m.suites.push_back({text(e, "name"), text(e, "dir"), text(e, "verify"), text(e, "bench"),
                        text(e, "header"), text(e, "entry"), text(e, "reference"),
                        strings(e, "cases")});
  for (const auto& e : json.value("kernels", Json::array()))
    m.kernels.push_back({text(e, "name"), text(e, "dir"), text(e, "suite"), text(e, "library")});
  for (const auto& e : json.value("skills", Json::array()))
    m.skills.push_back({text(e, "name"), text(e, "dir")});
  for (const auto& e : json.value("evaluations", Json::array()))
    m.evaluations.push_back({text(e, "name"), text(e, "skill"), strings(e, "suites"),
                             strings(e, "cases"), strings(e, "models"), strings(e, "gates"),
                             e.value("runs", 3), text(e, "delivery")});
  return m;
}

fs::path find_manifest(const fs::path& given) {
  if (!given.empty()) return given;
  if (const char* variable = std::getenv("HONE_MANIFEST"); variable && *variable) return variable;
  for (fs::path dir = fs::current_path();; dir = dir.parent_path()) {
    for (const char* candidate : {"build/hone/manifest.json", "hone/manifest.json"})
      if (fs::exists(dir / candidate)) return dir / candidate;
    if (dir == dir.parent_path()) break;
  }
  throw Error(Exit::bad_input,
              "no build/hone/manifest.json in this folder or above it: configure the project "
              "(cmake --preset default), or name one with --manifest");
}

std::vector<fs::path> expand_glob(const std::string& pattern) {
  std::vector<fs::path> files;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  return files;
}

}  // namespace hone::trial
