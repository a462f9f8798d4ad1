#pragma once
#include "trial/stages.hpp"

namespace hone::cli {

/// The local server of a model, where it has one and answers are not replayed: found or started,
/// ended with this object if it was started.
class Served {
 public:
  Served(const trial::Manifest& manifest, const model::ModelConfig& model,
         const std::function<void(const std::string&)>& print, bool keep);
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served();

 private:
  model::LlamaServerConfig config_;
  bool ends_ = false;
};

}  // namespace hone::cli
