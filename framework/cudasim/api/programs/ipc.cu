// Two processes, one allocation: the parent gives handles to a child that runs this program again.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "check.hpp"

constexpr int kCount = 5000;

__global__ void add(int* x, int by) {
  for (int i = threadIdx.x; i < kCount; i += blockDim.x) x[i] += by;
}

template <typename T>
std::string text_of(const T& handle) {
  std::string text;
  for (const char c : handle.reserved) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
    text += two;
  }
  return text;
}
template <typename T>
T handle_of(const char* text) {
  T handle = {};
  for (char& c : handle.reserved) {
    unsigned value = 0;
    std::sscanf(text, "%2x", &value);
    c = static_cast<char>(value);
    text += 2;
  }
  return handle;
}

int child(const char* memory, const char* mark) {
  int *x, *again;
  const auto handle = handle_of<cudaIpcMemHandle_t>(memory);
  OK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&x), handle, cudaIpcMemLazyEnablePeerAccess));
  OK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&again), handle,
                          cudaIpcMemLazyEnablePeerAccess));
  CHECK(x == again);
  cudaEvent_t event;
  OK(cudaIpcOpenEventHandle(&event, handle_of<cudaIpcEventHandle_t>(mark)));
  OK(cudaStreamWaitEvent(nullptr, event, 0));
  add<<<1, 256>>>(x, 40);
  OK(cudaEventRecord(event));
  OK(cudaDeviceSynchronize());
  CHECK_CODE(cudaErrorInvalidValue, cudaFree(x));
  OK(cudaIpcCloseMemHandle(again));
  OK(cudaIpcCloseMemHandle(x));
  CHECK_CODE(cudaErrorInvalidValue, cudaIpcCloseMemHandle(x));
  OK(cudaEventDestroy(event));
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3) return child(argv[1], argv[2]);
  int *x, *other, host[kCount];
  OK(cudaMalloc(&x, sizeof host));
  OK(cudaMalloc(&other, sizeof host));
  OK(cudaMemset(x, 0, sizeof host));
  OK(cudaMemset(other, 0, sizeof host));
  add<<<1, 256>>>(x, 2);
  cudaEvent_t event, plain;
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
  OK(cudaEventCreate(&plain));
  OK(cudaEventRecord(event));
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t mark;
  OK(cudaIpcGetMemHandle(&memory, x));
  OK(cudaIpcGetEventHandle(&mark, event));
  CHECK(cudaIpcGetEventHandle(&mark, plain) != cudaSuccess);
  OK(cudaIpcGetEventHandle(&mark, event));
  void* own;
  CHECK(cudaIpcOpenMemHandle(&own, memory, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess);
  CHECK(cudaIpcOpenMemHandle(&own, {}, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess);
  CHECK(cudaIpcGetMemHandle(&memory, host) != cudaSuccess);
  (void)cudaGetLastError();
  OK(cudaIpcGetMemHandle(&memory, x));

  const std::string a = text_of(memory), b = text_of(mark);
  const pid_t pid = fork();
  if (pid == 0) {
    execl("/proc/self/exe", argv[0], a.c_str(), b.c_str(), static_cast<char*>(nullptr));
    _exit(9);
  }
  int status = 0;
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
  for (const int v : host) CHECK(v == 42);
  OK(cudaMemcpy(host, other, sizeof host, cudaMemcpyDeviceToHost));
  for (const int v : host) CHECK(v == 0);
  OK(cudaFree(x));
  OK(cudaMalloc(&x, sizeof host));
  add<<<1, 256>>>(x, 1);
  OK(cudaDeviceSynchronize());
  std::puts("passed");
}
