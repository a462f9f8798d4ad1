#include "skill/install.hpp"

#include "storage/storage.hpp"

namespace hone::skill {
namespace {

namespace fs = std::filesystem;

constexpr size_t kNamedEdits = 3;

bool is_there(const fs::path& path) {
  return fs::symlink_status(path).type() != fs::file_type::not_found;
}

std::string listed(const std::vector<std::string>& edits) {
  std::string text;
  for (size_t i = 0; i < edits.size() && i < kNamedEdits; ++i)
    text += (i == 0 ? "" : ", ") + edits[i];
  if (edits.size() > kNamedEdits)
    text += " and " + std::to_string(edits.size() - kNamedEdits) + " more";
  return text;
}

/// What was done to an installed skill since; a link that points elsewhere counts as changed.
std::vector<std::string> edits_of(const fs::path& target, const Installed& installed) {
  const bool link = fs::is_symlink(fs::symlink_status(target));
  if (installed.mode == InstallMode::copy) {
    if (link) return {"replaced by a link"};
    return differences(target, installed);
  }
  if (!link) return {"the link was replaced"};
  if (fs::read_symlink(target) != installed.source) return {"the link points elsewhere"};
  return {};
}

fs::path source_of(const fs::path& folder, const Installed& installed) {
  if (installed.source.is_absolute()) return installed.source;
  return (fs::weakly_canonical(folder) / installed.source).lexically_normal();
}

/// Why what is at the target may not be touched, or "".
std::string refusal_of(const Change& change, const Receipt& receipt) {
  if (!is_there(change.target)) return "";
  const auto entry = receipt.find(change.name);
  if (entry == receipt.end()) return change.target.string() + " was not written by Hone";
  const auto edits = edits_of(change.target, entry->second);
  if (edits.empty()) return "";
  return change.target.string() + " was edited since it was installed (" + listed(edits) + ")";
}

Change change_in(const std::string& name, const SkillsFolder& folder) {
  if (!is_spec_name(name))
    throw Error(Exit::bad_input, "the name '" + name +
                                     "' cannot be installed: a skill's name is 1 to 64 of a-z, 0-9 "
                                     "and single '-'");
  Change change;
  change.name = name;
  change.folder = folder;
  change.target = folder.path / name;
  return change;
}

/// Runs `work`; what the file system refuses becomes an Error that says so.
template <typename Work>
void on_disk(const Work& work) {
  try {
    work();
  } catch (const fs::filesystem_error& e) {
    throw Error(Exit::infrastructure, e.path1().string() + ": " + e.code().message());
  }
}

void remove_what_is_at(const fs::path& path) {
  if (fs::is_symlink(fs::symlink_status(path)))
    fs::remove(path);
  else
    fs::remove_all(path);
}

}  // namespace

Change plan_install(const Skill& skill, const SkillsFolder& folder, InstallMode mode, bool force) {
  Change change = change_in(skill.name, folder);
  const Receipt receipt = read_receipt(folder.path);
  const auto entry = receipt.find(skill.name);
  const bool there = is_there(change.target);
  change.kind = there ? Change::Kind::replace : Change::Kind::add;
  change.what = there ? "update" : "install";
  const std::string refusal = refusal_of(change, receipt);
  if (!refusal.empty() && !force) {
    change.refusal = refusal;
  } else if (there && refusal.empty() && entry->second.mode == mode &&
             entry->second.digest == skill.digest) {
    change.kind = Change::Kind::none;
    change.what = "already up to date";
  } else if (!refusal.empty()) {
    change.what = "overwrite";
  }
  return change;
}

void install(const Skill& skill, const Change& change, InstallMode mode) {
  if (change.kind == Change::Kind::none) return;
  on_disk([&] {
    fs::create_directories(change.folder.path);
    const fs::path origin = fs::canonical(skill.dir);
    Receipt receipt = read_receipt(change.folder.path);
    Installed installed;
    installed.mode = mode;
    installed.digest = skill.digest;
    installed.source = change.folder.scope == Scope::project
                           ? fs::relative(origin, fs::canonical(change.folder.path))
                           : origin;
    const fs::path fresh = change.folder.path / ("." + change.name + ".new");
    const fs::path old = change.folder.path / ("." + change.name + ".old");
    remove_what_is_at(fresh);
    remove_what_is_at(old);
    if (mode == InstallMode::link) {
      fs::create_directory_symlink(installed.source, fresh);
    } else {
      auto files = skill.files;
      files.push_back("SKILL.md");
      for (const auto& file : files) {
        fs::create_directories((fresh / file).parent_path());
        fs::copy_file(origin / file, fresh / file);
        installed.files[file] = storage::sha256_of_file(fresh / file);
      }
    }
    if (is_there(change.target)) fs::rename(change.target, old);
    fs::rename(fresh, change.target);
    receipt[change.name] = installed;
    write_receipt(change.folder.path, receipt);
    remove_what_is_at(old);
  });
}

Change plan_uninstall(const std::string& name, const SkillsFolder& folder, bool force) {
  Change change = change_in(name, folder);
  const Receipt receipt = read_receipt(folder.path);
  if (receipt.count(name) == 0) {
    change.what = "not installed";
    change.refusal = refusal_of(change, receipt);
    return change;
  }
  change.kind = Change::Kind::remove;
  change.what = "remove";
  if (!force) change.refusal = refusal_of(change, receipt);
  return change;
}

void uninstall(const Change& change) {
  if (change.kind != Change::Kind::remove) return;
  on_disk([&] {
    Receipt receipt = read_receipt(change.folder.path);
    remove_what_is_at(change.target);
    receipt.erase(change.name);
    write_receipt(change.folder.path, receipt);
  });
}

std::string Status::str() const {
  if (missing) return "missing";
  std::string text;
  if (source_state != Source::same)
    text = source_state == Source::gone ? "source gone" : "source changed";
  if (!edits.empty()) text += (text.empty() ? "" : ", ") + ("edited (" + listed(edits) + ")");
  return text.empty() ? "up to date" : text;
}

std::vector<Status> status_of(const SkillsFolder& folder) {
  std::vector<Status> all;
  for (const auto& [name, installed] : read_receipt(folder.path)) {
    Status status;
    status.name = name;
    status.target = folder.path / name;
    status.mode = installed.mode;
    status.source = source_of(folder.path, installed);
    status.missing = !is_there(status.target);
    if (!status.missing) status.edits = edits_of(status.target, installed);
    std::vector<Diagnostic> ignored;
    try {
      const bool same = load_skill(status.source, ignored).digest == installed.digest;
      if (!same && installed.mode == InstallMode::copy)
        status.source_state = Status::Source::changed;
    } catch (const Error&) {
      status.source_state =
          fs::exists(status.source / "SKILL.md") ? Status::Source::changed : Status::Source::gone;
    }
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace hone::skill
