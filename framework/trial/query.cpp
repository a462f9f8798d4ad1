#include "trial/query.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/budget.hpp"
#include "model/recorded_set.hpp"
#include "model/store.hpp"
#include "trial/disclosure.hpp"
#include "trial/recorder.hpp"

namespace hone::trial {
namespace {

namespace fs = std::filesystem;
using model::RecordMode;

/// Tool calls that a disclosed skill may take before the answer counts as it is.
constexpr size_t kMaxSteps = 6;

/// An answer that has to be asked for, and what its tool calls came to so far.
struct Asked : Wanted {
  size_t before_turn = 0;  ///< exchanges of earlier turns
  Json opened = Json::array();
  std::optional<model::Answer> steps;  ///< the sum of the steps before the last
};

template <typename T>
void add(std::optional<T>& sum, const std::optional<T>& part) {
  if (part) sum = sum.value_or(0) + *part;
}

/// Usage, cost, time and attempts of a step on top of an answer's.
void add_step(model::Answer& answer, const model::Answer& step) {
  add(answer.usage.input, step.usage.input);
  add(answer.usage.cached, step.usage.cached);
  add(answer.usage.cache_write, step.usage.cache_write);
  add(answer.usage.output, step.usage.output);
  add(answer.usage.reasoning, step.usage.reasoning);
  add(answer.cost, step.cost);
  answer.seconds += step.seconds;
  answer.attempts += step.attempts;
}

class Query {
 public:
  Query(const Plan& plan, const model::ModelConfig& model, const StageOptions& options)
      : plan_(plan),
        model_(model),
        options_(options),
        delivery_(delivery_named(plan.evaluation.delivery)) {}

  /// The runs of these selections that have no usable answer in the run folder.
  StageResult run(std::span<const Selection> selections) {
    for (const auto& selection : selections)
      for (int run = 0; run < plan_.evaluation.runs; ++run) take(selection, run);
    return ask_all();
  }

  StageResult run(std::vector<Wanted> wanted) {
    for (auto& w : wanted) add(std::move(w));
    return ask_all();
  }

 private:
  StageResult ask_all() {
    for (const bool refresh : {false, true}) ask(refresh);
    if (options_.cancelled && options_.cancelled())
      throw Error(Exit::interrupted, fmt::format("interrupted: {} answers are on record; the same "
                                                 "command asks the rest",
                                                 result_.recorded));
    StageResult result = finished(result_, "nothing was asked");
    if (not_asked_ > 0)
      result.reason += fmt::format("; {} not asked, so as not to pass the budget", not_asked_);
    return result;
  }

  Recorder recorder(const Selection& selection) const {
    return {plan_, model_, selection, options_};
  }

  /// The skill that an arm is given, or null.
  const skill::Skill* skill_of(Arm arm) const {
    return arm == Arm::with_skill ? &plan_.skill : nullptr;
  }

  /// What the skill adds to the system text of an arm.
  std::string added_text(Arm arm) const {
    const auto* skill = skill_of(arm);
    if (skill == nullptr) return "";
    return delivery_ == Delivery::disclose ? disclosed_text(*skill) : skill::skill_text(*skill);
  }

  void add(Wanted wanted) {
    Asked asked;
    static_cast<Wanted&>(asked) = std::move(wanted);
    asked.before_turn = asked.turns.size();
    asked_.push_back(std::move(asked));
  }

  model::Question question_of(const Asked& asked) const {
    const auto& selection = asked.selection;
    const int run = asked.run;
    model::Question q;
    const std::string added = added_text(selection.arm);
    q.system = std::string(skill::kNeutralSystemText) + added;
    q.user = user_text(plan_, *selection.c);
    q.seed = model_.seed.value_or(1) + run;
    q.max_tokens = selection.c->max_tokens;
    q.turns = asked.turns;
    if (delivery_ == Delivery::disclose && selection.arm == Arm::with_skill)
      q.tools = {read_skill_tool()};
    q.label.case_id = selection.c->id;
    q.label.arm = name(selection.arm);
    q.label.case_digest = selection.c->digest;
    q.label.skill_digest = added.empty() ? "" : storage::sha256(added);
    if (delivery_ == Delivery::disclose && !added.empty())
      q.label.skill_digest = plan_.skill.digest;
    q.label.run = run;
    q.label.turn = asked.turn;
    q.label.step = static_cast<int>(asked.turns.size() - asked.before_turn);
    return q;
  }

