#include "author/upskill_config.hpp"

#include <yaml-cpp/yaml.h>

#include <cstdlib>

#include "storage/storage.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kKeys = {"skill_generation_model",
                                        "model",
                                        "eval_model",
                                        "test_gen_model",
                                        "skills_dir",
                                        "runs_dir",
                                        "auto_eval",
                                        "max_refine_attempts",
                                        "fastagent_config"};

class Reader {
 public:
  Reader(std::string file, std::vector<Diagnostic>& warnings)
      : file_(std::move(file)), warnings_(warnings) {}

  UpskillConfig read(const YAML::Node& root) {
    config_.file = file_;
    if (root.IsNull()) return config_;
    if (!root.IsMap())
      wrong(root, "a configuration of upskill is a map of keys", "model: sonnet");
    else
      for (const auto& entry : root) take(entry.first, entry.second);
    if (!errors_.empty()) throw Error(Exit::bad_input, errors_);
    return config_;
  }

 private:
  Location at(const YAML::Node& node) const {
    return {file_, node.Mark().line + 1, node.Mark().column + 1};
  }
  void wrong(const YAML::Node& node, const std::string& message, const std::string& hint) {
    errors_.push_back({at(node), message, hint});
  }

  void take(const YAML::Node& key_node, const YAML::Node& value) {
    const std::string key = key_node.IsScalar() ? key_node.Scalar() : "";
    if (value.IsNull()) return;
    if (key == "skill_generation_model" || key == "model") return text(key, value, config_.model);
    if (key == "eval_model") return text(key, value, config_.eval_model);
    if (key == "test_gen_model") return text(key, value, config_.test_gen_model);
    if (key == "skills_dir") return path(key, value, config_.skills_dir);
    if (key == "runs_dir") return path(key, value, config_.runs_dir);
    if (key == "auto_eval") return typed(key, value, config_.auto_eval, "true or false");
    if (key == "max_refine_attempts") {
      typed(key, value, config_.max_refine_attempts, "a whole number of at least 0");
      if (config_.max_refine_attempts && *config_.max_refine_attempts < 0)
        wrong(value, "'" + key + "' is a whole number of at least 0", "");
      return;
    }
    const std::string near = key == "fastagent_config" ? "" : nearest(key, kKeys);
    warnings_.push_back({at(key_node), "'" + key + "' means nothing to Hone",
                         near.empty() ? "" : "did you mean '" + near + "'?", true});
  }

  void text(const std::string& key, const YAML::Node& value, std::string& out) {
    // A quote that is never closed swallows what follows.
    if (value.IsScalar() && !value.Scalar().empty() &&
        value.Scalar().find_first_of(" \n") == std::string::npos)
      out = value.Scalar();
    else
      wrong(value, "'" + key + "' is the name of a model", "sonnet, or service.model");
  }
  void path(const std::string& key, const YAML::Node& value, fs::path& out) {
    if (value.IsScalar() && !value.Scalar().empty())
      out = value.Scalar();
    else
      wrong(value, "'" + key + "' is a folder", "");
  }
  template <typename T>
  void typed(const std::string& key, const YAML::Node& value, std::optional<T>& out,
             const std::string& what) {
    T read{};
    if (value.IsScalar() && YAML::convert<T>::decode(value, read))
      out = read;
    else
      wrong(value, "'" + key + "' is " + what, "");
  }

  std::string file_;
  std::vector<Diagnostic>& warnings_;
  std::vector<Diagnostic> errors_;
  UpskillConfig config_;
};

}  // namespace

fs::path find_upskill_config(const fs::path& folder) {
  if (const char* named = std::getenv("UPSKILL_CONFIG"); named != nullptr && *named != '\0')
    return named;
  if (fs::exists(folder / "upskill.config.yaml")) return folder / "upskill.config.yaml";
  const char* home = std::getenv("HOME");
  if (home == nullptr) return {};
  const fs::path user = fs::path(home) / ".config/upskill/config.yaml";
  return fs::exists(user) ? user : fs::path();
}

UpskillConfig read_upskill_config(const fs::path& file, std::vector<Diagnostic>& warnings) {
  const std::string text = storage::read_file(file);
  try {
    return Reader(file.string(), warnings).read(YAML::Load(text));
  } catch (const YAML::Exception& e) {
    throw Error(Exit::bad_input, {Diagnostic{{file.string(), e.mark.line + 1, e.mark.column + 1},
                                             "not valid YAML: " + e.msg,
                                             ""}});
  }
}

}  // namespace hone::author
