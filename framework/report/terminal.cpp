#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "report/clean_text.hpp"
#include "report/writers.hpp"

namespace hone::report {
namespace {

using stats::GateOutcome;

constexpr int kNarrowest = 64;
constexpr int kWidest = 160;
constexpr int kLabel = 18;  ///< columns of the row labels, indent included

enum class Colour { red = 31, green = 32, yellow = 33, blue = 34, dim = 2, bold = 1 };

/// A bar of `columns` with eighths: 0 to 1.
std::string bar(double share, int columns) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * columns * 8));
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  for (int i = (eighths + 7) / 8; i < columns; ++i) text += "░";
  return text;
}

std::string whole(double value) { return fmt::format("{:.0f}", value); }

class Terminal {
 public:
  explicit Terminal(const TerminalStyle& style)
      : style_(style), width_(std::clamp(style.width, kNarrowest, kWidest)) {}

  std::string write(const Results& results) {
    for (const auto& evaluation : results.evaluations) {
      if (!out_.empty()) out_ += '\n';
      heading(evaluation, results.environment);
      for (const auto& m : evaluation.models) model(evaluation, m);
    }
    if (results.evaluations.empty()) out_ = "No evaluation.\n";
    return std::move(out_);
  }

 private:
  std::string paint(Colour colour, const std::string& text) const {
    return style_.colour ? fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(colour), text) : text;
  }

  void row(const std::string& label, const std::string& text) {
    out_ += fit("  " + label, kLabel) + text + "\n";
  }

  /// Text wrapped at blanks, continued under its start.
  void wrapped(const std::string& first, size_t indent, const std::string& text) {
    std::string line = first;
    size_t column = indent;
    bool empty = true;
    const auto columns = static_cast<size_t>(width_);
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      const std::string word = fit(text.substr(at, end - at), columns - indent, false);
      const size_t wide = display_width(word);
      if (!empty && column + 1 + wide > columns) {
        out_ += line + "\n";
        line.assign(indent, ' ');
        column = indent;
        empty = true;
      }
      if (!empty) line += ' ';
      line += word;
      column += wide + (empty ? 0 : 1);
      empty = false;
      at = end + 1;
    }
    out_ += line + "\n";
  }

  void heading(const EvaluationResult& evaluation, const Environment& e) {
    const auto& input = evaluation.input;
    out_ += paint(Colour::bold,
                  fit(fmt::format("Evaluation {}  ·  skill {}", clean_line(input.evaluation, 80),
                                  clean_line(input.skill, 80)),
                      static_cast<size_t>(width_), false)) +
            "\n";
    std::string line;
    const auto add = [&](const std::string& text) {
      if (text.empty()) return;
      const std::string item = fit(clean_line(text, 80), static_cast<size_t>(width_), false);
      const std::string joined = line.empty() ? item : line + " · " + item;
      if (display_width(joined) <= static_cast<size_t>(width_)) {
        line = joined;
      } else {
        out_ += line + "\n";
        line = item;
      }
    };
    add(e.device);
    add(e.toolkit);
    add(e.sandbox.empty() ? "" : "sandbox " + e.sandbox);
    if (!e.git_commit.empty())
      add("commit " + e.git_commit.substr(0, 10) + (e.git_dirty.value_or(false) ? " (dirty)" : ""));
    if (!line.empty()) out_ += line + "\n";
  }

  void model(const EvaluationResult& evaluation, const ModelResult& m) {
    const auto& info = m.info;
    out_ += "\n" + paint(Colour::bold, clean_line(info.name, 60));
    if (!info.id.empty() && info.id != info.name) out_ += "  " + clean_line(info.id, 60);
    out_ += fmt::format("  {} cases x {} run{}\n", m.cases.size(), evaluation.input.runs,
                        evaluation.input.runs == 1 ? "" : "s");
    cases(m);
    arm("without skill", m.without_skill, Colour::yellow);
    arm("with skill", m.with_skill, Colour::green);
    lift(m);
    turns(m);
    tokens(m);
    counted_apart(m);
    if (!m.caveat.empty()) wrapped(fit("  note", kLabel), kLabel, m.caveat);
    gates(m);
  }

  void arm(const std::string& label, const ArmResult& a, Colour colour) {
    const int columns = std::clamp(width_ - 58, 8, 40);
    if (!a.pass_rate) {
      row(label, "nothing scored");
      return;
    }
    std::string text = paint(colour, bar(*a.pass_rate, columns));
    text += fmt::format(" {:5.1f} %  {:>7}", 100 * *a.pass_rate,
                        fmt::format("{}/{}", a.total.passes, a.total.n));
    if (a.interval)
      text += fmt::format("  [{:.0f} to {:.0f} %]", 100 * a.interval->low, 100 * a.interval->high);
    row(label, text);
  }

  void lift(const ModelResult& m) {
    if (!m.lift) return;
    std::string text = fmt::format("{:+.1f} points", 100 * *m.lift);
    if (m.lift_t)
      text += fmt::format(", 95 % interval {:+.1f} to {:+.1f}", 100 * m.lift_t->interval.low,
                          100 * m.lift_t->interval.high);
    const bool clear = m.lift_t && (m.lift_t->interval.low > 0 || m.lift_t->interval.high < 0);
    row("lift", clear ? paint(*m.lift > 0 ? Colour::green : Colour::red, text) : text);
    text = fmt::format("over {} case{}", m.paired_cases, m.paired_cases == 1 ? "" : "s");
    if (m.lift_t) text += fmt::format(", t p = {:.2g}", m.lift_t->p);
    if (m.lift_sign_flip) text += fmt::format(", sign-flip p = {:.2g}", m.lift_sign_flip->p);
    if (m.normalised_gain)
      text += fmt::format(", {:+.0f} % of what was left to gain", 100 * *m.normalised_gain);
    wrapped(std::string(kLabel, ' '), kLabel, text);
  }

  void turns(const ModelResult& m) {
    const auto& without = m.without_skill.pass_at_turn;
    const auto& with = m.with_skill.pass_at_turn;
    std::string text;
    for (size_t turn = 0; turn < std::max(without.size(), with.size()); ++turn)
      text += fmt::format("{}turn {}: {} -> {} %", turn == 0 ? "" : ", ", turn + 1,
                          turn < without.size() ? whole(100 * without[turn]) : "-",
                          turn < with.size() ? whole(100 * with[turn]) : "-");
    if (!text.empty()) wrapped(fit("  correct by", kLabel), kLabel, text);
  }

  void tokens(const ModelResult& m) {
    const auto of = [](const ArmResult& a) -> std::string {
      if (a.trials_with_usage == 0) return "not reported";
      const double n = a.trials_with_usage;
      return whole(static_cast<double>(*a.input_tokens) / n) + " in + " +
             whole(static_cast<double>(*a.output_tokens) / n) + " out";
    };
    row("tokens a trial", of(m.without_skill) + " -> " + of(m.with_skill) +
                              (m.tokens_saved ? fmt::format(", {:+.0f}", -*m.tokens_saved) : ""));
    const auto per = [](const ArmResult& a) {
      return a.tokens_per_correct ? whole(*a.tokens_per_correct) : std::string("-");
    };
    if (m.with_skill.tokens_per_correct || m.without_skill.tokens_per_correct)
      row("  per correct", per(m.without_skill) + " -> " + per(m.with_skill));
    const auto money = [](const std::optional<double>& v) {
      return v ? fmt::format("{:.4g}", *v) : std::string("-");
    };
    if (m.with_skill.cost_per_trial || m.without_skill.cost_per_trial) {
      row("cost a trial",
          money(m.without_skill.cost_per_trial) + " -> " + money(m.with_skill.cost_per_trial));
      row("  per correct",
          money(m.without_skill.cost_per_correct) + " -> " + money(m.with_skill.cost_per_correct));
    }
    if (m.fast_1)
      row("kernels",
          fmt::format("{:.0f} % of the cases are correct and beat the reference", 100 * *m.fast_1));
  }

  void counted_apart(const ModelResult& m) {
    const int infrastructure =
        m.with_skill.infrastructure_errors + m.without_skill.infrastructure_errors;
    const int not_run = m.with_skill.not_run + m.without_skill.not_run;
    if (infrastructure > 0)
      row("not scored", paint(Colour::red, fmt::format("{} infrastructure error{}", infrastructure,
                                                       infrastructure == 1 ? "" : "s")));
    if (not_run > 0)
      row(infrastructure > 0 ? "" : "not scored", fmt::format("{} trials not run", not_run));
  }

  void gates(const ModelResult& m) {
    for (const auto& g : m.gates) {
      const auto outcome = g.verdict.outcome;
      const Colour colour = outcome == GateOutcome::pass   ? Colour::green
                            : outcome == GateOutcome::fail ? Colour::red
                                                           : Colour::yellow;
      wrapped("  " + paint(colour, fit(stats::gate_outcome_name(outcome), kLabel - 2)), kLabel,
              clean_line(g.text, 200) + ": " + clean_line(g.verdict.message, 2000));
    }
  }

  void cases(const ModelResult& m) {
    size_t longest = 4;
    for (const auto& c : m.cases) longest = std::max(longest, display_width(clean_line(c.info.id)));
    const size_t name = std::min(longest, static_cast<size_t>(width_) / 3);
    bool headed = false;
    for (const auto& c : m.cases) {
      const auto& with = c.with_skill;
      const bool all_correct = with.tally.n > 0 && with.tally.passes == with.tally.n &&
                               with.infrastructure_errors + with.not_run == 0;
      if (style_.only_failures && all_correct) continue;
      if (!headed)
        out_ += paint(Colour::dim, "  " + fit("case", name) + "  without    with") + "\n";
      headed = true;
      const auto cell = [&](const ArmCase& a, Colour colour) {
        return paint(colour, bar(a.tally.rate(), 3)) +
               fmt::format(" {:>4}", a.tally.n > 0 ? fmt::format("{}/{}", a.tally.passes, a.tally.n)
                                                   : std::string("-"));
      };
      std::string line = "  " + fit(clean_line(c.info.id), name) + "  " +
                         cell(c.without_skill, Colour::yellow) + "  " + cell(with, Colour::green);
      std::string remark;
      if (c.require && c.require->outcome != GateOutcome::pass)
        remark = fmt::format("requires {:.0f} %{}", 100 * *c.info.require,
                             c.requirement_missed() ? "" : " (inconclusive)");
      if (with.tally.flaky()) remark += remark.empty() ? "flaky" : ", flaky";
      if (!with.evidence.empty()) remark += (remark.empty() ? "" : ", ") + with.evidence;
      const size_t used = 2 + name + 2 + 8 + 2 + 8 + 2;
      if (!remark.empty() && static_cast<size_t>(width_) > used)
        line += "  " + paint(c.requirement_missed() ? Colour::red : Colour::dim,
                             fit(clean_line(remark), static_cast<size_t>(width_) - used, false));
      out_ += line + "\n";
    }
    if (headed) out_ += '\n';
  }

  TerminalStyle style_;
  int width_;
  std::string out_;
};

}  // namespace

TerminalStyle terminal_style(int fd) {
  TerminalStyle style;
  const char* columns = std::getenv("COLUMNS");
  winsize size{};
  if (::isatty(fd) == 1) {
    const char* no_colour = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    style.colour = (no_colour == nullptr || *no_colour == '\0') &&
                   (term == nullptr || std::string_view(term) != "dumb");
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  }
  if (columns != nullptr && std::atoi(columns) > 0) style.width = std::atoi(columns);
  return style;
}

std::string write_terminal(const Results& results, const TerminalStyle& style) {
  return Terminal(style).write(results);
}

}  // namespace hone::report
