#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "cli/command.hpp"
#include "history/compare.hpp"
#include "history/import.hpp"
#include "history/plot.hpp"
#include "history/store.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;
using history::Snapshot;

struct HistoryOptions {
  history::Filter filter;
  std::string metric = "success", kind = "trend", format = "text", output, store;
  std::vector<std::string> operands;
  std::optional<std::string> csv;  ///< a file; "" or "-": stdout
  std::string upskill_runs;
  bool json = false, changed = false, fail_if_worse = false;
};

void write_out(const std::string& text, const std::string& file) {
  if (file.empty() || file == "-")
    std::cout << text << std::flush;
  else
    storage::write_atomically(file, text);
}

/// Ours, or one in memory where a runs folder of upskill is looked at.
fs::path store_file(Context& context, const HistoryOptions& o) {
  if (!o.upskill_runs.empty()) return ":memory:";
  return o.store.empty() ? history_file(context) : fs::path(o.store);
}

void add_filters(CLI::App& command, HistoryOptions& o) {
  command.add_option("-e,--evaluation", o.filter.evaluation, "Only this evaluation");
  command.add_option("-s,--skill", o.filter.skills, "Only these skills");
  command.add_option("-m,--model", o.filter.models, "Only these models");
  command.add_option("--commit", o.filter.commit, "Only this commit (a prefix will do)");
  command.add_option("--on", o.filter.device, "Only devices whose name holds this text");
  command.add_option("--source", o.filter.source, "Only hone, upskill or skill-creator");
  command.add_option("--since", o.filter.since, "From this time on, e.g. 2026-01-31 (UTC)");
  command.add_option("--until", o.filter.until, "Up to this time");
  command.add_option("-n,--last", o.filter.last, "Only the newest so many")
      ->check(CLI::PositiveNumber);
  command.add_option("--metric", o.metric, "success, tokens, cost or lift");
  command.add_option("--history", o.store,
                     "The history's file (default: $HONE_HISTORY, else "
                     "hone/history.sqlite in the build folder)");
  command.add_option("-d,--dir", o.upskill_runs, "A runs folder of upskill instead of the history")
      ->check(CLI::ExistingDirectory);
}

/// Fills the history in memory with what upskill left on disk.
void add_upskill(history::Store& store, const HistoryOptions& o) {
  if (o.upskill_runs.empty()) return;
  const auto imported = history::import_upskill(o.upskill_runs);
  print_diagnostics(imported.problems);
  for (const auto& s : imported.snapshots) store.add(s);
}

Exit runs(Context& context, const HistoryOptions& o) {
  history::Store store(store_file(context, o));
  add_upskill(store, o);
  const auto rows = store.list(o.filter);
  if (o.json)
    std::cout << history::runs_json(rows);
  else if (o.csv)
    write_out(history::runs_csv(rows), *o.csv);
  else
    std::cout << history::runs_table(rows, history::metric_named(o.metric),
                                     report::terminal_style(STDOUT_FILENO));
  return Exit::good;
}

Exit plot(Context& context, const HistoryOptions& o) {
  history::Store store(store_file(context, o));
  add_upskill(store, o);
  const auto rows = store.list(o.filter);
  const auto style = report::terminal_style(STDOUT_FILENO);
  if (o.kind == "trend") {
    const auto trend = history::trend_of(rows, history::metric_named(o.metric));
    if (o.output.empty())
      std::cout << history::terminal_trend(trend, style);
    else
      history::draw(trend, o.output);
  } else {
    std::vector<Snapshot> columns;
    for (auto r = rows.rbegin(); r != rows.rend(); ++r) columns.push_back(store.load(r->id));
    const auto matrix = history::matrix_of(columns);
    if (o.output.empty())
      std::cout << history::terminal_matrix(matrix, style);
    else
      history::draw(matrix, o.output);
  }
  return Exit::good;
}

bool names_evaluation_or_skill(const trial::Manifest& manifest, const std::string& name,
                               std::vector<std::string>& evaluations) {
  for (const auto& e : manifest.evaluations)
    if (e.name == name || e.skill == name) evaluations.push_back(e.name);
  return !evaluations.empty();
}