  /// The first request for an answer.
  Json request_of(Asked asked) const {
    asked.turns.resize(asked.before_turn);
    const auto question = question_of(asked);
    const auto& selection = asked.selection;
    const int run = asked.run;
    const std::string added = added_text(selection.arm);
    const cases::Case& c = *selection.c;
    return {{"schema", "hone.request/1"},
            {"evaluation", plan_.evaluation.name},
            {"skill", plan_.skill.name},
            {"model", model_.name},
            {"model_digest", model_.gguf_sha256},
            {"case", c.id},
            {"case_file", c.where.file},
            {"case_line", c.where.line},
            {"suite", c.suite.empty() ? Json() : Json(c.suite)},
            {"kind", c.kind()},
            {"arm", name(selection.arm)},
            {"run", run},
            {"turn", asked.turn},
            {"seed", *question.seed},
            {"provider", model_.provider},
            {"source", model_.source()},
            {"sampling", model::sampling_of(model_)},
            {"delivery", plan_.evaluation.delivery.empty() ? "inject" : plan_.evaluation.delivery},
            {"body", model::request_body(model_, question)},
            {"skill_digest", added.empty() ? Json() : Json(storage::sha256(added))},
            {"case_digest", c.digest}};
  }

  /// Uses the run folder's first answer to the very same request, or adds the trial to be asked.
  void take(const Selection& selection, int run) {
    const auto r = recorder(selection);
    const Trial trial{selection.c->id, selection.arm, run, r.dir(run)};
    Asked asked;
    asked.selection = selection;
    asked.run = run;
    asked.refresh = options_.fresh || (options_.rerun && options_.rerun(trial));
    if (!asked.refresh && options_.record == RecordMode::record && options_.collected == nullptr &&
        options_.missing == nullptr) {
      const bool repaired = fs::exists(r.dir(run) / "turns/1/response.json");
      const Json before = r.read(run, repaired ? "turns/1/request.json" : "request.json");
      const Json response = r.read(run, repaired ? "turns/1/response.json" : "response.json");
      if (same_request(before, request_of(asked)) && response.is_object() &&
          outcome_of(response) != "infrastructure-error")
        return r.note(result_, run, outcome_of(response), "", true);
    }
    asked_.push_back(std::move(asked));
  }

  void ask(bool refresh) {
    std::vector<size_t> round;
    for (size_t i = 0; i < asked_.size(); ++i)
      if (asked_[i].refresh == refresh) round.push_back(i);
    if (round.empty()) return;
    const bool listing = options_.missing != nullptr;
    const fs::path& cache = plan_.manifest->cache_dir;
    RecordMode mode = options_.record;
    if (listing)
      mode = RecordMode::replay;
    else if (cache.empty() && mode != RecordMode::replay)
      mode = RecordMode::off;  // a manifest without a cache has no store
    else if (refresh && mode == RecordMode::record)
      mode = RecordMode::refresh;
    model::AnswerStore store(listing ? fs::path() : cache / "answers", mode);
    store.collect(options_.collected != nullptr);
    if (mode == RecordMode::replay || options_.collected != nullptr) {
      const fs::path set = recorded_set_file(*plan_.manifest, plan_.evaluation.name, model_.name);
      if (fs::exists(set)) store.add_set(model::read_recorded_set(set));
    }

    model::AskOptions ask_options;
    ask_options.in_flight = std::max(1, model_.parallel);
    ask_options.store = &store;
    ask_options.budget = options_.budget;
    ask_options.client = options_.client;
    ask_options.client.cancelled = options_.cancelled;
    ask_options.timeouts = options_.timeouts;
    ask_options.on_progress = options_.progress;
    while (!round.empty()) {
      std::vector<size_t> next;
      ask_options.on_answer = [&](size_t i, const model::Answer& answer) {
        if (wants_more(asked_[round[i]], answer))
          next.push_back(round[i]);
        else
          record(asked_[round[i]], answer);
      };
      model::ask_each(
          model_, round.size(), [&](size_t i) { return question_of(asked_[round[i]]); },
          ask_options);
      round = std::move(next);
    }
    if (options_.collected != nullptr)
      options_.collected->insert(options_.collected->end(), store.collected().begin(),
                                 store.collected().end());
  }

