#include "process/sandbox.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace hone::process {
namespace {

namespace fs = std::filesystem;

/// Read-only in every sandbox: programs, libraries, and what the loader and the compiler driver
/// need of /etc, which is not shown as a whole.
constexpr const char* kSystem[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
constexpr const char* kSystemFiles[] = {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf",
                                        "/etc/ld.so.conf.d"};
constexpr const char* kNetworkFiles[] = {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
                                         "/etc/ssl"};
constexpr const char* kDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                    "/dev/urandom"};
/// What a CUDA driver reads, without what /proc and /sys say of other processes.
constexpr const char* kGpuFiles[] = {"/sys",          "/proc/driver",  "/proc/devices",
                                     "/proc/modules", "/proc/cpuinfo", "/proc/meminfo",
                                     "/proc/sys/vm"};

/// Where hone-confine lies under bubblewrap: its own folders stay hidden.
constexpr const char* kConfineInside = "/.hone-confine";

using Words = std::vector<std::string>;

void add(Words& argv, std::initializer_list<std::string> words) { argv.insert(argv.end(), words); }

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, _] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

bool is_system(const fs::path& path) {
  return std::any_of(std::begin(kSystem), std::end(kSystem),
                     [&](const char* folder) { return is_below(path, folder); });
}

fs::path full_path(const fs::path& path) {
  std::error_code ec;
  fs::path result = fs::absolute(path, ec).lexically_normal();
  return result.has_filename() ? result : result.parent_path();
}

Words gpu_nodes() {
  Words nodes;
  std::error_code ec;
  for (fs::directory_iterator it("/dev", ec), end; !ec && it != end; it.increment(ec))
    if (const std::string path = it->path().string(); path.rfind("/dev/nvidia", 0) == 0)
      nodes.push_back(path);
  return nodes;
}

/// Makes the file system, the PID and network namespaces, and drops every capability.
Words bwrap_argv(const SandboxProbe& probe, const Command& command) {
  const Sandbox& sandbox = *command.sandbox;
  Words argv = {probe.bwrap,
                "--unshare-all",
                "--die-with-parent",
                "--new-session",
                "--clearenv",
                "--cap-drop",
                "ALL"};
  const auto add_tmpfs = [&](const char* place) {
    if (sandbox.tmp_bytes == 0) return add(argv, {"--dir", place});
    if (probe.tmp_size) add(argv, {"--size", std::to_string(sandbox.tmp_bytes)});
    add(argv, {"--tmpfs", place});
  };
  if (sandbox.network) add(argv, {"--share-net"});

  std::error_code ec;
  for (const char* folder : kSystem) {
    if (fs::is_symlink(folder, ec))
      add(argv, {"--symlink", fs::read_symlink(folder, ec).string(), folder});
    else
      add(argv, {"--ro-bind-try", folder, folder});
  }
  for (const char* file : kSystemFiles) add(argv, {"--ro-bind-try", file, file});
  if (sandbox.network)
    for (const char* file : kNetworkFiles) add(argv, {"--ro-bind-try", file, file});
  add(argv, {"--dev", "/dev"});
  if (sandbox.gpu_devices) {
    for (const auto& path : gpu_nodes()) add(argv, {"--dev-bind-try", path, path});
    add(argv, {"--ro-bind-try", "/sys", "/sys"});
  }
  add_tmpfs("/dev/shm");
  add(argv, {"--remount-ro", "/dev"});
  if (probe.proc) add(argv, {"--proc", "/proc"});
  add_tmpfs("/tmp");

  // Parents before what lies in them.
  std::vector<std::pair<fs::path, const char*>> binds;
  for (const auto& path : sandbox.readable)
    if (!is_system(full_path(path))) binds.emplace_back(full_path(path), "--ro-bind");
  for (const auto& path : sandbox.writable) binds.emplace_back(full_path(path), "--bind");
  std::stable_sort(binds.begin(), binds.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [path, how] : binds) add(argv, {how, path.string(), path.string()});

  add(argv, {"--ro-bind", probe.confine, kConfineInside});

  for (const auto& [key, value] : command.environment) add(argv, {"--setenv", key, value});
  add(argv, {"--remount-ro", "/"});
  add(argv,
      {"--chdir", command.directory.empty() ? "/" : full_path(command.directory).string(), "--"});
  return argv;
}

/// What may be reached where Landlock alone says it; under bubblewrap the view is small already.
void add_paths(Words& argv, const SandboxProbe& probe, const Sandbox& sandbox,
               const fs::path& tmp) {
  std::error_code ec;
  const auto add_present = [&](const char* option, const std::string& path) {
    if (fs::exists(path, ec)) add(argv, {option, path});
  };
  if (!probe.bwrap.empty()) {
    add(argv, {"--read", "/"});
    if (sandbox.tmp_bytes > 0) add(argv, {"--write", "/tmp", "--write", "/dev/shm"});
  } else {
    for (const char* folder : kSystem) add_present("--read", folder);
    for (const char* file : kSystemFiles) add_present("--read", file);
    if (sandbox.network)
      for (const char* file : kNetworkFiles) add_present("--read", file);
    if (sandbox.gpu_devices)
      for (const char* file : kGpuFiles) add_present("--read", file);
    // A candidate counts its threads; hone-confine becomes it, so this is its own folder.
    if (sandbox.threads_only) add_present("--read", "/proc/self");
    for (const auto& path : sandbox.readable) add(argv, {"--read", full_path(path).string()});
    if (!tmp.empty()) add(argv, {"--write", tmp.string()});
  }
  for (const char* device : kDevices) add_present("--device", device);
  if (sandbox.gpu_devices)
    for (const auto& node : gpu_nodes()) add(argv, {"--device", node});
  for (const auto& path : sandbox.writable) add(argv, {"--write", full_path(path).string()});
}

}  // namespace

const char* name_of(Tier tier) {
  return tier == Tier::strong ? "strong" : tier == Tier::medium ? "medium" : "weak";
}

std::string SandboxProbe::mechanisms() const {
  std::string text;
  if (!bwrap.empty()) text += "bubblewrap, ";
  if (landlock > 0) text += "Landlock " + std::to_string(landlock) + ", ";
  if (seccomp) text += "seccomp, ";
  return text + "resource limits";
}

std::vector<std::string> sandbox_argv(const SandboxProbe& probe, const Command& command,
                                      int report_fd, const fs::path& tmp) {
  const Sandbox& sandbox = *command.sandbox;
  Words argv;
  if (!probe.bwrap.empty()) argv = bwrap_argv(probe, command);
  add(argv, {probe.bwrap.empty() ? probe.confine : kConfineInside});
  if (report_fd >= 0) add(argv, {"--report", std::to_string(report_fd)});
  if (sandbox.network) add(argv, {"--network"});
  if (!probe.bwrap.empty()) add(argv, {"--namespaces"});
  if (probe.seccomp) add(argv, {"--seccomp"});
  if (sandbox.threads_only) add(argv, {"--threads-only"});
  if (probe.landlock > 0) {
    add(argv, {"--landlock"});
    add_paths(argv, probe, sandbox, tmp);
  }
  add(argv, {"--"});
  return argv;
}

}  // namespace hone::process
