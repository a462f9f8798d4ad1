#pragma once
// Small kernels, right and wrong, that the checks are tested with. A case `x_wrong` has a twin
// `x_right`. A line that a check must name ends with "// <case>: <kind>"; nothing else may be
// found.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct Case {
  const char* name;
  void (*run)();
};
inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}
struct Enroll {
  Enroll(const char* name, void (*run)()) { cases().push_back({name, run}); }
};
#define CASE(name)                                        \
  static void name##_case();                              \
  static const Enroll name##_enroll(#name, &name##_case); \
  static void name##_case()

/// Device memory of n elements; of zeros, or as it comes.
template <typename T>
struct Array {
  explicit Array(std::size_t n, bool fill = true) {
    cudaMalloc(&data, n * sizeof(T));
    if (fill) cudaMemset(data, 0, n * sizeof(T));
  }
  ~Array() {
    cudaDeviceSynchronize();
    cudaFree(data);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  operator T*() const { return data; }
  T* data = nullptr;
};

/// Runs each case in a process of its own; its findings go to <folder>/<case>.
int main(int argc, char** argv) {
  if (argc < 2) return 2;
  for (const Case& c : cases()) {
    if (argc > 2 && std::strcmp(argv[2], c.name) != 0) continue;
    const pid_t child = fork();
    if (child == 0) {
      setenv("CUDASIM_FINDINGS", (std::string(argv[1]) + "/" + c.name).c_str(), 1);
      c.run();
      cudaDeviceSynchronize();
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) {
      std::fprintf(stderr, "%s: killed by signal %d\n", c.name, WTERMSIG(status));
      return 1;
    }
  }
  return 0;
}
