#include "kernel/build_cache.hpp"

#include <unistd.h>

#include "diagnostic/diagnostic.hpp"

namespace hone::kernel {
namespace {

namespace fs = std::filesystem;

Json optional_error(const std::optional<FirstError>& error) {
  if (!error) return nullptr;
  return {{"file", error->file}, {"line", error->line}, {"message", error->message}};
}

}  // namespace

fs::path BuildCache::entry(const std::string& digest) const {
  const std::string hex = digest.substr(digest.find(':') + 1);
  return dir_ / "build" / hex.substr(0, 2) / hex.substr(2);
}

std::optional<BuildReport> BuildCache::find(const std::string& digest) const {
  std::error_code ec;
  const fs::path folder = entry(digest);
  if (dir_.empty() || !fs::exists(folder / "build.json", ec)) return std::nullopt;
  try {
    const Json json = storage::read_json(folder / "build.json");
    BuildReport report = from_json(json);
    if (report.outcome == BuildOutcome::built) {
      report.library = folder / "library.so";
      if (storage::sha256_of_file(report.library) != json.at("library_digest").get<std::string>())
        throw Error(Exit::bad_input, "damaged");
    }
    report.cached = true;
    return report;
  } catch (const std::exception&) {
    fs::remove_all(folder, ec);
    return std::nullopt;
  }
}

void BuildCache::keep(const std::string& digest, const BuildReport& report) const {
  if (dir_.empty()) return;
  std::error_code ec;
  const fs::path folder = entry(digest);
  std::string pattern = (folder.parent_path() / ".new_XXXXXX").string();
  fs::create_directories(folder.parent_path(), ec);
  if (::mkdtemp(pattern.data()) == nullptr) return;
  const fs::path fresh = pattern;
  try {
    Json json = to_json(report);
    json["library"] = nullptr;
    if (report.outcome == BuildOutcome::built) {
      copy_atomically(report.library, fresh / "library.so");
      json["library_digest"] = storage::sha256_of_file(fresh / "library.so");
    }
    storage::write_json(fresh / "build.json", json);
    fs::permissions(fresh, fs::perms(0755), ec);
    fs::rename(fresh, folder, ec);  // fails when another process was first: as good
  } catch (const std::exception&) {
  }
  fs::remove_all(fresh, ec);
}

void copy_atomically(const fs::path& from, const fs::path& to) {
  storage::write_atomically(to, storage::read_file(from));
}

Json to_json(const BuildReport& report) {
  Json kernels = Json::array();
  for (const auto& k : report.kernels)
    kernels.push_back({{"name", k.name},
                       {"registers", k.registers},
                       {"spill_stores", k.spill_stores},
                       {"spill_loads", k.spill_loads},
                       {"shared_bytes", k.shared_bytes},
                       {"stack_bytes", k.stack_bytes}});
  Json json;
  json["schema"] = "hone.build/1";
  json["outcome"] = to_string(report.outcome);
  json["files"] = report.files;
  json["library"] = report.library.empty() ? Json(nullptr) : Json(report.library.string());
  json["cached"] = report.cached;
  json["flags"] = report.flags;
  json["kernels"] = std::move(kernels);
  json["diagnostics"] = report.diagnostics;
  json["first_error"] = optional_error(report.first_error);
  json["evidence"] = report.evidence;
  json["seconds"] = report.seconds;
  json["sandbox"] = report.sandbox;
  return json;
}

BuildReport from_json(const Json& json) {
  if (json.at("schema") != "hone.build/1") throw Error(Exit::bad_input, "not a hone.build/1");
  BuildReport report;
  const std::string outcome = json.at("outcome");
  for (const auto known : {BuildOutcome::built, BuildOutcome::no_code, BuildOutcome::extract_error,
                           BuildOutcome::compile_error, BuildOutcome::timeout})
    if (outcome == to_string(known)) report.outcome = known;
  report.files = json.at("files").get<std::vector<std::string>>();
  if (json.at("library").is_string()) report.library = json.at("library").get<std::string>();
  report.cached = json.at("cached");
  report.flags = json.at("flags").get<std::vector<std::string>>();
  for (const auto& k : json.at("kernels"))
    report.kernels.push_back({k.at("name"), k.at("registers"), k.at("spill_stores"),
                              k.at("spill_loads"), k.at("shared_bytes"), k.at("stack_bytes")});
  report.diagnostics = json.at("diagnostics");
  if (const auto& e = json.at("first_error"); !e.is_null())
    report.first_error = FirstError{e.at("file"), e.at("line"), e.at("message")};
  report.evidence = json.at("evidence");
  report.seconds = json.at("seconds");
  report.sandbox = json.at("sandbox");
  return report;
}

}  // namespace hone::kernel