  /// Runs the tool calls of an answer, if it has any and may still make them.
  bool wants_more(Asked& asked, const model::Answer& answer) const {
    if (answer.calls.empty() || answer.outcome != model::Outcome::answered ||
        delivery_ != Delivery::disclose || asked.turns.size() - asked.before_turn >= kMaxSteps)
      return false;
    model::Turn turn{answer.text, answer.calls, answer.content, {}, ""};
    for (const auto& call : answer.calls) {
      std::string opened;
      turn.results.emplace_back(call.id, read_skill(plan_.skill, call, opened));
      if (!opened.empty())
        asked.opened.push_back(
            {{"step", asked.turns.size() - asked.before_turn + 1}, {"file", opened}});
    }
    asked.turns.push_back(std::move(turn));
    if (asked.steps)
      add_step(*asked.steps, answer);
    else
      asked.steps = answer;
    return true;
  }

  void record(const Asked& asked, model::Answer answer) {
    const auto r = recorder(asked.selection);
    const std::string kind = answer.error ? answer.error->kind : "";
    if (kind == "cancelled") return;
    if (options_.missing != nullptr) {
      if (answer.error)
        options_.missing->push_back(fmt::format("{} {} run {}: {}", asked.selection.c->id,
                                                name(asked.selection.arm), asked.run,
                                                answer.error->message));
      return;
    }
    if (kind == "budget") {
      ++not_asked_;
      ++result_.failed;
      return;
    }
    const std::string asked_at = answer.asked.empty() ? storage::utc_now() : answer.asked;
    if (asked.steps) add_step(answer, *asked.steps);
    Json request = request_of(asked);
    request["created"] = asked_at;
    Json response = model::to_json(answer);
    if (delivery_ == Delivery::disclose && asked.selection.arm == Arm::with_skill)
      response["opened"] = asked.opened;
    const auto dir = r.dir(asked.run);
    // What later stages made of another answer is of no use.
    if (asked.turn == 1 && (r.read(asked.run, "request.json") != request ||
                            r.read(asked.run, "response.json") != response))
      fs::remove_all(dir);
    storage::write_json(dir / "request.json", request);
    storage::write_json(dir / "response.json", response);
    r.note(result_, asked.run, std::string(model::name(answer.outcome)),
           answer.error ? answer.error->kind + ": " + answer.error->message
                        : fmt::format("{} tokens in {:.1f} s", answer.usage.output.value_or(0),
                                      answer.seconds),
           answer.source == "recorded");
  }

  const Plan& plan_;
  const model::ModelConfig& model_;
  const StageOptions& options_;
  Delivery delivery_;
  std::vector<Asked> asked_;
  StageResult result_;
  int not_asked_ = 0;
};

}  // namespace

bool same_request(const Json& on_record, const Json& wanted) {
  if (!on_record.is_object()) return false;
  for (const char* key : {"body", "provider", "source", "model_digest", "delivery", "skill_digest"})
    if (on_record.value(key, Json()) != wanted.value(key, Json())) return false;
  return true;
}

StageResult ask_trials(const Plan& plan, const model::ModelConfig& model,
                       std::vector<Wanted> wanted, const StageOptions& options) {
  return Query(plan, model, options).run(std::move(wanted));
}

fs::path recorded_set_file(const Manifest& manifest, const std::string& evaluation,
                           const std::string& model) {
  return manifest.baselines_dir.parent_path() / "recorded" / evaluation / (model + ".jsonl");
}

StageResult query(const Plan& plan, const model::ModelConfig& model,
                  std::span<const Selection> selections, const StageOptions& options) {
  return Query(plan, model, options).run(selections);
}

}  // namespace hone::trial