/// The newest measurements recorded for a commit, else the baselines committed at it.
std::vector<Snapshot> of_revision(Context& context, const HistoryOptions& o,
                                  const std::string& commit) {
  std::vector<Snapshot> found;
  history::Store store(store_file(context, o));
  history::Filter filter = o.filter;
  filter.commit = commit;
  for (const auto& run : store.list(filter)) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const Snapshot& s) {
      return s.from.evaluation == run.from.evaluation && s.from.model == run.from.model;
    });
    if (!known) found.push_back(store.load(run.id));
  }
  if (!found.empty()) return found;
  const auto& manifest = context.manifest();
  for (const auto& e : manifest.evaluations) {
    const fs::path path =
        fs::relative(manifest.baselines_dir / (e.name + ".json"), manifest.source_dir);
    const std::string blob = commit + ":" + path.generic_string();
    const auto text = git(manifest, {"show", blob});
    if (text.empty()) continue;
    for (auto& s : history::snapshots_in(storage::parse_json(text, blob), blob)) {
      s.from.commit = commit;
      found.push_back(std::move(s));
    }
  }
  return found;
}

/// What an operand of compare names; see its help.
std::vector<Snapshot> resolve(Context& context, const HistoryOptions& o, const std::string& name) {
  if (fs::is_regular_file(name)) {
    const auto json = storage::read_json(name);
    if (json.is_object() && !json.contains("schema"))
      return history::import_skill_creator(name).snapshots;
    return history::read_snapshots(name);
  }
  if (fs::is_directory(name) && !fs::exists(fs::path(name) / "SKILL.md"))
    return history::import_upskill(name).snapshots;
  if (name == "now") return history::snapshots_of(results_now(context, {}));
  if (name == "baseline") {
    std::vector<Snapshot> all;
    for (const auto& e : context.manifest().evaluations) {
      const auto file = context.manifest().baselines_dir / (e.name + ".json");
      if (!fs::exists(file)) continue;
      for (auto& s : history::read_snapshots(file)) all.push_back(std::move(s));
    }
    if (all.empty()) throw Error(Exit::bad_input, "there is no baseline yet: hone baseline");
    return all;
  }
  if (name.starts_with("run:")) {
    const auto digits = name.substr(4);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos ||
        digits.size() > 15)
      throw Error(Exit::usage, name + ": a run of the history is written run:<id>, see hone runs");
    return {history::Store(store_file(context, o)).load(std::stoll(digits))};
  }
  std::vector<std::string> evaluations;
  if (names_evaluation_or_skill(context.manifest(), name, evaluations))
    return history::snapshots_of(results_now(context, evaluations));
  auto commit = git(context.manifest(), {"rev-parse", "--verify", "--quiet", name + "^{commit}"});
  while (!commit.empty() && commit.back() == '\n') commit.pop_back();
  if (commit.empty())
    throw Error(Exit::usage, "'" + name +
                                 "' is neither a file, an evaluation or skill, now, "
                                 "baseline, run:<id> nor a git revision");
  auto found = of_revision(context, o, commit);
  if (found.empty())
    throw Error(Exit::inconclusive, "nothing was recorded at " + name + " (" +
                                        commit.substr(0, 10) + "), and it holds no baseline");
  return found;
}

Exit compare(Context& context, const HistoryOptions& o) {
  auto before = resolve(context, o, o.operands[0]), after = resolve(context, o, o.operands[1]);
  for (auto* side : {&before, &after})
    std::erase_if(*side, [&](const Snapshot& s) {
      const auto& models = o.filter.models;
      return (!models.empty() &&
              std::find(models.begin(), models.end(), s.from.model) == models.end()) ||
             (!o.filter.evaluation.empty() && s.from.evaluation != o.filter.evaluation);
    });
  const auto comparison = history::compare(o.operands[0], before, o.operands[1], after);
  auto style = report::terminal_style(STDOUT_FILENO);
  style.only_failures = o.changed;
  write_out(o.format == "json"       ? history::comparison_json(comparison)
            : o.format == "markdown" ? history::comparison_markdown(comparison)
                                     : history::comparison_text(comparison, style),
            o.output);
  if (comparison.models.empty()) return Exit::inconclusive;
  for (const auto& m : comparison.models)
    if (o.fail_if_worse && m.change == history::Change::worse) return Exit::judged_bad;
  return Exit::good;
}

