#include <toml++/toml.h>

#include <cstdlib>
#include <iostream>

#include "cli/command.hpp"
#include "model/catalogue.hpp"

namespace hone::cli {

namespace fs = std::filesystem;

namespace {

using Wrong = std::vector<Diagnostic>;

Location place_of(const std::string& file, const toml::node& node) {
  return {file, static_cast<int>(node.source().begin.line),
          static_cast<int>(node.source().begin.column)};
}

/// [models]: alias = "service.model[.effort]".
void read_aliases(const std::string& file, const toml::node& node, Context& context, Wrong& wrong) {
  const auto* table = node.as_table();
  if (table == nullptr) return wrong.push_back({place_of(file, node), "'models' is a table", ""});
  for (const auto& [key, value] : *table) {
    const auto text = value.value<std::string>();
    if (text)
      context.aliases[std::string(key.str())] = *text;
    else
      wrong.push_back({place_of(file, value), "an alias stands for a string", "service.model"});
  }
}

/// [prices."model id"]: input, cached, cache_write, output in dollars for a million tokens.
void read_prices(const std::string& file, const toml::node& node, Context& context, Wrong& wrong) {
  const auto* table = node.as_table();
  if (table == nullptr) return wrong.push_back({place_of(file, node), "'prices' is a table", ""});
  for (const auto& [id, entry] : *table) {
    const auto* fields = entry.as_table();
    if (fields == nullptr) {
      wrong.push_back(
          {place_of(file, entry), "a price is a table", "{ input = 1.0, output = 5.0 }"});
      continue;
    }
    model::Price& price = context.prices[std::string(id.str())];
    const std::map<std::string, std::optional<double>*> known = {
        {"input", &price.input},
        {"cached", &price.cached},
        {"cache_write", &price.cache_write},
        {"output", &price.output}};
    for (const auto& [key, value] : *fields) {
      const auto at = known.find(std::string(key.str()));
      const auto number = value.value<double>();
      if (at == known.end())
        wrong.push_back({place_of(file, value), "unknown key '" + std::string(key.str()) + "'",
                         "known: input, cached, cache_write, output"});
      else if (!number || *number < 0)
        wrong.push_back({place_of(file, value), "a price is a number of at least 0", ""});
      else
        *at->second = number;
    }
  }
}

}  // namespace

namespace {

bool project_is_named(const Context& context) {
  const char* variable = std::getenv("HONE_MANIFEST");
  return !context.manifest_option.empty() || (variable != nullptr && *variable != '\0');
}

/// A manifest of no project: what this program and the environment know.
trial::Manifest bare_manifest() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  trial::Manifest m;
  m.source_dir = fs::current_path();
  m.binary_dir = m.source_dir / ".hone";
  m.run_dir = m.binary_dir / "hone/runs";
  m.cache_dir = m.binary_dir / "hone/cache";
  m.reports_dir = m.binary_dir / "reports";
  m.baselines_dir = m.binary_dir / "baselines";
  m.toolkit_root = variable("HONE_CUDA_ROOT");
  m.llama_server = variable("HONE_LLAMA_SERVER");
  m.hone = fs::read_symlink("/proc/self/exe");
  return m;
}

constexpr const char* kGeneric = "generic.";
constexpr const char* kGenericKey = "GENERIC_API_KEY";

/// A model that --base-url or upskill's service `generic` names.
model::ModelConfig model_at(const std::string& name, const std::string& service,
                            const std::string& base_url) {
  // ollama's entry is the one that asks for no key.
  const bool generic = service.empty() || service == "generic";
  const std::string prefix = (generic ? "ollama" : service) + ".";
  auto model = model::model_named(prefix + name, {});
  model.name = model.name.substr(prefix.size());
  model.base_url = base_url;
  if (generic && !model::key_in(kGenericKey).empty()) model.api_key_env = kGenericKey;
  return model;
}

}  // namespace

const trial::Manifest& Context::manifest(bool bare) {
  if (loaded_) return *loaded_;
  fs::path file;
  try {
    file = trial::find_manifest(manifest_option);
  } catch (const Error&) {
    if (project_is_named(*this) || !(bare || fs::exists(".hone/hone/runs"))) throw;
  }
  loaded_ = std::make_shared<trial::Manifest>(file.empty() ? bare_manifest()
                                                           : trial::load_manifest(file));
  for (auto& model : loaded_->models)
    if (const auto price = prices.find(model.model); price != prices.end() && !model.price.input)
      model.price = price->second;
  model::add_key_variable(kGenericKey);
  model::hide_keys();
  return *loaded_;
}

void Context::declare(trial::SkillEntry skill, trial::EvaluationEntry evaluation) {
  manifest(true);
  loaded_->skills.push_back(std::move(skill));
  loaded_->evaluations.push_back(std::move(evaluation));
}

void Context::read_upskill() {
  const auto file = author::find_upskill_config(fs::current_path());
  if (file.empty()) return;
  std::vector<Diagnostic> warnings;
  upskill = author::read_upskill_config(file, warnings);
  print_diagnostics(warnings);
  if (!quiet) std::cout << "defaults of " << file.string() << '\n';
}

const model::ModelConfig& Context::use_model(const std::string& evaluation,
                                             const std::string& name) {
  manifest(true);
  for (const auto& model : loaded_->models)
    if (model.name == name) return model;
  std::string address = base_url;
  std::string wanted = name;
  if (name.starts_with(kGeneric)) {
    wanted = name.substr(std::string(kGeneric).size());
    const char* variable = std::getenv("GENERIC_BASE_URL");
    if (address.empty() && variable != nullptr) address = variable;
    if (address.empty())
      throw Error(Exit::usage, "model '" + name + "' needs --base-url, or GENERIC_BASE_URL");
  }
  auto model =
      address.empty() ? model::model_named(name, aliases) : model_at(wanted, service, address);
  for (const auto& known : loaded_->models)
    if (known.name == model.name) return known;
  if (const auto price = prices.find(model.model); price != prices.end())
    model.price = price->second;
  loaded_->models.push_back(model);
  for (auto& e : loaded_->evaluations)
    if (e.name == evaluation) e.models.push_back(model.name);
  return loaded_->models.back();
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
    throw Error(Exit::bad_input,
                {Diagnostic{{file.string(), static_cast<int>(e.source().begin.line),
                             static_cast<int>(e.source().begin.column)},
                            std::string(e.description()),
                            ""}});
  }
  const std::vector<std::string> known = {"manifest", "device", "models", "prices"};
  Wrong wrong;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const Location where = place_of(file.string(), node);
    const auto value = node.value<std::string>();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto near = nearest(name, known);
      wrong.push_back({where, "unknown key '" + name + "'",
                       near.empty() ? "known: manifest, device, models, prices"
                                    : "did you mean '" + near + "'?"});
    } else if (name == "models") {
      read_aliases(file.string(), node, context, wrong);
    } else if (name == "prices") {
      read_prices(file.string(), node, context, wrong);
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
