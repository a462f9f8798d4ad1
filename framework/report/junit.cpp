#include <fmt/format.h>

#include "report/clean_text.hpp"
#include "report/writers.hpp"

namespace hone::report {
namespace {

using stats::Arm;
using stats::GateOutcome;

constexpr size_t kSystemOut = 8000;

/// One testsuite: counts its testcases as they are added.
class Suite {
 public:
  Suite(std::string name, bool strict) : name_(std::move(name)), strict_(strict) {}

  enum class Kind { passed, failure, error, skipped };

  void add(const std::string& name, const std::string& classname, double seconds,
           const std::string& file, int line, Kind kind, const std::string& message,
           const std::string& type, const std::string& text, const std::string& system_out) {
    ++tests_;
    seconds_ += seconds;
    body_ += fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3f}\"",
                         xml_attribute(name), xml_attribute(classname), seconds);
    if (!file.empty() && !strict_) body_ += fmt::format(" file=\"{}\"", xml_attribute(file, 1000));
    if (!file.empty() && line > 0 && !strict_) body_ += fmt::format(" line=\"{}\"", line);
    body_ += ">\n";
    if (kind != Kind::passed) {
      const char* element = kind == Kind::failure ? "failure"
                            : kind == Kind::error ? "error"
                                                  : "skipped";
      ++(kind == Kind::failure ? failures_ : kind == Kind::error ? errors_ : skipped_);
      body_ += fmt::format("      <{} message=\"{}\"", element, xml_attribute(message));
      if (kind != Kind::skipped) body_ += fmt::format(" type=\"{}\"", xml_attribute(type));
      body_ += fmt::format(">{}</{}>\n", xml_text(text), element);
    }
    if (!system_out.empty())
      body_ += fmt::format("      <system-out>{}</system-out>\n", xml_text(system_out, kSystemOut));
    body_ += "    </testcase>\n";
  }

  std::string xml(const std::string& timestamp, const std::string& host) const {
    std::string attributes;
    // JUnit's timestamps have no zone.
    if (timestamp.size() >= 19)
      attributes += fmt::format(" timestamp=\"{}\"", xml_attribute(timestamp.substr(0, 19)));
    if (!host.empty()) attributes += fmt::format(" hostname=\"{}\"", xml_attribute(host));
    return fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"{:.3f}\"{}>\n{}  </testsuite>\n",
        xml_attribute(name_), tests_, failures_, errors_, skipped_, seconds_, attributes, body_);
  }

  int tests() const { return tests_; }
  int failures() const { return failures_; }
  int errors() const { return errors_; }
  double seconds() const { return seconds_; }

 private:
  std::string name_, body_;
  bool strict_;
  int tests_ = 0, failures_ = 0, errors_ = 0, skipped_ = 0;
  double seconds_ = 0;
};

std::string counts(const ArmCase& arm) {
  std::string text;
  for (const auto& [outcome, count] : arm.outcomes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome);
  return text;
}

/// What every run of the case gave, one a line.
std::string runs_of(std::span<const Trial> trials) {
  std::string text;
  for (const auto& t : trials) {
    text += fmt::format("\nrun {}: {}", t.run, t.outcome);
    if (!t.evidence.empty()) text += ": " + clean_line(t.evidence, 500);
    if (t.time_ns) text += fmt::format(", {:.0f} ns ({})", *t.time_ns, clean_line(t.time_kind, 40));
  }
  return text;
}

void add_case(Suite& suite, const CaseResult& c, std::span<const Trial> trials, Arm arm,
              const std::string& prefix) {
  const ArmCase& a = c.of(arm);
  const std::string runs = runs_of(trials);
  const std::string summary = fmt::format("{}/{} runs correct ({}){}", a.tally.passes, a.tally.n,
                                          counts(a), a.tally.flaky() ? ", flaky" : "");
  auto kind = Suite::Kind::passed;
  std::string message, type;
  if (a.infrastructure_errors > 0) {
    kind = Suite::Kind::error;
    type = kInfrastructureError;
    message = fmt::format("{} of {} runs could not be measured: {}", a.infrastructure_errors,
                          trials.size(), a.evidence);
  } else if (arm == Arm::with_skill && c.requirement_missed()) {
    kind = Suite::Kind::failure;
    type = "require";
    message = "require: " + c.require->message;
  } else if (a.tally.n == 0) {
    kind = Suite::Kind::skipped;
    message = a.evidence.empty() ? "not run" : a.evidence;
  } else if (arm == Arm::with_skill && c.require &&
             c.require->outcome == GateOutcome::inconclusive) {
    kind = Suite::Kind::skipped;
    message = "require is inconclusive: " + c.require->message;
  }
  suite.add(c.info.id, prefix + stats::arm_name(arm), a.seconds, c.info.file, c.info.line, kind,
            message, type, message + "\n" + summary + runs,
            kind == Suite::Kind::passed ? summary + runs : "");
}

void add_gate(Suite& suite, const GateResult& gate, const std::string& prefix) {
  const auto& v = gate.verdict;
  std::string text = v.message;
  for (const auto& move : v.moved)
    text += fmt::format("\n{}: {}/{} -> {}/{}", clean_line(move.name), move.before.passes,
                        move.before.n, move.after.passes, move.after.n);
  const auto kind = v.outcome == GateOutcome::pass   ? Suite::Kind::passed
                    : v.outcome == GateOutcome::fail ? Suite::Kind::failure
                    : gate.unusable_baseline         ? Suite::Kind::error
                                                     : Suite::Kind::skipped;
  const std::string message =
      v.outcome == GateOutcome::inconclusive ? "inconclusive: " + v.message : v.message;
  suite.add(gate.text, prefix + "gate", 0, "", 0, kind, message, "gate", text,
            kind == Suite::Kind::passed ? text : "");
}

}  // namespace

std::string write_junit(const Results& results, bool strict) {
  std::string suites;
  int tests = 0, failures = 0, errors = 0;
  double seconds = 0;
  for (const auto& evaluation : results.evaluations) {
    for (size_t model = 0; model < evaluation.models.size(); ++model) {
      const auto& m = evaluation.models[model];
      const std::string name = "hone." + evaluation.input.evaluation + "." + m.info.name;
      Suite suite(name, strict);
      for (size_t c = 0; c < m.cases.size(); ++c)
        for (const Arm arm : {Arm::without_skill, Arm::with_skill})
          add_case(suite, m.cases[c], evaluation.runs_of(model, c, arm), arm, name + ".");
      for (const auto& gate : m.gates) add_gate(suite, gate, name + ".");
      suites += suite.xml(results.environment.generated, results.environment.host);
      tests += suite.tests();
      failures += suite.failures();
      errors += suite.errors();
      seconds += suite.seconds();
    }
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"hone\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n{}</testsuites>\n",
      tests, failures, errors, seconds, suites);
}

}  // namespace hone::report
