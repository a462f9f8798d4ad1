#include "process/sandbox.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "process/terminal.hpp"

namespace hone::process {
namespace {

namespace fs = std::filesystem;

/// Read-only in every sandbox: programs, libraries, and what the loader and the compiler driver
/// need of /etc, which is not shown as a whole.
constexpr const char* kSystem[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
constexpr const char* kSystemFiles[] = {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf",
                                        "/etc/ld.so.conf.d"};

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

std::string find_bwrap() {
  for (const char* path : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"})
    if (::access(path, X_OK) == 0) return path;
  return "";
}

Result try_out(const SandboxProbe& probe) {
  Command command;
  command.sandbox.emplace();
  const std::vector<std::string> base = bwrap_argv(probe, command, -1);
  Command outer;
  outer.argv = base;
  outer.argv.insert(outer.argv.end(), {"/bin/sh", "-c", "echo held"});
  outer.limits.wall_seconds = 10;
  return run(outer);
}

SandboxProbe probe_now() {
  SandboxProbe probe;
  probe.tier = "rlimits";
  const char* forced = std::getenv("HONE_SANDBOX");
  if (forced != nullptr && std::string_view(forced) == "rlimits") {
    probe.reason = "HONE_SANDBOX=rlimits";
    return probe;
  }
  probe.bwrap = find_bwrap();
  if (probe.bwrap.empty()) {
    probe.reason = "bubblewrap is not installed (apt-get install bubblewrap)";
    return probe;
  }
  for (const auto& [proc, tmp_size] :
       {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
    probe.proc = proc;
    probe.tmp_size = tmp_size;
    const Result result = try_out(probe);
    if (result.ok() && result.out == "held\n") {
      probe.tier = "bubblewrap";
      probe.reason.clear();
      return probe;
    }
    if (probe.reason.empty())
      probe.reason = result.err.empty() ? "bwrap: " + result.str() : first_line(result.err);
  }
  return probe;
}

}  // namespace

const SandboxProbe& probe_sandbox() {
  static const SandboxProbe probe = probe_now();
  return probe;
}

std::vector<std::string> bwrap_argv(const SandboxProbe& probe, const Command& command,
                                    int status_fd) {
  const Sandbox sandbox = command.sandbox.value_or(Sandbox{});
  std::vector<std::string> argv = {probe.bwrap,
                                   "--unshare-all",
                                   "--die-with-parent",
                                   "--new-session",
                                   "--clearenv",
                                   "--cap-drop",
                                   "ALL"};
  const auto add = [&](std::initializer_list<std::string> words) {
    argv.insert(argv.end(), words);
  };
  const auto add_tmpfs = [&](const char* place, uint64_t bytes) {
    if (probe.tmp_size && bytes > 0) add({"--size", std::to_string(bytes)});
    add({"--tmpfs", place});
  };
  if (sandbox.network) add({"--share-net"});
  if (status_fd >= 0) add({"--json-status-fd", std::to_string(status_fd)});

  std::error_code ec;
  for (const char* folder : kSystem) {
    if (fs::is_symlink(folder, ec))
      add({"--symlink", fs::read_symlink(folder, ec).string(), folder});
    else
      add({"--ro-bind-try", folder, folder});
  }
  for (const char* file : kSystemFiles) add({"--ro-bind-try", file, file});
  if (sandbox.network)
    for (const char* file : {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl"})
      add({"--ro-bind-try", file, file});
  add({"--dev", "/dev"});
  if (sandbox.gpu_devices) {
    for (fs::directory_iterator it("/dev", ec), end; !ec && it != end; it.increment(ec))
      if (const std::string path = it->path().string(); path.rfind("/dev/nvidia", 0) == 0)
        add({"--dev-bind-try", path, path});
    add({"--ro-bind-try", "/sys", "/sys"});
  }
  add_tmpfs("/dev/shm", sandbox.tmp_bytes);
  add({"--remount-ro", "/dev"});
  if (probe.proc) add({"--proc", "/proc"});
  add_tmpfs("/tmp", sandbox.tmp_bytes);

  // Parents before what lies in them.
  std::vector<std::pair<fs::path, const char*>> binds;
  for (const auto& path : sandbox.readable)
    if (!is_system(full_path(path))) binds.emplace_back(full_path(path), "--ro-bind");
  for (const auto& path : sandbox.writable) binds.emplace_back(full_path(path), "--bind");
  std::stable_sort(binds.begin(), binds.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [path, how] : binds) add({how, path.string(), path.string()});

  for (const auto& [key, value] : command.environment) add({"--setenv", key, value});
  add({"--remount-ro", "/"});
  add({"--chdir", command.directory.empty() ? "/" : full_path(command.directory).string()});
  add({"--"});
  return argv;
}

}  // namespace hone::process
