// Which tier holds here: found by running hone-canary in each.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "process/landlock.hpp"
#include "process/launch.hpp"
#include "process/sandbox.hpp"
#include "process/terminal.hpp"

namespace hone::process {
namespace {

namespace fs = std::filesystem;

/// In HONE_PROGRAMS, else beside this program, else where a build tree puts it for a test of a part.
std::string find_program(const std::string& name) {
  const char* given = std::getenv("HONE_PROGRAMS");
  if (given != nullptr) return fs::path(given) / name;
  std::error_code ec;
  const fs::path here = fs::read_symlink("/proc/self/exe", ec).parent_path();
  for (const fs::path& path : {here / name, here / "../../bin" / name})
    if (::access(path.c_str(), X_OK) == 0) return path;
  return "";
}

/// Folders for the canary: a secret that it must not reach, and one to write to.
class Cage {
 public:
  Cage() {
    std::error_code ec;
    std::string pattern = (fs::temp_directory_path(ec) / "hone_probe_XXXXXX").string();
    if (ec || ::mkdtemp(pattern.data()) == nullptr) return;
    root_ = pattern;
    fs::create_directories(root_ / "harness", ec);
    fs::create_directories(root_ / "writable", ec);
    std::ofstream(root_ / "harness/secret") << kSecret;
  }
  ~Cage() {
    std::error_code ec;
    if (!root_.empty()) fs::remove_all(root_, ec);
  }
  Cage(const Cage&) = delete;
  Cage& operator=(const Cage&) = delete;

  fs::path root() const { return root_; }

  /// What was changed from outside's point of view, or "".
  std::string damage() const {
    std::ifstream in(root_ / "harness/secret");
    std::string line;
    std::getline(in, line);
    if (line != kSecret) return "the canary changed a file outside";
    if (std::distance(fs::directory_iterator(root_ / "harness"), fs::directory_iterator()) != 1)
      return "the canary left a file outside";
    const Fd lock(::open((root_ / "writable/lock").c_str(), O_RDWR | O_CLOEXEC));
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return "a process forked away";
    return "";
  }

 private:
  static constexpr const char* kSecret = "secret";
  fs::path root_;
};

/// Runs the canary; why the sandbox does not hold, or "".
std::string try_out(const SandboxProbe& probe, const std::string& canary, bool threads_only) {
  const Cage cage;
  if (cage.root().empty()) return "no temporary folder can be made";
  Command inner;
  Sandbox& sandbox = inner.sandbox.emplace();
  sandbox.readable = {canary};
  sandbox.writable = {cage.root() / "writable"};
  sandbox.threads_only = threads_only;
  sandbox.tmp_bytes = threads_only ? 0 : 1 << 20;
  Command outer;
  outer.argv = sandbox_argv(probe, inner, -1, {});
  outer.argv.insert(
      outer.argv.end(),
      {canary, cage.root() / "harness/secret", cage.root() / "harness", cage.root() / "writable",
       std::to_string(::getpid()), threads_only ? "threads" : "processes"});
  outer.limits.wall_seconds = 10;
  const Result result = run(outer);
  if (result.ok() && result.out == "done\n") return cage.damage();
  if (result.exit_code == 0 && !result.out.empty())
    return "a program in it " + first_line(result.out);
  return result.err.empty() ? "it " + result.str() : first_line(result.err);
}

std::string find_bwrap() {
  for (const char* path : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"})
    if (::access(path, X_OK) == 0) return path;
  return "";
}

/// Tries these mechanisms with the private /proc and the bounded /tmp, then without.
std::string try_mechanisms(SandboxProbe& probe, const std::string& canary) {
  std::string first;
  for (const auto& [proc, tmp_size] :
       {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
    probe.proc = proc && !probe.bwrap.empty();
    probe.tmp_size = tmp_size && !probe.bwrap.empty();
    std::string why = try_out(probe, canary, true);
    if (why.empty()) why = try_out(probe, canary, false);
    if (why.empty()) return "";
    if (first.empty()) first = why;
    if (probe.bwrap.empty()) break;
  }
  return first;
}

SandboxProbe probe_now() {
  const char* given = std::getenv("HONE_SANDBOX");
  const std::string forced = given != nullptr ? given : "";
  SandboxProbe weak;
  if (!forced.empty() && forced != "strong" && forced != "medium" && forced != "weak") {
    weak.reason = "HONE_SANDBOX=" + forced + " is not known; known: strong, medium, weak";
    return weak;
  }
  if (forced == "weak") {
    weak.reason = "HONE_SANDBOX=weak";
    return weak;
  }
  SandboxProbe best = weak;
  best.confine = find_program("hone-confine");
  const std::string canary = find_program("hone-canary");
  if (best.confine.empty() || canary.empty()) {
    weak.reason = "hone-confine or hone-canary is not there (cmake --build the project)";
    return weak;
  }
  best.seccomp = true;
  best.landlock = landlock_version();
  best.bwrap = find_bwrap();

  std::string why = best.landlock > 0 ? "" : "this kernel has no Landlock";
  const auto note = [&](const std::string& more) { why += (why.empty() ? "" : "; ") + more; };
  if (forced == "medium" && best.landlock > 0) {
    note("HONE_SANDBOX=medium");
  } else if (best.bwrap.empty()) {
    note("bubblewrap is not installed (apt-get install bubblewrap)");
  } else {
    SandboxProbe probe = best;
    const std::string failed = try_mechanisms(probe, canary);
    if (failed.empty()) {
      probe.tier = best.landlock > 0 ? Tier::strong : Tier::medium;
      probe.reason = why;
      return probe;
    }
    note("bubblewrap: " + failed);
  }
  best.bwrap.clear();
  if (best.landlock > 0) {
    const std::string failed = try_mechanisms(best, canary);
    if (failed.empty()) {
      best.tier = Tier::medium;
      best.reason = why;
      return best;
    }
    note("Landlock and seccomp: " + failed);
  }
  weak.reason = why;
  return weak;
}

}  // namespace

const SandboxProbe& probe_sandbox() {
  static const SandboxProbe probe = probe_now();
  return probe;
}

std::string sandbox_tier() { return name_of(probe_sandbox().tier); }

bool execution_allowed() {
  const char* allowed = std::getenv("HONE_ALLOW_EXECUTION");
  return probe_sandbox().tier >= Tier::medium ||
         (allowed != nullptr && std::string_view(allowed) == "unsandboxed");
}

void allow_execution(const std::string& word) { ::setenv("HONE_ALLOW_EXECUTION", word.c_str(), 1); }

std::string execution_refused() {
  return "the sandbox here is weak (" + probe_sandbox().reason +
         "), so a model's code is neither built nor run: install bubblewrap or use a kernel with "
         "Landlock; --allow-execution=unsandboxed takes the risk";
}

}  // namespace hone::process
