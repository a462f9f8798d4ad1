#pragma once
// What these programs are written with: they run on cudasim and on a GPU alike.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);       \
      std::exit(1);                                                             \
    }                                                                           \
  } while (false)

#define CHECK_CODE(expected, call)                                                          \
  do {                                                                                      \
    const cudaError_t got_ = (call);                                                        \
    if (got_ != (expected)) {                                                               \
      std::printf("%s:%d: %s: got %s, not %s\n", __FILE__, __LINE__, #call,                 \
                  cudaGetErrorName(got_), cudaGetErrorName(expected));                      \
      std::exit(1);                                                                         \
    }                                                                                       \
  } while (false)

#define OK(call) CHECK_CODE(cudaSuccess, call)

/// A text of cudasim's extension interface, "" on a GPU.
inline std::string cudasim_text(const char* function) {
  using Function = const char* (*)();
  const auto f = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, function));
  return f == nullptr ? "" : f();
}
