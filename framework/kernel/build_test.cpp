#include "kernel/build.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <fstream>

#include "process/sandbox.hpp"

namespace hone::kernel {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kScale = R"(#include <cuda_runtime.h>
__global__ void scale_kernel(float* x, float a, int n) {
  __shared__ float shared[64];
  shared[threadIdx.x % 64] = a;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= shared[(i + 1) % 64];
}
extern "C" cudaError_t scale(float* x, float a, int n, cudaStream_t stream) {
  scale_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, a, n);
  return cudaGetLastError();
}
)";

class BuildTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { toolkit_ = new auto(find_toolkit()); }
  static void TearDownTestSuite() { delete toolkit_; }
  void SetUp() override {
    std::string pattern = testing::TempDir() + "hone_kernel_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  BuildRequest Request(std::vector<SourceFile> files) const {
    BuildRequest request;
    request.files = std::move(files);
    request.entry = "scale";
    request.library = folder_ / "out" / "scale.so";
    request.cache_dir = folder_ / "cache";
    request.toolkit = *toolkit_;
    return request;
  }
  BuildReport Build(const std::string& text) const { return build(Request({{"kernel.cu", text}})); }

  fs::path folder_;
  static std::optional<Toolkit>* toolkit_;
};
std::optional<Toolkit>* BuildTest::toolkit_ = nullptr;

TEST(Toolkit, IsTheOneThatIsNamedAndNoOther) {
  const char* before = std::getenv("HONE_CUDA_ROOT");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("HONE_CUDA_ROOT", "/no/such/toolkit", 1);
  std::string reason;
  EXPECT_FALSE(find_toolkit({}, &reason));
  EXPECT_EQ(reason, "no /no/such/toolkit/bin/nvcc");
  ::setenv("HONE_CUDA_ROOT", kept.c_str(), 1);
  EXPECT_TRUE(find_toolkit({}, &reason)) << reason;
}

TEST_F(BuildTest, BuildsReportsAndReuses) {
  const BuildReport report = Build(kScale);
  ASSERT_EQ(report.outcome, BuildOutcome::built) << report.evidence << "\n" << report.diagnostics;
  EXPECT_TRUE(fs::exists(report.library));
  EXPECT_EQ(report.library, folder_ / "out/scale.so");
  EXPECT_FALSE(report.cached);
  EXPECT_EQ(report.sandbox, process::sandbox_tier());
  EXPECT_EQ(report.diagnostics, "");
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_EQ(report.kernels[0].name, "scale_kernel(float*, float, int)");
  EXPECT_GT(report.kernels[0].registers, 0);
  EXPECT_EQ(report.kernels[0].shared_bytes, 256);
  EXPECT_TRUE(fs::is_empty(folder_ / "cache/tmp"));

  const Json json = to_json(report);
  EXPECT_EQ(json["schema"], "hone.build/1");
  EXPECT_EQ(json["outcome"], "built");
  EXPECT_EQ(json["first_error"], nullptr);

  fs::remove(report.library);
  const BuildReport again = Build(kScale);
  EXPECT_EQ(again.outcome, BuildOutcome::built);
  EXPECT_TRUE(again.cached);
  EXPECT_TRUE(fs::exists(again.library));
  EXPECT_EQ(again.kernels.size(), 1U);
  EXPECT_LT(again.seconds, 5);

  // The same source under another entry: from the cache, and judged anew.
  BuildRequest other = Request({{"kernel.cu", kScale}});
  other.entry = "scales";
  const BuildReport missing = build(other);
  EXPECT_TRUE(missing.cached);
  EXPECT_EQ(missing.outcome, BuildOutcome::compile_error);
  EXPECT_EQ(missing.evidence, "scales is not exported: the library exports scale instead");
  EXPECT_FALSE(fs::exists(folder_ / "out/scale.so"));

  // A damaged entry is built again.
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "cache"))
    if (entry.path().filename() == "library.so") std::ofstream(entry.path()) << "short";
  EXPECT_FALSE(Build(kScale).cached);
}

TEST_F(BuildTest, CompileErrorNamesFileLineAndMessageAndIsKept) {
  const std::string text = "#include \"op.h\"\n__global__ void k(float* x) { y[0] = 1; }\n";
  BuildRequest request = Request({{"kernel_src/kernel.cu", text}});
  request.headers = {{"op.h", "#define OP 1\n"}};
  const BuildReport report = build(request);
  EXPECT_EQ(report.outcome, BuildOutcome::compile_error);
  ASSERT_TRUE(report.first_error.has_value());
  EXPECT_EQ(report.first_error->file, "kernel_src/kernel.cu");
  EXPECT_EQ(report.first_error->line, 2);
  EXPECT_EQ(report.first_error->message, "identifier \"y\" is undefined");
  EXPECT_EQ(report.evidence, "kernel_src/kernel.cu:2: identifier \"y\" is undefined");
  EXPECT_THAT(report.diagnostics, Not(HasSubstr("hone_build_")));
  EXPECT_THAT(report.diagnostics, Not(HasSubstr("tmpxft")));
  EXPECT_TRUE(report.library.empty());
  const BuildReport again = build(request);
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.outcome, BuildOutcome::compile_error);
  EXPECT_EQ(again.evidence, report.evidence);
  ASSERT_TRUE(again.first_error.has_value());
  EXPECT_EQ(again.first_error->line, 2);
}

