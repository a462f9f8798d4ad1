#include "trial/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "cases/check.hpp"
#include "kernel/build.hpp"
#include "kernel/uses.hpp"
#include "model/catalogue.hpp"
#include "process/run.hpp"
#include "process/terminal.hpp"
#include "storage/storage.hpp"
#include "trial/recorder.hpp"

namespace hone::trial {
namespace {

namespace fs = std::filesystem;

/// Everything noteworthy that the code of an answer uses: [{"kind", "text"}].
Json uses_of(const std::vector<kernel::SourceFile>& files, const fs::path& library) {
  Json uses = Json::array();
  const auto symbols = kernel::read_symbols(storage::read_file(library));
  for (const auto& use : kernel::find_uses(files, symbols.value_or(kernel::Symbols{})))
    uses.push_back({{"kind", use.kind}, {"text", use.text()}});
  return uses;
}

/// The first recorded use of a kind that the case forbids, or "".
std::string forbidden_use(const Json& build, const std::vector<std::string>& forbid) {
  for (const Json& use : build.value("uses", Json::array())) {
    if (std::ranges::find(forbid, use.value("kind", std::string())) != forbid.end())
      return use.value("text", std::string());
  }
  return {};
}

bool truncated(const Json& response) { return outcome_of(response) == "truncated"; }

bool answered(const Json& response) {
  return outcome_of(response) == "answered" || truncated(response);
}

/// Environment of the suite programs: where the candidate process and its runtime are, and no key.
process::Command suite_command(const Plan& plan, const std::string& program,
                               const StageOptions& options) {
  process::Command command;
  command.argv = {program};
  command.inherit_environment = true;
  for (const auto& variable : model::key_variables()) command.environment[variable] = "";
  command.environment["HONE_CANDIDATE"] = plan.manifest->candidate.string();
  command.environment["HONE_CUDASIM_DIR"] = plan.manifest->cudasim_dir.string();
  command.environment["HONE_PROGRAMS"] = plan.manifest->candidate.parent_path().string();
  if (!plan.manifest->cudart_dir.empty())
    command.environment["HONE_CUDART_DIR"] = plan.manifest->cudart_dir.string();
  if (!options.device.empty()) command.environment["HONE_DEVICE"] = options.device;
  command.limits.wall_seconds = 0;
  command.limits.busy_seconds = 170;
  return command;
}

/// Runs a suite program that writes `file`; its record, or one of an infrastructure error.
Json run_suite_program(const process::Command& command, const fs::path& file, const char* schema) {
  fs::remove(file);
  const auto result = process::run(command);
  if (fs::exists(file)) return storage::read_json(file);
  const auto said = process::first_line(result.err.empty() ? result.out : result.err);
  return Json{{"schema", schema},
              {"outcome", "infrastructure-error"},
              {"evidence", fmt::format("{} {} and wrote no record{}{}",
                                       fs::path(command.argv[0]).filename().string(), result.str(),
                                       said.empty() ? "" : ": ", said)}};
}

/// A record that was made from the same candidate by the same program and can be used again.
Json usable(const Recorder& recorder, int run, const char* file, const std::string& candidate,
            const fs::path& program) {
  if (recorder.options().fresh) return {};
  const Json record = recorder.read(run, file);
  if (!record.is_object() || outcome_of(record) == "infrastructure-error" ||
      record.value("candidate", std::string()) != candidate)
    return {};
  std::error_code ec;
  const auto made = fs::last_write_time(recorder.dir(run) / file, ec);
  if (ec || fs::last_write_time(program, ec) > made || ec) return {};
  return record;
}

/// Runs a suite's program on a run's candidate, or uses its record again, and notes the outcome.
void measure(const Recorder& recorder, int run, const std::string& program, const char* file,
             const char* schema, StageResult& result) {
  const fs::path path = recorder.dir(run) / file;
  const fs::path library = recorder.dir(run) / "candidate.so";
  const auto candidate = storage::sha256_of_file(library);
  Json record = usable(recorder, run, file, candidate, program);
  const bool reused = record.is_object();
  if (!reused) {
    auto command = suite_command(recorder.plan(), program, recorder.options());
    command.argv.insert(command.argv.end(),
                        {"--candidate=" + library.string(), "--json=" + path.string()});
    record = run_suite_program(command, path, schema);
    record["candidate"] = candidate;
    storage::write_json(path, record);
  }
  recorder.note(result, run, outcome_of(record), record.value("evidence", std::string()), reused);
}

/// Records and notes a verdict that no suite's program gave.
void judge(const Recorder& recorder, int run, const std::string& outcome,
           const std::string& evidence, Json checks, StageResult& result) {
  storage::write_json(recorder.dir(run) / "verify.json", {{"schema", "hone.verify/1"},
                                                          {"outcome", outcome},
                                                          {"evidence", evidence},
                                                          {"checks", std::move(checks)},
                                                          {"shapes", Json::array()},
                                                          {"device", nullptr}});
  recorder.note(result, run, outcome, evidence);
}

std::string required_program(const std::string& program, const std::string& what) {
  if (program.empty() || !fs::exists(program))
    throw Error(
        Exit::infrastructure,
        fmt::format("{} is not built: {} (cmake --build the project first)", what, program));
  return program;
}

/// Removes what later stages made of a record that is about to change.
void clear(const fs::path& dir, std::initializer_list<const char*> names) {
  for (const char* file : names) fs::remove_all(dir / file);
}

}  // namespace

model::LlamaServerConfig endpoint_config(const Manifest& manifest,
                                         const model::ModelConfig& model) {
  model::LlamaServerConfig config;
  config.program = manifest.llama_server;
  config.gguf = model.gguf;
  config.gguf_sha256 = model.gguf_sha256;
  config.alias = model.model;
  config.context = model.context;
  config.parallel = model.parallel;
  config.state_dir = manifest.binary_dir / "hone/endpoints";
  return config;
}

model::ModelConfig with_endpoint(const Manifest& manifest, model::ModelConfig model) {
  if (model.endpoint.empty() || model::record_mode_from_environment() == model::RecordMode::replay)
    return model;
  const auto endpoint = model::running(manifest.binary_dir / "hone/endpoints", model.model);
  if (!endpoint)
    throw Error(Exit::infrastructure,
                fmt::format("no server runs for model '{}': hone endpoint start --model {}",
                            model.name, model.name));
  model.base_url = endpoint->base_url;
  return model;
}

StageResult build(const Plan& plan, const model::ModelConfig& model, const Selection& selection,
                  const StageOptions& options) {
  const Recorder recorder(plan, model, selection, options);
  const auto& suite = plan.manifest->suite(selection.c->suite);
  std::string reason;
  const auto toolkit = kernel::find_toolkit(plan.manifest->toolkit_root, &reason);
  if (!toolkit) throw Error(Exit::infrastructure, "no nvcc: " + reason);
  const fs::path header = suite.header;

  StageResult result;
  for (int run = 0; run < recorder.runs(); ++run) {
    const Json response = recorder.read(run, "response.json");
    if (!answered(response)) continue;
    const auto dir = recorder.dir(run);
    clear(dir, {"answer"});
    kernel::ExtractOptions extract_options;
    extract_options.entry = suite.entry;
    const auto extraction = kernel::extract(response.value("text", std::string()), extract_options);
    kernel::BuildReport report;
    if (extraction.outcome == kernel::ExtractOutcome::extracted) {
      for (const auto& file : extraction.files)
        storage::write_atomically(dir / "answer" / file.name, file.text);
      kernel::BuildRequest request;
      request.files = extraction.files;
      request.headers = {{header.filename().string(), storage::read_file(header)}};
      request.entry = suite.entry;
      request.library = dir / "candidate.so";
      request.cache_dir = plan.manifest->cache_dir / "builds";
      request.toolkit = toolkit;
      report = kernel::build(request);
    } else {
      report = kernel::report_of(extraction);
    }
    Json record = kernel::to_json(report);
    if (report.outcome == kernel::BuildOutcome::built) {
      record["uses"] = uses_of(extraction.files, dir / "candidate.so");
    }
    if (truncated(response) && report.outcome != kernel::BuildOutcome::built &&
        report.outcome != kernel::BuildOutcome::infrastructure_error) {
      record["outcome"] = "truncated";
      record["evidence"] = "the answer was cut off by its token limit: " + report.evidence;
    }
    storage::write_json(dir / "build.json", record);
    recorder.note(result, run, outcome_of(record), record["evidence"], report.cached);
  }
  return finished(result, "no run has an answer to build");
}

StageResult verify(const Plan& plan, const model::ModelConfig& model, const Selection& selection,
                   const StageOptions& options) {
  const Recorder recorder(plan, model, selection, options);
  StageResult result;
  if (!selection.c->expect.kernel) {
    for (int run = 0; run < recorder.runs(); ++run) {
      const Json response = recorder.read(run, "response.json");
      if (!answered(response)) continue;
      Json checks = Json::array();
      std::string failed;
      for (const auto& check :
           cases::check_text(selection.c->expect, response.value("text", std::string()))) {
        checks.push_back(
            {{"name", check.name}, {"passed", check.passed}, {"evidence", check.evidence}});
        if (!check.passed && failed.empty())
          failed = check.name + (check.evidence.empty() ? "" : ": " + check.evidence);
      }
      const std::string outcome = failed.empty()        ? "correct"
                                  : truncated(response) ? "truncated"
                                                        : "wrong";
      judge(recorder, run, outcome, failed, std::move(checks), result);
    }
    return finished(result, "no run has an answer to check");
  }

  const auto program =
      required_program(plan.manifest->suite(selection.c->suite).verify, "the suite's oracle");
  for (int run = 0; run < recorder.runs(); ++run) {
    const Json built = recorder.read(run, "build.json");
    if (outcome_of(built) != "built") continue;
    if (const std::string use = forbidden_use(built, selection.c->expect.forbid); !use.empty()) {
      judge(recorder, run, "suspicious", use + ": the case forbids it", Json::array(), result);
      continue;
    }
    measure(recorder, run, program, "verify.json", "hone.verify/1", result);
  }
  return finished(result, "no run has a candidate that was built");
}

StageResult bench(const Plan& plan, const model::ModelConfig& model, const Selection& selection,
                  const StageOptions& options) {
  const Recorder recorder(plan, model, selection, options);
  const auto program =
      required_program(plan.manifest->suite(selection.c->suite).bench, "the suite's benchmark");
  StageResult result;
  for (int run = 0; run < recorder.runs(); ++run) {
    if (outcome_of(recorder.read(run, "verify.json")) != "correct") {
      clear(recorder.dir(run), {"bench.json"});
      continue;
    }
    measure(recorder, run, program, "bench.json", "hone.bench/1", result);
  }
  return finished(result, "no run has a correct candidate to time");
}

StageResult run_stage(const std::string& stage, const Plan& plan, const model::ModelConfig& model,
                      const Selection& selection, const StageOptions& options) {
  if (stage == "query") return query(plan, model, {&selection, 1}, options);
  if (stage == "build") return build(plan, model, selection, options);
  if (stage == "verify") return verify(plan, model, selection, options);
  if (stage == "repair") return repair(plan, model, selection, options);
  if (stage == "bench") return bench(plan, model, selection, options);
  throw Error(Exit::usage,
              fmt::format("unknown stage '{}'; known: query, build, verify, repair, bench", stage));
}

}  // namespace hone::trial
