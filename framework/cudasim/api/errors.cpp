#include "cudasim/api/runtime.hpp"

namespace {

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
#define CUDASIM_ERROR(code, text) {code, #code, text},
#include "cudasim/api/errors.inc"
#undef CUDASIM_ERROR
};

const ErrorText* find(cudaError_t code) {
  for (const ErrorText& error : kErrors) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* found = find(error);
  return found == nullptr ? "unrecognized error code" : found->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* found = find(error);
  return found == nullptr ? "unrecognized error code" : found->text;
}

cudaError_t cudaPeekAtLastError() { return cudasim::last_error; }

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudasim::last_error;
  // A fault that other calls have reported stays.
  auto& runtime = cudasim::Runtime::get();
  if (error != runtime.sticky()) cudasim::last_error = cudaSuccess;
  return error;
}
