#include <fmt/format.h>

#include "report/clean_text.hpp"
#include "report/writers.hpp"

namespace hone::report {
namespace {

using stats::Arm;
using stats::GateOutcome;

constexpr size_t kLimit = 60000;

const char* sign(GateOutcome outcome) {
  return outcome == GateOutcome::pass   ? "✅ pass"
         : outcome == GateOutcome::fail ? "❌ fail"
                                        : "❔ inconclusive";
}

std::string rate(const ArmResult& a) {
  if (!a.pass_rate) return "–";
  return fmt::format("{:.1f} % ({}/{})", 100 * *a.pass_rate, a.total.passes, a.total.n);
}

std::string whole(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : std::string("–");
}

std::string tally(const ArmCase& a) {
  return a.tally.n > 0 ? fmt::format("{}/{}", a.tally.passes, a.tally.n) : std::string("–");
}

std::string lift(const ModelResult& m) {
  if (!m.lift) return "–";
  std::string text = fmt::format("**{:+.1f}**", 100 * *m.lift);
  if (m.lift_t)
    text += fmt::format(" [{:+.1f} to {:+.1f}]", 100 * m.lift_t->interval.low,
                        100 * m.lift_t->interval.high);
  return text;
}

std::string overview(const EvaluationResult& e) {
  bool priced = false;
  for (const auto& m : e.models) priced = priced || m.with_skill.cost_per_trial;
  std::string out =
      "| model | without | with | lift, points [95 %] | tokens a trial | per correct |";
  if (priced) out += " cost a trial |";
  out += "\n| --- | ---: | ---: | ---: | ---: | ---: |";
  out += priced ? " ---: |\n" : "\n";
  for (const auto& m : e.models) {
    out += fmt::format(
        "| {} | {} | {} | {} | {} → {} | {} → {} |", markdown_text(m.info.name),
        rate(m.without_skill), rate(m.with_skill), lift(m), whole(m.without_skill.tokens_per_trial),
        whole(m.with_skill.tokens_per_trial), whole(m.without_skill.tokens_per_correct),
        whole(m.with_skill.tokens_per_correct));
    if (priced)
      out += fmt::format(" {:.4g} → {:.4g} |", m.without_skill.cost_per_trial.value_or(0),
                         m.with_skill.cost_per_trial.value_or(0));
    out += "\n";
  }
  return out;
}

std::string judgements(const EvaluationResult& e) {
  std::string out;
  for (const auto& m : e.models) {
    const auto add = [&](GateOutcome outcome, const std::string& what, const std::string& message) {
      out += fmt::format("- {} · {} · {}: {}\n", sign(outcome), markdown_text(m.info.name),
                         markdown_text(what), markdown_text(message, 1000));
    };
    for (const auto& g : m.gates) add(g.verdict.outcome, g.text, g.verdict.message);
    for (const auto& c : m.cases)
      if (c.require && c.require->outcome != GateOutcome::pass)
        add(c.require->outcome, "require of " + c.info.id, c.require->message);
    const int lost = m.with_skill.infrastructure_errors + m.without_skill.infrastructure_errors;
    if (lost > 0)
      out += fmt::format("- ⚠️ {}: {} trial{} could not be measured and {} not counted\n",
                         markdown_text(m.info.name), lost, lost == 1 ? "" : "s",
                         lost == 1 ? "is" : "are");
    for (const auto& [arm, a] :
         {std::pair{"without", &m.without_skill}, std::pair{"with", &m.with_skill}}) {
      std::string turns;
      for (size_t t = 0; t < a->pass_at_turn.size(); ++t)
        turns +=
            fmt::format("{}turn {} {:.1f} %", t == 0 ? "" : ", ", t + 1, 100 * a->pass_at_turn[t]);
      if (!turns.empty())
        out += fmt::format("- ℹ️ {} {} the skill, correct by {}\n", markdown_text(m.info.name),
                           arm, turns);
    }
    if (!m.caveat.empty())
      out += fmt::format("- ℹ️ {}: {}\n", markdown_text(m.info.name),
                         markdown_text(m.caveat, 1000));
  }
  for (const auto& p : e.problems) out += "- ⚠️ " + markdown_text(p.str(), 500) + "\n";
  return out;
}

/// The cases of one model, folded away; cut at `budget` bytes.
std::string case_table(const ModelResult& m, size_t budget) {
  std::string out = fmt::format(
      "<details><summary>{}: {} cases</summary>\n\n| case | without | with | first failure |\n| "
      "--- "
      "| ---: | ---: | --- |\n",
      xml_text(m.info.name, 80), m.cases.size());
  const std::string end = "\n</details>\n\n";
  size_t left = m.cases.size();
  for (const auto& c : m.cases) {
    const std::string row =
        fmt::format("| {} | {} | {} | {}{} |\n", markdown_text(c.info.id), tally(c.without_skill),
                    tally(c.with_skill), c.with_skill.tally.flaky() ? "flaky " : "",
                    markdown_text(c.with_skill.evidence, 160));
    if (out.size() + row.size() + end.size() + 60 > budget) break;
    out += row;
    --left;
  }
  if (left > 0) out += fmt::format("\n{} more cases are in the report page.\n", left);
  return left == m.cases.size() ? "" : out + end;
}

}  // namespace

std::string write_markdown(const Results& results) {
  std::string out;
  for (const auto& e : results.evaluations) {
    out += fmt::format("## Hone: {}\n\nSkill {}", markdown_text(e.input.evaluation),
                       markdown_text(e.input.skill));
    for (const auto& item : {results.environment.device, results.environment.toolkit,
                             results.environment.git_commit.substr(0, 10) +
                                 (results.environment.git_dirty.value_or(false) ? " (dirty)" : "")})
      if (!item.empty()) out += " · " + markdown_text(item);
    out += "\n\n" + overview(e) + "\n" + judgements(e) + "\n";
  }
  if (out.size() > kLimit) {
    const std::string_view note = "\n\n(cut: the whole is in the report page)\n";
    size_t at = kLimit - note.size();
    while (at > 0 && (static_cast<unsigned char>(out[at]) & 0xC0) == 0x80) --at;
    return out.substr(0, at).append(note);
  }
  for (const auto& e : results.evaluations)
    for (const auto& m : e.models) out += case_table(m, kLimit - out.size());
  return out.empty() ? "No evaluation.\n" : out;
}

}  // namespace hone::report
