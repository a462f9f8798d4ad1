#include "author/refine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "process/terminal.hpp"
#include "skill/skill.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using storage::Json;

constexpr double kHeldOut = 1.0 / 3;

bool better(const Version& a, const Version& b) {
  return a.held_out > b.held_out || (a.held_out == b.held_out && a.train > b.train);
}

fs::path version_dir(const fs::path& dir, int number) {
  return fs::absolute(dir) / ("v" + std::to_string(number));
}

class Refinement {
 public:
  Refinement(Writer& writer, Student& student, Spending& spending, const Material& material,
             const Split& split, const RefineOptions& options)
      : writer_(writer),
        student_(student),
        spending_(spending),
        material_(material),
        split_(split),
        options_(options) {}

  Refined run(const Draft& first) {
    add(first, {});
    int without_gain = 0;
    for (int attempt = 1;; ++attempt) {
      const Version& best = refined_.versions[refined_.best];
      if (best.train >= options_.target && best.held_out >= options_.target)
        return stop("the target is reached");
      const std::string evidence =
          evidence_of(best.measurement, split_, room_for_evidence(best.draft));
      if (evidence.empty()) return stop("no train case fails any more");
      if (attempt > options_.max_attempts)
        return stop(fmt::format("{} attempts were made", options_.max_attempts));
      if (without_gain >= options_.plateau)
        return stop(fmt::format("{} attempts in a row brought nothing", without_gain));
      if (spending_.used_up()) return stop("the budget is used up");
      if (!spending_.has(best.measurement.tokens))
        return stop("the budget does not suffice to measure another version");
      without_gain = attempt_from(best, attempt, evidence) ? 0 : without_gain + 1;
    }
  }

 private:
  /// True when a better version came of it.
  bool attempt_from(const Version& base, int attempt, const std::string& evidence) {
    const int number = attempt + 1;
    Draft draft;
    if (const auto on_record = version_on_record(options_.dir, number)) {
      draft = *on_record;
    } else {
      auto written = rewrite_draft(writer_, base.draft, material_, evidence, attempt);
      if (!written.draft) {
        refined_.failed_attempts.push_back(written.problem);
        say(fmt::format("v{}: no valid skill: {}", number, written.problem));
        return false;
      }
      draft = *written.draft;
    }
    const size_t before = refined_.best;
    add(draft, base.skill_dir, number);
    return refined_.best != before;
  }

  fs::path dir_of(int number) const { return version_dir(options_.dir, number); }

  /// Writes a version, measures it and takes note of it.
  void add(const Draft& draft, const fs::path& references, int number = 1) {
    Version version;
    version.number = number;
    version.draft = draft;
    version.skill_dir = dir_of(number) / draft.name;
    if (!fs::exists(version.skill_dir / "SKILL.md")) {
      storage::write_atomically(version.skill_dir / "SKILL.md", skill_md(draft));
      if (!references.empty()) copy_references(references, version.skill_dir);
    }
    version.measurement = student_.with(version.skill_dir, "v" + std::to_string(number));
    spending_.tokens += version.measurement.tokens;
    version.train = rate_on(version.measurement, split_.train);
    version.held_out = rate_on(version.measurement, split_.held_out);
    write_scores(version);
    say(fmt::format("v{}: train {:.0f} %, held out {:.0f} %", number, 100 * version.train,
                    100 * version.held_out));
    refined_.versions.push_back(std::move(version));
    if (better(refined_.versions.back(), refined_.versions[refined_.best]))
      refined_.best = refined_.versions.size() - 1;
  }

  void write_scores(const Version& version) const {
    Json cases = Json::array();
    for (const auto& score : version.measurement.scores)
      cases.push_back({{"model", score.model},
                       {"case", score.id},
                       {"side", split_.train.count(score.id) > 0 ? "train" : "held-out"},
                       {"correct", score.correct},
                       {"runs", score.runs},
                       {"evidence", score.evidence}});
    storage::write_json(dir_of(version.number) / "scores.json",
                        {{"schema", "hone.version/1"},
                         {"version", version.number},
                         {"train", version.train},
                         {"held_out", version.held_out},
                         {"tokens", version.measurement.tokens},
                         {"cases", cases}});
  }

