#include "history/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "stats/paired.hpp"

namespace hone::history {
namespace {

using stats::Arm;

template <typename Get>
std::optional<double> mean_over(const std::vector<CaseNumbers>& cases, Get get) {
  std::vector<double> values;
  for (const auto& c : cases)
    if (const std::optional<double> value = get(c)) values.push_back(*value);
  return values.empty() ? std::nullopt : std::optional(stats::mean(values));
}

ArmNumbers numbers(const report::ArmCase& arm, std::span<const report::Trial> trials) {
  ArmNumbers n;
  n.tally = arm.tally;
  n.infrastructure_errors = arm.infrastructure_errors;
  if (arm.trials_with_usage > 0) {
    n.input_tokens = static_cast<double>(arm.input_tokens) / arm.trials_with_usage;
    n.output_tokens = static_cast<double>(arm.output_tokens) / arm.trials_with_usage;
  }
  double cost = 0;
  int priced = 0;
  for (const auto& t : trials) {
    if (!t.scored() || !t.cost) continue;
    cost += *t.cost;
    ++priced;
  }
  if (priced > 0) n.cost = cost / priced;
  return n;
}

const char* worst(const std::vector<report::GateResult>& gates) {
  using stats::GateOutcome;
  const auto any = [&](GateOutcome outcome) {
    return std::any_of(gates.begin(), gates.end(),
                       [&](const auto& g) { return g.verdict.outcome == outcome; });
  };
  return gates.empty()                    ? ""
         : any(GateOutcome::fail)         ? "fail"
         : any(GateOutcome::inconclusive) ? "inconclusive"
                                          : "pass";
}

}  // namespace

std::optional<double> ArmNumbers::tokens() const {
  if (!input_tokens || !output_tokens) return std::nullopt;
  return *input_tokens + *output_tokens;
}

stats::Tally Snapshot::total(Arm arm) const {
  stats::Tally sum;
  for (const auto& c : cases) sum += c.of(arm).tally;
  return sum;
}

std::optional<double> Snapshot::rate(Arm arm) const {
  return mean_over(cases, [&](const CaseNumbers& c) {
    return c.of(arm).tally.n > 0 ? std::optional(c.of(arm).tally.rate()) : std::nullopt;
  });
}

std::vector<double> Snapshot::differences() const {
  std::vector<double> d;
  for (const auto& c : cases)
    if (c.with_skill.tally.n > 0 && c.without_skill.tally.n > 0)
      d.push_back(c.with_skill.tally.rate() - c.without_skill.tally.rate());
  return d;
}

std::optional<double> Snapshot::tokens(Arm arm) const {
  return mean_over(cases, [&](const CaseNumbers& c) { return c.of(arm).tokens(); });
}

std::optional<double> Snapshot::cost(Arm arm) const {
  return mean_over(cases, [&](const CaseNumbers& c) { return c.of(arm).cost; });
}

int Snapshot::infrastructure_errors() const {
  int sum = 0;
  for (const auto& c : cases)
    sum += c.with_skill.infrastructure_errors + c.without_skill.infrastructure_errors;
  return sum;
}

std::string Snapshot::case_digest() const {
  std::vector<std::string> lines;
  for (const auto& c : cases) lines.push_back(c.name + " " + c.digest + "\n");
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const auto& line : lines) all += line;
  return storage::sha256(all);
}

std::string Snapshot::key() const {
  std::string all =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}\n", from.source, from.evaluation, from.model,
                  from.model_digest, from.skill_digest, from.time, from.device, runs);
  for (const auto& c : cases)
    all +=
        fmt::format("{}|{}|{}/{}|{}/{}|{}|{}|{:.9g}\n", c.name, c.digest, c.with_skill.tally.passes,
                    c.with_skill.tally.n, c.without_skill.tally.passes, c.without_skill.tally.n,
                    c.with_skill.tokens().value_or(-1), c.without_skill.tokens().value_or(-1),
                    fmt::join(c.times_ns, ","));
  return storage::sha256(all);
}

std::vector<Snapshot> snapshots_of(const report::Results& results) {
  std::vector<Snapshot> all;
  const auto& e = results.environment;
  for (const auto& evaluation : results.evaluations) {
    for (size_t m = 0; m < evaluation.models.size(); ++m) {
      const auto& model = evaluation.models[m];
      if (model.with_skill.total.n + model.without_skill.total.n == 0) continue;
      Snapshot s;
      s.runs = evaluation.input.runs;
      s.from = {"",
                "hone",
                evaluation.input.evaluation,
                evaluation.input.skill,
                "",
                model.info.name,
                model.info.id,
                model.info.digest,
                e.git_commit,
                e.git_dirty,
                e.device,
                e.sandbox,
                e.toolkit,
                e.host,
                worst(model.gates)};
      for (size_t c = 0; c < model.cases.size(); ++c) {
        const auto& from = model.cases[c];
        for (const Arm arm : {Arm::with_skill, Arm::without_skill}) {
          for (const auto& t : evaluation.runs_of(m, c, arm)) {
            s.from.time = std::max(s.from.time, t.asked);
            if (arm == Arm::with_skill && s.from.skill_digest.empty())
              s.from.skill_digest = t.skill_digest;
          }
        }
        if (from.with_skill.tally.n + from.without_skill.tally.n == 0) continue;
        s.cases.push_back(
            {from.info.id, from.info.suite, from.measured_digest,
             numbers(from.with_skill, evaluation.runs_of(m, c, Arm::with_skill)),
             numbers(from.without_skill, evaluation.runs_of(m, c, Arm::without_skill)),
             from.with_skill.times, from.with_skill.time_kind});
      }
      if (s.from.time.empty()) s.from.time = e.generated;
      if (s.from.skill_digest.empty()) s.from.skill_digest = evaluation.input.skill_digest;
      all.push_back(std::move(s));
    }
  }
  return all;
}

std::vector<Snapshot> snapshots_of(const report::Baseline& baseline) {
  std::vector<Snapshot> all;
  for (const auto& [name, model] : baseline.models) {
    Snapshot s;
    s.runs = model.runs;
    s.from.source = "baseline";
    s.from.time = model.date;
    s.from.evaluation = baseline.evaluation;
    s.from.skill = baseline.skill;
    s.from.skill_digest = model.skill_digest;
    s.from.model = name;
    s.from.model_id = model.model_id;
    s.from.model_digest = model.model_digest;
    s.from.device = model.device;
    for (const auto& [id, c] : model.cases) {
      CaseNumbers n{id,
                    c.suite,
                    c.digest,
                    {c.with_skill, 0, {}, {}, {}},
                    {c.without_skill, 0, {}, {}, {}},
                    c.time_ns,
                    c.time_ns.empty() ? "" : model.time_kind};
      const auto take = [](ArmNumbers& arm, const auto& tokens) {
        if (!tokens) return;
        arm.input_tokens = tokens->input;
        arm.output_tokens = tokens->output;
      };
      take(n.with_skill, c.with_tokens);
      take(n.without_skill, c.without_tokens);
      s.cases.push_back(std::move(n));
    }
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace hone::history
