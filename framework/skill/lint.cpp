#include "skill/lint.hpp"

#include <algorithm>
#include <set>

#include "skill/links.hpp"
#include "storage/storage.hpp"

namespace hone::skill {
namespace {

namespace fs = std::filesystem;

class Linter {
 public:
  explicit Linter(const Skill& skill) : skill_(skill) {}

  std::vector<Finding> run() {
    const size_t tokens = about_tokens(skill_.body);
    if (tokens > kMaxBodyTokens)
      add("body-size", {skill_.where.file, 1, 0},
          "the body has about " + std::to_string(tokens) + " tokens; the specification advises " +
              "less than " + std::to_string(kMaxBodyTokens),
          "move what is not always needed to references/", true);
    read("SKILL.md");
    for (const auto& file : skill_.files)
      if (file.ends_with(".md")) read(file);
    for (const auto& file : skill_.files)
      if (file.starts_with("references/") && named_.count(file) == 0)
        add("unused-file", {(skill_.dir / file).string(), 1, 0},
            "no text of the skill names this file, so no agent will open it",
            "name it in SKILL.md, or remove it", true);
    return std::move(found_);
  }

 private:
  void read(const std::string& name) {
    const Links links =
        find_links((skill_.dir / name).string(), storage::read_file(skill_.dir / name));
    if (links.open_fence.line > 0)
      add("unclosed-fence", links.open_fence, "this code block is never closed", "", true);
    for (const auto& link : links.links) check(name, link);
  }

  void check(const std::string& from, const Link& link) {
    const fs::path root = skill_.dir.lexically_normal();
    // The specification has paths from the skill's root; in a reference its own folder works, too.
    const fs::path path = fs::path(link.path).lexically_normal();
    const fs::path own = (fs::path(from).parent_path() / link.path).lexically_normal();
    if (path.is_absolute() || (leaves(path) && leaves(own)))
      return add("outside-reference", link.where,
                 "'" + link.path + "' is outside of the skill, and not there once it is installed",
                 "a path below the skill's folder", false);
    const fs::path target = fs::exists(root / path) || leaves(own) ? path : own;
    if (leaves(target) || !fs::exists(root / target))
      return add("missing-reference", link.where, "there is no '" + link.path + "' in the skill",
                 nearest(link.path, skill_.files), false);
    const std::string name = target.generic_string();
    if (name != from) named_.insert(name);
    if (from != "SKILL.md" && name.ends_with(".md") && name != "SKILL.md" && name != from)
      add("nested-reference", link.where,
          "a reference that points to another one, '" + link.path + "'",
          "name it in SKILL.md: agents follow one level", true);
  }

  static bool leaves(const fs::path& path) {
    return path.begin() != path.end() && *path.begin() == "..";
  }

  void add(std::string rule, Location where, std::string message, std::string hint, bool warning) {
    if (!hint.empty() && rule == "missing-reference") hint = "did you mean '" + hint + "'?";
    found_.push_back(
        {std::move(rule), {std::move(where), std::move(message), std::move(hint), warning}});
  }

  const Skill& skill_;
  std::vector<Finding> found_;
  std::set<std::string> named_;  ///< files that some text points to
};

}  // namespace

size_t about_tokens(std::string_view text) { return (text.size() + 3) / 4; }

std::vector<Finding> lint_text(const fs::path& dir) {
  std::vector<Diagnostic> said;
  std::vector<Finding> found;
  std::vector<Finding> more;
  try {
    const Skill skill = load_skill(dir, said);
    more = Linter(skill).run();
  } catch (const Error& e) {
    if (e.diagnostics().empty()) throw;
    said = e.diagnostics();
  }
  for (auto& d : said) found.push_back({"spec", std::move(d)});
  for (auto& f : more) found.push_back(std::move(f));
  return found;
}

}  // namespace hone::skill
