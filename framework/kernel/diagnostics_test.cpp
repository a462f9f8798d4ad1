#include "kernel/diagnostics.hpp"

#include <gmock/gmock.h>

namespace hone::kernel {
namespace {

using testing::HasSubstr;
using testing::Not;

FirstError ErrorIn(const std::string& raw) {
  return read_output(raw, {{"/w/src/", ""}}).first_error.value_or(FirstError{"none", -1, ""});
}

void ExpectError(const std::string& raw, const std::string& file, int line,
                 const std::string& message) {
  SCOPED_TRACE(raw);
  const FirstError error = ErrorIn(raw);
  EXPECT_EQ(error.file, file);
  EXPECT_EQ(error.line, line);
  EXPECT_EQ(error.message, message);
}

TEST(CompilerOutput, FindsTheFirstError) {
  ExpectError(
      "k.cu(1): warning #177-D: unused\n\nk.cu(2): error: identifier \"y\" is undefined\n"
      "k.cu(3): error: other\n",
      "k.cu", 2, "identifier \"y\" is undefined");
  ExpectError("/w/src/a/k.cu(7): error #20: bad\n", "a/k.cu", 7, "bad");
  ExpectError("k.cu(1): catastrophic error: cannot open source file \"x.h\"\n", "k.cu", 1,
              "cannot open source file \"x.h\"");
  ExpectError("k.cu:1:10: fatal error: x.h: No such file or directory\n", "k.cu", 1,
              "x.h: No such file or directory");
  ExpectError(
      "ptxas /tmp/tmpxft_00000002_00000000-6_k.ptx, line 21; error   : Unknown symbol 'x'\n",
      "k.ptx", 21, "Unknown symbol 'x'");
  ExpectError("ptxas error   : Entry function 'k' uses too much shared data\n", "", 0,
              "Entry function 'k' uses too much shared data");
  ExpectError("nvcc fatal   : Unknown option '-x'\n", "", 0, "Unknown option '-x'");
  ExpectError(
      "/usr/bin/ld: /tmp/tmpxft_00000002_00000000-11_k.o: in function `f':\n"
      "tmpxft_00000002_00000000-6_k.cudafe1.cpp:(.text+0x5): undefined reference to `g()'\n"
      "collect2: error: ld returned 1 exit status\n",
      "", 0, "undefined reference to `g()'");
  ExpectError("collect2: error: ld returned 1 exit status\n", "", 0, "ld returned 1 exit status");
  ExpectError("k.cu:3: error: bad\n", "k.cu", 3, "bad");
  ExpectError("/tmp/k.s: Assembler messages:\n/tmp/k.s:6: Error: file not found: x\n", "/tmp/k.s", 6,
              "file not found: x");
  ExpectError("all is well\n", "none", -1, "");
}

TEST(CompilerOutput, ReadsPtxasFacts) {
  const CompilerOutput output = read_output(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z1tIiEvPT_' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1tIiEvPT_\n"
      "    256 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 0 barriers, 256 bytes cumulative stack size\n"
      "ptxas info    : Compile time = 20.723 ms\n"
      "ptxas info    : Compiling entry function '_Z1kPfi' for 'sm_90'\n"
      "ptxas info    : Function properties for helper\n"
      "    99 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads\n"
      "ptxas info    : Function properties for _Z1kPfi\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 1 barriers, 128 bytes smem\n",
      {});
  EXPECT_EQ(output.text, "");
  ASSERT_EQ(output.kernels.size(), 2U);
  EXPECT_EQ(output.kernels[0].name, "void t<int>(int*)");
  EXPECT_EQ(output.kernels[0].registers, 32);
  EXPECT_EQ(output.kernels[0].stack_bytes, 256);
  EXPECT_EQ(output.kernels[0].spill_stores, 12);
  EXPECT_EQ(output.kernels[0].spill_loads, 16);
  EXPECT_EQ(output.kernels[0].shared_bytes, 0);
  EXPECT_EQ(output.kernels[1].name, "k(float*, int)");
  EXPECT_EQ(output.kernels[1].registers, 8);
  EXPECT_EQ(output.kernels[1].stack_bytes, 0);
  EXPECT_EQ(output.kernels[1].shared_bytes, 128);
}

TEST(CompilerOutput, CleansCutsAndReplacesPaths) {
  const CompilerOutput output =
      read_output("\x1b[31m/w/src/k.cu(1): note /opt/cuda/include/x.h\a\n" + std::string(5000, 'x'),
                  {{"/w/src/", ""}, {"/opt/cuda/", "cuda/"}}, 1000);
  EXPECT_THAT(output.text, HasSubstr("k.cu(1): note cuda/include/x.h\n"));
  EXPECT_THAT(output.text, Not(HasSubstr("/w/src")));
  EXPECT_THAT(output.text, HasSubstr("bytes left out"));
  EXPECT_LT(output.text.size(), 1100U);
}

TEST(CompilerOutput, SurvivesHostileLines) {
  read_output(std::string(300000, '('), {});
  read_output(std::string(300000, ':') + " error: ", {});
  read_output("tmpxft_", {});
  read_output(
      "ptxas info    : Used 99999999999999999999 registers\n    \nptxas info    : Function "
      "properties for ",
      {});
}

}  // namespace
}  // namespace hone::kernel
