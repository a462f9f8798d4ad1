// Device code that is damaged, too new or incomplete, and launches that are absurd: each is an
// error code, and the process goes on.
#include <cstring>
#include <vector>

#include "check.hpp"

__global__ void nothing() {}

const std::string kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

cudaError_t load(const std::string& image, cudaLibrary_t* out = nullptr) {
  cudaLibrary_t library;
  const cudaError_t error =
      cudaLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error == cudaSuccess && out != nullptr) *out = library;
  (void)cudaGetLastError();
  return error;
}

/// What launching kernel k of the text ends with; the context is reset after.
cudaError_t launched(const std::string& text) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  OK(load(kHead + text, &library));
  OK(cudaLibraryGetKernel(&kernel, library, "k"));
  cudaError_t error =
      cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 32, nullptr, 0, nullptr);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  OK(cudaDeviceReset());
  (void)cudaGetLastError();
  return error;
}

int main() {
  OK(load(kHead + ".visible .entry k() { ret; }"));
  CHECK_CODE(cudaErrorUnsupportedPtxVersion,
             load(".version 12.4\n.target sm_130\n.address_size 64\n"));
  CHECK_CODE(cudaErrorInvalidPtx, load(kHead + ".visible .entry k() { mov.u32 %r1 1; ret; }"));
  CHECK_CODE(cudaErrorInvalidPtx, load("no PTX at all"));
  CHECK_CODE(cudaErrorInvalidPtx, load(kHead + ".visible .entry k() { ret;"));

  // A fatbin whose header promises more than is there, one with a wild entry, one of zeros.
  std::vector<char> fatbin(64);
  const unsigned magic = 0xBA55ED50;
  std::memcpy(fatbin.data(), &magic, 4);
  fatbin[6] = 16;
  CHECK(load({fatbin.begin(), fatbin.end()}) != cudaSuccess);
  fatbin[8] = 48;
  std::memset(&fatbin[16], 0xee, 40);
  CHECK_CODE(cudaErrorInvalidKernelImage, load({fatbin.begin(), fatbin.end()}));
  std::memset(&fatbin[8], 0xff, 8);
  CHECK_CODE(cudaErrorInvalidKernelImage, load({fatbin.begin(), fatbin.end()}));

  // What isn't there: a kernel, a function, a variable, a label.
  cudaLibrary_t library;
  cudaKernel_t kernel;
  OK(load(kHead + ".visible .entry k() { ret; }", &library));
  CHECK_CODE(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "absent"));
  (void)cudaGetLastError();
  CHECK_CODE(cudaErrorIllegalInstruction,
             launched(".extern .func away(); .visible .entry k() { call away; ret; }"));
  CHECK(cudasim_text("cudasimLastFault").find("away") != std::string::npos);
  CHECK_CODE(cudaErrorInvalidPtx,
             launched(".visible .entry k() { .reg .b32 r; ld.global.b32 r, [absent]; ret; }"));
  CHECK_CODE(cudaErrorInvalidPtx, launched(".visible .entry k() { bra NOWHERE; ret; }"));
  CHECK_CODE(cudaErrorIllegalInstruction,
             launched(".visible .entry k() { .reg .b32 r; frob.u32 r, r; ret; }"));
  CHECK(cudasim_text("cudasimLastFault").find("frob.u32 r, r") != std::string::npos);
  // The device's runtime: a launch of nothing is an error code, a condition that isn't a fault.
  OK(launched(
      ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);"
      ".visible .entry k() { .param .b64 a; .param .b64 b; .param .b32 r;"
      "call.uni (r), __cudaCDP2LaunchDeviceV2, (a, b); ret; }"));
  CHECK_CODE(cudaErrorIllegalAddress,
             launched(".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);"
                      ".visible .entry k() { .param .b64 h; .param .b32 v;"
                      "st.param.b64 [h], 99; st.param.b32 [v], 1;"
                      "call.uni cudaGraphSetConditional, (h, v); ret; }"));
  CHECK(cudasim_text("cudasimLastFault").find("no condition") != std::string::npos);
  CHECK_CODE(cudaErrorIllegalAddress,
             launched(".visible .entry k() { .local .b8 big[100000]; call.uni f; ret; }"
                      ".func f() { .local .b8 more[200000]; call.uni f; ret; }"));

  // The largest grid there is: the watchdog ends it.
  nothing<<<dim3(2147483647, 65535, 65535), 1024>>>();
  CHECK_CODE(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
  OK(cudaDeviceReset());
  (void)cudaGetLastError();
  nothing<<<1, 32, 0xffffffff>>>();
  CHECK_CODE(cudaErrorInvalidValue, cudaGetLastError());
  nothing<<<dim3(1, 1, 1u << 31), 32>>>();
  CHECK_CODE(cudaErrorInvalidConfiguration, cudaGetLastError());
  nothing<<<1, dim3(1u << 16, 1u << 16, 1)>>>();
  CHECK_CODE(cudaErrorInvalidConfiguration, cudaGetLastError());
  nothing<<<1, 32>>>();
  OK(cudaDeviceSynchronize());
  std::puts("passed");
}
