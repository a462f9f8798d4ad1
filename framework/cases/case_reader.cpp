#include "cases/case_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cases/check.hpp"
#include "cases/fields.hpp"
#include "storage/storage.hpp"

namespace hone::cases {
namespace {

namespace fs = std::filesystem;
using Kind = LocatedJson::Kind;

constexpr const char* kNothingChecked = "nothing would be checked: every answer would pass";

/// `text` with what a folder name should not hold replaced.
std::string as_id(std::string_view text) {
  std::string id;
  for (const char c : text.substr(0, 80)) {
    const bool good = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                      (c == '.' && !id.empty());
    id += good ? c : '-';
  }
  return id.empty() ? "case" : id;
}

/// Reads one file. Each case_… member reads one case of a dialect.
class CaseReader {
 public:
  CaseReader(fs::path file, const CaseOptions& options, Report& report)
      : file_(std::move(file)), suite_(options.suite), report_(report) {}

  std::vector<Case> read(const LocatedJson& root) {
    if (root.is(Kind::array)) {
      list(root, "the list of cases");
    } else if (!root.is(Kind::object)) {
      report_.error(root.offset,
                    "a case file holds an object or a list, not " + std::string(name(root.kind)));
    } else if (root.find("cases") != nullptr) {
      const Fields fields(root, report_);
      fields.only({"cases", "suite", "$schema"});
      if (const auto suite = fields.string("suite")) suite_ = *suite;
      if (const auto* cases = fields.find("cases", Kind::array)) list(*cases, "'cases'");
    } else if (root.find("evals") != nullptr) {
      const Fields fields(root, report_, true);
      fields.only({"skill_name", "evals"});
      if (const auto* evals = fields.find("evals", Kind::array)) list(*evals, "'evals'");
    } else if (root.find("tests") != nullptr) {  // skill_meta.json: its other keys are not ours
      const Fields fields(root, report_, true);
      if (const auto* tests = fields.find("tests", Kind::array)) list(*tests, "'tests'");
    } else {
      one(root, "");
    }
    return std::move(cases_);
  }

 private:
  void list(const LocatedJson& items, const std::string& what) {
    if (items.items.empty()) report_.error(items.offset, what + " is empty");
    for (size_t i = 0; i < items.items.size(); ++i)
      one(items.items[i], "-" + std::to_string(i + 1));
  }

  void one(const LocatedJson& json, const std::string& suffix) {
    if (!json.is(Kind::object)) {
      report_.error(json.offset, "a case is an object, not " + std::string(name(json.kind)));
      return;
    }
    const size_t errors = report_.errors();
    Case c;
    c.where = report_.at(json.offset);
    c.id = as_id(file_.stem().string()) + suffix;
    c.suite = suite_;
    if (json.find("should_trigger") != nullptr)
      report_.error(json.offset,
                    "trigger queries cannot be evaluated: " + std::string(kNothingChecked));
    else if (json.find("input") != nullptr)
      upskill(Fields(json, report_, true), c);
    else if (json.find("expected_output") != nullptr || json.find("assertions") != nullptr ||
             json.find("expectations") != nullptr)
      agentskills(Fields(json, report_, true), c);
    else
      own(Fields(json, report_), c);
    if (report_.errors() == errors) cases_.push_back(std::move(c));
  }

  /// {"id", "title", "prompt" | "prompt_file", "context", "suite", "expect", …}
  void own(const Fields& f, Case& c) {
    f.only({"id", "title", "prompt", "prompt_file", "context", "suite", "expect", "max_tokens",
            "turns", "require"});
    read_id(f, c);
    c.title = f.string("title").value_or("");
    read_prompt(f, c);
    if (const auto* context = f.find("context")) read_context(*context, c);
    if (const auto suite = f.string("suite")) c.suite = *suite;
    c.max_tokens = f.count("max_tokens");
    read_turns(f, c);
    read_require(f, c);
    if (const auto* expect = f.find("expect", Kind::object))
      read_expect(Fields(*expect, report_), c);
    else if (f.find("expect") == nullptr)
      report_.error(f.object().offset, "a case without 'expect': " + std::string(kNothingChecked),
                    "add \"expect\": {\"contains\": …}");
  }

  /// {"input", "expected": {"contains"}, "context": {"files"}}
  void upskill(const Fields& f, Case& c) {
    f.only({"id", "input", "expected", "context", "output_file", "validator", "validator_config"});
    read_id(f, c);
    c.prompt = f.string("input").value_or("");
    if (c.prompt.empty() && f.find("input") != nullptr && f.find("input")->is(Kind::string))
      report_.error(f.find("input")->offset, "'input' is empty");
    if (const auto* context = f.find("context")) read_context(*context, c);
    if (const auto* validator = f.find("validator"))
      report_.error(validator->offset,
                    "validators are not supported: " + std::string(kNothingChecked) + " by it",
                    "state the check as \"expected\": {\"contains\": …}");
    if (const auto* output = f.find("output_file"))
      report_.warning(output->offset, "'output_file' is ignored: the answer's text is checked");
    const auto* expected = f.find("expected", Kind::object);
    if (expected == nullptr) {
      if (f.find("expected") == nullptr && f.find("validator") == nullptr)
        report_.error(f.object().offset,
                      "a case without 'expected': " + std::string(kNothingChecked));
      return;
    }
    const Fields e(*expected, report_, true);
    e.only({"contains"});
    c.expect.contains = e.strings("contains");
    if (e.find("contains") == nullptr)
      report_.error(expected->offset, "'expected' is empty: " + std::string(kNothingChecked));
  }

