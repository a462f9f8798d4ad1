// Candidates that break off, hang or lie, to try what the oracle makes of them: one -DBREAKS_<kind>
// each. The entry is int entry(float* y, int n, stream).
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#if defined(BREAKS_exit_on_load)
__attribute__((constructor)) static void leave() { std::exit(0); }
#endif

#if defined(BREAKS_mangled)
int entry(float*, int, void*);
int entry(float*, int, void*) { return 0; }
#elif !defined(BREAKS_no_entry)
extern "C" int entry(float* y, [[maybe_unused]] int n, void*) {
#if defined(BREAKS_abort)
  std::abort();
#elif defined(BREAKS_exit)
  std::puts("PASSED");
  std::exit(0);
#elif defined(BREAKS_segv)
  std::raise(SIGSEGV);
#elif defined(BREAKS_hang)
  for (;;) usleep(1000);
#elif defined(BREAKS_throw)
  throw 1;
#elif defined(BREAKS_print)
  for (int i = 0; i < 100000; ++i) std::puts("[  PASSED  ] HONE");
  std::fflush(stdout);
  char garbage[4096] = "HONE";
  for (int fd = 3; fd < 16; ++fd) (void)!write(fd, garbage, sizeof garbage);
#elif defined(BREAKS_forge)
  char garbage[4096] = "HONE";
  for (int fd = 3; fd < 1024; ++fd) (void)!write(fd, garbage, sizeof garbage);
#elif defined(BREAKS_error)
  return 1;
#endif
  return y == nullptr;
}
#endif