TEST_F(BuildTest, MissingExternCIsACompileErrorThatSaysSo) {
  std::string text = kScale;
  text.erase(text.find("extern \"C\" "), 11);
  const BuildReport report = Build(text);
  EXPECT_EQ(report.outcome, BuildOutcome::compile_error);
  EXPECT_THAT(report.evidence, HasSubstr("scale is not exported: declare it extern \"C\""));
  EXPECT_FALSE(fs::exists(folder_ / "out/scale.so"));
}

TEST_F(BuildTest, NothingToBuildIsNoCode) {
  EXPECT_EQ(build(Request({})).outcome, BuildOutcome::no_code);
  EXPECT_EQ(Build(" \n\t\n").outcome, BuildOutcome::no_code);
  const BuildReport report = build(Request({{"kernel.cuh", kScale}}));
  EXPECT_EQ(report.outcome, BuildOutcome::no_code);
  EXPECT_THAT(report.evidence, HasSubstr("kernel.cuh"));
}

TEST_F(BuildTest, UnsafeNamesAreRefusedBeforeAnythingIsWritten) {
  for (const char* name : {"../kernel.cu", "/tmp/kernel.cu", "-x.cu", ".hidden/x.cu"})
    EXPECT_EQ(build(Request({{name, kScale}})).outcome, BuildOutcome::extract_error) << name;
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
}

TEST_F(BuildTest, ProjectNamesItsSourcesFoldersAndFlags) {
  const std::string toml =
      "[general]\nname = \"scale\"\n[kernel.scale]\nsrc = [\"kernel_src/scale.cu\"]\n"
      "include = [\"inc\"]\ncuda-flags = [\"-DFACTOR=2\"]\n";
  std::vector<SourceFile> files = {
      {"build.toml", toml},
      {"inc/factor.cuh", "static_assert(FACTOR == 2);\n"},
      {"kernel_src/scale.cu", "#include \"factor.cuh\"\n" + std::string(kScale)},
      {"torch-ext/binding.cpp", "#include <torch/all.h>\n"}};
  EXPECT_EQ(build(Request(files)).outcome, BuildOutcome::built);
  files[0].text = toml + "[oops\n";
  files[2].text = kScale;
  const BuildReport lenient = build(Request(files));
  EXPECT_EQ(lenient.outcome, BuildOutcome::built);
  EXPECT_THAT(lenient.evidence, HasSubstr("build.toml was ignored: build.toml:7"));
  files[0].text = toml;
  files[0].text.replace(toml.find("-DFACTOR=2"), 10, "-ccbin=/tmp");
  EXPECT_THAT(build(Request(files)).evidence, HasSubstr("'-ccbin=/tmp' is not allowed"));
}

TEST_F(BuildTest, MissingToolkitAndFullPlacesAreInfrastructureErrors) {
  BuildRequest request = Request({{"kernel.cu", kScale}});
  request.toolkit.reset();
  EXPECT_EQ(build(request).outcome, BuildOutcome::infrastructure_error);
  request = Request({{"kernel.cu", kScale}});
  std::ofstream(folder_ / "cache") << "a file, not a folder";
  EXPECT_EQ(build(request).outcome, BuildOutcome::infrastructure_error);
}

TEST_F(BuildTest, TimeOutIsAnOutcomeAndNotKept) {
  BuildRequest request = Request(
      {{"kernel.cu",
        "template <int N> struct T { static constexpr long v = T<N - 1>::v + T<N - 2>::v * "
        "T<N - 1>::v; };\nconstexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
        "template <long N> struct L { static constexpr long v = f(24) + L<N - 1>::v; };\n"
        "template <> struct L<0> { static constexpr long v = 0; };\nlong x = L<190>::v;\n"}});
  request.limits.wall_seconds = 0.5;
  const BuildReport report = build(request);
  EXPECT_EQ(report.outcome, BuildOutcome::timeout) << report.evidence;
  EXPECT_LT(report.seconds, 10);
  EXPECT_FALSE(fs::exists(folder_ / "cache/build"));
}

TEST_F(BuildTest, CompilerCannotReadTheMachine) {
  if (process::probe_sandbox().tier < process::Tier::medium)
    GTEST_SKIP() << process::probe_sandbox().reason;
  std::ofstream(folder_ / "secret.h") << "#error SECRET TEXT\n";
  const BuildReport report =
      Build("#include \"" + (folder_ / "secret.h").string() + "\"\n#include \"/etc/passwd\"\n");
  EXPECT_EQ(report.outcome, BuildOutcome::compile_error);
  EXPECT_THAT(report.diagnostics, Not(HasSubstr("SECRET")));
  EXPECT_THAT(report.diagnostics, Not(HasSubstr("root:")));
}

}  // namespace
}  // namespace hone::kernel
