#include "kernel/project.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "diagnostic/diagnostic.hpp"

namespace hone::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kGood = R"([general]
name = "layernorm"
backends = ["cuda"]
cuda-capabilities = ["9.0"]

[torch]
src = ["torch-ext/binding.cpp"]

[kernel.layernorm]
depends = ["torch"]
src = ["kernel_src/layernorm.cu", "kernel_src/rows.cuh"]
include = ["kernel_src"]
cuda-flags = ["--use_fast_math"]

[kernel.wide]
src = ["kernel_src/layernorm.cu"]
cuda-capabilities = ["9.0a"]
)";

Project Parse(const std::string& text) {
  return parse_project(text, "build.toml",
                       {"kernel_src/layernorm.cu", "kernel_src/rows.cuh", "torch-ext/binding.cpp"});
}

std::string ErrorOf(const std::string& text) {
  try {
    Parse(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::bad_input);
    return e.what();
  }
  return "no error";
}

/// The good text with `what` replaced by `by`.
std::string With(const std::string& what, const std::string& by) {
  std::string text = kGood;
  return text.replace(text.find(what), what.size(), by);
}

TEST(Project, ReadsAllKeys) {
  const Project project = Parse(kGood);
  EXPECT_EQ(project.name, "layernorm");
  EXPECT_THAT(project.backends, ElementsAre("cuda"));
  EXPECT_THAT(project.cuda_capabilities, ElementsAre("9.0"));
  EXPECT_THAT(project.torch_src, ElementsAre("torch-ext/binding.cpp"));
  ASSERT_EQ(project.kernels.size(), 2U);
  const ProjectKernel& kernel = project.kernels[0];
  EXPECT_EQ(kernel.name, "layernorm");
  EXPECT_THAT(kernel.src, ElementsAre("kernel_src/layernorm.cu", "kernel_src/rows.cuh"));
  EXPECT_THAT(kernel.include, ElementsAre("kernel_src"));
  EXPECT_THAT(kernel.depends, ElementsAre("torch"));
  EXPECT_THAT(kernel.cuda_capabilities, ElementsAre("9.0"));
  EXPECT_THAT(kernel.cuda_flags, ElementsAre("--use_fast_math"));
  EXPECT_THAT(project.kernels[1].cuda_capabilities, ElementsAre("9.0a"));
}

TEST(Project, ErrorsNameThePlaceAndTheRemedy) {
  EXPECT_EQ(ErrorOf(With("backends", "backend")),
            "build.toml:3:1: error: unknown key 'backend' in [general] (did you mean 'backends'?)");
  EXPECT_EQ(ErrorOf(With("cuda-flags", "cuda_flags")),
            "build.toml:13:1: error: unknown key 'cuda_flags' in [kernel.layernorm] (did you mean "
            "'cuda-flags'?)");
  EXPECT_EQ(
      ErrorOf(With("\"kernel_src/rows.cuh\"", "\"kernel_src/row.cuh\"")),
      "build.toml:11:35: error: no file 'kernel_src/row.cuh' (there is 'kernel_src/rows.cuh')");
  EXPECT_EQ(ErrorOf(With("\"9.0\"", "\"sm_90\"")),
            "build.toml:4:22: error: 'sm_90' is no CUDA capability (like \"9.0\")");
  EXPECT_THAT(ErrorOf(With("name = \"layernorm\"", "name = 3")),
              HasSubstr("build.toml:2:8: error: 'name' must be a string"));
  EXPECT_THAT(ErrorOf(With("[\"cuda\"]", "\"cuda\"")),
              HasSubstr("build.toml:3:12: error: 'backends' must be a list of strings"));
  EXPECT_THAT(ErrorOf(With("name = \"layernorm\"\n", "")),
              HasSubstr("[general] has no 'name' (add name = \"...\")"));
  EXPECT_THAT(ErrorOf(With("\"kernel_src/layernorm.cu\"", "\"../layernorm.cu\"")),
              HasSubstr("build.toml:11:8: error: '../layernorm.cu' is no usable file name"));
  EXPECT_THAT(ErrorOf("[general]\nname = \"x\"\n"), HasSubstr("no [kernel] table"));
  EXPECT_THAT(ErrorOf("[general]\nname = \"x\"\n[kernel.x]\n"), HasSubstr("build.toml:3:1"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("no [general] table"));
  EXPECT_THAT(ErrorOf("[general]\nname = \"x\"\n[kernel]\nx = 1\n"), HasSubstr("must be a table"));
}

TEST(Project, SyntaxErrorsNameThePlace) {
  EXPECT_THAT(ErrorOf("[general]\nname = oops\n"), HasSubstr("build.toml:2:"));
  EXPECT_THAT(ErrorOf("[general\n"), HasSubstr("build.toml:1:"));
}

TEST(Project, ReportsEverythingAtOnce) {
  try {
    Parse(With("backends = [\"cuda\"]\ncuda-capabilities = [\"9.0\"]", "backend = 1\nnam = 2"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.diagnostics().size(), 2U);
  }
}

TEST(Project, LoadsAFolderAndItsFiles) {
  std::string pattern = testing::TempDir() + "hone_project_XXXXXX";
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path dir = pattern;
  std::filesystem::create_directories(dir / "kernel_src");
  std::filesystem::create_directories(dir / "torch-ext");
  std::ofstream(dir / "build.toml") << kGood;
  std::ofstream(dir / "kernel_src/layernorm.cu") << "// code\n";
  std::ofstream(dir / "kernel_src/rows.cuh") << "#pragma once\n";
  std::ofstream(dir / "torch-ext/binding.cpp") << "// binding\n";
  std::ofstream(dir / "README.md") << "# Read\n";
  const Project project = load_project(dir);
  EXPECT_EQ(project.dir, dir);
  std::vector<std::string> names;
  for (const auto& file : project_files(project)) names.push_back(file.name);
  EXPECT_THAT(names, ElementsAre("build.toml", "kernel_src/layernorm.cu", "kernel_src/rows.cuh"));
  EXPECT_EQ(load_project(dir / "build.toml").name, "layernorm");
  std::filesystem::remove(dir / "build.toml");
  EXPECT_THROW(load_project(dir), Error);
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace hone::kernel