Exit import(Context& context, const HistoryOptions& o) {
  history::Store store(store_file(context, o));
  bool broken = false;
  for (const auto& path : o.operands) {
    const auto imported = history::import(path);
    broken = !imported.problems.empty() || broken;
    print_diagnostics(imported.problems);
    int fresh = 0;
    for (const auto& s : imported.snapshots) fresh += store.add(s);
    std::cout << fmt::format("{}: {} run{}, {} new\n", path, imported.snapshots.size(),
                             imported.snapshots.size() == 1 ? "" : "s", fresh);
  }
  return broken ? Exit::bad_input : Exit::good;
}

}  // namespace

fs::path history_file(Context& context) {
  const char* chosen = std::getenv("HONE_HISTORY");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return context.manifest().binary_dir / "hone/history.sqlite";
}

void add_history_commands(CLI::App& app, Context& context, Action& action) {
  const auto command = [&](const char* name, const char* help, auto work) {
    auto* sub = app.add_subcommand(name, help);
    auto o = std::make_shared<HistoryOptions>();
    sub->callback([&, o, work] { action = [&, o, work] { return work(context, *o); }; });
    return std::pair{sub, o};
  };
  {
    auto [sub, o] = command("runs", "What was measured so far, newest first", runs);
    add_filters(*sub, *o);
    sub->add_option_function<std::vector<std::string>>(
           "--csv",
           [o = o](const std::vector<std::string>& file) { o->csv = file.empty() ? "" : file[0]; },
           "As CSV, every column, into this file or else printed")
        ->expected(0, 1)
        ->type_name("[FILE]");
    sub->add_flag("--json", o->json, "As JSON, every column");
  }
  {
    auto [sub, o] = command("plot",
                            "The trend of a metric, or cases by runs, on the terminal or as "
                            "a picture",
                            plot);
    o->metric = "lift";
    sub->add_option("kind", o->kind, "trend or matrix")->check(CLI::IsMember({"trend", "matrix"}));
    add_filters(*sub, *o);
    sub->add_option("-o,--output", o->output, "Draw into this .svg or .png file (needs gnuplot)");
  }
  {
    auto [sub, o] =
        command("compare",
                "Compare two measurements case by case. Each is a file (results.json, a baseline, "
                "skill-creator's benchmark.json), an evaluation or a skill as measured now, "
                "\"now\" (all of "
                "it), \"baseline\", run:<id> of the history, or a git revision (what was recorded "
                "at it, else "
                "its committed baselines)",
                compare);
    sub->add_option("operands", o->operands, "A and B: before and after")->required()->expected(2);
    sub->add_option("-e,--evaluation", o->filter.evaluation, "Only this evaluation");
    sub->add_option("-m,--model", o->filter.models, "Only these models");
    sub->add_option("--format", o->format, "text, markdown or json")
        ->check(CLI::IsMember({"text", "markdown", "json"}));
    sub->add_option("-o,--output", o->output, "Write there instead of stdout");
    sub->add_option("--history", o->store, "The history's file");
    sub->add_flag("--changed", o->changed, "Leave out cases whose rate is the same");
    sub->add_flag("--fail-if-worse", o->fail_if_worse, "Exit 1 when a model got worse");
  }
  {
    auto [sub, o] = command("import",
                            "Take over what other tools measured: upskill's runs folder, "
                            "skill-creator's benchmark.json",
                            import);
    sub->add_option("paths", o->operands, "Folders and files")->required();
    sub->add_option("--history", o->store, "The history's file");
  }
}

}  // namespace hone::cli
