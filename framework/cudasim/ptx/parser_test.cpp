#include <gtest/gtest.h>

#include <cstring>

#include "cudasim/ptx/module.hpp"

namespace cudasim {
namespace {

const std::string kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

TEST(Parser, ReadsKernelSignature) {
  const auto module = parse(kHead + R"(
.visible .entry k(.param .u64 a, .param .u32 n, .param .align 8 .b8 s[24]) .maxntid 256, 1, 1
{ .reg .b32 %r<3>; .shared .align 16 .b8 tile[128]; mov.u32 %r1, tile; ret; })");
  const Kernel* k = module->find_kernel("k");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(k->params.size(), 3u);
  EXPECT_EQ(k->params[2].offset, 16u);
  EXPECT_EQ(k->param_bytes, 40u);
  EXPECT_EQ(k->static_shared_bytes, 128u);
  EXPECT_EQ(k->max_threads[0], 256u);
  EXPECT_EQ(k->body.size(), 2u);
}

TEST(Parser, ReadsVariablesAndRelocations) {
  auto module = parse(kHead + R"(
.global .align 1 .b8 text[3] = {97, 98};
.global .align 8 .u64 table[2] = {generic(text), text+1};
.const .align 4 .f32 c[2] = {0f3F800000, 2.5};
.extern .shared .align 16 .b8 dynamic[];)");
  module->bind("text", 0x1000);
  const auto bytes = module->image(*module->find_variable("table"));
  std::uint64_t values[2];
  std::memcpy(values, bytes.data(), 16);
  EXPECT_EQ(values[0], 0x1000u);
  EXPECT_EQ(values[1], 0x1001u);
  float c[2];
  std::memcpy(c, module->image(*module->find_variable("c")).data(), 8);
  EXPECT_EQ(c[1], 2.5f);
  EXPECT_TRUE(module->find_variable("dynamic")->external);
}

TEST(Parser, KeepsSourceLines) {
  const auto module = parse(kHead + R"(
.visible .entry k() { .reg .b32 %r<3>;
.loc 1 9 3
.loc 2 107 3, function_name $L__i, inlined_at 1 9 3
mov.u32 %r1, 0;
.loc 3 50 3, function_name $L__i, inlined_at 1 9 3
ret; }
.file 1 "/home/u/a.cu"
.file 2 "/usr/local/cuda/bin/../targets/x86_64-linux/include/x.hpp"
.file 3 "/home/u/toolkits/13.0/bin/..//include/y.h")");
  for (const Instruction& i : module->find_kernel("k")->body) {
    EXPECT_EQ(i.source.file, 1);
    EXPECT_EQ(i.source.line, 9);
  }
}

TEST(Parser, ErrorsNameLineAndColumn) {
  try {
    parse(kHead + ".visible .entry k() {\n  mov.u32 %r1 %r2;\n}");
    FAIL();
  } catch (const ParseError& e) {
    EXPECT_EQ(e.line, 5);
    EXPECT_EQ(e.column, 15);
  }
  EXPECT_THROW(parse(""), ParseError);
  EXPECT_THROW(parse(kHead + ".visible .entry k() {"), ParseError);
  EXPECT_THROW(parse(".version 99.0"), ParseError);
}

TEST(Parser, AKernelThatIsNamedIsNotCalled) {
  const auto module = parse(kHead + R"(
.func f() { ret; }
.visible .entry child(.param .u32 n) { .shared .b8 tile[64]; ret; }
.visible .entry k() { .reg .b64 %rd<2>; mov.u64 %rd1, child; call f; ret; })");
  const Kernel* k = module->find_kernel("k");
  EXPECT_EQ(k->reachable, (std::vector<const Function*>{k, module->find_function("f")}));
  EXPECT_EQ(k->static_shared_bytes, 0u);
}

TEST(Parser, JoinedTextsKeepTheirFilesAndShareWeakFunctions) {
  // What -rdc leaves of two objects: each counts its files from 1, both bring an inline function.
  const auto text = [](const std::string& kernel, const std::string& file) {
    return kHead + ".weak .func both() { ret; }\n.visible .entry " + kernel +
           "()\n{ .loc 1 7 3 call both; ret; }\n.file 1 \"" + file + "\"\n";
  };
  const auto module = parse(text("first", "one.cu") + text("second", "two.cu"));
  const auto file_of = [&](const char* kernel) {
    const SourceLine at = module->find_kernel(kernel)->body.front().source;
    EXPECT_EQ(at.line, 7);
    return module->files.at(at.file);
  };
  EXPECT_EQ(file_of("first"), "one.cu");
  EXPECT_EQ(file_of("second"), "two.cu");
  EXPECT_THROW(parse(kHead + ".func f() { ret; } .func f() { ret; }"), ParseError);
}

}  // namespace
}  // namespace cudasim
