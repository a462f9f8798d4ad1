#include "cudasim/fatbin/fatbin.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "cudasim/fatbin/cubin.hpp"

namespace cudasim {
namespace {

using Bytes = std::vector<std::byte>;

template <typename T>
void put(Bytes& bytes, std::size_t at, T value) {
  if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A fatbin entry as nvcc 13 lays it out; `zstd` compresses the text.
Bytes entry(std::uint16_t kind, std::uint32_t arch, std::string text, bool zstd) {
  const std::size_t raw = text.size();
  if (zstd) {
    std::string packed(ZSTD_compressBound(raw), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), raw, 3));
    text = packed;
  }
  Bytes out(72);
  put<std::uint16_t>(out, 0, kind);
  put<std::uint32_t>(out, 4, 72);
  put<std::uint64_t>(out, 8, (text.size() + 7) / 8 * 8);
  put<std::uint32_t>(out, 16, zstd ? static_cast<std::uint32_t>(text.size()) : 0);
  put<std::uint32_t>(out, 28, arch);
  put<std::uint64_t>(out, 40, zstd ? 0x8011 : 0x11);
  put<std::uint64_t>(out, 56, zstd ? raw : 0);
  text.resize((text.size() + 7) / 8 * 8);
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), begin, begin + text.size());
  return out;
}

Bytes fatbin(const std::vector<Bytes>& entries) {
  Bytes out;
  std::uint64_t size = 0;
  for (const auto& e : entries) size += e.size();
  put<std::uint32_t>(out, 0, 0xBA55ED50);
  put<std::uint16_t>(out, 4, 1);
  put<std::uint16_t>(out, 6, 16);
  put<std::uint64_t>(out, 8, size);
  for (const auto& e : entries) out.insert(out.end(), e.begin(), e.end());
  return out;
}

TEST(Fatbin, ReadsPlainAndPackedPtx) {
  const std::string text = ".version 9.0\n.target sm_90\n";
  for (const bool zstd : {false, true}) {
    const Bytes bytes = fatbin({entry(2, 90,
                                      "\x7f"
                                      "ELF",
                                      false),
                                entry(1, 90, text, zstd)});
    const Fatbin read = read_fatbin(bytes);
    EXPECT_EQ(read.error, "");
    ASSERT_EQ(read.entries.size(), 2u);
    EXPECT_EQ(read.entries[0].kind, FatbinEntry::Kind::cubin);
    const FatbinEntry* ptx = choose_ptx(read);
    ASSERT_NE(ptx, nullptr);
    EXPECT_EQ(unpack(*ptx).bytes, text);
  }
}

TEST(Fatbin, ChoosesTheHighestArchitectureUpTo90) {
  const Bytes bytes = fatbin({entry(1, 75, "a", false), entry(1, 90, "b", false),
                              entry(1, 100, "c", false), entry(1, 80, "d", false)});
  EXPECT_EQ(unpack(*choose_ptx(read_fatbin(bytes))).bytes, "b");
  EXPECT_EQ(choose_ptx(read_fatbin(fatbin({entry(1, 120, "c", false)}))), nullptr);
}

TEST(Fatbin, SeveralInARowAreRead) {
  Bytes bytes = fatbin({entry(2, 90, "cubin", false)});
  const Bytes second = fatbin({entry(1, 90, "ptx", true)});
  bytes.insert(bytes.end(), second.begin(), second.end());
  EXPECT_EQ(read_fatbin(bytes).entries.size(), 2u);
}

TEST(Fatbin, DamageIsAnError) {
  EXPECT_NE(read_fatbin(Bytes(64)).error, "");
  const Bytes good = fatbin({entry(1, 90, std::string(1000, 'x'), true)});
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_NE(read_fatbin(std::span(good).first(size)).error, "") << size;
  }
  Bytes bomb = good;
  put<std::uint64_t>(bomb, 16 + 56, 1ULL << 60);
  EXPECT_NE(unpack(read_fatbin(bomb).entries.at(0)).error, "");
}

TEST(Fatbin, RandomDamageNeverCrashes) {
  std::mt19937 random(1);
  const Bytes good =
      fatbin({entry(2, 90, "ELF", false), entry(1, 90, std::string(300, 'y') + "z", true)});
  for (int i = 0; i < 20000; ++i) {
    Bytes bad = good;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<std::byte>(random());
    for (const auto& e : read_fatbin(bad).entries) {
      const std::string text = unpack(e).bytes;
      read_cubin(std::as_bytes(std::span(text)));
    }
  }
}

TEST(Fatbin, ReadsWhatNvccMakes) {
  std::ifstream file(FATBIN_SAMPLE, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Fatbin read = read_fatbin(std::as_bytes(std::span(text)));
  EXPECT_EQ(read.error, "");
  const FatbinEntry* ptx = choose_ptx(read);
  ASSERT_NE(ptx, nullptr);
  EXPECT_NE(unpack(*ptx).bytes.find(".entry scale_rows"), std::string::npos);
  bool seen = false;
  for (const auto& e : read.entries) {
    if (e.kind != FatbinEntry::Kind::cubin) continue;
    const std::string elf = unpack(e).bytes;
    const auto facts = read_cubin(std::as_bytes(std::span(elf)));
    ASSERT_TRUE(facts.contains("scale_rows"));
    EXPECT_GE(facts.at("scale_rows").registers, 4);
    EXPECT_LE(facts.at("scale_rows").registers, 64);
    EXPECT_EQ(facts.at("scale_rows").shared_bytes, 512);
    EXPECT_EQ(facts.at("scale_rows").frame_bytes, 0);
    seen = true;
  }
  EXPECT_TRUE(seen);
}

TEST(ReadableBytes, EndsWithTheMapping) {
  const std::string text(100, 'x');
  EXPECT_EQ(readable_bytes(text.data(), 100), 100u);
  EXPECT_LT(readable_bytes(text.data(), ~std::size_t{0}), ~std::size_t{0});
}

}  // namespace
}  // namespace cudasim
