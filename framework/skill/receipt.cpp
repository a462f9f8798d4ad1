#include "skill/receipt.hpp"

#include <algorithm>

#include "diagnostic/diagnostic.hpp"
#include "skill/skill.hpp"
#include "storage/storage.hpp"

namespace hone::skill {
namespace {

namespace fs = std::filesystem;
using storage::Json;

constexpr const char* kFile = ".hone-skills.json";
constexpr const char* kSchema = "hone.installed/1";

Installed entry_of(const Json& entry) {
  Installed installed;
  installed.source = entry.at("source").get<std::string>();
  installed.mode = entry.at("mode") == "link" ? InstallMode::link : InstallMode::copy;
  installed.digest = entry.at("digest").get<std::string>();
  for (const auto& [name, digest] : entry.at("files").items())
    installed.files[name] = digest.get<std::string>();
  return installed;
}

}  // namespace

Receipt read_receipt(const fs::path& folder) {
  const fs::path file = folder / kFile;
  if (!fs::exists(file)) return {};
  const Json json = storage::read_json(file);
  Receipt receipt;
  try {
    if (json.at("schema") != kSchema)
      throw Error(Exit::bad_input,
                  {Diagnostic{{file.string(), 0, 0}, "not of schema hone.installed/1", "", false}});
    for (const auto& [name, entry] : json.at("skills").items())
      if (is_spec_name(name)) receipt[name] = entry_of(entry);
  } catch (const Json::exception& e) {
    throw Error(Exit::bad_input, {Diagnostic{{file.string(), 0, 0}, e.what(), "", false}});
  }
  return receipt;
}

void write_receipt(const fs::path& folder, const Receipt& receipt) {
  if (receipt.empty()) {
    std::error_code ec;
    fs::remove(folder / kFile, ec);
    return;
  }
  Json skills = Json::object();
  for (const auto& [name, installed] : receipt) {
    Json files = Json::object();
    for (const auto& [file, digest] : installed.files) files[file] = digest;
    skills[name] = {{"source", installed.source.generic_string()},
                    {"mode", installed.mode == InstallMode::link ? "link" : "copy"},
                    {"digest", installed.digest},
                    {"files", files}};
  }
  storage::write_json(folder / kFile, {{"schema", kSchema}, {"skills", skills}});
}

std::vector<std::string> differences(const fs::path& target, const Installed& installed) {
  std::vector<std::string> found;
  for (const auto& [name, digest] : installed.files) {
    const fs::path file = target / name;
    if (!fs::is_regular_file(fs::symlink_status(file)))
      found.push_back("missing: " + name);
    else if (storage::sha256_of_file(file) != digest)
      found.push_back("changed: " + name);
  }
  std::error_code ec;
  for (const auto& entry : fs::recursive_directory_iterator(target, ec)) {
    if (entry.is_directory(ec) && !entry.is_symlink(ec)) continue;
    const std::string name = entry.path().lexically_relative(target).generic_string();
    if (installed.files.count(name) == 0) found.push_back("added: " + name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace hone::skill
