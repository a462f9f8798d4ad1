#include <fmt/format.h>
#include <zlib.h>

#include <map>

#include "report/aggregate.hpp"
#include "report/clean_text.hpp"
#include "report/page.hpp"

namespace hone::report {
namespace {

namespace fs = std::filesystem;
using stats::Arm;
using storage::Json;

constexpr size_t kPrompt = 64 << 10;
constexpr size_t kAnswer = 64 << 10;
constexpr size_t kDiagnostics = 16 << 10;

/// Texts of a chunk, each kept once.
class Texts {
 public:
  Json add(const std::string& text, size_t limit) {
    if (text.empty()) return nullptr;
    const auto [found, fresh] = known_.emplace(clean_text(text, limit), list_.size());
    if (fresh) list_.push_back(found->first);
    return found->second;
  }
  Json list() const { return list_; }

 private:
  std::map<std::string, size_t> known_;
  std::vector<std::string> list_;
};

/// A record, or null when it is missing or unreadable: the trial's outcome tells which.
Json read(const fs::path& file) {
  std::error_code ec;
  if (!fs::exists(file, ec)) return nullptr;
  try {
    return storage::read_json(file);
  } catch (const Error&) {
    return nullptr;
  }
}

std::string text(const Json& in, const char* key) {
  return in.is_object() && in.contains(key) && in[key].is_string() ? in[key].get<std::string>()
                                                                   : std::string();
}

Json number(const Json& in, const char* key) {
  return in.is_object() && in.contains(key) && in[key].is_number() ? in[key] : Json(nullptr);
}

Json list(const Json& in, const char* key) {
  return in.is_object() && in.contains(key) && in[key].is_array() ? in[key] : Json::array();
}

/// A message's content: a text, or blocks of which those with a text are joined.
std::string content(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string all;
  if (value.is_array())
    for (const auto& block : value) all += text(block, "text");
  return all;
}

struct Prompts {
  std::string system, user;
};

/// Of a request in the form of OpenAI (messages with roles) or Anthropic (system apart).
Prompts prompts(const Json& request) {
  Prompts p;
  if (!request.is_object() || !request.contains("body")) return p;
  const Json& body = request["body"];
  if (body.is_object() && body.contains("system")) p.system = content(body["system"]);
  for (const auto& m : list(body, "messages")) {
    const std::string role = text(m, "role");
    std::string& side = role == "system" || role == "developer" ? p.system : p.user;
    if (!m.contains("content")) continue;
    if (!side.empty()) side += "\n\n";
    if (&side == &p.user && role != "user") side += "[" + role + "] ";
    side += content(m["content"]);
  }
  return p;
}

Json of_benchmarks(const Json& rows) {
  Json all = Json::array();
  for (const auto& row : rows) {
    if (!row.is_object()) continue;
    const double scale = unit_ns(text(row, "time_unit"));
    const Json time = number(row, "real_time");
    std::string note = text(row, "label");
    if (row.contains("error_message")) note = text(row, "error_message");
    all.push_back({text(row, "name"), time.is_null() ? time : Json(time.get<double>() * scale),
                   number(row, "of_roofline"), note});
  }
  return all;
}

Json of_trial(const Trial& t, const fs::path& run_dir, Texts& texts) {
  const fs::path dir = run_dir / t.folder;
  const Json request = read(dir / "request.json"), response = read(dir / "response.json");
  const Prompts p = prompts(request);
  Json json = {{"arm", stats::arm_name(t.arm)},
               {"run", t.run},
               {"turns", t.turns},
               {"outcome", t.outcome},
               {"evidence", t.evidence},
               {"seed", t.seed ? Json(*t.seed) : Json(nullptr)},
               {"seconds", t.seconds},
               {"cost", t.cost ? Json(*t.cost) : Json(nullptr)},
               {"usage",
                {{"input", t.usage.input ? Json(*t.usage.input) : Json(nullptr)},
                 {"output", t.usage.output ? Json(*t.usage.output) : Json(nullptr)}}},
               {"model", t.served_model},
               {"asked", t.asked},
               {"device", t.device},
               {"sandbox", t.sandbox},
               {"folder", t.folder},
               {"time_kind", t.time_kind},
               {"system", texts.add(p.system, kPrompt)},
               {"user", texts.add(p.user, kPrompt)},
               {"answer", texts.add(text(response, "text"), kAnswer)},
               {"files", Json::array()},
               {"checks", Json::array()},
               {"shapes", Json::array()},
               {"kernels", Json::array()},
               {"bench", of_benchmarks(t.benchmarks)}};
  if (!t.error_file.empty()) json["error"] = {{"file", t.error_file}, {"line", t.error_line}};
  const Json build = read(dir / "build.json");
  json["diagnostics"] = texts.add(text(build, "diagnostics"), kDiagnostics);
  for (const auto& name : list(build, "files")) {
    if (!name.is_string()) continue;
    try {
      const auto file = dir / "answer" / fs::path(name.get<std::string>()).relative_path();
      if (fs::is_regular_file(fs::symlink_status(file)))
        json["files"].push_back({name, texts.add(storage::read_file(file), kAnswer)});
    } catch (const std::exception&) {
      json["files"].push_back({name, nullptr});
    }
  }
  for (const auto& k : t.kernels)
    json["kernels"].push_back(
        {k.name, k.registers, k.spill_stores, k.spill_loads, k.shared_bytes, k.stack_bytes});
  const Json verify = read(dir / "verify.json");
  for (const auto& c : list(verify, "checks"))
    if (c.is_object())
      json["checks"].push_back({text(c, "name"), c.value("passed", false), text(c, "evidence")});
  for (const auto& s : list(verify, "shapes"))
    json["shapes"].push_back(
        {text(s, "name"), text(s, "outcome"), number(s, "max_error"), text(s, "evidence")});
  return json;
}

std::string deflated(const std::string& data) {
  uLongf size = compressBound(static_cast<uLong>(data.size()));
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size()),
                6) != Z_OK)
    throw Error(Exit::infrastructure, "zlib cannot compress a trial's details");
  out.resize(size);
  return out;
}

}  // namespace

std::string page_details(const EvaluationResult& evaluation, size_t model, size_t case_index) {
  Texts texts;
  Json trials = Json::array();
  for (const Arm arm : {Arm::without_skill, Arm::with_skill})
    for (const auto& t : evaluation.runs_of(model, case_index, arm))
      trials.push_back(of_trial(t, evaluation.input.run_dir, texts));
  const Json chunk = {{"texts", texts.list()}, {"trials", clean_json(trials)}};
  return storage::base64(deflated(chunk.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace hone::report