  /// {"id", "prompt", "expected_output", "files", "assertions"}: prose, unless "expect" is added.
  void agentskills(const Fields& f, Case& c) {
    f.only({"id", "name", "prompt", "expected_output", "files", "assertions", "expectations",
            "expect"});
    if (const auto* id = f.find("id"); id != nullptr && id->is(Kind::number))
      c.id = as_id(file_.stem().string()) + "-" + as_id(fmt::format("{}", id->number));
    else
      read_id(f, c);
    c.title = f.string("name").value_or("");
    read_prompt(f, c);
    if (const auto* files = f.find("files", Kind::array)) read_context(*files, c);
    if (const auto* expect = f.find("expect", Kind::object)) {
      read_expect(Fields(*expect, report_), c);
    } else if (f.find("expect") == nullptr) {
      const auto* prose = f.object().find("expected_output");
      report_.error(prose != nullptr ? prose->offset : f.object().offset,
                    "the expectation is prose, which no program can check",
                    "add \"expect\": {\"contains\": …} to this eval");
    }
  }

  void read_id(const Fields& f, Case& c) {
    const auto id = f.string("id");
    if (!id) return;
    if (*id != as_id(*id))
      report_.error(f.find("id")->offset,
                    "'" + *id +
                        "' cannot be an id: it names a folder, so use letters, digits, "
                        "'-', '_' and '.'",
                    "for instance '" + as_id(*id) + "'");
    c.id = *id;
  }

  void read_prompt(const Fields& f, Case& c) {
    const auto* prompt = f.find("prompt");
    const auto* prompt_file = f.find("prompt_file");
    if (prompt != nullptr && prompt_file != nullptr) {
      report_.error(prompt_file->offset, "both 'prompt' and 'prompt_file' are given");
    } else if (prompt != nullptr) {
      c.prompt = f.string("prompt").value_or("");
      if (prompt->is(Kind::string) && blank(c.prompt))
        report_.error(prompt->offset, "'prompt' is empty");
    } else if (prompt_file != nullptr) {
      if (const auto path = f.string("prompt_file")) {
        const auto text = content(*path, prompt_file->offset);
        if (text && blank(*text)) report_.error(prompt_file->offset, "the prompt file is empty");
        c.prompt = text.value_or("");
      }
    } else {
      report_.error(f.object().offset, "a case without 'prompt' or 'prompt_file'");
    }
  }

  /// A list of paths, {"name", "text"} and {"name", "file"}, or {"files": {name: text}}.
  void read_context(const LocatedJson& json, Case& c) {
    if (json.is(Kind::object)) {
      const Fields f(json, report_, true);
      f.only({"files"});
      const auto* files = f.find("files", Kind::object);
      if (files == nullptr) return;
      for (const auto& member : files->members) {
        if (member.value.is(Kind::string))
          c.context.push_back({member.name, member.value.text});
        else
          report_.error(member.value.offset, "a context file's text must be a string");
      }
      return;
    }
    if (!json.is(Kind::array)) {
      report_.error(json.offset,
                    "'context' must be a list of files, not " + std::string(name(json.kind)));
      return;
    }
    for (const auto& item : json.items) {
      if (item.is(Kind::string)) {
        c.context.push_back({item.text, content(item.text, item.offset).value_or("")});
      } else if (item.is(Kind::object)) {
        const Fields f(item, report_);
        f.only({"name", "text", "file"});
        const auto file = f.string("file");
        const auto text = f.string("text");
        const auto file_name = f.string("name");
        if (file && text)
          report_.error(item.offset, "both 'file' and 'text' are given");
        else if (file)
          c.context.push_back(
              {file_name.value_or(*file), content(*file, item.offset).value_or("")});
        else if (text && file_name)
          c.context.push_back({*file_name, *text});
        else
          report_.error(item.offset, "a context file needs 'file', or 'name' and 'text'");
      } else {
        report_.error(item.offset, "a context file is a path or an object");
      }
    }
  }

  void read_turns(const Fields& f, Case& c) {
    const auto turns = f.count("turns");
    if (!turns) return;
    if (*turns <= 10)
      c.turns = *turns;
    else
      report_.error(f.find("turns")->offset, "'turns' is a whole number from 1 to 10");
  }

