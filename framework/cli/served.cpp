#include "cli/served.hpp"

#include <unistd.h>

#include <iostream>

#include "model/store.hpp"

namespace hone::cli {

Served::Served(const trial::Manifest& manifest, const model::ModelConfig& model,
               const std::function<void(const std::string&)>& print, bool keep) {
  if (model.endpoint.empty() || model::record_mode_from_environment() == model::RecordMode::replay)
    return;
  config_ = trial::endpoint_config(manifest, model);
  config_.progress = print;
  if (!keep) config_.owner = ::getpid();  // killed: the server ends with us
  ends_ = !model::start(config_).reused && !keep;
}

Served::~Served() {
  if (!ends_) return;
  try {
    model::stop(config_.state_dir, config_.alias);
  } catch (const std::exception& e) {
    std::cerr << "hone: the local server was not stopped: " << e.what() << '\n';
  }
}

}  // namespace hone::cli
