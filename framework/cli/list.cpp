#include <fmt/format.h>

#include <iostream>

#include "cases/case.hpp"
#include "cli/command.hpp"
#include "storage/storage.hpp"
#include "trial/listing.hpp"

namespace hone::cli {
namespace {

using storage::Json;

Exit list_text(const trial::Manifest& manifest) {
  for (const auto& e : manifest.evaluations) {
    std::cout << fmt::format(
        "{}: skill {}, models {}, {} runs, gates {}\n", e.name, e.skill, fmt::join(e.models, " "),
        e.runs, e.gates.empty() ? "none" : fmt::format("{}", fmt::join(e.gates, "; ")));
    const auto plan = trial::make_plan(manifest, e.name);
    for (const auto& c : plan.cases)
      std::cout << fmt::format("  {:<28} {:<7} {}\n", c.id, c.kind(), c.where.str());
    print_diagnostics(plan.diagnostics);
  }
  for (const auto& m : manifest.models)
    std::cout << fmt::format("model {}: {}, {}\n", m.name, m.provider,
                             m.endpoint.empty() ? m.base_url : m.endpoint + " " + m.gguf);
  for (const auto& k : manifest.kernels)
    std::cout << fmt::format("kernel {}: {} ({})\n", k.name, k.suite, k.dir);
  return Exit::good;
}

Exit list_json(const trial::Manifest& manifest) {
  Json out = Json::array();
  for (const auto& e : manifest.evaluations) {
    const auto plan = trial::make_plan(manifest, e.name);
    Json cases = Json::array();
    for (const auto& c : plan.cases)
      cases.push_back({{"id", c.id},
                       {"kind", c.kind()},
                       {"file", c.where.file},
                       {"line", c.where.line},
                       {"suite", c.suite}});
    out.push_back({{"evaluation", e.name},
                   {"skill", e.skill},
                   {"models", e.models},
                   {"runs", e.runs},
                   {"gates", e.gates},
                   {"cases", cases}});
  }
  std::cout << out.dump(2) << '\n';
  return Exit::good;
}

Exit check(Context& context, const std::vector<std::string>& evaluations,
           const std::vector<std::string>& files) {
  bool errors = false;
  size_t cases = 0;
  if (!files.empty()) {
    const auto set = cases::load_cases({files.begin(), files.end()});
    errors = print_diagnostics(set.diagnostics);
    cases = set.cases.size();
  } else {
    const auto& manifest = context.manifest();
    auto names = evaluations;
    if (names.empty())
      for (const auto& e : manifest.evaluations) names.push_back(e.name);
    for (const auto& evaluation : names) {
      const auto plan = trial::make_plan(manifest, evaluation);
      errors = print_diagnostics(plan.diagnostics) || errors;
      cases += plan.cases.size();
    }
  }
  std::cout << fmt::format("{} good case{}\n", cases, cases == 1 ? "" : "s");
  return errors ? Exit::bad_input : Exit::good;
}

}  // namespace

void add_list_commands(CLI::App& app, Context& context, Action& action) {
  auto* list = app.add_subcommand("list", "Evaluations, their cases, models and kernels");
  auto format = std::make_shared<std::string>("text");
  auto output = std::make_shared<std::string>();
  list->add_option("--format", *format, "text, json, or ctest (a script for TEST_INCLUDE_FILES)")
      ->check(CLI::IsMember({"text", "json", "ctest"}));
  list->add_option("-o,--output", *output, "Write there instead of stdout (ctest only)");
  auto dir = std::make_shared<std::string>();
  auto verbose = std::make_shared<bool>(false);
  list->add_option("-d,--dir", *dir, "List the skills in this folder instead");
  list->add_flag("-v,--verbose", *verbose, "With -d: the start of each skill, too");
  list->callback([&, format, output, dir, verbose] {
    action = [&, format, output, dir, verbose] {
      if (!dir->empty()) return list_skills(*dir, *verbose);
      const auto& manifest = context.manifest();
      if (*format == "text") return list_text(manifest);
      if (*format == "json") return list_json(manifest);
      const auto script = trial::ctest_script(manifest);
      if (output->empty())
        std::cout << script;
      else
        storage::write_atomically(*output, script);
      return Exit::good;
    };
  });

  auto* checker = app.add_subcommand(
      "check",
      "Read skills and case files and say what is wrong in them (exit 3 when anything is)");
  auto evaluations = std::make_shared<std::vector<std::string>>();
  auto files = std::make_shared<std::vector<std::string>>();
  checker->add_option("--evaluation", *evaluations, "Only these evaluations");
  checker->add_option("files", *files, "Case files to read instead");
  checker->callback([&, evaluations, files] {
    action = [&, evaluations, files] { return check(context, *evaluations, *files); };
  });
}

}  // namespace hone::cli
