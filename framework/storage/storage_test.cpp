#include "storage/storage.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "diagnostic/diagnostic.hpp"

namespace hone::storage {
namespace {

namespace fs = std::filesystem;

struct StorageTest : testing::Test {
  fs::path dir = fs::path(testing::TempDir()) / ("storage_test." + std::to_string(::getpid()));
  void TearDown() override { fs::remove_all(dir); }
};

TEST_F(StorageTest, WritesWholeFilesAndLeavesNoTemporaries) {
  write_atomically(dir / "a/b.txt", "one");
  write_atomically(dir / "a/b.txt", "two");
  EXPECT_EQ(read_file(dir / "a/b.txt"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir / "a"), {}), 1);
}

TEST_F(StorageTest, AFullDiskIsAnInfrastructureErrorThatHarmsNothing) {
  try {
    write_atomically("/dev/full/x", "text");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::infrastructure);
    EXPECT_NE(std::string(e.what()).find("/dev/full/x"), std::string::npos);
  }
}

TEST_F(StorageTest, BadJsonSaysWhere) {
  write_atomically(dir / "bad.json", "{\n  \"a\": 1,,\n}");
  try {
    read_json(dir / "bad.json");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("bad.json:2:10"), std::string::npos) << e.what();
  }
}

TEST_F(StorageTest, DigestsAgreeWithTheStandardVector) {
  const std::string abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(sha256("abc"), abc);
  write_atomically(dir / "abc", "abc");
  EXPECT_EQ(sha256_of_file(dir / "abc"), abc);
}

TEST(Base64, IsThatOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string("\0\xff", 2)), "AP8=");
}

}  // namespace
}  // namespace hone::storage
