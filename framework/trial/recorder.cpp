#include "trial/recorder.hpp"

#include <fmt/format.h>

#include "process/terminal.hpp"
#include "storage/storage.hpp"

namespace hone::trial {

namespace fs = std::filesystem;

fs::path Recorder::dir(int run) const {
  return plan_.trial_dir(model_.name, selection_.c->id, selection_.arm, run);
}

Json Recorder::read(int run, const char* file) const {
  const auto path = dir(run) / file;
  return fs::exists(path) ? storage::read_json(path) : Json();
}

void Recorder::note(StageResult& result, int run, const std::string& outcome,
                    const std::string& evidence, bool reused) const {
  ++(outcome == "infrastructure-error" ? result.failed : result.recorded);
  if (reused) ++result.reused;
  if (!options_.print) return;
  const auto line = process::first_line(evidence);
  options_.print(fmt::format("{} {} run {}: {}{}{}{}", selection_.c->id, name(selection_.arm), run,
                             outcome, line.empty() ? "" : ": ", line,
                             reused ? " (on record)" : ""));
}

StageResult finished(StageResult result, const std::string& nothing) {
  if (result.failed > 0) {
    result.code = Exit::infrastructure;
    result.reason = fmt::format("{} of {} could not be measured", result.failed,
                                result.failed + result.recorded);
  } else if (result.recorded == 0) {
    result.code = Exit::inconclusive;
    result.reason = nothing;
  }
  return result;
}

Ending ending_of(const fs::path& trial_dir) {
  for (const char* name : {"verify.json", "build.json", "response.json"}) {
    if (!fs::exists(trial_dir / name)) continue;
    const Json record = storage::read_json(trial_dir / name);
    if (record.is_object())
      return {name, outcome_of(record), record.value("evidence", std::string())};
  }
  return {};
}

std::string outcome_of(const Json& record) {
  return record.is_object() ? record.value("outcome", std::string()) : "";
}

}  // namespace hone::trial
