#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cudasim/exec/launch.hpp"

namespace cudasim {

/// For tests: the kernel `k` of a PTX text, its memory and its launches.
class KernelFixture : public testing::Test {
 protected:
  void compile(const std::string& body) {
    module_ = parse(".version 9.0\n.target sm_90\n.address_size 64\n" + body);
    kernel_ = module_->find_kernel("k");
    ASSERT_NE(kernel_, nullptr);
  }
  template <typename T>
  std::uint64_t array(const std::vector<T>& values) {
    const std::uint64_t a = memory_.allocate(values.size() * sizeof(T), RegionKind::device);
    std::memcpy(reinterpret_cast<void*>(a), values.data(), values.size() * sizeof(T));
    return a;
  }
  template <typename T>
  std::vector<T> read(std::uint64_t address, std::size_t n) {
    std::vector<T> values(n);
    std::memcpy(values.data(), reinterpret_cast<void*>(address), n * sizeof(T));
    return values;
  }
  template <typename... Args>
  LaunchResult run(Dim3 grid, Dim3 block, Args... args) {
    std::vector<std::byte> params(kernel_->param_bytes);
    [[maybe_unused]] std::size_t i = 0;
    [[maybe_unused]] const auto put = [&](const auto& v) {
      std::memcpy(params.data() + kernel_->params.at(i).offset, &v, sizeof v);
      ++i;
    };
    (put(args), ...);
    config_.grid = grid;
    config_.block = block;
    return launch(*module_, *kernel_, config_, params, memory_);
  }

  /// Runs `text`, which computes register d from a, b and c (of the widths of D, A, B, C), in one
  /// thread for each element. The text may use the predicates p, q and the registers t, u (32
  /// bits).
  template <typename D, typename A, typename B, typename C>
  std::vector<D> apply(const std::string& text, const std::vector<A>& a, const std::vector<B>& b,
                       const std::vector<C>& c) {
    const auto width = [](std::size_t bytes) { return ".b" + std::to_string(8 * bytes); };
    const auto load = [&](const char* name, std::size_t bytes) {
      const std::string n(name);
      return "ld.param.u64 x, [p" + n + "]; mad.wide.u32 x, i, " + std::to_string(bytes) +
             ", x; ld.global" + width(bytes) + " " + n + ", [x];\n";
    };
    compile(
        ".visible .entry k(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc, .param "
        ".u32 n)\n{ .reg .pred p, q, done; .reg .b32 i, n0, t, u; .reg .b64 x;\n.reg " +
        width(sizeof(D)) + " d; .reg " + width(sizeof(A)) + " a; .reg " + width(sizeof(B)) +
        " b; .reg " + width(sizeof(C)) +
        " c;\nmov.u32 i, %ctaid.x; mov.u32 t, %tid.x; mad.lo.u32 i, i, 128, t;\n"
        "ld.param.u32 n0, [n]; setp.ge.u32 done, i, n0; @done bra END;\n" +
        load("a", sizeof(A)) + load("b", sizeof(B)) + load("c", sizeof(C)) + text +
        "\nld.param.u64 x, [pd]; mad.wide.u32 x, i, " + std::to_string(sizeof(D)) +
        ", x; st.global" + width(sizeof(D)) + " [x], d;\nEND: ret; }");
    if (HasFatalFailure()) return {};
    const std::size_t n = a.size();
    const std::uint64_t out = array(std::vector<D>(n)), pa = array(a), pb = array(b), pc = array(c);
    const auto result = run({static_cast<std::uint32_t>((n + 127) / 128)}, {128}, out, pa, pb, pc,
                            static_cast<std::uint32_t>(n));
    EXPECT_FALSE(result.fault) << text << ": " << result.fault.text();
    const std::vector<D> values = read<D>(out, n);
    for (const std::uint64_t p : {out, pa, pb, pc}) memory_.free(p);
    return values;
  }

  /// apply, compared with `expected(a, b, c)`; `same(got, wanted)` says what counts as equal.
  template <typename D, typename A, typename B, typename C, typename Expected, typename Same>
  void check(const std::string& text, const std::vector<A>& a, const std::vector<B>& b,
             const std::vector<C>& c, Expected&& expected, Same&& same) {
    const std::vector<D> got = apply<D>(text, a, b, c);
    ASSERT_EQ(got.size(), a.size());
    int wrong = 0;
    for (std::size_t i = 0; i < got.size() && wrong < 3; ++i) {
      const D wanted = expected(a[i], b[i], c[i]);
      if (same(got[i], wanted)) continue;
      ++wrong;
      ADD_FAILURE() << text << " of " << hex(a[i]) << ", " << hex(b[i]) << ", " << hex(c[i])
                    << " gives " << hex(got[i]) << ", expected " << hex(wanted);
    }
  }

  template <typename T>
  static std::string hex(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    char text[32];
    std::snprintf(text, sizeof text, "0x%0*llx", static_cast<int>(2 * sizeof value),
                  static_cast<unsigned long long>(bits));
    return text;
  }

  std::unique_ptr<Module> module_;
  const Kernel* kernel_ = nullptr;
  DeviceMemory memory_;
  LaunchConfig config_;
};

/// Columns of all combinations of the values in up to three operands; unused ones repeat the first.
template <typename T>
struct Combinations {
  Combinations(const std::vector<T>& values, unsigned operands) {
    const std::size_t n = values.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < (operands > 1 ? n : 1); ++j) {
        for (std::size_t k = 0; k < (operands > 2 ? n : 1); ++k) {
          a.push_back(values[i]);
          b.push_back(values[j]);
          c.push_back(values[k]);
        }
      }
    }
  }
  /// Adds n rows of random bits.
  Combinations& random(std::size_t n, std::uint32_t seed = 1) {
    std::mt19937_64 source(seed);
    const auto one = [&] {
      const std::uint64_t bits = source();
      T value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    };
    for (std::size_t i = 0; i < n; ++i) {
      a.push_back(one());
      b.push_back(one());
      c.push_back(one());
    }
    return *this;
  }
  std::vector<T> a, b, c;
};

}  // namespace cudasim
