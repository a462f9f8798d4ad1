#include "skill/front_matter.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

namespace hone::skill {
namespace {

const std::vector<std::string> kKeys{"name",          "description", "license",
                                     "compatibility", "metadata",    "allowed-tools"};
constexpr size_t kMaxName = 64;
constexpr size_t kMaxDescription = 1024;
constexpr size_t kMaxCompatibility = 500;
constexpr size_t kMaxBodyLines = 500;

std::string normalised(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') out += text[i];
  return out;
}

/// "---" and nothing but blanks after it; an indented one belongs to a block scalar.
bool is_fence(std::string_view line) {
  return line.starts_with("---") && line.find_first_not_of(" \t", 3) == std::string_view::npos;
}

struct Parts {
  std::string yaml;
  std::string body;
};

std::optional<Parts> split(std::string_view text) {
  Parts parts;
  size_t at = 0;
  for (int line = 0; at < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view content = text.substr(at, end - at);
    const bool fence = is_fence(content);
    if (line == 0 && !fence) return std::nullopt;
    at = std::min(end + 1, text.size());
    if (line == 0) continue;
    if (fence) {
      parts.body = text.substr(at);
      return parts;
    }
    parts.yaml.append(content).append("\n");
  }
  return std::nullopt;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  // The first line keeps its indent: it may be a code block.
  const auto line = text.rfind('\n', first);
  const size_t from = line == std::string::npos ? 0 : line + 1;
  return text.substr(from, text.find_last_not_of(" \t\r\n") + 1 - from);
}

/// Characters, not bytes.
size_t length(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

class Reader {
 public:
  Reader(std::string file, Skill& skill, std::vector<Diagnostic>& out)
      : file_(std::move(file)), skill_(skill), out_(out) {}

  void read(const std::string& yaml) {
    const YAML::Node root = YAML::Load(yaml);
    if (!root.IsMap()) return error(root.Mark(), "the front matter is not a map of keys");
    if (swallows_what_follows(yaml, root)) {
      YAML::Mark last = root.Mark();
      for (const auto& entry : root) last = entry.second.Mark();
      return error(last, "not valid YAML: a quote that is not closed");
    }
    std::set<std::string> seen;
    for (const auto& entry : root) {
      if (!entry.first.IsScalar()) {
        error(entry.first.Mark(), "a key of the front matter must be a string");
        continue;
      }
      const std::string key = entry.first.Scalar();
      if (!seen.insert(key).second)
        error(entry.first.Mark(), "the key '" + key + "' is given twice");
      else
        take(key, entry.first, entry.second);
    }
    if (seen.count("description") == 0) error(root.Mark(), "no 'description'");
    if (seen.count("name") == 0)
      warning(root.Mark(), "no 'name'; the folder's is used: " + skill_.name);
  }

 private:
  /// yaml-cpp lets the end of the text close a quote; a key put behind it then disappears.
  static bool swallows_what_follows(const std::string& yaml, const YAML::Node& root) {
    return YAML::Load(yaml + "end-of-front-matter: 1\n").size() != root.size() + 1;
  }

  void take(const std::string& key, const YAML::Node& at, const YAML::Node& value) {
    if (key == "name") return take_name(value);
    if (key == "description") return take_description(value);
    if (key == "license") return scalar(key, value, skill_.license);
    if (key == "compatibility") {
      scalar(key, value, skill_.compatibility);
      if (length(skill_.compatibility) > kMaxCompatibility)
        warning(value.Mark(), "'compatibility' is longer than 500 characters");
      return;
    }
    if (key == "metadata") return take_metadata(value);
    if (key == "allowed-tools") return take_tools(value);
    const std::string near = nearest(key, kKeys);
    warning(at.Mark(), "unknown key '" + key + "'",
            near.empty() ? "known keys: name, description, license, compatibility, metadata, "
                           "allowed-tools"
                         : "did you mean '" + near + "'?");
  }

  void take_name(const YAML::Node& value) {
    const std::string folder = skill_.name;
    std::string name;
    scalar("name", value, name);
    if (name.empty()) {
      if (value.IsScalar() || value.IsNull())
        warning(value.Mark(), "'name' is empty; the folder's is used: " + folder);
      return;
    }
    skill_.name = name;
    if (!is_spec_name(name))
      warning(value.Mark(), "the name '" + name + "' is not 1 to 64 of a-z, 0-9 and single '-'");
    else if (name != folder)
      warning(value.Mark(), "the name '" + name + "' is not the folder's, '" + folder + "'");
  }

  void take_description(const YAML::Node& value) {
    if (value.IsNull()) return error(value.Mark(), "'description' is empty");
    scalar("description", value, skill_.description);
    if (!value.IsScalar()) return;
    skill_.description = trimmed(skill_.description);
    if (skill_.description.empty()) return error(value.Mark(), "'description' is empty");
    if (length(skill_.description) > kMaxDescription)
      warning(value.Mark(), "'description' is longer than 1024 characters");
    if (skill_.description.find_first_of("<>") != std::string::npos)
      warning(value.Mark(), "'description' holds '<' or '>', which some agents refuse");
  }

  void take_metadata(const YAML::Node& value) {
    if (value.IsNull()) return;
    if (!value.IsMap()) return error(value.Mark(), "'metadata' must be a map of strings");
    for (const auto& entry : value) {
      if (entry.first.IsScalar() && entry.second.IsScalar())
        skill_.metadata[entry.first.Scalar()] = entry.second.Scalar();
      else
        warning(entry.first.Mark(), "'metadata' holds strings only; this entry is left out");
    }
  }

  void take_tools(const YAML::Node& value) {
    if (value.IsNull()) return;
    if (value.IsSequence()) {
      warning(value.Mark(), "'allowed-tools' is one string of names with spaces between, no list");
      for (const auto& item : value)
        if (item.IsScalar()) skill_.allowed_tools.push_back(item.Scalar());
      return;
    }
    std::string tools;
    scalar("allowed-tools", value, tools);
    std::istringstream words(tools);
    for (std::string word; words >> word;) skill_.allowed_tools.push_back(word);
  }

  void scalar(const std::string& key, const YAML::Node& value, std::string& out) {
    if (value.IsScalar())
      out = value.Scalar();
    else if (!value.IsNull())
      error(value.Mark(), "'" + key + "' must be a string");
  }

  void error(const YAML::Mark& mark, std::string message) {
    out_.push_back({at(mark), std::move(message), "", false});
  }
  void warning(const YAML::Mark& mark, std::string message, std::string hint = "") {
    out_.push_back({at(mark), std::move(message), std::move(hint), true});
  }
  Location at(const YAML::Mark& mark) const {
    if (mark.is_null()) return {file_, 1, 0};
    return {file_, mark.line + 2, mark.column + 1};  // the fence is line 1
  }

  std::string file_;
  Skill& skill_;
  std::vector<Diagnostic>& out_;
};

}  // namespace

bool is_spec_name(const std::string& name) {
  if (name.empty() || name.size() > kMaxName || name.front() == '-' || name.back() == '-')
    return false;
  if (name.find("--") != std::string::npos) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

void read_skill_text(const std::string& file, std::string_view raw, Skill& skill,
                     std::vector<Diagnostic>& diagnostics) {
  const std::string text = normalised(raw);
  const auto parts = split(text);
  if (!parts) {
    const bool open = is_fence(std::string_view(text).substr(0, text.find('\n')));
    diagnostics.push_back({{file, 1, 1},
                           open ? "the front matter is not closed by a line '---'"
                                : "no front matter: the first line must be '---'",
                           "",
                           false});
    return;
  }
  skill.body = trimmed(parts->body);
  try {
    Reader(file, skill, diagnostics).read(parts->yaml);
  } catch (const YAML::Exception& e) {
    const bool known = !e.mark.is_null();
    const std::string hint = e.msg.find("illegal map value") != std::string::npos
                                 ? "a value with ': ' in it needs quotes"
                                 : "";
    diagnostics.push_back({{file, known ? e.mark.line + 2 : 1, known ? e.mark.column + 1 : 0},
                           "not valid YAML: " + e.msg,
                           hint,
                           false});
  }
  const auto lines = static_cast<size_t>(std::count(skill.body.begin(), skill.body.end(), '\n'));
  if (skill.body.empty())
    diagnostics.push_back({{file, 1, 0}, "the skill's body is empty", "", true});
  else if (lines >= kMaxBodyLines)
    diagnostics.push_back({{file, 1, 0},
                           "the body has more than 500 lines",
                           "move what is not always needed to references/",
                           true});
}

}  // namespace hone::skill
