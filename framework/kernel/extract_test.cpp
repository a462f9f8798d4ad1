#include "kernel/extract.hpp"

#include <gmock/gmock.h>

namespace hone::kernel {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kKernel = "__global__ void k(float* x) { x[0] = 1; }\n";
const std::string kLauncher = "extern \"C\" int run_it(float* x) { k<<<1, 1>>>(x); return 0; }\n";
const std::string kCode = kKernel + kLauncher;

Extraction Extract(const std::string& answer) {
  ExtractOptions options;
  options.entry = "run_it";
  return extract(answer, options);
}

std::string Block(const std::string& info, const std::string& text) {
  return "```" + info + "\n" + text + "```\n";
}

/// Expects one file of this name and text.
void ExpectOne(const std::string& answer, const std::string& name,
               const std::string& text = kCode) {
  SCOPED_TRACE(answer);
  const Extraction result = Extract(answer);
  ASSERT_EQ(result.outcome, ExtractOutcome::extracted) << result.evidence;
  ASSERT_EQ(result.files.size(), 1U) << result.evidence;
  EXPECT_EQ(result.files[0].name, name);
  EXPECT_EQ(result.files[0].text, text);
  EXPECT_NE(result.evidence, "");
}

void ExpectNothing(const std::string& answer, const std::string& evidence) {
  SCOPED_TRACE(answer);
  const Extraction result = Extract(answer);
  EXPECT_EQ(result.outcome, ExtractOutcome::no_code);
  EXPECT_TRUE(result.files.empty());
  EXPECT_THAT(result.evidence, HasSubstr(evidence));
}

TEST(Extract, TakesABlockOfAnyCodeLanguage) {
  for (const char* info : {"cuda", "cu", "c++", "cpp", "c", "C++", "CUDA", "cuda block", "cuda-cpp",
                           "", " cuda ", "{.cuda}", "cuda {linenos=true}", "kernel"})
    ExpectOne("Here it is:\n\n" + Block(info, kCode) + "\nDone.", "kernel.cu");
}

TEST(Extract, TakesOtherFences) {
  ExpectOne("~~~cuda\n" + kCode + "~~~\n", "kernel.cu");
  ExpectOne("````cuda\n" + kCode + "````\n", "kernel.cu");
  ExpectOne("```cuda\r\n" + kCode + "```\r\n", "kernel.cu");
  ExpectOne("- item\n  ```cuda\n  " + kKernel + "  " + kLauncher + "  ```\n", "kernel.cu");
}

TEST(Extract, TakesABlockThatTheAnswerCutsOff) {
  ExpectOne("```cuda\n" + kCode, "kernel.cu");
  EXPECT_THAT(Extract("```cuda\n" + kCode).evidence, HasSubstr("ends inside it"));
  ExpectOne("```cuda\nint draft;\n```cuda\n" + kCode + "```\n", "kernel.cu");
}

TEST(Extract, FindsTheNameInTheInfoString) {
  for (const char* info :
       {"cuda kernel_src/x.cu", "kernel_src/x.cu", "cuda:kernel_src/x.cu",
        "cuda title=\"kernel_src/x.cu\"", "cpp filename=kernel_src/x.cu", "cuda (kernel_src/x.cu)"})
    ExpectOne(Block(info, kCode), "kernel_src/x.cu");
}

TEST(Extract, FindsTheNameInTheLineBefore) {
  for (const char* line :
       {"**kernel_src/x.cu**", "### `kernel_src/x.cu`",
        "kernel_src/x.cu:", "`kernel_src/x.cu`:", "**File: `kernel_src/x.cu`**",
        "### 1. `kernel_src/x.cu`", "2) kernel_src/x.cu", "Filename: kernel_src/x.cu",
        "The kernel goes into `kernel_src/x.cu`:", "---- kernel_src/x.cu ----"})
    ExpectOne(std::string(line) + "\n\n" + Block("cuda", kCode), "kernel_src/x.cu");
}

TEST(Extract, FindsTheNameInTheFirstLine) {
  for (const char* line :
       {"// file: src/x.cu", "// src/x.cu", "/* src/x.cu */", "// File: `src/x.cu`",
        "// ==== src/x.cu ====", "// src/x.cu - the kernel"}) {
    const std::string text = std::string(line) + "\n" + kCode;
    ExpectOne(Block("cuda", text), "src/x.cu", text);
  }
  const std::string plain = "// Uses kernel.cuh from elsewhere\n" + kCode;
  ExpectOne(Block("cuda", plain), "kernel.cu", plain);
}

TEST(Extract, TakesTheLastCompleteBlock) {
  const std::string draft = "// draft\n" + kCode;
  ExpectOne("First:\n" + Block("cuda", draft) + "Better:\n" + Block("cuda", kCode) + "Use:\n" +
                Block("cpp", "int main() { run_it(nullptr); }\n") + "Compile:\n" +
                Block("bash", "nvcc kernel.cu\n"),
            "kernel.cu");
}

TEST(Extract, JoinsWhatIsSpreadOverBlocks) {
  ExpectOne("Kernel:\n" + Block("cuda", kKernel) + "Launcher:\n" + Block("cpp", kLauncher) +
                "Test:\n" + Block("cpp", "int main() { return 0; }\n"),
            "kernel.cu", kKernel + "\n" + kLauncher + "\n");
}

TEST(Extract, WithoutTheEntryTakesTheLastKernel) {
  ExpectOne(Block("cuda", kKernel) + Block("cpp", "int main() {}\n"), "kernel.cu", kKernel);
  EXPECT_THAT(Extract(Block("cuda", kKernel) + Block("cpp", "int main() {}\n")).evidence,
              HasSubstr("none holds run_it"));
}

TEST(Extract, TakesAWholeProject) {
  const std::string toml = "[general]\nname = \"x\"\n";
  const Extraction result = Extract(
      "`build.toml`\n" + Block("toml", toml) + "**kernel_src/x.cu**\n" + Block("cuda", kCode) +
      "**kernel_src/x.cuh**\n" + Block("cuda", "#pragma once\n") + "Build it:\n" +
      Block("bash", "nvcc kernel_src/x.cu\n") + Block("python", "import x\n"));
  ASSERT_EQ(result.outcome, ExtractOutcome::extracted) << result.evidence;
  ASSERT_EQ(result.files.size(), 3U);
  EXPECT_EQ(result.files[0].name, "build.toml");
  EXPECT_EQ(result.files[0].text, toml);
  EXPECT_EQ(result.files[1].name, "kernel_src/x.cu");
  EXPECT_EQ(result.files[2].name, "kernel_src/x.cuh");
  EXPECT_EQ(result.evidence, "took 3 files");
}

TEST(Extract, UnnamedTomlIsTheProjectFile) {
  const Extraction result =
      Extract(Block("toml", "[general]\nname = \"x\"\n") + Block("cuda", kCode));
  ASSERT_EQ(result.files.size(), 2U) << result.evidence;
  EXPECT_EQ(result.files[0].name, "build.toml");
  EXPECT_EQ(result.files[1].name, "kernel.cu");
}

TEST(Extract, LaterVersionOfANamedFileReplacesTheEarlier) {
  ExpectOne(Block("cuda x.cu", "// draft\n" + kCode) + Block("cuda x.cu", kCode), "x.cu");
  ExpectOne(Block("cuda x.cu", kCode) + "The important line:\n" + Block("cuda x.cu", kKernel),
            "x.cu");
}

TEST(Extract, NamedHeaderAndUnnamedSourceBelongTogether) {
  const Extraction result = Extract(Block("cuda x.cuh", "#pragma once\n") + Block("cuda", kCode));
  ASSERT_EQ(result.files.size(), 2U) << result.evidence;
  EXPECT_EQ(result.files[0].name, "x.cuh");
  EXPECT_EQ(result.files[1].name, "kernel.cu");
}

TEST(Extract, CompleteUnnamedBlockReplacesANamedDraft) {
  ExpectOne(Block("cuda x.cu", kKernel) + "All together:\n" + Block("cuda", kCode), "kernel.cu");
  ExpectOne(Block("cuda x.cu", kKernel) + Block("cpp", "int main() { return 0; }\n"), "x.cu",
            kKernel);
}

TEST(Extract, FilesThatNoBuildReadsCannotSpoilAnAnswer) {
  ExpectOne(
      Block("cuda", kCode) + "Install as `/usr/bin/x.py`\n" + Block("python /usr/bin/x.py", "1\n"),
      "kernel.cu");
}

TEST(Extract, TakesCodeWithoutAFence) {
  const std::string include = "#include <cuda_runtime.h>\n";
  ExpectOne(include + kCode, "kernel.cu", include + kCode);
  ExpectOne("Sure, here is the code.\n\n" + include + kCode + "\nIt scales x by one\n", "kernel.cu",
            include + kCode);
  ExpectOne("```\n```\n" + kCode, "kernel.cu");
}

TEST(Extract, NoCodeSaysWhy) {
  ExpectNothing("", "empty");
  ExpectNothing(" \n\n", "empty");
  ExpectNothing("I cannot help with that.", "no code block");
  ExpectNothing("```cuda\n\n  \n```\n", "is empty");
  ExpectNothing("```\n```", "is empty");
  ExpectNothing(Block("bash", "nvcc kernel.cu\n"), "none of CUDA or C++");
  ExpectNothing(Block("python", "source = '''" + kCode + "'''\n"), "none of CUDA or C++");
  ExpectNothing("### build.toml\n" + Block("toml", "[general]\n"),
                "no source file, only build.toml");
  ExpectNothing("#include is a directive. Use it well; it is good.", "no code block");
}

TEST(Extract, RefusesUnsafeNames) {
  for (const char* name : {"../x.cu", "/etc/x.cu", "a/../../x.cu", ".git/x.cu", "-o.cu", "a//x.cu",
                           "C:\\x.cu", "a/./x.cu"}) {
    const Extraction result = Extract(Block(std::string("cuda ") + name, kCode));
    EXPECT_EQ(result.outcome, ExtractOutcome::extract_error) << name << ": " << result.evidence;
    EXPECT_TRUE(result.files.empty());
    EXPECT_THAT(result.evidence, StartsWith("file name '"));
  }
  EXPECT_EQ(Extract("**/etc/x.cu**\n" + Block("cuda", kCode)).outcome,
            ExtractOutcome::extract_error);
  EXPECT_EQ(Extract(Block("cuda", "// ../x.cu\n" + kCode)).outcome, ExtractOutcome::extract_error);
}

TEST(Extract, RefusesTooMuch) {
  EXPECT_EQ(Extract(Block("cuda", kCode + std::string(2 << 20, '/') + "\n")).outcome,
            ExtractOutcome::extract_error);
  std::string many;
  for (int i = 0; i < 100; ++i) many += Block("cuda f" + std::to_string(i) + ".cu", kCode);
  EXPECT_THAT(Extract(many).evidence, HasSubstr("100 files"));
  EXPECT_THAT(Extract(Block("cuda a.cu", kCode) + Block("cuda a.cu/b.cu", kCode)).evidence,
              HasSubstr("a.cu is a file and a folder"));
}

TEST(Extract, WithoutAnEntryAnyKernelCounts) {
  const Extraction result = extract(Block("cuda", kKernel), {});
  EXPECT_EQ(result.outcome, ExtractOutcome::extracted);
  ExtractOptions options;
  options.default_name = "answer.cu";
  EXPECT_EQ(extract(Block("cuda", kKernel), options).files[0].name, "answer.cu");
}

TEST(Extract, SurvivesOddBytes) {
  Extract(std::string("```cuda\n\0\xff```", 14));
  Extract("```");
  Extract("`````` ``` ~~~\n```");
  Extract("```:\n```\n```=\nx\n```.cu\n");
  Extract(std::string(100000, '`'));
}

}  // namespace
}  // namespace hone::kernel
