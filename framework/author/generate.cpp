#include "author/generate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "author/package.hpp"
#include "author/trace.hpp"
#include "skill/skill.hpp"

namespace hone::author {
namespace {

namespace fs = std::filesystem;
using storage::Json;

fs::path work_of(const fs::path& out) { return out / ".hone"; }

bool is_skill_dir(const fs::path& path) { return fs::is_regular_file(path / "SKILL.md"); }

class Generation {
 public:
  Generation(const GenerateSettings& settings, const Cast& cast)
      : settings_(settings), cast_(cast), work_(work_of(settings.out)) {}

  Generated run() {
    begin();
    material_.task = settings_.task;
    material_.examples = settings_.examples;
    material_.target_tokens = settings_.target_tokens;
    read_from();
    const Draft first = first_draft();
    Version version = on_disk(first);
    Generated result;
    result.dir = settings_.out;
    if (!settings_.evaluate) {
      result.stopped = "not evaluated";
      write_package(settings_, version, {}, {}, result);
      return result;
    }
    make_cases(version);
    return measure(first, version, std::move(result));
  }

 private:
  void say(const std::string& line) const {
    if (settings_.progress) settings_.progress(line);
  }

  /// Makes sure that the folder is ours to write, and that what is there is of this request.
  void begin() {
    const Json request = {
        {"schema", "hone.generate/1"},
        {"task", settings_.task},
        {"examples", settings_.examples},
        {"from", settings_.from.empty() ? Json() : Json(digest_of(settings_.from))},
        {"target_tokens", settings_.target_tokens}};
    const fs::path file = work_ / "request.json";
    const bool ours = fs::exists(file);
    if (!ours && fs::exists(settings_.out) && !fs::is_empty(settings_.out))
      throw Error(Exit::usage, settings_.out.string() +
                                   " holds something that hone generate did not write; use "
                                   "another folder with -o");
    if (ours && settings_.fresh) fs::remove_all(work_);
    if (ours && !settings_.fresh && storage::read_json(file) != request)
      throw Error(Exit::usage, "another request was begun in " + settings_.out.string() +
                                   "; use another folder with -o, or --fresh to begin anew");
    storage::write_json(file, request);
  }

  static std::string digest_of(const fs::path& from) {
    if (!is_skill_dir(from)) return storage::sha256_of_file(from);
    std::vector<Diagnostic> warnings;
    return skill::load_skill(from, warnings).digest;
  }

  /// The notes of the trace, made once.
  void read_from() {
    if (settings_.from.empty() || is_skill_dir(settings_.from)) return;
    const fs::path file = work_ / "notes.md";
    if (fs::exists(file)) {
      material_.notes = storage::read_file(file);
      return;
    }
    const Trace trace = read_trace(settings_.from);
    const std::string text = trace_text(trace);
    say(fmt::format("trace: {}, {} events, {} bytes, {} secrets redacted", trace.format,
                    trace.events.size(), text.size(), trace.redactions));
    const auto notes = notes_of(cast_.author, settings_.task, text, settings_.progress);
    if (!notes) throw Error(Exit::judged_bad, "the budget is used up by reading the trace");
    material_.notes = *notes;
    storage::write_atomically(file, *notes);
  }

  Draft first_draft() {
    if (const auto on_record = version_on_record(work_ / "versions", 1)) return *on_record;
    if (is_skill_dir(settings_.from)) {
      std::vector<Diagnostic> warnings;
      return draft_of(skill::load_skill(settings_.from, warnings));
    }
    const auto written = write_draft(cast_.author, settings_.name, material_);
    if (!written.draft)
      throw Error(Exit::judged_bad,
                  fmt::format("the author model wrote no valid skill in {} attempts: {}",
                              written.attempts, written.problem));
    return *written.draft;
  }

  Version on_disk(const Draft& draft) const {
    Version version;
    version.number = 1;
    version.draft = draft;
    version.skill_dir = fs::absolute(work_ / "versions/v1") / draft.name;
    if (!fs::exists(version.skill_dir / "SKILL.md")) {
      storage::write_atomically(version.skill_dir / "SKILL.md", skill_md(draft));
      if (is_skill_dir(settings_.from)) copy_references(settings_.from, version.skill_dir);
    }
    return version;
  }

