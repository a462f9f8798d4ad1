#include "trial/query.hpp"
#include "trial/recorder.hpp"

namespace hone::trial {
namespace {

namespace fs = std::filesystem;

/// What the model is told of its answer's faults.
std::string feedback(const std::string& outcome, const std::string& evidence) {
  return "This answer was checked. The outcome is " + outcome +
         (evidence.empty() ? "." : ":\n\n" + evidence) +
         "\n\nGive the whole corrected answer, in the same form.";
}

/// Of the last stage that judged a run; all "" where none did.
Ending judged(const fs::path& dir) {
  Ending ending = ending_of(dir);
  return ending.record == "response.json" ? Ending{} : ending;
}

int turns_on_record(const fs::path& dir) {
  int turns = 0;
  while (fs::exists(dir / "turns" / std::to_string(turns + 1) / "response.json")) ++turns;
  return turns;
}

/// What a run needs next: its newest turn moved aside, the talk so far.
Wanted next_turn(const Recorder& recorder, const Selection& selection, int run) {
  const fs::path dir = recorder.dir(run);
  int turn = turns_on_record(dir);
  if (fs::exists(dir / "response.json")) {
    const auto [record, outcome, evidence] = judged(dir);
    const fs::path aside = dir / "turns" / std::to_string(++turn);
    fs::create_directories(aside);
    storage::write_json(aside / "feedback.json",
                        {{"schema", "hone.feedback/1"}, {"text", feedback(outcome, evidence)}});
    // The response last: with it the turn counts as moved.
    for (const char* file :
         {"request.json", "build.json", "verify.json", "answer", "candidate.so", "response.json"})
      if (fs::exists(dir / file)) fs::rename(dir / file, aside / file);
  }
  Wanted wanted;
  wanted.selection = selection;
  wanted.run = run;
  wanted.turn = turn + 1;
  for (int t = 1; t <= turn; ++t) {
    const fs::path past = dir / "turns" / std::to_string(t);
    model::Turn said;
    said.said = storage::read_json(past / "response.json").value("text", std::string());
    said.user = storage::read_json(past / "feedback.json").value("text", std::string());
    wanted.turns.push_back(std::move(said));
  }
  return wanted;
}

/// Whether another turn may help a run, and it has one left.
bool wants_turn(const Recorder& recorder, int run, int turn) {
  const fs::path dir = recorder.dir(run);
  const int past = turns_on_record(dir);
  if (!fs::exists(dir / "response.json")) return past > 0 && past + 1 == turn;  // killed in between
  const std::string outcome = judged(dir).outcome;
  return past + 2 == turn && !outcome.empty() && outcome != "correct" &&
         outcome != "infrastructure-error";
}

}  // namespace

StageResult repair(const Plan& plan, const model::ModelConfig& model, const Selection& selection,
                   const StageOptions& options) {
  const Recorder recorder(plan, model, selection, options);
  StageResult result;
  for (int turn = 2; turn <= selection.c->turns; ++turn) {
    std::vector<Wanted> wanted;
    for (int run = 0; run < recorder.runs(); ++run)
      if (wants_turn(recorder, run, turn)) wanted.push_back(next_turn(recorder, selection, run));
    if (wanted.empty()) continue;
    const auto asked = ask_trials(plan, model, std::move(wanted), options);
    result.recorded += asked.recorded;
    result.failed += asked.failed;
    StageOptions quiet = options;
    quiet.print = {};
    if (selection.c->expect.kernel) build(plan, model, selection, quiet);
    verify(plan, model, selection, quiet);
  }
  if (options.print && result.recorded > 0)
    for (int run = 0; run < recorder.runs(); ++run)
      if (const int turns = turns_on_record(recorder.dir(run)); turns > 0)
        options.print(selection.c->id + " " + std::string(name(selection.arm)) + " run " +
                      std::to_string(run) + ": " + judged(recorder.dir(run)).outcome + " at turn " +
                      std::to_string(turns + 1));
  if (result.recorded + result.failed == 0) result.reason = "no run has a fault to repair";
  return result.failed > 0 ? finished(result, "") : result;
}

}  // namespace hone::trial
