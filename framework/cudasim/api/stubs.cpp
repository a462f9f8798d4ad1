// Every exported function exists: those that no other file defines answer cudaErrorNotSupported.
// This file must not see the CUDA headers, whose declarations differ from these.
#include <atomic>
#include <cstdio>

namespace {

constexpr int kNotSupported = 801;  // cudaErrorNotSupported

int unsupported(std::atomic<bool>& named, const char* name) {
  if (!named.exchange(true)) {
    std::fprintf(stderr, "cudasim: %s is not offered: it returns cudaErrorNotSupported\n", name);
  }
  return kNotSupported;
}

}  // namespace

#define CUDASIM_PER_THREAD(base, name)
#define CUDASIM_EXPORT(name)                    \
  extern "C" __attribute__((weak)) int name() { \
    static std::atomic<bool> named{false};      \
    return unsupported(named, #name);           \
  }
#include "cudasim/api/exports.inc"
#undef CUDASIM_EXPORT
#undef CUDASIM_PER_THREAD

// Work runs in the order of the calls, so the per-thread default stream needs nothing of its own.
#define CUDASIM_EXPORT(name)
#if defined(__x86_64__)
#define CUDASIM_JUMP(base) "jmp " #base "@PLT\n"
#elif defined(__aarch64__)
#define CUDASIM_JUMP(base) "b " #base "\n"
#endif
#define CUDASIM_PER_THREAD(base, name)                                  \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name \
          ":\n" CUDASIM_JUMP(base) ".size " #name ", .-" #name "\n");
#include "cudasim/api/exports.inc"
