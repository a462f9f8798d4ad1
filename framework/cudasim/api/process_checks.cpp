#include "cudasim/api/process_checks.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cudasim/check/region_shadow.hpp"

namespace cudasim {
namespace {

[[noreturn]] void give_up(const char* variable, const std::string& why) {
  std::fprintf(stderr, "cudasim: %s: %s\n", variable, why.c_str());
  _exit(2);
}

const char* setting(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

int open_findings(const std::string& where) {
  if (where.starts_with("fd:")) {
    int fd = -1;
    const auto [end, error] = std::from_chars(where.data() + 3, where.data() + where.size(), fd);
    if (error != std::errc{} || *end != '\0' || fcntl(fd, F_GETFD) < 0)
      give_up("CUDASIM_FINDINGS", where + " is no open file descriptor");
    return fd;
  }
  if (where == "-") return STDERR_FILENO;
  const int fd = open(where.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) give_up("CUDASIM_FINDINGS", "cannot write " + where + ": " + std::strerror(errno));
  return fd;
}

/// The innermost caller outside this library, as program+offset (for addr2line).
std::string caller() {
  void* frames[24];
  const int n = backtrace(frames, 24);
  Dl_info own{}, info{};
  dladdr(reinterpret_cast<void*>(&caller), &own);
  for (int i = 0; i < n; ++i) {
    if (dladdr(frames[i], &info) == 0 || info.dli_fbase == own.dli_fbase) continue;
    const char* slash = std::strrchr(info.dli_fname, '/');
    char text[512];
    std::snprintf(
        text, sizeof text, "%s+0x%llx%s%s%s", slash == nullptr ? info.dli_fname : slash + 1,
        static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(frames[i]) -
                                        reinterpret_cast<std::uintptr_t>(info.dli_fbase)),
        info.dli_sname == nullptr ? "" : " (", info.dli_sname == nullptr ? "" : info.dli_sname,
        info.dli_sname == nullptr ? "" : ")");
    return text;
  }
  return "an unknown place";
}

}  // namespace

ProcessChecks& ProcessChecks::get() {
  static auto* const checks = new ProcessChecks;
  return *checks;
}

ProcessChecks::ProcessChecks() {
  if (const char* text = setting("CUDASIM_CHECK")) {
    try {
      checks_ = Checks::parse(text);
    } catch (const std::invalid_argument& error) {
      give_up("CUDASIM_CHECK", error.what());
    }
  }
  if (const char* text = setting("CUDASIM_SCHEDULE")) {
    try {
      parse_schedule(text, order_, seed_);
    } catch (const std::invalid_argument& error) {
      give_up("CUDASIM_SCHEDULE", error.what());
    }
  }
  if (const char* where = setting("CUDASIM_FINDINGS"); where != nullptr && checks_.any())
    json_fd_ = open_findings(where);
  if (checks_.any_in_kernels()) checker_ = std::make_unique<Checker>(checks_, findings_);
}

void ProcessChecks::prepare(LaunchConfig& config) {
  config.order = order_;
  config.order_seed = seed_;
  config.observer = checker_.get();
}

void ProcessChecks::write(const std::string& text, const std::string& json) {
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
  for (std::size_t done = 0; json_fd_ >= 0 && done < json.size();) {
    const ssize_t n = ::write(json_fd_, json.data() + done, json.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      std::fprintf(stderr, "cudasim: cannot write the findings: %s\n", std::strerror(errno));
      json_fd_ = -1;
      return;
    }
    done += static_cast<std::size_t>(n);
  }
}

void ProcessChecks::flush() {
  if (!checks_.any()) return;
  for (const Finding& finding : findings_.take_new()) write(finding.text(), finding.json());
}

void ProcessChecks::at_exit(const DeviceMemory& memory, bool faulted) {
  if (!checks_.any()) return;
  if (checks_.has(Check::leakcheck) && !faulted) {
    for (const Region* region : memory.live()) {
      const bool pinned =
          region->kind == RegionKind::pinned_host &&
          (region->note.starts_with("cudaMallocHost") || region->note.starts_with("cudaHostAlloc"));
      const bool managed =
          region->kind == RegionKind::managed && region->note.starts_with("cudaMallocManaged");
      if (region->kind != RegionKind::device && region->kind != RegionKind::device_heap &&
          region->kind != RegionKind::array && !pinned && !managed)
        continue;
      Finding f;
      f.check = Check::leakcheck;
      f.kind = "leak";
      f.message = std::to_string(region->size) + " bytes of " + std::string(name_of(region->kind)) +
                  " memory were not freed; allocated by " + region->note;
      f.address = region->base;
      f.space = "global";
      f.allocation = "the " + std::to_string(region->size) + "-byte allocation #" +
                     std::to_string(region->id) + ", " + region->note;
      findings_.add(std::move(f));
    }
  }
  flush();
  write(findings_.summary_text(), findings_.summary_json());
}

std::string ProcessChecks::findings_json() const {
  std::string text = "[";
  for (const Finding& finding : findings_.all()) {
    if (text.size() > 1) text += ",";
    text += finding.json();
  }
  return text + "]";
}

std::string ProcessChecks::note(const char* function) const {
  return checks_.any() ? std::string(function) + " called from " + caller() : function;
}

void ProcessChecks::freeing(const Region* region) {
  if (checks_.any() && region != nullptr) RegionShadow::drop(*region);
}

void ProcessChecks::host_error(const char* kind, const std::string& message, std::uint64_t address,
                               const std::string& allocation) {
  if (!checks_.has(Check::memcheck)) return;
  Finding f;
  f.check = Check::memcheck;
  f.kind = kind;
  f.message = message + ", called from " + caller();
  f.address = address;
  f.space = "global";
  f.allocation = allocation;
  findings_.add(std::move(f));
  flush();
}

}  // namespace cudasim
