#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "cli/command.hpp"
#include "kernel/toolkit.hpp"
#include "model/llama_server.hpp"
#include "process/sandbox.hpp"
#include "storage/storage.hpp"
#include "trial/stages.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;
using storage::Json;

/// One thing that was looked for.
struct Finding {
  std::string name;
  bool found = false;
  bool needed = true;   ///< the main job does not run without it
  std::string detail;   ///< what was found, or why not
  std::string command;  ///< what brings it, when missing
};

Finding toolkit_finding(const fs::path& root) {
  std::string reason;
  const auto toolkit = kernel::find_toolkit(root, &reason);
  if (toolkit)
    return {"CUDA toolkit", true, true, fmt::format("{} at {}", toolkit->version,
                                                    toolkit->root.string()), ""};
  return {"CUDA toolkit", false, true, reason, "./bootstrap.sh deps"};
}

Finding gpu_finding() {
  const bool node = fs::exists("/dev/nvidiactl");
  return {"GPU", node, false,
          node ? "an NVIDIA driver is there"
               : "none: kernels run on cudasim (model of H100 SXM5), times are model bounds", ""};
}

Finding sandbox_finding() {
  const auto& probe = process::probe_sandbox();
  const std::string tier = fmt::format("{} ({})", process::name_of(probe.tier), probe.mechanisms());
  const bool holds = probe.tier >= process::Tier::medium;
  return {"sandbox", holds, true, probe.reason.empty() ? tier : tier + ": " + probe.reason,
          holds ? "" : "apt-get install bubblewrap, or --allow-execution=unsandboxed"};
}

Finding file_finding(const std::string& name, const fs::path& path, const std::string& command) {
  const bool there = fs::exists(path);
  return {name, there, true, there ? path.string() : path.string() + " is absent",
          there ? "" : command};
}

std::vector<Finding> model_findings(const trial::Manifest& manifest) {
  std::vector<Finding> findings;
  bool local = false;
  for (const auto& m : manifest.models) {
    if (m.endpoint.empty()) {
      const char* key = m.api_key_env.empty() ? "" : std::getenv(m.api_key_env.c_str());
      const bool ready = key && (m.api_key_env.empty() || *key);
      findings.push_back({"model " + m.name, ready, false,
                          ready ? m.base_url : m.api_key_env + " is not set: its tests skip",
                          ready ? "" : "export " + m.api_key_env + "=…"});
      continue;
    }
    local = true;
    Finding f{"model " + m.name, true, true, m.gguf, ""};
    try {
      model::check_gguf(trial::endpoint_config(manifest, m));
    } catch (const Error& e) {
      f.found = false;
      f.detail = e.what();
      f.command = "./bootstrap.sh deps";
    }
    const auto running = model::running(manifest.binary_dir / "hone/endpoints", m.model);
    if (running) f.detail += ", served at " + running->base_url;
    findings.push_back(f);
  }
  if (local)
    findings.push_back(file_finding("llama-server", manifest.llama_server, "./bootstrap.sh deps"));
  return findings;
}

std::vector<Finding> examine(Context& context) {
  std::vector<Finding> findings;
  std::optional<trial::Manifest> manifest;
  try {
    manifest = context.manifest();
    findings.push_back({"manifest", true, true, manifest->file.string(), ""});
  } catch (const Error& e) {
    findings.push_back({"manifest", false, true, e.what(), "cmake --preset default"});
  }
  findings.push_back(toolkit_finding(manifest ? manifest->toolkit_root : fs::path()));
  findings.push_back(gpu_finding());
  findings.push_back(sandbox_finding());
  if (manifest) {
    findings.push_back(file_finding("cudasim", manifest->cudasim_dir / "libcudart.so.13",
                                    "cmake --build build"));
    findings.push_back(file_finding("candidate runner", manifest->candidate, "cmake --build build"));
    for (const auto& suite : manifest->suites)
      if (!fs::exists(suite.verify))
        findings.push_back(file_finding("suite " + suite.name, suite.verify, "cmake --build build"));
    for (auto& f : model_findings(*manifest)) findings.push_back(std::move(f));
  }
  return findings;
}

Exit doctor(Context& context, bool json) {
  const auto findings = examine(context);
  bool ready = true;
  Json out = Json::array();
  for (const auto& f : findings) {
    ready = ready && (f.found || !f.needed);
    out.push_back({{"name", f.name}, {"found", f.found}, {"needed", f.needed},
                   {"detail", f.detail}, {"command", f.command}});
    if (json) continue;
    std::cout << fmt::format("{:<8} {:<18} {}\n", f.found ? "found" : f.needed ? "MISSING" : "absent",
                             f.name, f.detail);
    if (!f.command.empty()) std::cout << fmt::format("{:>28}{}\n", "-> ", f.command);
  }
  if (json) std::cout << out.dump(2) << '\n';
  return ready ? Exit::good : Exit::infrastructure;
}

}  // namespace

void add_doctor_command(CLI::App& app, Context& context, Action& action) {
  auto* command = app.add_subcommand(
      "doctor", "What is found (toolkit, GPU, sandbox, models), what is missing and what brings it");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "As JSON");
  command->callback([&, json] { action = [&, json] { return doctor(context, *json); }; });
}

}  // namespace hone::cli
