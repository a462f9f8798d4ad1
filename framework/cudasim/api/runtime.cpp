#include "cudasim/api/runtime.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cudasim/api/process_checks.hpp"
#include "cudasim/cudasim.h"
#include "cudasim/exec/worker_pool.hpp"

namespace cudasim {

thread_local cudaError_t last_error = cudaSuccess;

Runtime& Runtime::get() {
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

namespace {

void write_counters(const char* path, const std::string& json) {
  std::FILE* file = std::strcmp(path, "-") == 0 ? stderr : std::fopen(path, "we");
  if (file == nullptr) {
    std::fprintf(stderr, "cudasim: cannot write %s: %s\n", path, std::strerror(errno));
    return;
  }
  const bool written = std::fwrite(json.data(), 1, json.size(), file) == json.size();
  if ((file == stderr ? std::fflush(file) : std::fclose(file)) != 0 || !written) {
    std::fprintf(stderr, "cudasim: cannot write %s: %s\n", path, std::strerror(errno));
  }
}

/// Flushes the program's std::cout, which may lie in a libstdc++ of its own.
void flush_streams() {
  using Flush = void* (*)(void*);
  void* out = dlsym(RTLD_DEFAULT, "_ZSt4cout");
  const auto flush = reinterpret_cast<Flush>(dlsym(RTLD_DEFAULT, "_ZNSo5flushEv"));
  // Before its first use std::cout is zero bytes.
  if (out != nullptr && flush != nullptr && *static_cast<void**>(out) != nullptr) flush(out);
  std::fflush(nullptr);
}

__attribute__((destructor)) void at_exit() {
  const char* counters = std::getenv("CUDASIM_COUNTERS");
  const char* report = std::getenv("CUDASIM_REPORT");
  const char* exit_code = std::getenv("CUDASIM_ERROR_EXITCODE");
  const Runtime& runtime = Runtime::get();
  if (counters != nullptr && *counters != '\0') {
    write_counters(counters, runtime.record.counters_json());
  }
  if (report != nullptr && std::strcmp(report, "1") == 0) {
    std::fflush(stdout);
    std::fputs(runtime.record.report(isatty(STDERR_FILENO) != 0).c_str(), stderr);
  }
  auto& checks = ProcessChecks::get();
  checks.at_exit(runtime.memory, runtime.record.faults() != 0);
  if (exit_code != nullptr && *exit_code != '\0' &&
      (runtime.record.faults() != 0 || checks.errors() != 0)) {
    flush_streams();
    _exit(std::atoi(exit_code));
  }
}

thread_local std::string answer;

}  // namespace
}  // namespace cudasim

const char* cudasimCountersJson() {
  auto& runtime = cudasim::Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  cudasim::answer = runtime.record.counters_json();
  return cudasim::answer.c_str();
}

void cudasimCountersReset() {
  auto& runtime = cudasim::Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  runtime.record.reset();
}

unsigned cudasimHostThreads() { return cudasim::WorkerPool::get().threads(); }

const char* cudasimFindings() {
  auto& runtime = cudasim::Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  cudasim::answer = cudasim::ProcessChecks::get().findings_json();
  return cudasim::answer.c_str();
}

const char* cudasimLastFault() {
  auto& runtime = cudasim::Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  cudasim::answer = runtime.record.last_fault_json();
  return cudasim::answer.c_str();
}
