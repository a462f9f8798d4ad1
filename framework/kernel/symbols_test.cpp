#include "kernel/symbols.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "process/run.hpp"
#include "storage/storage.hpp"

namespace hone::kernel {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The bytes of a shared library made of this C++.
std::string Library(const std::string& code) {
  std::string pattern = testing::TempDir() + "hone_symbols_XXXXXX";
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  process::Command command;
  command.argv = {"g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", pattern + "/x.so"};
  command.inherit_environment = true;
  command.input = code;
  const process::Result result = process::run(command);
  EXPECT_TRUE(result.ok()) << result.err;
  const std::string bytes = storage::read_file(pattern + "/x.so");
  std::filesystem::remove_all(pattern);
  return bytes;
}

const std::string& Sample() {
  static const std::string bytes = Library(
      "extern \"C\" int getpid();\n"
      "extern \"C\" int plain_entry(int x) { return x + getpid(); }\n"
      "namespace ns { int scoped(float*) { return 0; } }\n"
      "int mangled(float*, int) { return 1; }\n"
      "static int hidden_one() { return 2; }\n"
      "int use = hidden_one();\n"
      "__attribute__((visibility(\"hidden\"))) int hidden_two() { return 3; }\n");
  return bytes;
}

TEST(Symbols, ReadsFunctionsAndNeeds) {
  const auto symbols = read_symbols(Sample());
  ASSERT_TRUE(symbols.has_value());
  EXPECT_TRUE(symbols->exports("plain_entry"));
  EXPECT_FALSE(symbols->exports("hidden_two"));
  EXPECT_FALSE(symbols->exports("use"));
  EXPECT_THAT(symbols->functions, Contains("_Z7mangledPfi"));
  EXPECT_THAT(symbols->undefined, Contains("getpid"));
  EXPECT_THAT(symbols->undefined, Not(Contains("plain_entry")));
  EXPECT_THAT(symbols->needed, Contains(StartsWith("libc.so")));
}

TEST(Symbols, SaysWhyAnEntryIsMissing) {
  const auto symbols = read_symbols(Sample());
  ASSERT_TRUE(symbols.has_value());
  EXPECT_EQ(missing_entry(*symbols, "plain_entry"), "");
  EXPECT_EQ(missing_entry(*symbols, ""), "");
  EXPECT_EQ(missing_entry(*symbols, "mangled"),
            "mangled is not exported: declare it extern \"C\" (the library has the C++ function "
            "mangled(float*, int))");
  EXPECT_THAT(missing_entry(*symbols, "scoped"), HasSubstr("ns::scoped(float*)"));
  EXPECT_EQ(missing_entry(*symbols, "plain_entri"),
            "plain_entri is not exported: the library exports plain_entry instead");
  EXPECT_EQ(missing_entry(*symbols, "absent_altogether"),
            "absent_altogether is not exported: the answer does not define it");
}

TEST(Symbols, RefusesWhatIsNoLibrary) {
  std::string reason;
  EXPECT_FALSE(read_symbols("", &reason).has_value());
  EXPECT_EQ(reason, "not a 64-bit ELF file");
  EXPECT_FALSE(read_symbols("#!/bin/sh", &reason).has_value());
}

TEST(Symbols, SurvivesDamage) {
  for (size_t size = 0; size < Sample().size(); size += 97) read_symbols(Sample().substr(0, size));
  for (size_t i = 0; i < Sample().size(); i += 3) {
    std::string bytes = Sample();
    bytes[i] = static_cast<char>(bytes[i] ^ 0xff);
    if (const auto symbols = read_symbols(bytes)) missing_entry(*symbols, "plain_entry");
  }
}

TEST(Demangle, LeavesPlainNames) {
  EXPECT_EQ(demangle("_Z1kPfi"), "k(float*, int)");
  EXPECT_EQ(demangle("layernorm_forward"), "layernorm_forward");
  EXPECT_EQ(demangle("_Zbad"), "_Zbad");
}

}  // namespace
}  // namespace hone::kernel
