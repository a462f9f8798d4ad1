#include <fmt/format.h>

#include <iostream>

#include "cli/command.hpp"
#include "kernel/build.hpp"
#include "kernel/project.hpp"
#include "storage/storage.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct BuildOptions {
  std::string dir, output, entry, toolkit, cache, json;
  std::vector<std::string> headers;
};

Exit build_kernel(const BuildOptions& o) {
  const auto project = kernel::load_project(o.dir);
  std::string reason;
  kernel::BuildRequest request;
  request.toolkit = kernel::find_toolkit(o.toolkit, &reason);
  if (!request.toolkit) throw Error(Exit::infrastructure, "no nvcc: " + reason);
  request.files = kernel::project_files(project);
  for (const auto& header : o.headers)
    request.headers.push_back({fs::path(header).filename().string(), storage::read_file(header)});
  request.entry = o.entry;
  request.library = fs::absolute(o.output);
  if (!o.cache.empty()) request.cache_dir = fs::absolute(o.cache);
  if (!project.cuda_capabilities.empty()) request.capabilities = project.cuda_capabilities;
  const auto report = kernel::build(request);
  if (!o.json.empty()) storage::write_json(o.json, kernel::to_json(report));
  std::cout << fmt::format("{}: {}{}\n", project.name, kernel::to_string(report.outcome),
                           report.cached ? " (from the cache)" : "");
  for (const auto& k : report.kernels)
    std::cout << fmt::format("  {}: {} registers, {} B shared, {} B spilled\n", k.name, k.registers,
                             k.shared_bytes, k.spill_stores + k.spill_loads);
  if (report.outcome == kernel::BuildOutcome::built) return Exit::good;
  std::cerr << report.diagnostics << '\n' << report.evidence << '\n';
  return report.outcome == kernel::BuildOutcome::infrastructure_error ? Exit::infrastructure
                                                                      : Exit::judged_bad;
}

/// The toolkit that this build tree is configured with; "" outside one.
std::string toolkit_of_manifest(Context& context) {
  try {
    return context.manifest().toolkit_root.string();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

void add_kernel_commands(CLI::App& app, Context& context, Action& action) {
  auto* kernel = app.add_subcommand("kernel", "Kernel projects (folders with a build.toml)");
  kernel->require_subcommand(1);
  auto* build = kernel->add_subcommand("build", "Build one to a shared library, as an answer is");
  auto o = std::make_shared<BuildOptions>();
  build->add_option("dir", o->dir, "The project's folder")->required();
  build->add_option("-o,--output", o->output, "The shared library to write")->required();
  build->add_option("--entry", o->entry, "Symbol that the library must export");
  build->add_option("--header", o->headers, "Files beside the sources, such as op.h");
  build->add_option("--toolkit", o->toolkit,
                    "Root of the CUDA toolkit (default: the manifest's, else where nvcc is found)");
  build->add_option("--cache", o->cache, "Folder of finished builds");
  build->add_option("--json", o->json, "Write the build record there");
  build->callback([&context, &action, o] {
    action = [&context, o] {
      if (o->toolkit.empty()) o->toolkit = toolkit_of_manifest(context);
      return build_kernel(*o);
    };
  });
}

}  // namespace hone::cli
