// hone-attack: puts an answer of the corpus through extraction, build and verification as a trial
// does, and checks its outcome and that nothing outside has changed. See CONTRIBUTING.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "answer.hpp"
#include "diagnostic/diagnostic.hpp"
#include "kernel/build.hpp"
#include "outside.hpp"
#include "process/run.hpp"
#include "process/sandbox.hpp"
#include "process/terminal.hpp"
#include "storage/storage.hpp"
#include "trial/manifest.hpp"

namespace {

namespace fs = std::filesystem;
using namespace hone;
using attacks::Answer;
using attacks::Outside;
using storage::Json;

struct Options {
  std::string answer, manifest, work, tier = "strong";
};

struct Trial {
  std::string outcome, evidence;
  Json build, verify;
};

/// An attack that is to end by the clock need not take the minutes that honest work may.
constexpr double kCompileSeconds = 12, kCallSeconds = 4;

kernel::BuildReport build(const Answer& answer, const trial::SuiteEntry& suite,
                          const trial::Manifest& manifest, const fs::path& folder,
                          const fs::path& cache) {
  kernel::ExtractOptions extract_options;
  extract_options.entry = suite.entry;
  const auto extraction = kernel::extract(answer.text, extract_options);
  if (extraction.outcome != kernel::ExtractOutcome::extracted) return kernel::report_of(extraction);
  for (const auto& file : extraction.files)
    storage::write_atomically(folder / "answer" / file.name, file.text);
  const fs::path header = suite.header;
  kernel::BuildRequest request;
  request.files = extraction.files;
  request.headers = {{header.filename().string(), storage::read_file(header)}};
  request.entry = suite.entry;
  request.library = folder / "candidate.so";
  if (!answer.compile_time) request.cache_dir = cache;
  request.toolkit = kernel::find_toolkit(manifest.toolkit_root);
  if (answer.compile_time && answer.outcome == "timeout")
    request.limits.wall_seconds = kCompileSeconds;
  return kernel::build(request);
}

/// The suite's verdict; its record is moved away, to leave no trace.
Json verify(const Answer& answer, const trial::SuiteEntry& suite, const trial::Manifest& manifest,
            const fs::path& folder) {
  process::Command command;
  const fs::path record = folder / "verify.json";
  command.argv = {suite.verify, "--candidate=" + (folder / "candidate.so").string(),
                  "--json=" + record.string(), "--seed=1"};
  if (answer.outcome == "timeout")
    command.argv.push_back(fmt::format("--timeout={}", kCallSeconds));
  command.inherit_environment = true;
  command.environment["HONE_CANDIDATE"] = manifest.candidate.string();
  command.environment["HONE_CUDASIM_DIR"] = manifest.cudasim_dir.string();
  command.environment["HONE_DEVICE"] = "sim";
  command.limits.wall_seconds = 240;
  const auto result = process::run(command);
  if (!fs::exists(record))
    return {{"outcome", "infrastructure-error"},
            {"evidence", result.str() + ": " + process::first_line(result.err)}};
  Json json = storage::read_json(record);
  fs::remove(record);
  return json;
}

Trial run(const Answer& answer, const trial::Manifest& manifest, const fs::path& folder,
          const fs::path& cache, Outside& outside, std::vector<std::string>& changes) {
  const auto& suite = manifest.suite(answer.suite);
  Trial trial;
  outside.remember({});
  const auto report = build(answer, suite, manifest, folder, cache);
  changes = outside.changes();
  trial.build = kernel::to_json(report);
  trial.outcome = kernel::to_string(report.outcome);
  trial.evidence = report.evidence;
  if (report.outcome != kernel::BuildOutcome::built) return trial;

  outside.remember({folder, fs::path(suite.header).parent_path()});
  trial.verify = verify(answer, suite, manifest, folder);
  trial.outcome = trial.verify.value("outcome", "");
  trial.evidence = trial.verify.value("evidence", "");
  for (auto& change : outside.changes()) changes.push_back(std::move(change));
  return trial;
}

/// What is wrong with the records, beside the outcome.
std::vector<std::string> faults(const Trial& trial, const std::string& tier) {
  std::vector<std::string> faults;
  const std::string all = trial.build.dump() + trial.verify.dump();
  for (const auto& secret : {Outside::secret, Outside::secret_variable, std::string("root:x:")})
    if (all.find(secret) != std::string::npos) faults.push_back("a record says " + secret);
  if (trial.build.value("diagnostics", "").size() > 20000)
    faults.emplace_back("the compiler's diagnostics are not cut");
  for (const std::string& text : {trial.build.value("diagnostics", ""), trial.evidence})
    if (process::sanitise(text, text.size()) != text)
      faults.emplace_back("control characters are left in a record");
  for (const Json& record : {trial.build, trial.verify})
    if (record.is_object() && !record.value("cached", false) && record["sandbox"] != tier)
      faults.push_back("a record names the tier " + record["sandbox"].dump());
  return faults;
}

int attack(const Options& options) {
  const auto manifest = trial::load_manifest(options.manifest);
  Answer answer = attacks::read_answer(options.answer);
  ::setenv("HONE_SANDBOX", options.tier.c_str(), 1);
  ::unsetenv("HONE_ALLOW_EXECUTION");
  if (process::sandbox_tier() != options.tier) {
    std::cout << fmt::format("no {} sandbox here: {}\n", options.tier,
                             process::probe_sandbox().reason);
    return static_cast<int>(Exit::inconclusive);
  }
  if (options.tier == "medium" && !answer.in_medium.empty()) answer.outcome = answer.in_medium;
  if (options.tier == "weak") {
    answer.outcome = "infrastructure-error";
    answer.says = "the sandbox here is weak";
    answer.compile_time = true;
  }
  const fs::path work = fs::absolute(options.work);
  const fs::path folder = work / options.tier / answer.name;
  Outside outside(work / "outside" / answer.name);  // the same in each tier: builds are used again
  answer.text = outside.fill_in(answer.text);
  fs::remove_all(folder);
  fs::create_directories(folder);

  std::vector<std::string> problems;
  const Trial trial = run(answer, manifest, folder, work / "cache", outside, problems);
  std::cout << fmt::format("{} [{}]: {}: {}\n", answer.name, options.tier, trial.outcome,
                           trial.evidence);
  if (trial.outcome != answer.outcome && (answer.other.empty() || trial.outcome != answer.other))
    problems.push_back(
        fmt::format("the outcome is {}, {} was expected", trial.outcome, answer.outcome));
  if (trial.evidence.find(answer.says) == std::string::npos)
    problems.push_back(fmt::format("the evidence does not say '{}'", answer.says));
  for (auto& fault : faults(trial, options.tier)) problems.push_back(std::move(fault));
  for (const auto& problem : problems) std::cout << "  " << problem << "\n";
  if (!problems.empty() && trial.build.is_object())
    std::cout << trial.build.value("diagnostics", "") << "\n";
  return static_cast<int>(problems.empty() ? Exit::good : Exit::judged_bad);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Tries an answer of the attack corpus. Exit codes: 0 as expected, 1 not, 77 no such "
      "sandbox here.");
  app.add_option("answer", options.answer, "The answer's file")->required();
  app.add_option("--manifest", options.manifest, "Manifest of the build")->required();
  app.add_option("--work", options.work, "Folder for builds and records")->required();
  app.add_option("--tier", options.tier, "strong, medium or weak")
      ->check(CLI::IsMember({"strong", "medium", "weak"}));
  CLI11_PARSE(app, argc, argv);
  try {
    return attack(options);
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(Exit::infrastructure);
  }
}
