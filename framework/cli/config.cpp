#include <toml++/toml.h>

#include <cstdlib>
#include <iostream>

#include "cli/command.hpp"

namespace hone::cli {

namespace fs = std::filesystem;

const trial::Manifest& Context::manifest() {
  if (!loaded_)
    loaded_ = std::make_shared<trial::Manifest>(
        trial::load_manifest(trial::find_manifest(manifest_option)));
  return *loaded_;
}

bool print_diagnostics(const std::vector<Diagnostic>& diagnostics) {
  bool errors = false;
  for (const auto& d : diagnostics) {
    std::cerr << d.str() << '\n';
    errors = errors || !d.warning;
  }
  return errors;
}

void read_config(Context& context) {
  fs::path file;
  for (fs::path dir = fs::current_path();; dir = dir.parent_path()) {
    if (fs::exists(dir / "hone.toml")) file = dir / "hone.toml";
    if (!file.empty() || dir == dir.parent_path()) break;
  }
  if (file.empty()) return;
  toml::table table;
  try {
    table = toml::parse_file(file.string());
  } catch (const toml::parse_error& e) {
    throw Error(Exit::bad_input, {Diagnostic{{file.string(), static_cast<int>(e.source().begin.line),
                                              static_cast<int>(e.source().begin.column)},
                                             std::string(e.description()), ""}});
  }
  const std::vector<std::string> known = {"manifest", "device"};
  std::vector<Diagnostic> wrong;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const Location where{file.string(), static_cast<int>(node.source().begin.line),
                         static_cast<int>(node.source().begin.column)};
    const auto value = node.value<std::string>();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto near = nearest(name, known);
      wrong.push_back({where, "unknown key '" + name + "'",
                       near.empty() ? "known: manifest, device" : "did you mean '" + near + "'?"});
    } else if (!value) {
      wrong.push_back({where, "'" + name + "' must be a string", ""});
    } else if (name == "device" && *value != "auto" && *value != "gpu" && *value != "sim") {
      wrong.push_back({where, "unknown device '" + *value + "'", "auto, gpu or sim"});
    } else if (name == "device" && context.device.empty() && !std::getenv("HONE_DEVICE")) {
      context.device = *value;
    } else if (name == "manifest" && context.manifest_option.empty() &&
               !std::getenv("HONE_MANIFEST")) {
      context.manifest_option = file.parent_path() / *value;
    }
  }
  if (!wrong.empty()) throw Error(Exit::bad_input, wrong);
}

}  // namespace hone::cli
