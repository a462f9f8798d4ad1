#include "kernel/uses.hpp"

#include <gmock/gmock.h>

namespace hone::kernel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(const std::string& source, const Symbols& library = {}) {
  std::vector<std::string> result;
  for (const Use& use : find_uses({{"answer.cu", source}}, library)) {
    result.push_back(use.kind + ": " + use.text());
  }
  return result;
}

TEST(Uses, APlainKernelUsesNothing) {
  EXPECT_THAT(texts("#include <cuda_runtime.h>\n#include <cmath>\n#include \"op.h\"\n"
                    "#include <cooperative_groups.h>\n#include <cuda_fp16.h>\n"
                    "__global__ void k(float* x) { x[0] = 1; }\n",
                    {.functions = {"k"},
                     .undefined = {"cudaLaunchKernel", "expf", "memcpy"},
                     .needed = {"libcudart.so.13", "libc.so.6", "libm.so.6", "libstdc++.so.6"}}),
              IsEmpty());
}

TEST(Uses, LibrariesAreNamedWithTheirLine) {
  EXPECT_THAT(texts("#include \"op.h\"\n  #  include <thrust/sort.h>\n#include <cub/cub.cuh>\n"
                    "#include \"cublas_v2.h\"\n#include <thrust/sort.h>\n"),
              ElementsAre("libraries: includes <thrust/sort.h> (answer.cu:2)",
                          "libraries: includes <cub/cub.cuh> (answer.cu:3)",
                          "libraries: includes <cublas_v2.h> (answer.cu:4)"));
  EXPECT_THAT(texts("", {.functions = {}, .undefined = {}, .needed = {"libcublas.so.13"}}),
              ElementsAre("libraries: links libcublas.so.13"));
}

TEST(Uses, CommentsAndStringsSayNothing) {
  EXPECT_THAT(texts("// #include <thrust/sort.h>\n/* asm(\"x\")\n#include <cub/cub.cuh>\n*/\n"
                    "const char* s = \"asm // \\\" /*\";\nchar c = '\"';\n"),
              IsEmpty());
  EXPECT_THAT(texts("const char* s = \"/*\";\nvoid f() { asm volatile(\"bar.sync 0;\"); }\n"),
              ElementsAre("inline-ptx: writes inline PTX (answer.cu:2)"));
}

TEST(Uses, CallsThatNoKernelNeedsAreNamed) {
  EXPECT_THAT(texts("", {.functions = {}, .undefined = {"dlsym", "system", "free"}, .needed = {}}),
              ElementsAre("loading: calls dlsym", "system: calls system"));
}

TEST(Uses, HalfAFileIsReadAsFarAsItGoes) {
  for (const char* cut : {"/*", "\"", "'\\", "#include <thrust", "//", "#include <cub/a.h>"}) {
    (void)texts(cut);
  }
  EXPECT_THAT(texts("#include <cub/a.h>"),
              ElementsAre("libraries: includes <cub/a.h> (answer.cu:1)"));
}

}  // namespace
}  // namespace hone::kernel
