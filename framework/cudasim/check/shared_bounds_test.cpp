#include "cudasim/check/shared_bounds.hpp"

#include <gtest/gtest.h>

#include "cudasim/exec/decode.hpp"
#include "cudasim/ptx/module.hpp"

namespace cudasim {
namespace {

/// The variable of each ld and st in a kernel with the shared arrays a (64 bytes), b (32) and the
/// dynamic one d; "" where it isn't known.
std::vector<std::string> variables_of(const std::string& body) {
  const auto module = parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.extern .shared .align 4 .b8 d[];\n"
      ".visible .entry k(.param .u64 p)\n{ .shared .align 4 .b8 a[64]; .shared .align 4 .b8 "
      "b[32];\n"
      ".reg .b32 i, x, y, z, v; .reg .b64 w; .reg .pred q;\nmov.u32 i, %tid.x; setp.lt.u32 q, i, "
      "4;\n" +
      body + " ret; }");
  const Kernel& kernel = *module->find_kernel("k");
  const auto program = decoded_program(*module, kernel);
  const auto bounds = shared_bounds(*program);
  std::vector<std::string> names;
  for (std::size_t at = 0; at < bounds.size(); ++at) {
    const Instruction* i = program->info[at].instruction;
    if (i == nullptr || program->info[at].weight == 0) continue;
    if ((i->root != "ld" && i->root != "st") || i->has("param")) continue;
    if (bounds[at].name == nullptr) {
      names.emplace_back();
      continue;
    }
    names.push_back(bounds[at].name->substr(bounds[at].name->find('/') + 1));
    EXPECT_EQ(bounds[at].end, names.back() == "d"   ? 0
                              : names.back() == "a" ? bounds[at].begin + 64
                                                    : bounds[at].begin + 32);
  }
  return names;
}
using Names = std::vector<std::string>;

TEST(SharedBounds, FollowMovesSumsAndConversions) {
  EXPECT_EQ(variables_of("ld.shared.u32 v, [a+4]; st.shared.u32 [b], v;"), (Names{"a", "b"}));
  EXPECT_EQ(variables_of("mov.u32 x, b; mad.lo.u32 y, i, 4, x; add.u32 y, y, 8; "
                         "ld.shared.u32 v, [y+4];"),
            Names{"b"});
  EXPECT_EQ(variables_of("mov.u64 w, a; cvta.shared.u64 w, w; st.u32 [w], i;"), Names{"a"});
  EXPECT_EQ(variables_of("mov.u32 x, d; shl.b32 y, i, 2; sub.u32 x, x, y; ld.shared.u32 v, [x];"),
            Names{"d"});
}

TEST(SharedBounds, FollowLoops) {
  EXPECT_EQ(variables_of("mov.u32 x, a; L: ld.shared.u32 v, [x]; add.u32 x, x, 4; "
                         "setp.lt.u32 q, v, 9; @q bra L;"),
            Names{"a"});
}

TEST(SharedBounds, LeaveOpenWhatMayBeEither) {
  EXPECT_EQ(variables_of("mov.u32 x, a; mov.u32 y, b; selp.b32 z, x, y, q; ld.shared.u32 v, [z];"),
            Names{""});
  EXPECT_EQ(variables_of("mov.u32 x, a; @q mov.u32 x, b; ld.shared.u32 v, [x];"), Names{""});
  EXPECT_EQ(variables_of("ld.shared.u32 x, [a]; ld.shared.u32 v, [x];"), (Names{"a", ""}));
  EXPECT_EQ(variables_of("mov.u32 x, a; xor.b32 y, x, i; ld.shared.u32 v, [y];"), Names{""});
}

TEST(SharedBounds, ADifferenceLeadsToTheOtherVariable) {
  EXPECT_EQ(variables_of("mov.u32 x, a; mov.u32 y, b; sub.u32 z, y, x; add.u32 z, z, 4; "
                         "add.u32 z, z, x; ld.shared.u32 v, [z];"),
            Names{""});
  EXPECT_EQ(variables_of("mov.u32 x, a; mov.u32 y, b; sub.u32 z, y, x; shr.u32 z, z, 2; "
                         "shl.b32 z, z, 2; add.u32 z, z, x; ld.shared.u32 v, [z];"),
            Names{""});
}

}  // namespace
}  // namespace cudasim