  void read_require(const Fields& f, Case& c) {
    const auto* require = f.find("require");
    if (require == nullptr) return;
    if (require->is(Kind::boolean)) {
      if (require->boolean) c.require = 1.0;
    } else if (require->is(Kind::number) && require->number >= 0 && require->number <= 1) {
      c.require = require->number;
    } else {
      report_.error(require->offset, "'require' is a pass rate from 0 to 1, or true");
    }
  }

  void read_expect(const Fields& f, Case& c) {
    f.only({"contains", "contains_any", "not_contains", "matches", "number", "kernel", "forbid"});
    Expect& e = c.expect;
    const size_t errors = report_.errors();
    e.contains = f.strings("contains");
    e.contains_any = f.strings("contains_any");
    e.not_contains = f.strings("not_contains");
    e.matches = f.strings("matches");
    check_patterns(f, e.matches);
    read_number(f, e);
    read_kernel(f, c);
    read_forbid(f, e);
    const bool checks = !e.contains.empty() || !e.contains_any.empty() || !e.not_contains.empty() ||
                        !e.matches.empty() || e.number || e.kernel;
    if (!checks && report_.errors() == errors)
      report_.error(f.object().offset, "'expect' is empty: " + std::string(kNothingChecked));
  }

  void check_patterns(const Fields& f, const std::vector<std::string>& patterns) {
    const auto* matches = f.find("matches");
    for (const auto& pattern : patterns) {
      const std::string wrong = regex_error(pattern);
      if (wrong.empty()) continue;
      size_t offset = matches->offset;
      for (const auto& item : matches->items)
        if (item.text == pattern) offset = item.offset;
      report_.error(offset, "not a regular expression: " + wrong);
    }
  }

  void read_number(const Fields& f, Expect& e) {
    const auto* number = f.find("number");
    if (number == nullptr) return;
    if (number->is(Kind::number)) {
      e.number = ExpectedNumber{number->number, 0};
    } else if (number->is(Kind::object)) {
      const Fields n(*number, report_);
      n.only({"value", "tolerance"});
      if (n.find("value") == nullptr) report_.error(number->offset, "'number' without 'value'");
      e.number = ExpectedNumber{n.number("value").value_or(0), n.number("tolerance").value_or(0)};
      if (e.number->tolerance < 0)
        report_.error(n.find("tolerance")->offset, "'tolerance' is negative");
    } else {
      report_.error(number->offset, "'number' must be a number or {\"value\", \"tolerance\"}");
    }
  }

  void read_forbid(const Fields& f, Expect& e) {
    const auto* forbid = f.find("forbid");
    if (forbid == nullptr) return;
    e.forbid = f.strings("forbid");
    if (!e.kernel) report_.error(forbid->offset, "'forbid' is for kernel cases");
    for (const auto& item : forbid->items) {
      if (std::ranges::find(known_forbids, item.text) == known_forbids.end())
        report_.error(item.offset, "'" + item.text + "' is nothing that can be forbidden",
                      fmt::format("known: {}", fmt::join(known_forbids, ", ")));
    }
  }

  /// true: judged by the case's suite; a string names the suite.
  void read_kernel(const Fields& f, Case& c) {
    const auto* kernel = f.find("kernel");
    if (kernel == nullptr) return;
    if (kernel->is(Kind::string)) {
      if (!c.suite.empty() && c.suite != kernel->text)
        report_.error(kernel->offset, "'kernel' names suite '" + kernel->text +
                                          "', but the case is of suite '" + c.suite + "'");
      c.suite = kernel->text;
      c.expect.kernel = true;
    } else if (kernel->is(Kind::boolean)) {
      c.expect.kernel = kernel->boolean;
    } else {
      report_.error(kernel->offset, "'kernel' must be true, false or the name of a suite");
      return;
    }
    if (c.expect.kernel && c.suite.empty())
      report_.error(kernel->offset, "a kernel case without a suite that could judge it",
                    "add \"suite\": \"<name>\"");
  }

  /// Content of a file named in the case, relative to the case file; reported when unreadable.
  std::optional<std::string> content(const std::string& path, size_t offset) {
    try {
      return storage::read_file(file_.parent_path() / path);
    } catch (const Error& e) {
      report_.error(offset, e.what());
      return std::nullopt;
    }
  }

  static bool blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  }

  fs::path file_;
  std::string suite_;
  Report& report_;
  std::vector<Case> cases_;
};

}  // namespace

void read_case_file(const fs::path& file, const CaseOptions& options, std::vector<Case>& cases,
                    std::vector<Diagnostic>& diagnostics) {
  std::string text;
  try {
    text = storage::read_file(file);
  } catch (const Error& e) {
    diagnostics.push_back({{file.string(), 0, 0}, e.what(), "", false});
    return;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.replace(0, 3, "   ");
  const auto root = parse_located(file.string(), text, diagnostics);
  if (!root) return;
  Report report(file.string(), text, diagnostics);
  for (auto& c : CaseReader(file, options, report).read(*root)) cases.push_back(std::move(c));
}

}  // namespace hone::cases