  /// Case files for the student: given ones as they are, written ones that passed vetting.
  void make_cases(const Version& version) {
    const fs::path dir = cases_of(settings_.out);
    for (const auto& file : settings_.case_files)
      storage::write_atomically(dir / file.filename(), storage::read_file(file));
    const fs::path written = dir / "written.json";
    if (settings_.cases_wanted == 0) return;
    if (!fs::exists(written)) {
      std::vector<Diagnostic> warnings;
      const auto skill = skill::load_skill(version.skill_dir, warnings);
      report_ = write_cases(cast_.case_author, material_, skill, settings_.cases_wanted, work_,
                            settings_.progress);
      // A first look without the skill: what everybody knows measures nothing.
      if (!report_.cases.empty()) {
        write_pool(written);
        drop_what_everybody_solves(version);
        fs::remove(written);
      }
      write_vetting();
      if (!report_.cases.empty()) write_pool(written);
      return;
    }
    const Json pool = storage::read_json(written);
    for (const auto& one : pool["cases"]) report_.cases.push_back({one, {}});
    const auto set = cases::load_cases({written});
    if (set.has_errors()) throw Error(Exit::bad_input, set.diagnostics);
    if (set.cases.size() != report_.cases.size())
      throw Error(Exit::bad_input, written.string() + " is not as hone generate wrote it");
    for (size_t i = 0; i < set.cases.size(); ++i) report_.cases[i].c = set.cases[i];
    if (fs::exists(work_ / "vetting.json"))
      for (const auto& one : storage::read_json(work_ / "vetting.json"))
        report_.rejected.push_back({one.value("prompt", ""), one.value("reason", "")});
  }

  void write_pool(const fs::path& file) const {
    Json pool = Json::array();
    for (const auto& one : report_.cases) pool.push_back(one.json);
    storage::write_json(file, {{"cases", pool}});
  }

  void write_vetting() const {
    Json rejected = Json::array();
    for (const auto& one : report_.rejected)
      rejected.push_back({{"prompt", one.prompt}, {"reason", one.reason}});
    storage::write_json(work_ / "vetting.json", rejected);
  }

  void drop_what_everybody_solves(const Version& version) {
    const auto baseline = cast_.student.without(version.skill_dir);
    cast_.spending.tokens += baseline.tokens;
    std::erase_if(report_.cases, [&](const ProposedCase& one) {
      const bool all =
          std::all_of(baseline.scores.begin(), baseline.scores.end(),
                      [&](const CaseScore& s) { return s.id != one.c.id || s.correct == s.runs; });
      if (all)
        report_.rejected.push_back({one.c.prompt, "every model solves it without the skill"});
      return all;
    });
  }

  Generated measure(const Draft& first, const Version& version, Generated result) {
    result.rejected = report_.rejected;
    const auto ids = cast_.student.case_ids();
    result.cases = ids.size();
    if (ids.size() < 2) {
      result.stopped = fmt::format("{} usable case{}: nothing was evaluated", ids.size(),
                                   ids.size() == 1 ? "" : "s");
      write_package(settings_, version, report_.cases, {}, result);
      return result;
    }
    const Split split = split_of(ids);
    const auto baseline = cast_.student.without(version.skill_dir);
    RefineOptions options;
    options.max_attempts = settings_.max_attempts;
    options.target = settings_.target;
    options.dir = work_ / "versions";
    options.progress = settings_.progress;
    const auto refined =
        refine(cast_.author, cast_.student, cast_.spending, first, material_, split, options);
    const Version& best = refined.versions[refined.best];
    result.version = best.number;
    result.versions = static_cast<int>(refined.versions.size());
    result.stopped = refined.stopped;
    result.train = side(split.train, baseline, refined);
    result.held_out = side(split.held_out, baseline, refined);
    write_package(settings_, best, report_.cases, split, result);
    return result;
  }

  static Generated::Side side(const std::set<std::string>& ids, const Measurement& baseline,
                              const Refined& refined) {
    return {ids.size(), rate_on(baseline, ids), rate_on(refined.versions.front().measurement, ids),
            rate_on(refined.versions[refined.best].measurement, ids)};
  }

  const GenerateSettings& settings_;
  const Cast& cast_;
  const fs::path work_;
  Material material_;
  CaseSetReport report_;
};

}  // namespace

fs::path cases_of(const fs::path& out) { return fs::absolute(work_of(out)) / "cases"; }

Generated generate(const GenerateSettings& settings, const Cast& cast) {
  return Generation(settings, cast).run();
}

}  // namespace hone::author
