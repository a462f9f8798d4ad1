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

const trial::Manifest& Context::manifest() {
  if (loaded_) return *loaded_;
  loaded_ = std::make_shared<trial::Manifest>(
      trial::load_manifest(trial::find_manifest(manifest_option)));
  for (auto& model : loaded_->models)
    if (const auto price = prices.find(model.model); price != prices.end() && !model.price.input)
      model.price = price->second;
  model::hide_keys();
  return *loaded_;
}

const model::ModelConfig& Context::use_model(const std::string& evaluation,
                                             const std::string& name) {
  manifest();
  for (const auto& model : loaded_->models)
    if (model.name == name) return model;
  auto model = model::model_named(name, aliases);
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
