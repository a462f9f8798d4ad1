#include "history/store.hpp"

#include <fmt/format.h>

#include "stats/paired.hpp"

namespace hone::history {
namespace {

using stats::Arm;

constexpr int kVersion = 1;

// Arms as columns: w_ with the skill, o_ without it. Times are ISO UTC, tokens and cost a trial.
constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS runs (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, time TEXT NOT NULL, source TEXT NOT NULL,
  evaluation TEXT NOT NULL, skill TEXT NOT NULL, skill_digest TEXT NOT NULL, model TEXT NOT NULL,
  model_id TEXT NOT NULL, model_digest TEXT NOT NULL, commit_id TEXT NOT NULL, dirty INTEGER,
  device TEXT NOT NULL, sandbox TEXT NOT NULL, toolkit TEXT NOT NULL, host TEXT NOT NULL,
  verdict TEXT NOT NULL, case_digest TEXT NOT NULL, runs INTEGER NOT NULL, cases INTEGER NOT NULL,
  infrastructure_errors INTEGER NOT NULL, w_passes INTEGER NOT NULL, w_runs INTEGER NOT NULL,
  o_passes INTEGER NOT NULL, o_runs INTEGER NOT NULL, w_rate REAL, o_rate REAL, lift REAL,
  lift_low REAL, lift_high REAL, w_tokens REAL, o_tokens REAL, w_cost REAL, o_cost REAL);
CREATE INDEX IF NOT EXISTS runs_by_time ON runs (time);
CREATE TABLE IF NOT EXISTS cases (
  run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL,
  name TEXT NOT NULL, suite TEXT NOT NULL, digest TEXT NOT NULL, w_passes INTEGER NOT NULL,
  w_runs INTEGER NOT NULL, w_errors INTEGER NOT NULL, o_passes INTEGER NOT NULL,
  o_runs INTEGER NOT NULL, o_errors INTEGER NOT NULL, w_input REAL, w_output REAL, w_cost REAL,
  o_input REAL, o_output REAL, o_cost REAL, time_kind TEXT NOT NULL, times_ns TEXT NOT NULL,
  PRIMARY KEY (run, position)) WITHOUT ROWID;
)";

constexpr const char* kProvenance =
    "time, source, evaluation, skill, skill_digest, model, model_id, model_digest, commit_id, "
    "dirty, device, sandbox, toolkit, host, verdict";
constexpr int kAfterProvenance = 15;

Provenance provenance(const Statement& row, int at) {
  Provenance p;
  for (std::string* field : {&p.time, &p.source, &p.evaluation, &p.skill, &p.skill_digest, &p.model,
                             &p.model_id, &p.model_digest, &p.commit})
    *field = row.text(at++);
  if (const auto dirty = row.real(at++)) p.dirty = *dirty != 0;
  for (std::string* field : {&p.device, &p.sandbox, &p.toolkit, &p.host, &p.verdict})
    *field = row.text(at++);
  return p;
}

void bind_provenance(Statement& s, int at, const Provenance& p) {
  for (const std::string* field : {&p.time, &p.source, &p.evaluation, &p.skill, &p.skill_digest,
                                   &p.model, &p.model_id, &p.model_digest, &p.commit})
    s.bind(at++, *field);
  s.bind(at++, p.dirty ? std::optional<double>(*p.dirty ? 1 : 0) : std::nullopt);
  for (const std::string* field : {&p.device, &p.sandbox, &p.toolkit, &p.host, &p.verdict})
    s.bind(at++, *field);
}

/// LIKE pattern whose wildcards are only ours.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

struct Where {
  std::string sql;
  std::vector<std::string> values;
  void add(const std::string& condition, const std::string& value) {
    sql += (sql.empty() ? " WHERE " : " AND ") + condition;
    values.push_back(value);
  }
  void add_any_of(const std::string& column, const std::vector<std::string>& wanted) {
    if (wanted.empty()) return;
    const std::vector<std::string_view> places(wanted.size(), "?");
    sql += fmt::format("{}{} IN ({})", sql.empty() ? " WHERE " : " AND ", column,
                       fmt::join(places, ", "));
    values.insert(values.end(), wanted.begin(), wanted.end());
  }
};

Where where(const Filter& f) {
  Where w;
  if (!f.evaluation.empty()) w.add("evaluation = ?", f.evaluation);
  if (!f.source.empty()) w.add("source = ?", f.source);
  w.add_any_of("skill", f.skills);
  w.add_any_of("model", f.models);
  if (!f.commit.empty()) w.add("commit_id LIKE ? ESCAPE '\\'", escaped(f.commit) + "%");
  if (!f.device.empty()) w.add("device LIKE ? ESCAPE '\\'", "%" + escaped(f.device) + "%");
  if (!f.since.empty()) w.add("time >= ?", f.since);
  if (!f.until.empty()) w.add("time <= ?", f.until + "~");  // '~' follows all of a longer time
  return w;
}

std::string times_text(const std::vector<double>& ns) {
  return fmt::format("{:.9g}", fmt::join(ns, " "));
}

std::vector<double> times_of(const std::string& text) {
  std::vector<double> ns;
  const char* at = text.c_str();
  for (char* end = nullptr; *at != '\0'; at = end) {
    ns.push_back(std::strtod(at, &end));
    if (end == at) break;
  }
  return ns;
}

void bind_arm(Statement& s, int tally_at, int usage_at, const ArmNumbers& arm) {
  s.bind(tally_at, static_cast<long long>(arm.tally.passes))
      .bind(tally_at + 1, static_cast<long long>(arm.tally.n))
      .bind(tally_at + 2, static_cast<long long>(arm.infrastructure_errors))
      .bind(usage_at, arm.input_tokens)
      .bind(usage_at + 1, arm.output_tokens)
      .bind(usage_at + 2, arm.cost);
}

ArmNumbers read_arm(const Statement& row, int tally_at, int usage_at) {
  const auto count = [&](int at) { return static_cast<int>(row.integer(at)); };
  return {{count(tally_at), count(tally_at + 1)},
          count(tally_at + 2),
          row.real(usage_at),
          row.real(usage_at + 1),
          row.real(usage_at + 2)};
}

}  // namespace