  /// The skill goes to the author whole; what is left of the context is for the evidence.
  size_t room_for_evidence(const Draft& draft) const {
    const size_t room = writer_.room(static_cast<int>(2 * material_.target_tokens));
    const size_t taken = draft.body.size() + material_.task.size() + 1200;
    return room > taken + 600 ? room - taken : 600;
  }

  Refined stop(std::string why) {
    refined_.stopped = std::move(why);
    say("stopped: " + refined_.stopped);
    return std::move(refined_);
  }

  void say(const std::string& line) const {
    if (options_.progress) options_.progress(line);
  }

  Writer& writer_;
  Student& student_;
  Spending& spending_;
  const Material& material_;
  const Split& split_;
  const RefineOptions& options_;
  Refined refined_;
};

}  // namespace

double rate_on(const Measurement& measurement, const std::set<std::string>& ids) {
  Measurement part;
  for (const auto& score : measurement.scores)
    if (ids.count(score.id) > 0) part.scores.push_back(score);
  return part.rate();
}

Split split_of(const std::vector<std::string>& ids) {
  if (ids.size() < 2)
    throw Error(Exit::bad_input,
                fmt::format("{} case{} cannot be split into train and held-out ones", ids.size(),
                            ids.size() == 1 ? "" : "s"));
  std::vector<std::pair<std::string, std::string>> order;
  for (const auto& id : ids) order.emplace_back(storage::sha256(id), id);
  std::sort(order.begin(), order.end());
  Split split;
  // The first hex digits as a number in [0, 1): a case's side does not depend on the others.
  for (const auto& [digest, id] : order) {
    const double at =
        static_cast<double>(std::stoul(digest.substr(7, 8), nullptr, 16)) / 4294967296.0;
    (at < kHeldOut ? split.held_out : split.train).insert(id);
  }
  const auto move_one = [](std::set<std::string>& from, std::set<std::string>& to,
                           const std::string& id) {
    from.erase(id);
    to.insert(id);
  };
  if (split.held_out.empty()) move_one(split.train, split.held_out, order.front().second);
  if (split.train.empty()) move_one(split.held_out, split.train, order.back().second);
  return split;
}

std::string evidence_of(const Measurement& measurement, const Split& split, size_t max_bytes) {
  std::vector<const CaseScore*> failures;
  for (const auto& score : measurement.scores)
    if (split.train.count(score.id) > 0 && score.correct < score.runs) failures.push_back(&score);
  std::stable_sort(failures.begin(), failures.end(),
                   [](const CaseScore* a, const CaseScore* b) { return a->rate() < b->rate(); });
  if (failures.empty()) return "";
  // Each failure gets its share, so that none is left out for another's long compiler output.
  const size_t share = std::max<size_t>(max_bytes / failures.size(), 200);
  std::string text;
  for (const auto* failure : failures) {
    std::string one =
        fmt::format("- Asked: {}\n  Right in {} of {} runs. Went wrong: {}\n", failure->prompt,
                    failure->correct, failure->runs, failure->evidence);
    if (one.size() < share && !failure->answer.empty())
      one += "  It answered: " + process::sanitise(failure->answer, share - one.size()) + "\n";
    text += process::sanitise(one, share);
    if (!text.ends_with('\n')) text += '\n';
    if (text.size() > max_bytes) break;
  }
  return text;
}

std::optional<Draft> version_on_record(const fs::path& dir, int number) {
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(version_dir(dir, number), ec)) {
    if (!fs::exists(entry.path() / "SKILL.md")) continue;
    std::vector<Diagnostic> warnings;
    return draft_of(skill::load_skill(entry.path(), warnings));
  }
  return std::nullopt;
}

void copy_references(const fs::path& from, const fs::path& to) {
  std::vector<Diagnostic> warnings;
  for (const auto& file : skill::load_skill(from, warnings).files)
    storage::write_atomically(to / file, storage::read_file(from / file));
}

Refined refine(Writer& writer, Student& student, Spending& spending, const Draft& first,
               const Material& material, const Split& split, const RefineOptions& options) {
  return Refinement(writer, student, spending, material, split, options).run(first);
}

}  // namespace hone::author