Store::Store(const std::filesystem::path& file) : db_(file) {
  Statement version(db_, "PRAGMA user_version");
  version.step();
  const auto found = version.integer(0);
  if (found > kVersion)
    throw Error(Exit::bad_input, fmt::format("{} was written by a newer hone (version {} of the "
                                             "history, this one knows {})",
                                             file.string(), found, kVersion));
  version.reset();
  if (found == kVersion) return;
  db_.run(kSchema);
  db_.run(fmt::format("PRAGMA user_version = {}", kVersion));
}

bool Store::add(const Snapshot& s) {
  Transaction transaction(db_);
  Statement insert(
      db_, fmt::format("INSERT INTO runs (key, {}, case_digest, runs, cases, "
                       "infrastructure_errors, w_passes, w_runs, o_passes, o_runs, w_rate, o_rate, "
                       "lift, lift_low, lift_high, w_tokens, o_tokens, w_cost, o_cost) VALUES "
                       "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
                       "ON CONFLICT (key) DO NOTHING RETURNING id",
                       kProvenance));
  const std::string key = s.key();
  insert.bind(1, key);
  bind_provenance(insert, 2, s.from);
  const auto with = s.total(Arm::with_skill), without = s.total(Arm::without_skill);
  const auto d = s.differences();
  const auto t = stats::paired_t(d);
  int at = 2 + kAfterProvenance;
  insert.bind(at++, s.case_digest());
  for (const int count : {s.runs, static_cast<int>(s.cases.size()), s.infrastructure_errors(),
                          with.passes, with.n, without.passes, without.n})
    insert.bind(at++, static_cast<long long>(count));
  for (const std::optional<double>& value :
       {s.rate(Arm::with_skill), s.rate(Arm::without_skill),
        d.empty() ? std::nullopt : std::optional(stats::mean(d)),
        t ? std::optional(t->interval.low) : std::nullopt,
        t ? std::optional(t->interval.high) : std::nullopt, s.tokens(Arm::with_skill),
        s.tokens(Arm::without_skill), s.cost(Arm::with_skill), s.cost(Arm::without_skill)})
    insert.bind(at++, value);
  if (!insert.step()) {
    Statement update(db_, "UPDATE runs SET verdict = ? WHERE key = ?");
    update.bind(1, s.from.verdict).bind(2, key).step();
    transaction.commit();
    return false;
  }
  const long long id = insert.integer(0);
  insert.reset();
  Statement row(db_, "INSERT INTO cases VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  long long position = 0;
  for (const auto& c : s.cases) {
    row.bind(1, id).bind(2, position++).bind(3, c.name).bind(4, c.suite).bind(5, c.digest);
    bind_arm(row, 6, 12, c.with_skill);
    bind_arm(row, 9, 15, c.without_skill);
    row.bind(18, c.time_kind).bind(19, times_text(c.times_ns)).step();
    row.reset();
  }
  transaction.commit();
  return true;
}

std::vector<RunRow> Store::list(const Filter& filter) {
  const Where w = where(filter);
  Statement rows(
      db_, fmt::format("SELECT id, {}, case_digest, runs, cases, infrastructure_errors, w_passes, "
                       "w_runs, o_passes, o_runs, w_rate, o_rate, lift, lift_low, lift_high, "
                       "w_tokens, o_tokens, w_cost, o_cost FROM runs{} ORDER BY time DESC, id DESC"
                       "{}",
                       kProvenance, w.sql,
                       filter.last > 0 ? fmt::format(" LIMIT {}", filter.last) : ""));
  for (size_t i = 0; i < w.values.size(); ++i) rows.bind(static_cast<int>(i) + 1, w.values[i]);
  std::vector<RunRow> all;
  while (rows.step()) {
    RunRow r;
    r.id = rows.integer(0);
    r.from = provenance(rows, 1);
    int at = 1 + kAfterProvenance;
    r.case_digest = rows.text(at++);
    for (int* count : {&r.runs, &r.cases, &r.infrastructure_errors, &r.with_skill.passes,
                       &r.with_skill.n, &r.without_skill.passes, &r.without_skill.n})
      *count = static_cast<int>(rows.integer(at++));
    for (auto* value : {&r.rate_with, &r.rate_without, &r.lift, &r.lift_low, &r.lift_high,
                        &r.tokens_with, &r.tokens_without, &r.cost_with, &r.cost_without})
      *value = rows.real(at++);
    all.push_back(std::move(r));
  }
  return all;
}

Snapshot Store::load(long long id) {
  Statement run(db_, fmt::format("SELECT {}, runs FROM runs WHERE id = ?", kProvenance));
  run.bind(1, id);
  if (!run.step()) throw Error(Exit::usage, fmt::format("the history has no run {}", id));
  Snapshot s;
  s.from = provenance(run, 0);
  s.runs = static_cast<int>(run.integer(kAfterProvenance));
  Statement rows(db_, "SELECT * FROM cases WHERE run = ? ORDER BY position");
  rows.bind(1, id);
  while (rows.step())
    s.cases.push_back({rows.text(2), rows.text(3), rows.text(4), read_arm(rows, 5, 11),
                       read_arm(rows, 8, 14), times_of(rows.text(18)), rows.text(17)});
  return s;
}

std::optional<Snapshot> Store::newest(const Filter& filter) {
  Filter one = filter;
  one.last = 1;
  const auto rows = list(one);
  return rows.empty() ? std::nullopt : std::optional(load(rows.front().id));
}

}  // namespace hone::history
